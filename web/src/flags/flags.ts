import { Exact } from "../api/json";
import type { Kinds, Resource } from "../api/kinds";
import { same, short } from "../ui/diff";

export type Flag = Resource<"flag">;
export type Attributes = Kinds["flag"];
/** Rule is a rule with its JSON Logic, which the interface describes as any object. */
export type Rule = Omit<Attributes["environments"][string]["rules"][number], "logic"> & { logic: Record<string, unknown> };
export type Settings = Omit<Attributes["environments"][string], "rules"> & { rules: Rule[] };

/** settingsIn returns the settings of a flag in an environment; without an entry, the environment serves the flag's default. */
export function settingsIn(attributes: Attributes, environment: string): Settings {
  return (attributes.environments[environment] as Settings | undefined) ?? { enabled: true, default: null, rules: [] };
}

/** defaultIn returns the value that is served when no rule matches. */
export function defaultIn(attributes: Attributes, environment: string): unknown {
  return settingsIn(attributes, environment).default ?? attributes.default;
}

/** definition returns the attributes that a write sends. */
function definition({ name, description, type, default: fallback, values, environments }: Attributes) {
  return { name, description, type, default: fallback, values, environments };
}

/** withSettings returns the attributes to write, with one environment changed. */
export function withSettings(current: Attributes | undefined, environment: string, change: (settings: Settings) => Settings) {
  if (!current) throw new Error("The flag was deleted.");
  return {
    ...definition(current),
    managed: true,
    environments: { ...current.environments, [environment]: change(settingsIn(current, environment)) },
  };
}

/** withDefinition returns the attributes to write, with members of the flag itself changed. */
export function withDefinition(current: Attributes | undefined, changes: Record<string, unknown>) {
  if (!current) throw new Error("The flag was deleted.");
  return { ...definition(current), ...changes };
}

/** Edited is a rule that somebody edits, with the rules of the version in which they found it. */
export interface Edited {
  rule: Rule;
  index: number;
  among: Rule[];
}

/**
 * replaceRule replaces a rule at its current place; without a new rule it removes the rule. Rules have no
 * id: a rule that somebody else has moved is found by its content, and a rule that somebody else has
 * changed by its place. If the rule is gone, the new one is put in its place.
 */
export function replaceRule(rules: Rule[], edited: Edited | undefined, rule: Rule | undefined): Rule[] {
  const put = rule ? [rule] : [];
  if (!edited) return [...rules, ...put];
  const moved = rules.findIndex((each) => same(each, edited.rule));
  const there = rules[edited.index];
  const isChanged = there !== undefined && !edited.among.some((each) => same(each, there));
  if (moved >= 0) return rules.toSpliced(moved, 1, ...put);
  return rules.toSpliced(edited.index, isChanged ? 1 : 0, ...put);
}

/** keysOf returns a key for each rule, made of its content, since rules have no id. Equal rules are numbered. */
export function keysOf(rules: Rule[]): string[] {
  const seen = new Map<string, number>();
  return rules.map((rule) => {
    const text = JSON.stringify(rule);
    seen.set(text, (seen.get(text) ?? 0) + 1);
    return `${text}#${seen.get(text)}`;
  });
}

/** arranged puts rules in the order of keys; rules that somebody else has added since come last. */
export function arranged(rules: Rule[], keys: string[]): Rule[] {
  const own = keysOf(rules);
  const known = keys.flatMap((key) => rules[own.indexOf(key)] ?? []);
  return [...known, ...rules.filter((_, index) => !keys.includes(own[index] as string))];
}

/** chipOf shows a value in a few characters. */
export function chipOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value === "object" && value !== null && !(value instanceof Exact)) return `{${Object.keys(value).length}}`;
  return typeof value === "string" ? JSON.stringify(short(value, 24)) : String(value);
}

/** exampleOf returns a default for a new flag of a type. */
export function exampleOf(type: Attributes["type"]): unknown {
  return { BOOLEAN: false, STRING: "", NUMERIC: 0, JSON: {} }[type];
}
