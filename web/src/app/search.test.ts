import { expect, test } from "vitest";
import { parse, pick, stringify } from "./search";

test("a query is read as it was written", () => {
  const search = { env: "production", q: "a b&c", page: "2" };
  expect(parse(stringify(search))).toEqual(search);
  expect(stringify({ env: undefined, q: "", only: false })).toBe("");
});

test("a route knows its own names only", () => {
  expect(pick("q", "view")({ q: "x", view: "", other: "y" })).toEqual({ q: "x" });
});
