import { expect, test } from "vitest";
import { allowedOf, valuesFrom } from "./allowed";

test("allowed values are edited as texts of the flag's type, and read back", () => {
  const values = [
    { name: "Small", value: { limit: 1 } },
    { name: "None", value: null },
  ];
  const texts = allowedOf({ type: "JSON", values });
  expect(texts).toEqual([
    { name: "Small", value: '{"limit":1}' },
    { name: "None", value: "null" },
  ]);
  expect(valuesFrom(texts, "JSON")).toEqual(values);
  expect(allowedOf({ type: "STRING", values: null })).toBeNull();
  expect(valuesFrom(null, "STRING")).toBeNull();
});

test("a value without a name is named after its text, and a text that is no value is refused", () => {
  expect(valuesFrom([{ name: " ", value: "12" }], "NUMERIC")).toEqual([{ name: "12", value: 12 }]);
  expect(() => valuesFrom([{ name: "Many", value: "lots" }], "NUMERIC")).toThrow("Value 1 must be a number such as 1500 or 0.5.");
});
