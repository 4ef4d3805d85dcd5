/** A part of the columns of a grid that is wider than its frame: those in view and a few beside them. */
export interface Part {
  /** from and to are positions of columns, to not included. */
  from: number;
  to: number;
}

/** leastWidth returns the least width of a track of CSS grid in pixels, such as 190 of "minmax(190px, 1fr)". */
export function leastWidth(track: string): number {
  return Number(/(\d+)px/.exec(track)?.[1] ?? 0);
}

/** isDrawn reports whether a column is drawn: the first always is. */
export function isDrawn(position: number, part: Part | undefined): boolean {
  return part === undefined || position === 0 || (position >= part.from && position < part.to);
}

// Columns are drawn in whole steps, so that a small movement draws nothing.
const step = 4;

/** partInView returns the columns to draw between two positions in pixels, in whole steps. */
export function partInView(widths: number[], left: number, right: number): Part {
  let [from, to, at] = [widths.length, 0, 0];
  for (const [position, width] of widths.entries()) {
    if (at + width > left && at < right) {
      from = Math.min(from, position);
      to = position + 1;
    }
    at += width;
  }
  return { from: Math.max(0, Math.floor(from / step) * step), to: Math.min(widths.length, Math.ceil(to / step) * step) };
}

/** scrollFor returns how far to scroll a frame so that a column can be seen beside the first one, which stays in place. */
export function scrollFor(widths: number[], column: number, scrolled: number, frame: number): number {
  if (column === 0) return scrolled;
  const [first = 0] = widths;
  const start = widths.slice(0, column).reduce((sum, width) => sum + width, 0);
  const end = start + (widths[column] ?? 0);
  if (start - first < scrolled) return start - first;
  return end > scrolled + frame ? end - frame : scrolled;
}
