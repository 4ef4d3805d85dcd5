import type { ReactNode } from "react";
import { asApiError, type Query, send } from "../api/client";
import { type CursorList, type Kind, type Kinds, pathOf, type Resource, type Single } from "../api/kinds";
import { type Loaded, load } from "../api/queries";

/** Write is a change of one resource, as a screen asks for it. */
export interface Write<K extends Kind> {
  kind: K;
  /** id is "" for resources that the server names: keys, invitations. */
  id: string;
  method?: "PUT" | "POST" | "DELETE";
  /** action is the name of an action on the resource, instead of a write. */
  action?: string;
  /** query has parameters of the write, such as cascade. */
  query?: Query;
  /** verb is the label of the confirming button, instead of Apply or Delete. */
  verb?: string;
  /** final means that the write cannot be undone, as with keys and people. */
  final?: boolean;
  /** title names the write: "Set shop.payments to DEBUG in production". */
  title: string;
  /** done is the message afterward: "shop.payments is DEBUG in production". */
  done: string;
  /** environments are those whose values change; a change in production asks first. */
  environments?: string[];
  /** confirm asks first, whichever environments change. */
  confirm?: boolean;
  /** consequences name further effects, with numbers. */
  consequences?: ReactNode;
  /** change returns the attributes to send. After a conflict it is called again with the newest version. */
  change?: (current: Kinds[K] | undefined) => Record<string, unknown>;
  /** note is the reason for the history; the confirmation shows it for editing. */
  note?: string;
  /** etag is the ETag of the version in the form; without it the newest version is changed. */
  etag?: string;
}

/** Body is the document that a write sends. */
export interface Body {
  data: { type: Kind; id?: string; attributes: Record<string, unknown> };
}

/** asks reports whether a write is confirmed first. */
export function asks(write: Pick<Write<Kind>, "confirm" | "method" | "environments">): boolean {
  return write.confirm || write.method === "DELETE" || (write.environments ?? []).includes("production");
}

/** hasDryRun reports whether the server can say what a write would do; actions and sessions have no dry run. */
export const hasDryRun = (write: Pick<Write<Kind>, "action" | "kind">) => !write.action && write.kind !== "session";

/** currentOf reads the version that a write changes, or returns undefined if the write creates the resource. */
export async function currentOf<K extends Kind>(write: Write<K>): Promise<Loaded<K> | undefined> {
  if (write.method === "POST" || write.kind === "session") return undefined; // sessions cannot be read one by one
  try {
    const loaded = await load(write.kind, write.id);
    return write.etag ? { ...loaded, etag: write.etag } : loaded;
  } catch (failure) {
    if (write.kind === "logger" && asApiError(failure).status === 404) return undefined; // a PUT creates it
    throw failure;
  }
}

/** bodyOf returns the document that a write sends for the current version. */
export function bodyOf<K extends Kind>(write: Write<K>, current?: Loaded<K>): Body | undefined {
  if (write.method === "DELETE" || write.action) return undefined;
  return { data: { type: write.kind, id: write.id || undefined, attributes: write.change?.(current?.resource.attributes) ?? {} } };
}

/** request sends a write. */
export function request<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown) {
  return sent(write, current, body, write.query);
}

/** dryRun asks what a write would do. */
export function dryRun<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown) {
  return sent(write, current, body, { ...write.query, dry_run: true });
}

function sent<K extends Kind>(write: Write<K>, current: Loaded<K> | undefined, body: unknown, query: Query | undefined) {
  const { note } = write;
  if (write.action) return send<Single<K> | undefined>("POST", `${pathOf(write.kind, write.id)}/actions/${write.action}`, { query, note });
  const method = write.method ?? "PUT";
  const path = pathOf(write.kind, method === "POST" ? undefined : write.id);
  return send<Single<K> | undefined>(method, path, { body, ifMatch: current?.etag, query, note });
}

/** newest returns the last change of a resource. */
export async function newest(kind: Kind, id: string): Promise<Resource<"change"> | undefined> {
  const { document } = await send<CursorList<"change">>("GET", "/api/v1/changes", {
    query: { "filter[resource]": `${kind}:${id}`, "page[size]": 1 },
  });
  return document.data[0];
}
