import { expect, test } from "vitest";
import { type Attributes, chipOf, defaultIn, moveRule, type Rule, replaceRule, withSettings } from "./flags";

const rule = (value: unknown): Rule => ({ description: "", logic: { "==": [{ var: "a" }, value] }, value: true });
const [a, b, c] = [rule(1), rule(2), rule(3)];
const flag = {
  name: "F",
  description: null,
  type: "BOOLEAN",
  default: false,
  values: null,
  managed: true,
  environments: { production: { enabled: true, default: true, rules: [a] } },
  last_seen: null,
  last_evaluated: null,
  created_at: "",
  updated_at: "",
} as unknown as Attributes;

test("a rule is replaced where it is, also after others were added", () => {
  expect(replaceRule([a, b, c], b, rule(9))).toEqual([a, rule(9), c]);
  expect(replaceRule([a, c], b, rule(9))).toEqual([a, c, rule(9)]);
  expect(replaceRule([a, b], a, undefined)).toEqual([b]);
  expect(replaceRule([a], b, undefined)).toEqual([a]);
  expect(replaceRule([], undefined, a)).toEqual([a]);
});

test("rules move and stop at the ends", () => {
  expect(moveRule([a, b, c], c, -1)).toEqual([a, c, b]);
  expect(moveRule([a, b, c], a, -1)).toEqual([a, b, c]);
  expect(moveRule([a, b, c], a, 2)).toEqual([b, c, a]);
});

test("an environment's settings change alone", () => {
  const after = withSettings(flag, "staging", (settings) => ({ ...settings, enabled: false }));
  expect(after.environments).toEqual({ ...flag.environments, staging: { enabled: false, default: null, rules: [] } });
  expect(after).not.toHaveProperty("last_seen");
});

test("the default of an environment is its own, else the flag's", () => {
  expect(defaultIn(flag, "production")).toBe(true);
  expect(defaultIn(flag, "staging")).toBe(false);
});

test("chips are short", () => {
  expect(["a", 1, false, null, [1, 2], { a: 1 }].map(chipOf)).toEqual(['"a"', "1", "false", "null", "[2]", "{1}"]);
});
