/** Line is one line of two documents side by side; a side without the line is undefined. */
export interface Line {
  left?: string;
  right?: string;
  changed: boolean;
}

/** Fold stands for unchanged lines that are not shown. */
export interface Fold {
  folded: number;
}

const linesOf = (document: unknown) => (document === null || document === undefined ? [] : JSON.stringify(document, null, 2).split("\n"));

/** sideBySide returns two documents line by line, with equal lines beside each other. */
export function sideBySide(before: unknown, after: unknown): Line[] {
  const left = linesOf(before);
  const right = linesOf(after);
  const lines: Line[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  const flush = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) lines.push({ left: removed[at], right: added[at], changed: true });
    [removed, added] = [[], []];
  };
  for (const step of steps(left, right)) {
    if (step.same !== undefined) {
      flush();
      lines.push({ left: step.same, right: step.same, changed: false });
    } else if (step.left !== undefined) removed.push(step.left);
    else if (step.right !== undefined) added.push(step.right);
  }
  flush();
  return lines;
}

interface Step {
  same?: string;
  left?: string;
  right?: string;
}

// steps follows a longest common subsequence. Documents that are too large for it are shown as replaced.
function steps(left: string[], right: string[]): Step[] {
  if (left.length * right.length > 4_000_000) return [...left.map((line) => ({ left: line })), ...right.map((line) => ({ right: line }))];
  const width = right.length + 1;
  const longest = new Uint32Array((left.length + 1) * width);
  const at = (row: number, column: number) => longest[row * width + column] as number;
  for (let row = left.length - 1; row >= 0; row--)
    for (let column = right.length - 1; column >= 0; column--)
      longest[row * width + column] =
        left[row] === right[column] ? at(row + 1, column + 1) + 1 : Math.max(at(row + 1, column), at(row, column + 1));
  const found: Step[] = [];
  let row = 0;
  let column = 0;
  while (row < left.length || column < right.length) {
    if (row < left.length && column < right.length && left[row] === right[column]) {
      found.push({ same: left[row++] });
      column++;
    } else if (column >= right.length || (row < left.length && at(row + 1, column) >= at(row, column + 1)))
      found.push({ left: left[row++] });
    else found.push({ right: right[column++] });
  }
  return found;
}

/** folded hides unchanged lines that are further than `around` from a change. */
export function folded(lines: Line[], around = 3): (Line | Fold)[] {
  const near = lines.map((_, index) => lines.slice(Math.max(0, index - around), index + around + 1).some(({ changed }) => changed));
  const shown: (Line | Fold)[] = [];
  for (const [index, line] of lines.entries()) {
    const last = shown.at(-1);
    if (near[index]) shown.push(line);
    else if (last && "folded" in last) last.folded++;
    else shown.push({ folded: 1 });
  }
  return shown;
}
