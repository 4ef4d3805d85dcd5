import { Exact, stringify } from "../api/json";

/** Difference is one place where two documents differ; undefined is absent. */
export interface Difference {
  path: string[];
  before: unknown;
  after: unknown;
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Exact);

/** differences returns where two documents differ, member by member. Arrays of objects are compared by position. */
export function differences(before: unknown, after: unknown, path: string[] = []): Difference[] {
  if (same(before, after)) return [];
  if (isObject(before) && isObject(after)) {
    const names = [...new Set([...Object.keys(before), ...Object.keys(after)])];
    return names.flatMap((name) => differences(before[name], after[name], [...path, name]));
  }
  if (Array.isArray(before) && Array.isArray(after) && [...before, ...after].every(isObject)) {
    const longest = before.length > after.length ? before : after;
    return longest.flatMap((_, index) => differences(before[index], after[index], [...path, String(index + 1)]));
  }
  return [{ path, before, after }];
}

/** same reports whether two JSON values are equal; the order of members does not matter. */
export function same(one: unknown, other: unknown): boolean {
  if (Object.is(one, other)) return true;
  if (one instanceof Exact && other instanceof Exact) return one.source === other.source;
  if (Array.isArray(one) && Array.isArray(other))
    return one.length === other.length && one.every((item, index) => same(item, other[index]));
  if (!isObject(one) || !isObject(other)) return false;
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => name in other && same(one[name], other[name]));
}

/** changedMembers returns the members of after that differ from before. */
export function changedMembers<T extends object>(before: T, after: T): Partial<T> {
  const changed = Object.entries(after).filter(([name, value]) => !same(value, before[name as keyof T]));
  return Object.fromEntries(changed) as Partial<T>;
}

/** observed are attributes that the server sets; writes leave them out. */
const observed = new Set([
  "created_at",
  "updated_at",
  "resolved",
  "sources",
  "effective_levels",
  "last_seen",
  "last_evaluated",
  "next_run_at",
  "last_run",
  "last_used_at",
  "version",
  "group_id",
  "skipped_at",
]);

/** written returns a resource's attributes without the observed ones. */
export function written(attributes: unknown): Record<string, unknown> {
  if (!isObject(attributes)) return {};
  return Object.fromEntries(Object.entries(attributes).filter(([name]) => !observed.has(name)));
}

/** short returns a value in at most `length` characters, for one line. */
export function short(value: unknown, length = 60): string {
  if (value === undefined) return "absent";
  const text = typeof value === "string" ? value : stringify(value);
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
