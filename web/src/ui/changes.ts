import type { Sentence } from "../api/kinds";

interface Change {
  kind: string;
  key: string;
  before: object | null;
  after: object | null;
}

/**
 * nameOf returns a readable name for the resource of a change: its name if the id is a UUID, else its id.
 * Settings have no name. A change of several resources has the name of the first.
 */
export function nameOf({ kind, key, before, after }: Change): string {
  if (kind.endsWith("_settings")) return "";
  const { name, email, client, keys } = (after ?? before ?? {}) as Record<string, unknown>;
  if (key === "*" && Array.isArray(keys)) return keys.length > 1 ? `${keys[0]} and ${keys.length - 1} more` : String(keys[0]);
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(key)) return key;
  const known = [name, email, client].find((text) => typeof text === "string" && text !== "");
  return (known as string | undefined) ?? key;
}

/** isWorth reports whether a change is listed by default: sign-ins and sign-outs would hide the rest. */
export const isWorth = ({ attributes }: { attributes: { kind: string } }) => attributes.kind !== "session";

/** healthVerb returns the words for a change of a job's health: "is failing", "recovered". */
export const healthVerb = (action: string) => (action === "recovered" ? action : `is ${action}`);

/** sentencesOf returns the sentences of a change, with the environment where there is one. */
export function sentencesOf(summary: Sentence[] | undefined): string[] {
  return (summary ?? []).map(({ text, environment }) => (environment ? `${environment}: ${text}` : text));
}

/** gistOf returns the sentences of a change in one line. The sentence that only repeats the action is left out if there are others. */
export function gistOf(summary: Sentence[] | undefined): string {
  const [first, ...others] = sentencesOf(summary);
  const isSaid = first === "Created" && others.length > 0;
  return (isSaid ? others : [first, ...others]).filter(Boolean).join(" · ");
}
