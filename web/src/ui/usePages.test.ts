import { expect, test } from "vitest";
import { pagesAround } from "./usePages";

test("the pages in view, the one before and two after them are read", () => {
  expect(pagesAround(0, 40, 10_000)).toEqual([1, 2, 3]);
  expect(pagesAround(390, 430, 10_000)).toEqual([1, 2, 3, 4, 5]);
  expect(pagesAround(9960, 9999, 10_000)).toEqual([49, 50]);
  expect(pagesAround(0, 0, 0)).toEqual([1]);
});
