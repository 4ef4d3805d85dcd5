import { expect, test } from "vitest";
import { differences, same, short, written } from "./diff";

test("a changed member is named by its path", () => {
  const before = { level: null, environments: { production: { level: "INFO" } } };
  const after = { level: null, environments: { production: { level: "DEBUG" }, staging: { level: "INFO" } } };
  expect(differences(before, after)).toEqual([
    { path: ["environments", "production", "level"], before: "INFO", after: "DEBUG" },
    { path: ["environments", "staging"], before: undefined, after: { level: "INFO" } },
  ]);
});

test("equal documents have no differences, whatever the order of members", () => {
  expect(differences({ a: 1, b: [1, { c: 2 }] }, { b: [1, { c: 2 }], a: 1 })).toEqual([]);
});

test("lists of rules are compared by position, lists of values as a whole", () => {
  expect(differences({ rules: [{ value: 1 }] }, { rules: [{ value: 2 }, { value: 3 }] })).toEqual([
    { path: ["rules", "1", "value"], before: 1, after: 2 },
    { path: ["rules", "2"], before: undefined, after: { value: 3 } },
  ]);
  expect(differences({ tags: ["a"] }, { tags: ["b"] })).toEqual([{ path: ["tags"], before: ["a"], after: ["b"] }]);
});

test("null, absent and empty differ", () => {
  expect(same(null, undefined)).toBe(false);
  expect(same({}, [])).toBe(false);
  expect(same({ a: undefined }, {})).toBe(false);
});

test("observed attributes are not written", () => {
  expect(written({ level: "INFO", resolved: {}, updated_at: "x" })).toEqual({ level: "INFO" });
  expect(written(null)).toEqual({});
});

test("short values fit a line", () => {
  expect(short("abcdef", 4)).toBe("abc…");
  expect(short(undefined)).toBe("absent");
  expect(short({ a: 1 })).toBe('{"a":1}');
});
