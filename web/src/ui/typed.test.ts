import { expect, test } from "vitest";
import { readAs, textOf, type ValueType, valueFrom } from "./typed";

test.each<[ValueType, string, string]>([
  ["JSON", '{"limit": 2}5', "must be JSON: "],
  ["JSON", '{"limit": ', "must be JSON: "],
  ["JSON", " ", 'must be JSON such as {"limit": 2}'],
  ["NUMERIC", "", "must be a number such as 1500 or 0.5"],
  ["NUMERIC", "12a", "must be a number such as 1500 or 0.5"],
  ["NUMERIC", "12345678901234567890", "must be at most 9007199254740991, because larger integers lose digits"],
])("a text that is not of the type %s is refused with a sentence: %j", (type, text, problem) => {
  expect(readAs(text, type).problem?.slice(0, problem.length)).toBe(problem);
  expect(() => valueFrom("The default", text, type)).toThrow(/^The default must be .*\.$/s);
});

test.each<[ValueType, unknown]>([
  ["JSON", { limit: 2 }],
  ["JSON", [1, null]],
  ["NUMERIC", 0],
  ["NUMBER", -1.5],
  ["STRING", "12"],
  ["BOOLEAN", true],
])("values of the type %s survive being shown and read: %j", (type, value) => {
  expect(readAs(textOf(value, type), type)).toEqual({ value });
});
