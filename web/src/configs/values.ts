import { stringify } from "../api/json";
import type { Kinds, Resource } from "../api/kinds";
import type { Environment } from "../api/session";
import { same } from "../ui/diff";

export { readAs, textOf } from "../ui/typed";

export type ItemType = "STRING" | "NUMBER" | "BOOLEAN" | "JSON";
export const types: ItemType[] = ["STRING", "NUMBER", "BOOLEAN", "JSON"];

export interface Item {
  value: unknown;
  type: ItemType;
  description: string | null;
  schema?: unknown;
}

/** Config has the stored members of a config; the generated type lacks the values of overrides. */
export interface Config extends Omit<Kinds["config"], "items" | "environments"> {
  items: Record<string, Item>;
  environments: Record<string, Record<string, unknown>>;
}

/** Level is one config of a chain. */
export interface Level {
  id: string;
  config: Config;
  etag?: string;
}

export const levelOf = ({ id, attributes }: Resource<"config">, etag?: string): Level => ({
  id,
  config: attributes as unknown as Config,
  etag,
});

/** Origin is the place that a resolved value comes from, as the server reports it. */
export interface Origin {
  config: string;
  source: "base" | "environment";
}

/** Resolved has the resolved values of a config in an environment, as the server reports them. */
export interface Resolved {
  values: Record<string, unknown>;
  origins: Record<string, Origin>;
}

/** Row is an item of a config, its own or an inherited one. */
export interface Row {
  key: string;
  item: Item;
  /** of is the nearest config that declares the item. */
  of: string;
  isOwn: boolean;
}

/** rowsOf returns the items of a chain, which begins with the config itself: its own items first, then inherited ones. */
export function rowsOf(chain: Level[]): Row[] {
  const rows = new Map<string, Row>();
  chain.forEach(({ id, config }, index) => {
    for (const [key, item] of Object.entries(config.items)) if (!rows.has(key)) rows.set(key, { key, item, of: id, isOwn: index === 0 });
  });
  return [...rows.values()].toSorted((one, other) => Number(other.isOwn) - Number(one.isOwn) || one.key.localeCompare(other.key));
}

/** Standing is the origin of a value relative to its cell: set there, this config's default, or inherited. */
export type Standing = "own" | "default" | "inherited";

/** standing returns the standing of a value; the column without an environment shows the defaults. */
export function standing(id: string, origin: Origin | undefined, environment?: string): Standing {
  if (origin?.config !== id) return "inherited";
  return origin.source === "environment" || environment === undefined ? "own" : "default";
}

/** originWord says where a value comes from, in a few words. */
export function originWord(id: string, origin: Origin | undefined, environment?: string): string {
  if (!origin) return "";
  switch (standing(id, origin, environment)) {
    case "own":
      return "";
    case "default":
      return "default";
    default:
      return origin.source === "environment" ? `↑ ${origin.config}, ${environment}` : `↑ ${origin.config}`;
  }
}

/** writable returns the members of a config that a replacement sends. */
export function writable({ name, description, parent, items, environments }: Config) {
  return { name, description, parent, items, environments };
}

/** Place is a cell: an item's default, or its value in an environment. */
export interface Place {
  key: string;
  environment?: string;
}

/** withValue returns a config with a value at a place; an inherited item is declared here when its default changes. */
export function withValue(config: Config, { key, environment }: Place, value: unknown, inherited?: Item) {
  const next = writable(config);
  if (environment !== undefined) {
    return { ...next, environments: { ...next.environments, [environment]: { ...next.environments[environment], [key]: value } } };
  }
  const { type, description } = next.items[key] ?? inherited ?? { type: "STRING" as const, description: null };
  return { ...next, items: { ...next.items, [key]: { ...next.items[key], type, description, value } } };
}

/** withoutValue returns a config without the value at a place, so that it is inherited again. */
export function withoutValue(config: Config, { key, environment }: Place) {
  const next = writable(config);
  if (environment === undefined) return { ...next, items: without(next.items, key) };
  return { ...next, environments: { ...next.environments, [environment]: without(next.environments[environment] ?? {}, key) } };
}

/** withoutItem returns a config without an item and its overrides. */
export function withoutItem(config: Config, key: string) {
  const next = writable(config);
  const environments = Object.entries(next.environments).map(([id, values]) => [id, without(values, key)] as const);
  return { ...next, items: without(next.items, key), environments: Object.fromEntries(environments) };
}

