import { Exact, numberOf, stringify } from "../api/json";
import { same, short } from "../ui/diff";

/** Operator is a comparison that the builder can show. */
export const operators = {
  is: "is",
  isNot: "is not",
  oneOf: "is one of",
  notOneOf: "is not one of",
  contains: "contains",
  startsWith: "starts with",
  endsWith: "ends with",
  less: "is less than",
  atMost: "is at most",
  greater: "is greater than",
  atLeast: "is at least",
  versionIs: "is version",
  versionIsNot: "is not version",
  versionLess: "is less than version",
  versionAtMost: "is at most version",
  versionGreater: "is greater than version",
  versionAtLeast: "is at least version",
  versionMajor: "has the major version of",
  versionMinor: "has the major and minor version of",
  before: "is before",
  until: "is at or before",
  after: "is after",
  since: "is at or after",
  isSet: "is set",
  isNotSet: "is not set",
} as const;

export type Operator = keyof typeof operators;

/** Condition compares an attribute of the context, or selects a percentage of its values. */
export type Condition =
  | { kind: "compare"; attribute: string; operator: Operator; value: unknown }
  | { kind: "share"; by: string; seed: string; percent: number }
  | ({ kind: "group" } & Model);

/** Model is a rule as the builder shows it. */
export interface Model {
  match: "all" | "any";
  conditions: Condition[];
}

type Logic = Record<string, unknown>;

const symbols: [Operator, string][] = [
  ["is", "=="],
  ["isNot", "!="],
  ["less", "<"],
  ["atMost", "<="],
  ["greater", ">"],
  ["atLeast", ">="],
  ["startsWith", "starts_with"],
  ["endsWith", "ends_with"],
];

/** versions are the operators of sem_ver. As text, 2.9.0 would be greater than 2.10.0. */
const versions: [Operator, string][] = [
  ["versionIs", "="],
  ["versionIsNot", "!="],
  ["versionLess", "<"],
  ["versionAtMost", "<="],
  ["versionGreater", ">"],
  ["versionAtLeast", ">="],
  ["versionMajor", "^"],
  ["versionMinor", "~"],
];

/** dates are compared as text, whose order is that of time if they are written in the same way, such as in UTC. */
const dates: [Operator, string][] = [
  ["before", "<"],
  ["until", "<="],
  ["after", ">"],
  ["since", ">="],
];

const isVersion = (value: unknown) => typeof value === "string" && /^v?\d+(\.\d+){0,2}([-+][0-9A-Za-z.+-]+)?$/i.test(value);
const isDate = (value: unknown) =>
  typeof value === "string" && /^\d{4}-\d\d-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?$/.test(value);

/** AttributeType is the type of an attribute's values, which decides how they are compared. */
export type AttributeType = "text" | "number" | "boolean" | "version" | "date";

/** typeOf returns the type that all of the values have, or undefined if they differ or there are none. */
export function typeOf(values: unknown[]): AttributeType | undefined {
  const types = new Set(values.map(typeOfOne));
  return types.size === 1 ? [...types][0] : undefined;
}

function typeOfOne(value: unknown): AttributeType {
  if (typeof value === "number" || value instanceof Exact) return "number";
  if (typeof value === "boolean") return "boolean";
  if (isDate(value)) return "date";
  return isVersion(value) && /\..*\./.test(String(value)) ? "version" : "text";
}

const presence: Operator[] = ["isSet", "isNotSet"];

/** comparisons are the operators for each type; the last ones fit every type. */
export const comparisons: Record<AttributeType, Operator[]> = {
  text: ["is", "isNot", "oneOf", "notOneOf", "contains", "startsWith", "endsWith", ...presence],
  number: ["is", "isNot", "less", "atMost", "greater", "atLeast", "oneOf", "notOneOf", ...presence],
  boolean: ["is", "isNot", ...presence],
  version: [...versions.map(([operator]) => operator), ...presence],
  date: [...dates.map(([operator]) => operator), ...presence],
};

// alike are operators that mean the same for numbers, versions and dates.
const alike: Operator[][] = [
  ["is", "versionIs"],
  ["isNot", "versionIsNot"],
  ["less", "versionLess", "before"],
  ["atMost", "versionAtMost", "until"],
  ["greater", "versionGreater", "after"],
  ["atLeast", "versionAtLeast", "since"],
];

/** operatorFor translates an operator to another type: "at least" of numbers becomes "at least" of versions. */
export function operatorFor(type: AttributeType | undefined, operator: Operator): Operator {
  if (!type || comparisons[type].includes(operator)) return operator;
  const same = alike.find((row) => row.includes(operator))?.find((each) => comparisons[type].includes(each));
  return same ?? (comparisons[type][0] as Operator);
}

const isOneOf = (operator: Operator, list: [Operator, string][]) => list.some(([each]) => each === operator);

