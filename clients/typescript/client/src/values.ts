// Values as rules see them: JSON, and undefined. JavaScript's conversions apply, but they never call an object's own
// members, such as toString, and rules never see inherited members.

export type Members = Record<string, unknown>;

/** Reports whether a value is an object, but not a list. */
export function isObject(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Sets a member, also one that is named __proto__. */
export function define(object: Members, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(object, key, { value, enumerable: true, configurable: true, writable: true });
  } else {
    object[key] = value;
  }
}

/** Returns a copy of any value as JSON would have it. A value that has no JSON form, or is nested too deeply, becomes null. */
export function normalize(value: unknown): unknown {
  try {
    return normalized(value);
  } catch {
    return null; // nested into itself, or a toJSON that throws
  }
}

function normalized(value: unknown): unknown {
  switch (typeof value) {
    case "string":
      return wellFormed(value);
    case "number":
    case "boolean":
      return value;
    case "bigint":
      return Number(value);
    case "object":
      return value === null ? null : normalizedObject(value);
    default:
      return null;
  }
}

function normalizedObject(value: object): unknown {
  if (Array.isArray(value)) {
    return value.map(normalized);
  }
  if (value instanceof Map) {
    return normalizedObject(Object.fromEntries(value));
  }
  if (value instanceof Set) {
    return [...value].map(normalized);
  }
  if ("toJSON" in value && typeof value.toJSON === "function") {
    return normalized(value.toJSON());
  }
  const copy: Members = {};
  for (const key of Object.keys(value)) {
    const member = (value as Members)[key];
    if (member !== undefined && typeof member !== "function") {
      define(copy, wellFormed(key), normalized(member));
    }
  }
  return copy;
}

// Half of a surrogate pair has no UTF-8 form.
const LONE_SURROGATE = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** Replaces lone surrogates by U+FFFD, as encoding to UTF-8 does. */
export function wellFormed(text: string): string {
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdfff) {
      return text.replace(LONE_SURROGATE, "\ufffd");
    }
  }
  return text;
}

/** Reports whether a value is truthy as in JavaScript, except that an empty list is not. */
export function truthy(value: unknown): boolean {
  return Array.isArray(value) ? value.length > 0 : Boolean(value);
}

/** JavaScript's Number(value). */
export function toNumber(value: unknown): number {
  if (typeof value !== "object" || value === null) {
    return Number(value);
  }
  return Array.isArray(value) ? Number(toText(value)) : Number.NaN;
}

/** JavaScript's String(value). */
export function toText(value: unknown): string {
  if (typeof value !== "object" || value === null) {
    return String(value);
  }
  return Array.isArray(value) ? joined(value) : "[object Object]";
}

/** Returns a value as an element of a joined list: null and undefined are empty, lists are joined with commas. */
export function joined(value: unknown): string {
  if (value === null || value === undefined) {
    return "";
  }
  return Array.isArray(value) ? value.map(joined).join(",") : toText(value);
}

/** Converts lists and objects to text, as JavaScript does before it compares or calculates. */
export function toPrimitive(value: unknown): unknown {
  return typeof value === "object" && value !== null ? toText(value) : value;
}

/** JavaScript's parseFloat(value). */
export function parseNumber(value: unknown): number {
  if (typeof value === "number") {
    return value || (Number.isNaN(value) ? value : 0); // -0 loses its sign in text
  }
  return typeof value === "string" || Array.isArray(value) ? Number.parseFloat(toText(value)) : Number.NaN;
}

/** Returns the approximate size of a text in JSON, in bytes of UTF-8. */
export function textWeight(text: string): number {
  let bytes = text.length + 2;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit > 0x7f) {
      // Two units of a surrogate pair are four bytes.
      bytes += unit > 0x7ff && (unit < 0xd800 || unit > 0xdfff) ? 2 : 1;
    }
  }
  return bytes;
}

/** Returns the approximate size of the JSON of data, in bytes. Data is a tree, unlike the values that rules build. */
export function weightOf(value: unknown): number {
  if (typeof value === "string") {
    return textWeight(value);
  }
  if (typeof value !== "object" || value === null) {
    return 8;
  }
  let weight = 1;
  for (const key in value) {
    weight += weightOf((value as Members)[key]);
  }
  return weight;
}

/** Reports whether two JSON values are the same. Two values that are nested into themselves are not. */
export function same(a: unknown, b: unknown): boolean {
  try {
    return equal(a, b);
  } catch {
    return false; // deeper than the stack
  }
}

function equal(a: unknown, b: unknown): boolean {
  if (a === b) {
    return true;
  }
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) {
    return Number.isNaN(a) && Number.isNaN(b);
  }
  if (Array.isArray(a) !== Array.isArray(b)) {
    return false;
  }
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equal((a as Members)[key], (b as Members)[key]))
  );
}

/** Escapes a key for a JSON pointer (RFC 6901). */
export function escapePointer(key: string): string {
  return key.replaceAll("~", "~0").replaceAll("/", "~1");
}
