import { expect, test } from "vitest";
import { build, type Condition, type Operator, operators, parse, sentenceOf, shareOf, textOf, typed } from "./rules";

const compare = (operator: Operator, value: unknown): Condition => ({ kind: "compare", attribute: "user.plan", operator, value });

test("every operator survives being written and read", () => {
  for (const operator of Object.keys(operators) as Operator[]) {
    const value = operator === "oneOf" || operator === "notOneOf" ? ["a", 2] : operator === "isSet" || operator === "isNotSet" ? null : "a";
    const model = { match: "all" as const, conditions: [compare(operator, value)] };
    expect(parse(build(model)), operator).toEqual(model);
  }
});

test("several conditions and a share survive too", () => {
  const conditions: Condition[] = [compare("is", "pro"), { kind: "share", by: "user.key", seed: "checkout.", percent: 25 }];
  for (const match of ["all", "any"] as const) expect(parse(build({ match, conditions }))).toEqual({ match, conditions });
});

test("the builder does not show what it would change", () => {
  for (const logic of [
    { and: [{ "==": [{ var: "a" }, 1] }] },
    { "==": [1, { var: "a" }] },
    { "==": [{ var: ["a", "default"] }, 1] },
    { "===": [{ var: "a" }, 1] },
    { and: [{ "==": [{ var: "a" }, 1] }, { or: [{ "==": [{ var: "b" }, 1] }, { "==": [{ var: "c" }, 1] }] }] },
    { fractional: [{ var: "a" }, ["red", 50], ["blue", 50]] },
    { fractional: [{ var: "a" }, [true, 25], [false, 70]] },
    { if: [true, 1, 2] },
    true,
    null,
  ]) {
    expect(parse(logic), JSON.stringify(logic)).toBeUndefined();
  }
});

test("rules are said in words", () => {
  expect(sentenceOf({ and: [{ "==": [{ var: "user.plan" }, "staff"] }, { in: [{ var: "user.key" }, ["a", "b"]] }] })).toBe(
    "user.plan is staff and user.key is one of a, b",
  );
  expect(sentenceOf({ fractional: [{ var: "user.key" }, [true, 25], [false, 75]] })).toBe("25 % by user.key");
  expect(sentenceOf({})).toBe("never");
  expect(sentenceOf({ "%": [1, 2] })).toBe('{"%":[1,2]}');
  expect(shareOf({ fractional: [{ var: "user.key" }, [true, 25], [false, 75]] })).toBe(25);
});

test("what people type keeps its type", () => {
  for (const value of ["a", 1, true, "1", "true", "", "a, b", 'say "x"']) expect(typed(textOf(value))).toBe(value);
});
