import type { Method } from "../api/client";

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
  if (body !== undefined) lines.push("-H 'Content-Type: application/vnd.api+json'", `-d ${quote(JSON.stringify(body))}`);
  return lines.join(" \\\n  ");
}
