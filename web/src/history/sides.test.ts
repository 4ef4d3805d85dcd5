import { expect, test } from "vitest";
import { hoursAgo, nameOf, queryOf, wayBack } from "./filters";
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

test("what was made or deleted has one side only", () => {
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

test("a span begins so many hours before now", () => {
  const now = new Date("2030-01-01T10:00");
  expect(hoursAgo(24, now)).toBe("2029-12-31T10:00");
});

test("a resource whose id is a number is called by its name", () => {
  const key = "01a1e46d-7828-75e4-a2f2-c45d68d691b5";
  expect(nameOf({ key, before: null, after: { name: "Owner key" } })).toBe("Owner key");
  expect(nameOf({ key, before: { email: "ada@example.com" }, after: null })).toBe("ada@example.com");
  expect(nameOf({ key, before: null, after: {} })).toBe(key);
  expect(nameOf({ key: "checkout", before: null, after: { name: "Checkout" } })).toBe("checkout");
});

test("what never can be reverted says so", () => {
  expect(wayBack({ kind: "flag", key: "a", action: "updated" })).toEqual({ needs: "MEMBER" });
  expect(wayBack({ kind: "environment", key: "a", action: "updated" })).toEqual({ needs: "ADMIN" });
  for (const change of [
    { kind: "api_key", key: "k", action: "revoked" },
    { kind: "logger", key: "*", action: "cascaded" },
    { kind: "logger", key: "shop", action: "expired" },
  ])
    expect(wayBack(change)).toHaveProperty("refusal");
});
