import { expect, test } from "vitest";
import type { Attributes } from "./flags";
import { outcomeOf, valueText } from "./outcome";

const pro = { "==": [{ var: "user.plan" }, "pro"] };
const share = { fractional: [{ var: "user.key" }, [true, 25], [false, 75]] };
const rule = (logic: object, value: unknown) => ({ description: "", logic, value });

function flag(entry: object | undefined, fallback: unknown = false): Attributes {
  return { default: fallback, environments: entry ? { production: { enabled: true, default: null, rules: [], ...entry } } : {} } as never;
}

test("a cell says what is served", () => {
  const text = (entry: object | undefined, fallback?: unknown) => {
    const { text, rest } = outcomeOf(flag(entry, fallback), "production");
    return rest === undefined ? text : `${text}, otherwise ${rest}`;
  };
  expect(text(undefined)).toBe("false");
  expect(text({ default: true })).toBe("true");
  expect(text({ enabled: false, rules: [rule(pro, true)] })).toBe("off: false");
  expect(text({ rules: [rule(share, true)] })).toBe("25 % true, otherwise false");
  expect(text({ rules: [rule(pro, true)] })).toBe("true for 1 rule, otherwise false");
  expect(text({ rules: [rule(pro, true), rule(share, true)] })).toBe("true for 2 rules, otherwise false");
  expect(text({ rules: [rule(pro, false)] })).toBe("false");
  expect(text({ rules: [rule(pro, "a"), rule(share, "b"), rule(pro, "a")] }, "c")).toBe('2 values by 3 rules, otherwise "c"');
});

test("a value that does not fit says how much is in it", () => {
  expect(valueText({ a: 1 })).toBe('{"a":1}');
  expect(valueText({ title: "x".repeat(40) })).toBe("object of 1 member");
  expect(valueText([1, 2, "x".repeat(40)])).toBe("list of 3");
  expect(valueText(null)).toBe("null");
  expect(valueText("x".repeat(40)).length).toBeLessThan(30);
});
