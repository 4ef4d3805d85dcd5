import type { Method } from "../api/client";
import { stringify } from "../api/json";

/** Sent is a request as a form would send it. */
export interface Sent {
  method: Method;
  path: string;
  body?: unknown;
}

const quote = (text: string) => `'${text.replaceAll("'", `'\\''`)}'`;

/** asCurl returns a request as a command for a shell; the key is a variable. */
export function asCurl(origin: string, { method, path, body }: Sent): string {
  const lines = [`curl -X ${method} ${quote(origin + path)}`, '-H "Authorization: Bearer $SIGNALBOX_KEY"', "-H 'Prefer: handling=strict'"];
  if (body !== undefined) lines.push("-H 'Content-Type: application/vnd.api+json'", `-d ${quote(stringify(body))}`);
  return lines.join(" \\\n  ");
}

const word = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : quote(text));

/** asCommand returns a command of the command line. Options without a value are left out; a list repeats its option. */
export function asCommand(words: string[], options: Record<string, string | string[] | null> = {}): string {
  const flags = Object.entries(options).flatMap(([name, value]) =>
    [value ?? []].flat().flatMap((each) => (each === "" ? [] : `${name.length === 1 ? "-" : "--"}${name} ${word(each)}`)),
  );
  return ["signalbox", ...words.map(word), ...flags].join(" ");
}

/** goText returns a text as Go writes it, or undefined for an empty one. */
export const goText = (text: string | null) => (text ? JSON.stringify(text) : undefined);

/** asGo returns a call of the Go client with a draft. Its members are Go code; those without a value are left out. */
export function asGo(call: string, id: string | undefined, type: string, members: Record<string, string | undefined>): string {
  const known = Object.entries(members).flatMap(([name, value]) => (value ? `${name}: ${value}` : []));
  const draft = `signalbox.${type}{${known.join(", ")}}`;
  return `saved, err := client.${call}(ctx, ${id === undefined ? "" : `${JSON.stringify(id)}, `}${draft})`;
}
