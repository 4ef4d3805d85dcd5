// Operators of text and versions.

import { coerced, discard, type Evaluate, known, MAX_FUEL, type State, source, sources, stateOf, type Test } from "./evaluation.js";
import { less } from "./op-logic.js";
import type { Compiler, Node } from "./rules.js";
import { joined, textWeight, toNumber, toText, wellFormed } from "./values.js";
import { compareVersions, parseVersion, type Version } from "./versions.js";

/** A substring of a text, or an element of a list by ===. */
export function compileIn(c: Compiler, node: Node): Test {
  const needle = source(c, node, 0);
  const haystack = source(c, node, 1);
  const items = known(node, 1)?.value;
  if (Array.isArray(items)) {
    const literals = new Set(items.filter((each) => typeof each !== "object" || each === null));
    return (st, data) => literals.has(needle(st, data)); // a rule has no NaN, the one value that Set compares otherwise
  }
  return (st, data) => contains(st, haystack(st, data), needle(st, data));
}

function contains(st: State | undefined, haystack: unknown, needle: unknown): boolean {
  if (typeof haystack === "string") {
    st?.spend(textWeight(haystack) - 2);
    return haystack !== "" && haystack.includes(toText(coerced(st, needle)));
  }
  if (Array.isArray(haystack)) {
    st?.spend(haystack.length);
    return haystack.indexOf(needle) >= 0;
  }
  return false;
}

/** The texts of all arguments joined; null is empty. */
export function compileCat(c: Compiler, node: Node): Evaluate {
  const args = sources(c, node);
  return (st, data) => {
    const state = stateOf(st);
    let text = "";
    for (const each of args) {
      const value = each(st, data);
      if (Array.isArray(value) && state.extent(value).weight > MAX_FUEL) {
        state.fail("limit");
        return null;
      }
      const part = joined(value);
      if (!state.spend(textWeight(part) - 2)) {
        return null;
      }
      text += part;
    }
    return text;
  };
}

/** Start and length as in JavaScript; a negative length counts from the end, as in PHP. */
export function compileSubstr(c: Compiler, node: Node): Evaluate {
  const textOf = source(c, node, 0);
  const start = source(c, node, 1);
  const length = source(c, node, 2);
  return (st, data) => {
    const text = toText(coerced(st, textOf(st, data)));
    const begin = coerced(st, start(st, data));
    const count = coerced(st, length(st, data));
    if (!less(st, count, 0, false)) {
      return substring(text, begin, count);
    }
    const rest = substring(text, begin, undefined);
    if (typeof count !== "number") {
      return ""; // the reference adds the length to a text here
    }
    return substring(rest, 0, rest.length + count);
  };
}

/** JavaScript's text.substr(start, length); an undefined length means to the end. */
function substring(text: string, start: unknown, length: unknown): string {
  const size = text.length;
  let begin = integer(start);
  begin = Math.min(begin < 0 ? Math.max(size + begin, 0) : begin, size);
  const count = length === undefined ? size : Math.max(integer(length), 0);
  return wellFormed(text.slice(begin, Math.min(begin + count, size)));
}

/** JavaScript's ToIntegerOrInfinity(value). */
function integer(value: unknown): number {
  return Math.trunc(toNumber(value)) || 0;
}

/** `starts_with` and `ends_with` of exactly two texts; anything else is null, as in flagd. */
export function compileAffix(matches: (text: string, part: string) => boolean): (c: Compiler, node: Node) => Evaluate {
  return (c, node) => {
    if (node.args.length !== 2) {
      return discard(c, node);
    }
    const text = source(c, node, 0);
    const part = source(c, node, 1);
    return (st, data) => {
      const value = text(st, data);
      const affix = part(st, data);
      return typeof value === "string" && typeof affix === "string" ? matches(value, affix) : null;
    };
  };
}

/** A version, an operator and a version; other arguments give null. */
export function compileSemVer(c: Compiler, node: Node): Evaluate {
  if (node.args.length !== 3) {
    return discard(c, node);
  }
  const actual = version(c, node, 0);
  const operator = source(c, node, 1);
  const target = version(c, node, 2);
  return (st, data) => {
    const a = actual(st, data);
    const b = target(st, data);
    const by = operator(st, data);
    return a && b && typeof by === "string" ? compareVersions(a, b, by) : null;
  };
}

/** Compiles an argument that is a version; a literal is parsed once. */
function version(c: Compiler, node: Node, i: number): (st: State | undefined, data: unknown) => Version | undefined {
  const fixed = known(node, i);
  if (fixed) {
    const parsed = versionOf(fixed.value);
    return () => parsed;
  }
  const arg = source(c, node, i);
  return (st, data) => versionOf(coerced(st, arg(st, data)));
}

function versionOf(value: unknown): Version | undefined {
  return typeof value === "string" || typeof value === "number" ? parseVersion(String(value)) : undefined;
}
