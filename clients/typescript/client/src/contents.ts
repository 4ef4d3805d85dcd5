// The resources of the account that a box has loaded for its environment.

import type { Leveled } from "./levels.js";
import { isObject, type Members, same } from "./values.js";

/** A part of a snapshot. */
export type Part = "flags" | "levels" | "configs";
export const ALL: readonly Part[] = ["configs", "flags", "levels"];

/** The server's answer to a request for a snapshot. */
export interface Snapshot {
  readonly seq: number;
  /** When the server lost its database; it then answers from memory. */
  readonly staleSince?: string | undefined;
  readonly attributes: Members;
}

/** A flag's definition, with the members that evaluation in the environment needs. */
export interface FlagDefinition {
  readonly type?: unknown;
  readonly default?: unknown;
  readonly values?: unknown;
  readonly managed?: unknown;
  readonly environments: Readonly<Record<string, unknown>>;
}

/** The kinds of resources that are also loaded one by one. */
export type Kind = "flags" | "loggers" | "groups";

/** Flags, levels and configs, by their keys. They are never changed, only replaced. */
export interface Contents {
  readonly seq: number;
  /** Read from the bootstrap file, whose seq may be of another account. */
  readonly bootstrap: boolean;
  /** Sent by the server, so that levels apply even if this machine's clock says that they have expired. */
  readonly confirmed: boolean;
  readonly flags: ReadonlyMap<string, FlagDefinition>;
  readonly loggers: ReadonlyMap<string, Leveled>;
  readonly groups: ReadonlyMap<string, Leveled>;
  readonly configs: ReadonlyMap<string, Members>;
}

export const NOTHING: Contents = {
  seq: 0,
  bootstrap: false,
  confirmed: false,
  flags: new Map(),
  loggers: new Map(),
  groups: new Map(),
  configs: new Map(),
};

/** Returns the snapshot in a document. It throws an error for anything else. */
export function readDocument(document: unknown): Snapshot {
  const { data, meta } = (isObject(document) ? document : {}) as { data?: Members; meta?: Members };
  const attributes = isObject(data) ? data.attributes : undefined;
  if (data?.type !== "snapshot" || !isObject(attributes) || !Number.isInteger(attributes.seq)) {
    throw new TypeError("it is not a snapshot");
  }
  const stale = isObject(meta) ? meta.stale_since : undefined;
  return { seq: attributes.seq as number, staleSince: typeof stale === "string" ? stale : undefined, attributes };
}

/** Returns contents with some parts replaced by those of a snapshot. */
export function withSnapshot(contents: Contents, environment: string, snapshot: Snapshot, parts: readonly Part[]): Contents {
  const sent = snapshot.attributes;
  const found = { ...contents, seq: snapshot.seq, confirmed: snapshot.staleSince === undefined, bootstrap: false };
  if (parts.includes("flags")) {
    found.flags = resources(sent.flags, (each) => trimmed(each, environment));
  }
  if (parts.includes("levels")) {
    found.loggers = resources(sent.loggers, (each) => leveled(each, environment));
    found.groups = resources(sent.log_groups, (each) => leveled(each, environment));
  }
  if (parts.includes("configs")) {
    const configs = Object.entries((sent.configs ?? {}) as Record<string, { values?: Members } | null>);
    found.configs = new Map(configs.map(([key, each]) => [key, each?.values ?? {}]));
  }
  return found;
}

function resources<T>(list: unknown, read: (attributes: Members) => T): Map<string, T> {
  return new Map(((list ?? []) as { id: string; attributes: Members }[]).map((each) => [each.id, read(each.attributes)]));
}

/** Returns contents with single resources changed; undefined deletes one. An unmanaged flag is not kept: another service's
 * declaration must not replace the default in this service's code. */
export function withResources(
  contents: Contents,
  seq: number,
  kind: Kind,
  changes: ReadonlyMap<string, Members | undefined>,
  environment: string,
): Contents {
  const after = new Map<string, unknown>(contents[kind]);
  for (const [key, attributes] of changes) {
    if (attributes === undefined || (kind === "flags" && !attributes.managed)) {
      after.delete(key);
    } else {
      after.set(key, kind === "flags" ? trimmed(attributes, environment) : leveled(attributes, environment));
    }
  }
  return { ...contents, [kind]: after, seq: Math.max(seq, contents.seq), confirmed: true };
}

