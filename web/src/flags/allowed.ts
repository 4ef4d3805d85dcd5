import { stringify } from "../api/json";
import { valueFrom } from "../ui/typed";
import type { Attributes } from "./flags";

/** Allowed is a value that a flag may serve, as people edit it. */
export interface Allowed {
  name: string;
  /** value is the text of the value; it may be unfinished. */
  value: string;
}

/** allowedOf returns the allowed values of a flag for their editor, or null if any value may be served. */
export function allowedOf({ type, values }: Pick<Attributes, "type" | "values">): Allowed[] | null {
  const textOf = (value: unknown) => (type === "STRING" ? String(value) : stringify(value));
  return values?.map(({ name, value }) => ({ name, value: textOf(value) })) ?? null;
}

/** valuesFrom returns the values of the editor, or throws a sentence about the first text that is not a valid value. A value without a name is named after its text. */
export function valuesFrom(allowed: Allowed[] | null, type: Attributes["type"]): { name: string; value: unknown }[] | null {
  return (
    allowed?.map(({ name, value }, index) => ({
      name: name.trim() || value.trim(),
      value: valueFrom(`Value ${index + 1}`, value, type),
    })) ?? null
  );
}
