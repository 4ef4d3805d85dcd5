import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";
import { short } from "../ui/diff";
import {
  build,
  type Condition,
  comparisons,
  type Operator,
  operatorFor,
  operators,
  parse,
  problemOf,
  sentenceOf,
  shareOf,
  textFor,
  textOf,
  typed,
  typeOf,
  valueFor,
} from "./rules";

const compare = (operator: Operator, value: unknown): Condition => ({ kind: "compare", attribute: "user.plan", operator, value });

test.each(Object.keys(operators) as Operator[])("the operator %s survives being written and read", (operator) => {
  const value = valueFor(
    operator,
    comparisons.version.includes(operator) ? "2.10.0" : comparisons.date.includes(operator) ? "2030-01-31" : "a, 2",
  );
  const model = { match: "all" as const, conditions: [compare(operator, value)] };
  expect(parse(build(model))).toEqual(model);
});

test.each(["all", "any"] as const)("several conditions and a share survive too, matching %s", (match) => {
  const conditions: Condition[] = [compare("is", "pro"), { kind: "share", by: "user.key", seed: "checkout.", percent: 25 }];
  expect(parse(build({ match, conditions }))).toEqual({ match, conditions });
});

test("groups inside groups survive", () => {
  const inner: Condition = { kind: "group", match: "any", conditions: [compare("is", "pro"), compare("is", "team")] };
  const model = { match: "all" as const, conditions: [compare("isSet", null), inner] };
  expect(parse(build(model))).toEqual(model);
  expect(sentenceOf(build(model))).toBe("user.plan is set and (user.plan is pro or user.plan is team)");
  expect(build({ match: "all", conditions: [{ kind: "group", match: "any", conditions: [] }, compare("is", "pro")] })).toEqual({
    "==": [{ var: "user.plan" }, "pro"],
  });
});

test("versions are compared as versions, and dates in time", () => {
  const atLeast: Condition = { kind: "compare", attribute: "app.version", operator: "versionAtLeast", value: "2.10.0" };
  expect(build({ match: "all", conditions: [atLeast] })).toEqual({ sem_ver: [{ var: "app.version" }, ">=", "2.10.0"] });
  expect(sentenceOf({ sem_ver: [{ var: "app.version" }, ">=", "2.10.0"] })).toBe("app.version is at least version 2.10.0");
  expect(sentenceOf({ "<": [{ var: "user.since" }, "2030-01-31"] })).toBe("user.since is before 2030-01-31");
  expect(problemOf({ ...atLeast, value: "new" })).toContain("a version such as 2.10.0");
  expect(problemOf({ ...atLeast, operator: "before" })).toContain("a date such as 2030-01-31");
  expect(problemOf(atLeast)).toBeUndefined();
});

test("the reported values of an attribute pick the comparison", () => {
  expect(typeOf(["2.9.0", "2.10.0-rc.1"])).toBe("version");
  expect(typeOf(["2030-01-31", "2030-01-31T08:00:00Z"])).toBe("date");
  expect(typeOf([1, 2.5])).toBe("number");
  expect(typeOf(["pro", "2.9.0"])).toBeUndefined();
  expect(typeOf([])).toBeUndefined();
  expect(operatorFor("version", "atLeast")).toBe("versionAtLeast");
  expect(operatorFor("date", "less")).toBe("before");
  expect(operatorFor("number", "versionIs")).toBe("is");
  expect(operatorFor("boolean", "contains")).toBe("is");
  expect(operatorFor(undefined, "atLeast")).toBe("atLeast");
  expect(valueFor("versionAtLeast", "2.10")).toBe("2.10");
});

test.each([
  { and: [{ "==": [{ var: "a" }, 1] }] },
  { "==": [1, { var: "a" }] },
  { "==": [{ var: ["a", "default"] }, 1] },
  { "===": [{ var: "a" }, 1] },
  { and: [{ "==": [{ var: "a" }, 1] }, { or: [{ "==": [{ var: "b" }, 1] }] }] },
  { sem_ver: [{ var: "a" }, ">=", { var: "b" }] },
  { sem_ver: [{ var: "a" }, "about", "1.0.0"] },
  { fractional: [{ var: "a" }, ["red", 50], ["blue", 50]] },
  { fractional: [{ var: "a" }, [true, 25], [false, 70]] },
  { if: [true, 1, 2] },
  true,
  null,
])("the builder does not show a rule that it would change: %j", (logic: unknown) => {
  expect(parse(logic)).toBeUndefined();
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

test.each<[unknown[]]>([
  [["Portland, OR", "Salem"]],
  [['"', '"']],
  [['"a" b', '5" pipe', 'say "x, y"', "back\\slash, and more"]],
  [["", " a", "1", 1, true, "true"]],
  [[""]],
  [[]],
])("a list survives being shown as text: %j", (list) => {
  expect(valueFor("oneOf", textFor("oneOf", list))).toEqual(list);
});

test("an item that is added to a list leaves alone the others", () => {
  const text = textFor("oneOf", ["Portland, OR", "Salem"]);
  expect(text).toBe('"Portland, OR", Salem');
  expect(valueFor("oneOf", `${text}, Bend`)).toEqual(["Portland, OR", "Salem", "Bend"]);
  expect(valueFor("oneOf", 'a, "b, c')).toEqual(["a", '"b', "c"]); // the quote is not closed yet
});

test("a version that looks like a number is shown without quotes, and stays a text", () => {
  const model = parse({ sem_ver: [{ var: "app.version" }, ">=", "1.2"] });
  const [condition] = model?.conditions ?? [];
  if (condition?.kind !== "compare") throw new Error("no comparison");
  const text = textFor(condition.operator, condition.value);
  expect(text).toBe("1.2");
  const edited = { ...condition, value: valueFor(condition.operator, `${text}.3`) };
  expect(edited.value).toBe("1.2.3");
  expect(problemOf(edited)).toBeUndefined();
  expect(textFor("is", "1.2")).toBe('"1.2"');
});

test.each(["a", 1, true, "1", "true", "", "a, b", 'say "x"'])("a typed value keeps its type: %j", (value) => {
  expect(typed(textOf(value))).toBe(value);
});
