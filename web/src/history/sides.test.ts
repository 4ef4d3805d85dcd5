import { expect, test } from "vitest";
import { queryOf, wayBack } from "./filters";
import { folded, sideBySide } from "./sides";

test("lines that are alike are beside each other", () => {
  expect(sideBySide({ a: 1, b: 2, c: 3 }, { a: 1, b: 5, c: 3 })).toEqual([
    { left: "{", right: "{", changed: false },
    { left: '  "a": 1,', right: '  "a": 1,', changed: false },
    { left: '  "b": 2,', right: '  "b": 5,', changed: true },
    { left: '  "c": 3', right: '  "c": 3', changed: false },
    { left: "}", right: "}", changed: false },
  ]);
});

test("a created or deleted resource has one side only", () => {
  expect(sideBySide(null, { a: 1 }).every(({ left, changed }) => left === undefined && changed)).toBe(true);
  expect(sideBySide({ a: 1 }, null).every(({ right, changed }) => right === undefined && changed)).toBe(true);
  expect(sideBySide(null, null)).toEqual([]);
});

test("unchanged lines far from a change are folded", () => {
  const before = Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`m${index}`, index]));
  const shown = folded(sideBySide(before, { ...before, m10: "new" }), 1);
  expect(shown.map((line) => ("folded" in line ? line.folded : line.right))).toEqual([
    10,
    '  "m9": 9,',
    '  "m10": "new",',
    '  "m11": 11,',
    9,
  ]);
});

test("the filters of the address are the server's", () => {
  expect(queryOf({ kind: "flag" })["filter[resource]"]).toBeUndefined();
  expect(queryOf({ kind: "flag", id: "a:b" })["filter[resource]"]).toBe("flag:a:b");
  expect(queryOf({})["filter[created_at]"]).toBeUndefined();
  const from = new Date("2030-01-01T10:00").toISOString();
  expect(queryOf({ from: "2030-01-01T10:00" })["filter[created_at]"]).toBe(`[${from},*)`);
  expect(queryOf({ to: "nonsense" })["filter[created_at]"]).toBe("[*,*)");
});

test("the role that a revert needs is that of the write", () => {
  expect(wayBack({ kind: "flag", key: "a", action: "updated" })).toEqual({ needs: "MEMBER" });
  expect(wayBack({ kind: "environment", key: "a", action: "updated" })).toEqual({ needs: "ADMIN" });
});

test.each([
  { kind: "api_key", key: "k", action: "revoked" },
  { kind: "logger", key: "*", action: "cascaded" },
  { kind: "logger", key: "shop", action: "expired" },
])("a change of $kind $key that was $action can never be reverted", (change) => {
  expect(wayBack(change)).toHaveProperty("refusal");
});
