import { expect, test } from "vitest";
import { type Attributes, arranged, chipOf, defaultIn, keysOf, type Rule, replaceRule, withSettings } from "./flags";

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

test("a rule is replaced where it is now, whatever somebody else did since", () => {
  const opened = [a, b, c];
  const edited = { rule: b, index: 1, among: opened };
  const mine = rule(9);
  expect(replaceRule(opened, edited, mine), "unchanged").toEqual([a, mine, c]);
  expect(replaceRule([b, a, c], edited, mine), "moved").toEqual([mine, a, c]);
  expect(replaceRule([a, rule(5), c], edited, mine), "changed by somebody else").toEqual([a, mine, c]);
  expect(replaceRule([a, c], edited, mine), "deleted").toEqual([a, mine, c]);
  expect(replaceRule([a, c], edited, undefined), "deleted twice").toEqual([a, c]);
  expect(replaceRule([a, b], { rule: a, index: 0, among: [a, b] }, undefined)).toEqual([b]);
  expect(replaceRule([a, b], undefined, mine), "new").toEqual([a, b, mine]);
});

test("rules are put in order by their content, and new ones stay last", () => {
  const [first, second, third] = keysOf([a, b, c]) as [string, string, string];
  expect(arranged([a, b, c], [third, first, second])).toEqual([c, a, b]);
  expect(arranged([a, b, rule(4)], [third, second, first])).toEqual([b, a, rule(4)]);
});

test("two rules that are alike keep apart", () => {
  const keys = keysOf([a, b, a]);
  expect(new Set(keys).size).toBe(3);
  expect(arranged([a, b, a], keys.toReversed())).toEqual([a, b, a]);
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
