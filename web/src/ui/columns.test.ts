import { expect, test } from "vitest";
import { leastWidth, partInView, scrollFor } from "./columns";

test("leastWidth reads tracks", () => {
  expect(["90px", "minmax(190px, 1fr)", "1fr"].map(leastWidth)).toEqual([90, 190, 0]);
});

test.each([
  { left: 0, right: 300, from: 0, to: 4 },
  { left: 399, right: 401, from: 0, to: 8 },
  { left: 400, right: 800, from: 4, to: 8 },
  { left: 850, right: 2000, from: 8, to: 10 },
])("partInView draws whole steps of columns between $left and $right", ({ left, right, from, to }) => {
  const widths = Array.from({ length: 10 }, () => 100);
  expect(partInView(widths, left, right)).toEqual({ from, to });
});

test.each([
  { name: "in view", column: 2, scrolled: 0, want: 0 },
  { name: "on the right", column: 5, scrolled: 0, want: 200 },
  { name: "hidden behind the first", column: 3, scrolled: 300, want: 200 },
  { name: "the first, which is always there", column: 0, scrolled: 300, want: 300 },
])("scrollFor shows a column: $name", ({ column, scrolled, want }) => {
  const widths = Array.from({ length: 10 }, () => 100);
  expect(scrollFor(widths, column, scrolled, 400)).toBe(want);
});
