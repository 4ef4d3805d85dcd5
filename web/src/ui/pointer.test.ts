import { expect, test } from "vitest";
import { locate } from "./pointer";

const text = '{ "a": [1, {"b/c": "x\\"y"}], "d": {} }';
const at = (pointer: string) => {
  const { from, to } = locate(text, pointer);
  return text.slice(from, to);
};

test("a pointer finds its value", () => {
  expect(at("/a/0")).toBe("1");
  expect(at("/a/1/b~1c")).toBe('"x\\"y"');
  expect(at("/d")).toBe("{}");
  expect(at("/a/1")).toBe('{"b/c": "x\\"y"}');
});

test.each(["", "/e", "/a/7", "/d/x", "/a/0/b"])("a missing value is the whole text: %j", (pointer) => {
  expect(at(pointer)).toBe(text);
});

test("a value in an incomplete text is the whole text", () => {
  expect(locate('{"a": ', "/a")).toEqual({ from: 0, to: 6 });
});