function without<V>(members: Record<string, V>, key: string): Record<string, V> {
  return Object.fromEntries(Object.entries(members).filter(([name]) => name !== key));
}

/** isSet reports whether a config itself has a value at a place. */
export function isSet(config: Config, { key, environment }: Place): boolean {
  return environment === undefined ? key in config.items : key in (config.environments[environment] ?? {});
}

/** storedAt returns the value that a config itself stores at a place; of an object, only the part to merge. */
export function storedAt(config: Config, { key, environment }: Place): unknown {
  return environment === undefined ? config.items[key]?.value : config.environments[environment]?.[key];
}

/** overridesIn counts the values that a config has for an environment. */
export const overridesIn = (config: Config, environment: string) => Object.keys(config.environments[environment] ?? {}).length;

/** pointerOf returns the place of a value in the body that is sent. */
export function pointerOf({ key, environment }: Place): string {
  const step = (text: string) => text.replaceAll("~", "~0").replaceAll("/", "~1");
  return environment === undefined
    ? `/data/attributes/items/${step(key)}/value`
    : `/data/attributes/environments/${step(environment)}/${step(key)}`;
}

/** shown returns a value in one line. A text has no quotes unless it is empty. */
export function shown(value: unknown, length = 80): string {
  if (value === undefined) return "";
  const text = value === "" ? '""' : typeof value === "string" ? value : stringify(value);
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}

/** Difference is an item whose values differ between two environments. */
export interface Difference {
  row: Row;
  from: unknown;
  to: unknown;
  differs: boolean;
}

/** compare compares the resolved values of two environments, item by item. */
export function compare(rows: Row[], from: Resolved, to: Resolved): Difference[] {
  return rows.map((row) => {
    const [one, other] = [from.values[row.key], to.values[row.key]];
    return { row, from: one, to: other, differs: !same(one, other) };
  });
}

export interface Copying {
  keys: string[];
  from: { environment: string; resolved: Resolved };
  to: string;
  chain: Level[];
}

/**
 * copied returns a config whose environment has the values of another. If both environments would inherit a
 * value from the same place, it stays inherited; every other value becomes an override.
 */
export function copied(config: Config, { keys, from, to, chain }: Copying) {
  let next = writable(config);
  for (const key of keys) {
    const place = { key, environment: to };
    const changed = isInheritedAlike(key, from, to, chain)
      ? withoutValue({ ...config, ...next }, place)
      : withValue({ ...config, ...next }, place, from.resolved.values[key]);
    next = { ...next, environments: changed.environments };
  }
  return next;
}

// isInheritedAlike reports whether an environment without an override inherits the same default as another one.
function isInheritedAlike(key: string, { resolved }: Copying["from"], to: string, chain: Level[]): boolean {
  const origin = resolved.origins[key];
  if (origin?.source !== "base") return false;
  const at = chain.findIndex(({ id }) => id === origin.config);
  return chain.slice(1, at + 1).every(({ config }) => !isSet(config, { key, environment: to }));
}

/** goType returns the Go code with which a service reads a config. */
export function goType(id: string, rows: Row[]): string {
  const name = goName(id);
  const kinds: Record<ItemType, string> = { STRING: "string", NUMBER: "float64", BOOLEAN: "bool", JSON: "json.RawMessage" };
  const names = Math.max(0, ...rows.map(({ key }) => goName(key).length));
  const words = Math.max(0, ...rows.map(({ item }) => kinds[item.type].length));
  const fields = rows.map(({ key, item }) => `\t${goName(key).padEnd(names)} ${kinds[item.type].padEnd(words)} \`json:"${key}"\``);
  return `type ${name} struct {\n${fields.join("\n")}\n}\n\nsettings := live.Config(box, "${id}", ${name}{})\nsettings.Get() // always current`;
}

function goName(key: string): string {
  const words = key.split(/[^A-Za-z0-9]+/).filter((word) => word !== "");
  const name = words.map((word) => word[0]?.toUpperCase() + word.slice(1)).join("");
  return /^[A-Z]/.test(name) ? name : `X${name}`;
}

/** frozen returns the reason why the values of an environment cannot change, or undefined. */
export function frozen(environment: Environment | undefined): string | undefined {
  return environment && !environment.managed ? `${environment.name} is not managed: its values are frozen.` : undefined;
}
