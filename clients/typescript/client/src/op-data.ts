// Operators that read data: `var`, `missing` and `missing_some`.

import { after, argument, coerced, constant, type Evaluate, type State, source, stateOf } from "./evaluation.js";
import type { Compiler, Node } from "./rules.js";
import { isObject, toNumber, toText, wellFormed } from "./values.js";

const INDEX = /^(?:0|[1-9][0-9]{0,8})$/;

/** JavaScript's value[key] without inherited members. */
export function member(value: unknown, key: string): unknown {
  if (isObject(value)) {
    return Object.hasOwn(value, key) ? value[key] : undefined;
  }
  if (Array.isArray(value)) {
    return key === "length" ? value.length : INDEX.test(key) ? value[Number(key)] : undefined;
  }
  if (typeof value === "string") {
    if (key === "length") {
      return value.length;
    }
    const unit = INDEX.test(key) ? value[Number(key)] : undefined;
    return unit === undefined ? undefined : wellFormed(unit);
  }
  return undefined;
}

function atPath(data: unknown, path: readonly string[]): unknown {
  let found = data;
  for (const key of path) {
    found = member(found, key);
    if (found === undefined) {
      break;
    }
  }
  return found;
}

/** Returns the path of a `var` whose name is a literal. */
function staticPath(node: Node): string[] | undefined {
  const [name] = node.args;
  if (!name) {
    return [];
  }
  if (name.kind !== "literal") {
    return undefined;
  }
  return name.value === null || name.value === "" ? [] : toText(name.value).split(".");
}

/** The value at a path of the data, else the second argument, else null. */
export function compileVar(c: Compiler, node: Node): Evaluate {
  const fallback = argument(c, node, 1);
  const path = staticPath(node);
  if (path === undefined) {
    const name = argument(c, node, 0);
    return (st, data) => variable(data, coerced(st, name(st, data)), fallback(st, data));
  }
  if (c.flagKey && !c.scoped && path.length === 2 && path[0] === "$flagd" && path[1] === "flagKey") {
    return constant(c.flagKey);
  }
  if (path.length === 0) {
    const whole: Evaluate = (_st, data) => data;
    return node.args.length > 1 ? after([fallback], whole) : whole; // the fallback may fail
  }
  if (node.args.length > 1) {
    return (st, data) => or(atPath(data, path), fallback(st, data));
  }
  const [first, second] = path as [string, string];
  if (path.length === 2 && !(first in Object.prototype) && !(second in Object.prototype)) {
    return attribute(first, second, path);
  }
  return (_st, data) => or(atPath(data, path), null);
}

/** The common case: an attribute of a context. No plain object inherits the two names, so a plain read finds own members. */
function attribute(first: string, second: string, path: readonly string[]): Evaluate {
  return (_st, data) => {
    if (isObject(data)) {
      const context = data[first];
      if (isObject(context)) {
        const found = context[second];
        return found === undefined ? null : found;
      }
    }
    return or(atPath(data, path), null);
  };
}

function or(value: unknown, fallback: unknown): unknown {
  return value !== undefined ? value : fallback === undefined ? null : fallback;
}

/** Evaluates `var` with a computed name. */
function variable(data: unknown, name: unknown, fallback: unknown): unknown {
  if (name === null || name === undefined || name === "") {
    return data;
  }
  return or(atPath(data, toText(name).split(".")), fallback);
}

/** The given names that have no value. A first argument that is a list is the list of names. */
export function compileMissing(c: Compiler, node: Node): Evaluate {
  const names = node.args.map((each) => c.value(each));
  return (st, data) => {
    const state = stateOf(st);
    return state.built(
      missing(
        state,
        data,
        names.map((each) => each(st, data)),
      ),
    );
  };
}

function missing(st: State, data: unknown, names: unknown[]): unknown[] {
  const keys = Array.isArray(names[0]) ? names[0] : names;
  const absent: unknown[] = [];
  for (const key of keys) {
    if (!st.spend(1)) {
      break;
    }
    if (isMissing(st, data, key)) {
      absent.push(key);
    }
  }
  return absent;
}

/** Reports whether the value at key is null or "". A list as key is a name and a default, as for `var`. */
function isMissing(st: State, data: unknown, key: unknown): boolean {
  const [name, fallback] = Array.isArray(key) ? key : [key];
  const value = variable(data, coerced(st, name), fallback);
  return value === null || value === "";
}

/** An empty list when enough of the given names have values, else the names without. */
export function compileMissingSome(c: Compiler, node: Node): Evaluate {
  const need = source(c, node, 0);
  const options = source(c, node, 1);
  return (st, data) => {
    const state = stateOf(st);
    const wanted = coerced(st, need(st, data));
    const names = options(st, data);
    if (names === null || names === undefined) {
      state.fail("type");
      return null;
    }
    const absent = missing(state, data, Array.isArray(names) ? names : [names]);
    const enough = toNumber(member(names, "length")) - absent.length >= toNumber(wanted);
    return state.built(enough ? [] : absent);
  };
}
