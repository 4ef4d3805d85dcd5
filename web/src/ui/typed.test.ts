import { expect, test } from "vitest";
import { readAs, textOf, type ValueType, valueFrom } from "./typed";

test("a text that is not of the type is refused with a sentence", () => {
  const refused: [ValueType, string, string][] = [
    ["JSON", '{"limit": 2}5', "must be JSON: "],
    ["JSON", '{"limit": ', "must be JSON: "],
    ["JSON", " ", 'must be JSON such as {"limit": 2}'],
    ["NUMERIC", "", "must be a number such as 1500 or 0.5"],
    ["NUMERIC", "12a", "must be a number such as 1500 or 0.5"],
    ["NUMERIC", "12345678901234567890", "must be at most 9007199254740991, because larger integers lose digits"],
  ];
  for (const [type, text, problem] of refused) {
    expect(readAs(text, type).problem?.slice(0, problem.length), text).toBe(problem);
    expect(() => valueFrom("The default", text, type), text).toThrow(/^The default must be .*\.$/s);
  }
});

test("values survive being shown and read", () => {
  const values: [ValueType, unknown][] = [
    ["JSON", { limit: 2 }],
    ["JSON", [1, null]],
    ["NUMERIC", 0],
    ["NUMBER", -1.5],
    ["STRING", "12"],
    ["BOOLEAN", true],
  ];
  for (const [type, value] of values) expect(readAs(textOf(value, type), type)).toEqual({ value });
});
