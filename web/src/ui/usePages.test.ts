import { expect, test } from "vitest";
import { pagesAround } from "./usePages";

test("the pages in view and those beside them are read", () => {
  expect(pagesAround(0, 40, 10_000)).toEqual([1, 2]);
  expect(pagesAround(390, 430, 10_000)).toEqual([1, 2, 3, 4]);
  expect(pagesAround(9960, 9999, 10_000)).toEqual([49, 50]);
  expect(pagesAround(0, 0, 0)).toEqual([1]);
});
