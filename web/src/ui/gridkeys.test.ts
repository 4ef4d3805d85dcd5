import { expect, test } from "vitest";
import { move } from "./gridkeys";

const extent = { rows: 100, columns: 3, page: 20 };

test("keys move between cells and stop at the edges", () => {
  expect(move("ArrowDown", { row: 0, column: 1 }, extent)).toEqual({ row: 1, column: 1 });
  expect(move("ArrowUp", { row: 0, column: 1 }, extent)).toEqual({ row: 0, column: 1 });
  expect(move("ArrowRight", { row: 5, column: 2 }, extent)).toEqual({ row: 5, column: 2 });
  expect(move("ArrowLeft", { row: 5, column: 2 }, extent)).toEqual({ row: 5, column: 1 });
  expect(move("PageDown", { row: 90, column: 0 }, extent)).toEqual({ row: 99, column: 0 });
  expect(move("PageUp", { row: 30, column: 0 }, extent)).toEqual({ row: 10, column: 0 });
  expect(move("End", { row: 0, column: 2 }, extent)).toEqual({ row: 99, column: 2 });
  expect(move("Home", { row: 9, column: 2 }, extent)).toEqual({ row: 0, column: 2 });
});

test("other keys are left to the browser", () => {
  expect(move("Tab", { row: 0, column: 0 }, extent)).toBeUndefined();
  expect(move("a", { row: 0, column: 0 }, extent)).toBeUndefined();
});