/** Reports whether a snapshot is older than the contents and must not replace them. A server that has lost its database
 * answers from memory, which may be older than an earlier answer. A server with a database is always right: there a smaller
 * seq means that the database was restored to an earlier state. */
export function outranks(contents: Contents, snapshot: Snapshot): boolean {
  return snapshot.staleSince !== undefined && snapshot.seq < contents.seq && !contents.bootstrap;
}

/** Returns contents as the document of a snapshot, for the cache. */
export function documentOf(contents: Contents, environment: string): unknown {
  const items = (of: ReadonlyMap<string, unknown>, type: string) => [...of].map(([id, attributes]) => ({ id, type, attributes }));
  const attributes = {
    seq: contents.seq,
    flags: items(contents.flags, "flag"),
    loggers: items(contents.loggers, "logger"),
    log_groups: items(contents.groups, "log_group"),
    configs: Object.fromEntries([...contents.configs].map(([key, values]) => [key, { values }])),
  };
  return { data: { id: environment, type: "snapshot", attributes } };
}

/** Returns contents without the levels that have ended at an instant, and when the next level ends. */
export function unexpired(contents: Contents, at: number): { left: Contents; due: number | undefined } {
  const due: number[] = [];
  const without = (of: ReadonlyMap<string, Leveled>, isLogger: boolean) =>
    new Map([...of].map(([key, each]) => [key, withoutEnded(each, at, due, isLogger)]));
  const left = { ...contents, loggers: without(contents.loggers, true), groups: without(contents.groups, false) };
  return { left, due: least(due) };
}

/** Returns when the first temporary level ends. */
export function firstExpiry(contents: Contents): number | undefined {
  return least([...contents.loggers.values(), ...contents.groups.values()].flatMap(expiries));
}

function least(numbers: readonly number[]): number | undefined {
  return numbers.length > 0 ? numbers.reduce((a, b) => Math.min(a, b)) : undefined;
}

/** Returns a flag with only the members that evaluation in the environment needs. */
function trimmed(flag: Members, environment: string): FlagDefinition {
  return { ...picked(flag, ["type", "default", "values", "managed"]), environments: here(flag, environment) };
}

/** Returns a logger or group with only the members that decide levels in the environment. */
function leveled(logger: Members, environment: string): Leveled {
  return { ...picked(logger, ["level", "level_expires_at", "group", "managed"]), environments: here(logger, environment) };
}

function picked(from: Members, names: readonly string[]): Members {
  return Object.fromEntries(names.filter((name) => name in from).map((name) => [name, from[name]]));
}

function here(resource: Members, environment: string): Members {
  const all = resource.environments;
  return isObject(all) && Object.hasOwn(all, environment) && all[environment] != null ? { [environment]: all[environment] } : {};
}

/** Returns an RFC 3339 time in milliseconds; undefined if there is none. */
export function instant(text: unknown): number | undefined {
  const found = typeof text === "string" ? Date.parse(text) : Number.NaN;
  return Number.isNaN(found) ? undefined : found;
}

function expiries(attributes: Leveled): number[] {
  const overrides = Object.values(attributes.environments ?? {}).map((each) => (isObject(each) ? each.expires_at : undefined));
  return [attributes.level_expires_at, ...overrides].map(instant).filter((each) => each !== undefined);
}

/** Returns a logger or group without the levels that have ended, and notes when the others end. As on the server, a logger
 * that loses its last setting becomes unmanaged. */
function withoutEnded(attributes: Leveled, at: number, due: number[], isLogger: boolean): Leveled {
  const all = expiries(attributes);
  due.push(...all.filter((each) => each > at));
  if (all.every((each) => each > at)) {
    return attributes;
  }
  const goesOn = (text: unknown) => (instant(text) ?? Number.POSITIVE_INFINITY) > at;
  const environments = Object.fromEntries(
    Object.entries(attributes.environments ?? {}).filter(([, each]) => !isObject(each) || goesOn(each.expires_at)),
  );
  const level = goesOn(attributes.level_expires_at) ? attributes.level : undefined;
  const managed = isLogger ? Boolean(level || attributes.group || Object.keys(environments).length > 0) : attributes.managed;
  return { ...attributes, level, environments, managed };
}

/** Returns the keys of resources that were added, removed or changed. */
export function changedKeys(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): string[] {
  if (before === after) {
    return [];
  }
  const changed = [...after].filter(([key, each]) => !before.has(key) || !same(before.get(key), each)).map(([key]) => key);
  return changed.concat([...before.keys()].filter((key) => !after.has(key)));
}
