import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { short } from "../ui/diff";
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

test("a share that names its parts is said in words, and left to the JSON editor", () => {
  const named = (parts: unknown[], wanted: unknown) => ({
    "==": [{ fractional: [{ cat: ["seed-", { var: "user.key" }] }, ...parts] }, wanted],
  });
  const on = ["on", 25];
  const off = ["off", 75];
  expect(sentenceOf(named([on, off], "on"))).toBe("25 % by user.key");
  expect(shareOf(named([on, off], "on"))).toBe(25);
  expect(parse(named([on, off], "on"))).toBeUndefined();
  for (const logic of [
    named([on, off], "off"),
    named([on, off, ["on", 5]], "on"),
    named([on, ["off", 70]], "on"),
    named(["on", off], "on"),
  ])
    expect(sentenceOf(logic)).toBe(short(logic, 160));
});

test("the builder shows every rule of the demo", () => {
  const file = fileURLToPath(new URL("../../../internal/demo/data/flags.json", import.meta.url));
  const flags: { versions: { attributes?: { environments: Record<string, { rules?: { logic: unknown }[] }> } }[] }[] = JSON.parse(
    readFileSync(file, "utf8"),
  );
  const settings = flags.flatMap(({ versions }) => versions.flatMap(({ attributes }) => Object.values(attributes?.environments ?? {})));
  const logics = settings.flatMap(({ rules = [] }) => rules.map(({ logic }) => logic));
  expect(logics.length).toBeGreaterThan(30);
  for (const logic of logics) expect(parse(logic), JSON.stringify(logic)).toBeDefined();
});

test("what people type keeps its type", () => {
  for (const value of ["a", 1, true, "1", "true", "", "a, b", 'say "x"']) expect(typed(textOf(value))).toBe(value);
});
