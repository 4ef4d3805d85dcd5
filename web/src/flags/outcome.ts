import { stringify } from "../api/json";
import { same, short } from "../ui/diff";
import { type Attributes, defaultIn, settingsIn } from "./flags";
import { shareOf } from "./rules";

/** Outcome says what a flag serves in an environment, in a few words: "25 % true", "otherwise false". */
export interface Outcome {
  text: string;
  /** rest is the value for everybody else. */
  rest?: string;
  /** isOff is true while the rules are ignored. */
  isOff: boolean;
}

/** valueText writes a value in a few characters; objects and lists say how much is in them. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(short(value, 24));
  if (typeof value !== "object" || value === null) return String(value);
  const text = stringify(value);
  if (text.length <= 24) return text;
  const size = Object.keys(value).length;
  return Array.isArray(value) ? `list of ${size}` : `object of ${size} ${size === 1 ? "member" : "members"}`;
}

/** outcomeOf returns what a flag serves in an environment. */
export function outcomeOf(attributes: Attributes, environment: string): Outcome {
  const { enabled, rules } = settingsIn(attributes, environment);
  const rest = valueText(defaultIn(attributes, environment));
  if (!enabled) return { text: `off: ${rest}`, isOff: true };
  const values = rules.map(({ value }) => value).filter((value, index, all) => all.findIndex((each) => same(each, value)) === index);
  const [first] = values;
  if (values.length === 0 || (values.length === 1 && valueText(first) === rest)) return { text: rest, isOff: false };
  const count = rules.length === 1 ? "1 rule" : `${rules.length} rules`;
  if (values.length > 1) return { text: `${values.length} values by ${count}`, rest, isOff: false };
  const share = rules.length === 1 ? shareOf(rules[0]?.logic ?? {}) : undefined;
  return { text: share === undefined ? `${valueText(first)} for ${count}` : `${share} % ${valueText(first)}`, rest, isOff: false };
}
