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
  isSet: "is set",
  isNotSet: "is not set",
} as const;

export type Operator = keyof typeof operators;

/** Condition compares an attribute of the context, or selects a percentage of its values. */
export type Condition =
  | { kind: "compare"; attribute: string; operator: Operator; value: unknown }
  | { kind: "share"; by: string; seed: string; percent: number };

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

/** build writes a model as JSON Logic. A rule without conditions never matches. */
export function build({ match, conditions }: Model): Logic {
  const parts = conditions.map(buildCondition);
  if (parts.length === 0) return {};
  return parts.length === 1 ? (parts[0] as Logic) : { [match === "all" ? "and" : "or"]: parts };
}

function buildCondition(condition: Condition): Logic {
  if (condition.kind === "share") {
    const by = { var: condition.by };
    return {
      fractional: [condition.seed ? { cat: [condition.seed, by] } : by, [true, condition.percent], [false, 100 - condition.percent]],
    };
  }
  const variable = { var: condition.attribute };
  const symbol = symbols.find(([operator]) => operator === condition.operator)?.[1];
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
  const [left, right] = parts;
  if (name === "fractional") return readShare(parts);
  if (name === "!") {
    const inner = readCondition(left);
    return inner?.kind === "compare" && inner.operator === "oneOf" ? { ...inner, operator: "notOneOf" } : undefined;
  }
  const attribute = variableOf(left);
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
  const operator = symbols.find(([, symbol]) => symbol === name)?.[0];
  return operator && isScalar(right) ? { kind: "compare", attribute, operator, value: right } : undefined;
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

const isScalar = (value: unknown) => value !== null && ["string", "number", "boolean"].includes(typeof value);

function operation(logic: unknown): [string, unknown[]] | undefined {
  if (typeof logic !== "object" || logic === null || Array.isArray(logic)) return undefined;
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
  if (model.conditions.length === 0) return "never";
  return model.conditions.map(phraseOf).join(model.match === "all" ? " and " : " or ");
}

function phraseOf(condition: Condition): string {
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

/** typed returns the value of a text that somebody typed: a number, true or false, or a text. Quotes make any of them a text. */
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
  return trimmed !== "" && Number.isFinite(Number(trimmed)) ? Number(trimmed) : trimmed;
}

/** textOf is the inverse of typed. */
export function textOf(value: unknown): string {
  if (value === null || value === undefined) return "";
  if (Array.isArray(value)) return value.map(textOf).join(", ");
  if (typeof value === "string") return typed(value) === value ? value : JSON.stringify(value);
  return JSON.stringify(value);
}
