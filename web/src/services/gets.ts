import type { Kinds } from "../api/kinds";
import type { components } from "../api/schema";
import { same } from "../ui/diff";

export type Evaluated = components["schemas"]["EvaluationsDocument"]["data"][number];
type Outcome = Evaluated["attributes"]["environments"][string];

/** contextOf returns a reported context in the form that flags are evaluated for. */
export function contextOf({ context_type, key, attributes }: Kinds["context"]): Record<string, unknown> {
  return { [context_type]: { key, ...attributes } };
}

/** reasonOf says why a value is served, in a few words. */
export function reasonOf({ reason, rule }: Pick<Outcome, "reason" | "rule">): string {
  const number = (rule ?? 0) + 1;
  switch (reason) {
    case "TARGETING_MATCH":
      return `rule ${number}`;
    case "SPLIT":
      return `rule ${number}, percentage`;
    case "DISABLED":
      return "off";
    case "DEFAULT":
      return "no rule matched";
    default:
      return "no rules";
  }
}

/** narrowed returns the flags that pass the filters of the screen. */
export function narrowed(rows: Evaluated[], { q, only }: { q?: string; only?: string }): Evaluated[] {
  const wanted = q?.toLowerCase() ?? "";
  return rows.filter(({ id, attributes }) => {
    const outcomes = Object.values(attributes.environments);
    if (!id.toLowerCase().includes(wanted)) return false;
    if (only === "targeted") return outcomes.some(({ rule }) => rule !== null);
    if (only === "differs") return outcomes.some(({ value }) => !same(value, outcomes[0]?.value));
    return true;
  });
}
