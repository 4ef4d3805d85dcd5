interface Change {
  kind: string;
  key: string;
  before: object | null;
  after: object | null;
}

/**
 * nameOf returns what people call the resource of a change: its id, unless that is a number that nobody knows by heart.
 * Settings have no name: there is one of them. Of several resources it is the first.
 */
export function nameOf({ kind, key, before, after }: Change): string {
  if (kind.endsWith("_settings")) return "";
  const { name, email, client, keys } = (after ?? before ?? {}) as Record<string, unknown>;
  if (key === "*" && Array.isArray(keys)) return keys.length > 1 ? `${keys[0]} and ${keys.length - 1} more` : String(keys[0]);
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(key)) return key;
  const known = [name, email, client].find((text) => typeof text === "string" && text !== "");
  return (known as string | undefined) ?? key;
}

/** isWorth reports whether a change is listed unasked: who signed in and out would hide the rest. */
export const isWorth = ({ attributes }: { attributes: { kind: string } }) => attributes.kind !== "session";
