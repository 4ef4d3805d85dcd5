import type { Kinds, Resource } from "../api/kinds";
import { same, short } from "../ui/diff";

export type Flag = Resource<"flag">;
export type Attributes = Kinds["flag"];
/** Rule is a rule with its JSON Logic, which the interface describes as any object. */
export type Rule = Omit<Attributes["environments"][string]["rules"][number], "logic"> & { logic: Record<string, unknown> };
export type Settings = Omit<Attributes["environments"][string], "rules"> & { rules: Rule[] };

/** settingsIn returns what a flag has for an environment; one without an entry serves the flag's default. */
export function settingsIn(attributes: Attributes, environment: string): Settings {
  return (attributes.environments[environment] as Settings | undefined) ?? { enabled: true, default: null, rules: [] };
}

/** defaultIn returns what is served when no rule matches. */
export function defaultIn(attributes: Attributes, environment: string): unknown {
  return settingsIn(attributes, environment).default ?? attributes.default;
}

/** definition returns the attributes that a write repeats. */
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

/** replaceRule puts a rule where another was. Somebody else may have moved it meanwhile; if it is gone, it is added. */
export function replaceRule(rules: Rule[], old: Rule | undefined, rule: Rule | undefined): Rule[] {
  const at = old ? rules.findIndex((each) => same(each, old)) : -1;
  if (at < 0) return rule ? [...rules, rule] : rules;
  return rules.flatMap((each, index) => (index === at ? (rule ? [rule] : []) : [each]));
}

/** keysOf names rules by what they are, since they have no id; of two that are alike, the second has a number. */
export function keysOf(rules: Rule[]): string[] {
  const seen = new Map<string, number>();
  return rules.map((rule) => {
    const text = JSON.stringify(rule);
    seen.set(text, (seen.get(text) ?? 0) + 1);
    return `${text}#${seen.get(text)}`;
  });
}

/** arranged puts rules in the order of their keys; those that somebody added meanwhile come last. */
export function arranged(rules: Rule[], keys: string[]): Rule[] {
  const own = keysOf(rules);
  const known = keys.flatMap((key) => rules[own.indexOf(key)] ?? []);
  return [...known, ...rules.filter((_, index) => !keys.includes(own[index] as string))];
}

/** chipOf shows a value in a few characters. */
export function chipOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.length}]`;
  if (typeof value === "object" && value !== null) return `{${Object.keys(value).length}}`;
  return typeof value === "string" ? JSON.stringify(short(value, 24)) : String(value);
}

/** exampleOf returns a default for a new flag of a type. */
export function exampleOf(type: Attributes["type"]): unknown {
  return { BOOLEAN: false, STRING: "", NUMERIC: 0, JSON: {} }[type];
}
