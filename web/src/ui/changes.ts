/** nameOf returns what people call the resource of a change: its id, unless that is a number that nobody knows by heart. */
export function nameOf({ key, before, after }: { key: string; before: object | null; after: object | null }): string {
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-/.test(key)) return key;
  const { name, email, client } = (after ?? before ?? {}) as Record<string, unknown>;
  const known = [name, email, client].find((text) => typeof text === "string" && text !== "");
  return (known as string | undefined) ?? key;
}

/** isWorth reports whether a change is listed unasked: who signed in and out would hide the rest. */
export const isWorth = ({ attributes }: { attributes: { kind: string } }) => attributes.kind !== "session";
