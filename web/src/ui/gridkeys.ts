export interface Cell {
  row: number;
  column: number;
}

export interface Extent {
  rows: number;
  columns: number;
  /** page is the number of rows in view. */
  page: number;
}

/** move returns the cell that a key moves to, or undefined for other keys. */
export function move(key: string, { row, column }: Cell, { rows, columns, page }: Extent): Cell | undefined {
  const clamp = (value: number, count: number) => Math.max(0, Math.min(count - 1, value));
  switch (key) {
    case "ArrowDown":
      return { row: clamp(row + 1, rows), column };
    case "ArrowUp":
      return { row: clamp(row - 1, rows), column };
    case "ArrowRight":
      return { row, column: clamp(column + 1, columns) };
    case "ArrowLeft":
      return { row, column: clamp(column - 1, columns) };
    case "PageDown":
      return { row: clamp(row + page, rows), column };
    case "PageUp":
      return { row: clamp(row - page, rows), column };
    case "Home":
      return { row: 0, column };
    case "End":
      return { row: clamp(rows - 1, rows), column };
    default:
      return undefined;
  }
}