// isPlain reports whether the values of an operator are texts, whatever they look like: the version 1.2 is not a number.
const isPlain = (operator: Operator) => isOneOf(operator, versions) || isOneOf(operator, dates);

/** valueFor returns the value that somebody typed for an operator: versions and dates are texts, others have their own type. */
export function valueFor(operator: Operator, text: string): unknown {
  if (presence.includes(operator)) return null;
  if (isPlain(operator)) return text.trim();
  return operator === "oneOf" || operator === "notOneOf" ? partsOf(text).map(typed) : typed(text);
}

/** textFor is the inverse of valueFor. */
export function textFor(operator: Operator, value: unknown): string {
  if (Array.isArray(value)) return value.map(partFor).join(", ");
  return isPlain(operator) && typeof value === "string" ? value : textOf(value);
}

/** partsOf splits a list at its commas, except those of quoted texts: "Portland, OR", Salem. */
function partsOf(text: string): string[] {
  if (text.trim() === "") return [];
  return [...`${text},`.matchAll(/(\s*"(?:[^"\\]|\\.)*"\s*|[^,]*),/g)].map(([, part]) => part as string);
}

// partFor quotes texts that partsOf would otherwise split, lose or take for quoted ones.
function partFor(value: unknown): string {
  return typeof value === "string" && /^$|^"|,/.test(value) ? JSON.stringify(value) : textOf(value);
}

/** problemOf returns what is wrong with the value of a condition, where the server cannot detect it. */
export function problemOf(condition: Condition): string | undefined {
  if (condition.kind === "group") return condition.conditions.map(problemOf).find((problem) => problem !== undefined);
  if (condition.kind === "share") return undefined;
  const { attribute, operator, value } = condition;
  if (isOneOf(operator, versions) && !isVersion(value)) return `${attribute} must be compared with a version such as 2.10.0`;
  if (isOneOf(operator, dates) && !isDate(value))
    return `${attribute} must be compared with a date such as 2030-01-31 or 2030-01-31T08:00:00Z`;
  return undefined;
}

/** build writes a model as JSON Logic. A rule without conditions never matches. */
export function build({ match, conditions }: Model): Logic {
  const parts = conditions.map(buildCondition).filter((part) => Object.keys(part).length > 0);
  if (parts.length === 0) return {};
  return parts.length === 1 ? (parts[0] as Logic) : { [match === "all" ? "and" : "or"]: parts };
}

function buildCondition(condition: Condition): Logic {
  if (condition.kind === "group") return build(condition);
  if (condition.kind === "share") {
    const by = { var: condition.by };
    return {
      fractional: [condition.seed ? { cat: [condition.seed, by] } : by, [true, condition.percent], [false, 100 - condition.percent]],
    };
  }
  const variable = { var: condition.attribute };
  const version = versions.find(([operator]) => operator === condition.operator)?.[1];
  if (version) return { sem_ver: [variable, version, condition.value] };
  const symbol = [...symbols, ...dates].find(([operator]) => operator === condition.operator)?.[1];
  if (symbol) return { [symbol]: [variable, condition.value] };
  switch (condition.operator) {
    case "oneOf":
      return { in: [variable, condition.value] };
    case "notOneOf":
      return { "!": [{ in: [variable, condition.value] }] };
    case "contains":
      return { in: [condition.value, variable] };
    case "isNotSet":
      return { "==": [variable, null] };
    default:
      return { "!=": [variable, null] };
  }
}

/** parse reads JSON Logic as a model, or returns undefined when the builder cannot show it exactly. */
export function parse(logic: unknown): Model | undefined {
  const model = read(logic);
  return model && same(build(model), logic) ? model : undefined;
}

function read(logic: unknown): Model | undefined {
  const found = operation(logic);
  if (!found) return same(logic, {}) ? { match: "all", conditions: [] } : undefined;
  const [name, parts] = found;
  if (name !== "and" && name !== "or") return one(logic, "all");
  const conditions = parts.map(readCondition);
  if (conditions.length < 2 || conditions.includes(undefined)) return undefined;
  return { match: name === "and" ? "all" : "any", conditions: conditions as Condition[] };
}

function one(logic: unknown, match: Model["match"]): Model | undefined {
  const condition = readCondition(logic);
  return condition && { match, conditions: [condition] };
}

function readCondition(logic: unknown): Condition | undefined {
  const [name, parts] = operation(logic) ?? ["", []];
  if (name === "and" || name === "or") {
    const model = read(logic);
    return model && { kind: "group", ...model };
  }
  const [left, right] = parts;
  if (name === "fractional") return readShare(parts);
  if (name === "!") {
    const inner = readCondition(left);
    return inner?.kind === "compare" && inner.operator === "oneOf" ? { ...inner, operator: "notOneOf" } : undefined;
  }
  const attribute = variableOf(left);
  if (name === "sem_ver") return readVersion(attribute, parts);
  if (name === "in" && attribute === undefined) {
    const list = variableOf(right);
    return list === undefined || typeof left !== "string"
      ? undefined
      : { kind: "compare", attribute: list, operator: "contains", value: left };
  }
  if (attribute === undefined || parts.length !== 2) return undefined;
  if (name === "in")
    return Array.isArray(right) && right.every(isScalar) ? { kind: "compare", attribute, operator: "oneOf", value: right } : undefined;
  if (right === null && name === "==") return { kind: "compare", attribute, operator: "isNotSet", value: null };
  if (right === null && name === "!=") return { kind: "compare", attribute, operator: "isSet", value: null };
  const operator = (isDate(right) ? [...dates, ...symbols] : symbols).find(([, symbol]) => symbol === name)?.[0];
  return operator && isScalar(right) ? { kind: "compare", attribute, operator, value: right } : undefined;
}

function readVersion(attribute: string | undefined, [, symbol, value]: unknown[]): Condition | undefined {
  const operator = versions.find(([, each]) => each === symbol)?.[0];
  if (attribute === undefined || !operator || !isVersion(value)) return undefined;
  return { kind: "compare", attribute, operator, value };
}

function readShare([by, on]: unknown[]): Condition | undefined {
  const percent = Array.isArray(on) && on[0] === true && typeof on[1] === "number" ? on[1] : undefined;
  if (percent === undefined) return undefined;
  const [name, parts] = operation(by) ?? ["", []];
  if (name === "var") return { kind: "share", by: String(parts[0]), seed: "", percent };
  const attribute = variableOf(parts[1]);
  if (name !== "cat" || typeof parts[0] !== "string" || attribute === undefined) return undefined;
  return { kind: "share", by: attribute, seed: parts[0], percent };
}

const isScalar = (value: unknown) => value instanceof Exact || ["string", "number", "boolean"].includes(typeof value);

function operation(logic: unknown): [string, unknown[]] | undefined {
  if (typeof logic !== "object" || logic === null || Array.isArray(logic) || logic instanceof Exact) return undefined;
  const [entry, ...others] = Object.entries(logic);
  if (!entry || others.length > 0) return undefined;
  return [entry[0], Array.isArray(entry[1]) ? entry[1] : [entry[1]]];
}

function variableOf(logic: unknown): string | undefined {
  const [name, parts] = operation(logic) ?? ["", []];
  return name === "var" && typeof parts[0] === "string" && parts.length === 1 ? parts[0] : undefined;
}

/** meaningOf returns the model of a rule. It also reads percentages with named parts, which the builder writes differently. */
const meaningOf = (logic: unknown) => parse(logic) ?? parse(unnamed(logic));

/** unnamed writes {"==": [{"fractional": [by, ["on", 25], ["off", 75]]}, "on"]} with true and false instead of the names. */
function unnamed(logic: unknown): Logic | undefined {
  const [name, [share, wanted]] = operation(logic) ?? ["", []];
  const [inner, [by, ...parts]] = operation(share) ?? ["", []];
  if (name !== "==" || inner !== "fractional" || !parts.every(Array.isArray)) return undefined;
  return { fractional: [by, ...parts.map(([part, weight]) => [part === wanted, weight])] };
}

/** sentenceOf returns a rule in words, or its JSON if words would not be exact. */
export function sentenceOf(logic: unknown): string {
  const model = meaningOf(logic);
  if (!model) return short(logic, 160);
  return phrasesOf(model);
}

function phrasesOf({ match, conditions }: Model): string {
  if (conditions.length === 0) return "never";
  return conditions.map(phraseOf).join(match === "all" ? " and " : " or ");
}

function phraseOf(condition: Condition): string {
  if (condition.kind === "group") return `(${phrasesOf(condition)})`;
  if (condition.kind === "share") return `${condition.percent} % by ${condition.by}`;
  const { attribute, operator, value } = condition;
  if (operator === "isSet" || operator === "isNotSet") return `${attribute} ${operators[operator]}`;
  const shown = Array.isArray(value) ? value.map((item) => short(item, 30)).join(", ") : short(value, 60);
  return `${attribute} ${operators[operator]} ${shown}`;
}

/** shareOf returns the percentage of a rule whose only condition is a percentage. */
export function shareOf(logic: unknown): number | undefined {
  const [only, ...others] = meaningOf(logic)?.conditions ?? [];
  return only?.kind === "share" && others.length === 0 ? only.percent : undefined;
}

/** typed returns the value of a text that somebody typed: a number, true or false, or a text. A quoted text is always a text. */
export function typed(text: string): unknown {
  const trimmed = text.trim();
  if (/^".*"$/s.test(trimmed)) {
    try {
      return JSON.parse(trimmed);
    } catch {
      return trimmed;
    }
  }
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  return numberOf(trimmed) ?? trimmed;
}

/** textOf is the inverse of typed. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "string") return typed(value) === value ? value : JSON.stringify(value);
  return stringify(value);
}
