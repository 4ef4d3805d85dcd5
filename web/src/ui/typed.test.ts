import { expect, test } from "vitest";
import { readAs, textOf, type ValueType, valueFrom } from "./typed";

test.each<[ValueType, string, string]>([
  ["JSON", '{"limit": 2}5', "must be JSON: "],
  ["JSON", '{"limit": ', "must be JSON: "],
  ["JSON", " ", 'must be JSON such as {"limit": 2}'],
  ["NUMERIC", "", "must be a number such as 1500 or 0.5"],
  ["NUMERIC", "12a", "must be a number such as 1500 or 0.5"],
  ["NUMERIC", "0x10", "must be a decimal number such as 16 or 0.5, without zeros in front"],
  ["NUMBER", "007", "must be a decimal number such as 16 or 0.5, without zeros in front"],
  ["NUMBER", "Infinity", "must be a number such as 1500 or 0.5"],
  ["NUMBER", "1e400", "must be a number such as 1500 or 0.5"],
  ["NUMBER", "1.00000000000000000001", "must be a number of at most 15 digits, because more are lost"],
  ["NUMERIC", "12345678901234567890", "must be at most 9007199254740991, because larger integers lose digits"],
])("a text that is not of the type %s is refused with a sentence: %j", (type, text, problem) => {
  expect(readAs(text, type).problem?.slice(0, problem.length)).toBe(problem);
  expect(() => valueFrom("The default", text, type)).toThrow(/^The default must be .*\.$/s);
});

test.each<[string, unknown]>([
  [" 0 ", 0],
  ["-.5", -0.5],
  ["+1e3", 1000],
  ["0.5", 0.5],
])("a decimal number is read: %j", (text, value) => {
  expect(readAs(text, "NUMBER")).toEqual({ value });
});

test("JSON keeps integers that JavaScript's numbers would change", () => {
  const text = '{\n  "id": 9007199254740995\n}';
  expect(textOf(valueFrom("It", text, "JSON"), "JSON")).toBe(text);
  expect(textOf(valueFrom("It", "9007199254740995", "JSON"), "NUMERIC")).toBe("9007199254740995");
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
