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

/** healthVerb says what happened to the health of a job: "is failing", "recovered". */
export const healthVerb = (action: string) => (action === "recovered" ? action : `is ${action}`);
