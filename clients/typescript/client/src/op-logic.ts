// Operators of logic and comparison.

import { coerced, type Evaluate, known, nullValue, type State, source, type Test, testArgument } from "./evaluation.js";
import type { Compiler, Node } from "./rules.js";
import { toNumber, toPrimitive, truthy } from "./values.js";

/** Conditions and results in turn, then an optional else. */
export function compileIf(c: Compiler, node: Node): Evaluate {
  const { args } = node;
  const pairs: [Test, Evaluate][] = [];
  for (let i = 0; i + 1 < args.length; i += 2) {
    pairs.push([c.test(args[i] as Node), c.value(args[i + 1] as Node)]);
  }
  const last = args.at(-1);
  const otherwise = args.length % 2 === 1 && last ? c.value(last) : nullValue;
  return (st, data) => {
    for (const [holds, result] of pairs) {
      if (holds(st, data)) {
        return result(st, data);
      }
    }
    return otherwise(st, data);
  };
}

/** `and` (the first falsy argument, else the last) and `or` (the first truthy one, else the last). */
export function compileFirst(decisive: boolean): (c: Compiler, node: Node) => Evaluate {
  return (c, node) => {
    const args = node.args.map((each) => c.value(each));
    return (st, data) => {
      let last: unknown;
      for (const each of args) {
        last = each(st, data);
        if (truthy(last) === decisive) {
          break;
        }
      }
      return last;
    };
  };
}

/** `and` for a caller that only needs the truthiness. */
export function compileAllOf(c: Compiler, node: Node): Test {
  const tests = node.args.map((each) => c.test(each));
  return (st, data) => {
    for (const test of tests) {
      if (!test(st, data)) {
        return false;
      }
    }
    return tests.length > 0;
  };
}

/** `or` for a caller that only needs the truthiness. */
export function compileAnyOf(c: Compiler, node: Node): Test {
  const tests = node.args.map((each) => c.test(each));
  return (st, data) => {
    for (const test of tests) {
      if (test(st, data)) {
        return true;
      }
    }
    return false;
  };
}

export function compileTruthy(c: Compiler, node: Node): Test {
  return testArgument(c, node, 0);
}

export function negated(compile: (c: Compiler, node: Node) => Test): (c: Compiler, node: Node) => Test {
  return (c, node) => {
    const test = compile(c, node);
    return (st, data) => !test(st, data);
  };
}

type Equal = (st: State | undefined, a: unknown, b: unknown) => boolean;

/** JavaScript's ===. Lists and objects are equal only to themselves. */
export const strictEqual: Equal = (_st, a, b) => a === b;

/** JavaScript's ==. */
export const looseEqual: Equal = (st, a, b) => {
  if (a === b) {
    return true;
  }
  const nothing = a === null || a === undefined;
  if (nothing || b === null || b === undefined) {
    return nothing && (b === null || b === undefined);
  }
  if (typeof a === typeof b) {
    return false;
  }
  const left = toPrimitive(coerced(st, a));
  const right = toPrimitive(coerced(st, b));
  if (typeof left === "string" && typeof right === "string") {
    return left === right;
  }
  return toNumber(left) === toNumber(right);
};

/** == and ===. Most rules compare with a text, on which both agree. */
export function compileEquality(equal: Equal): (c: Compiler, node: Node) => Test {
  return (c, node) => {
    const left = source(c, node, 0);
    const right = source(c, node, 1);
    const fixed = known(node, 1) ?? known(node, 0);
    if (typeof fixed?.value === "string") {
      return equalsText(fixed.value, known(node, 1) ? left : right, equal);
    }
    return (st, data) => equal(st, left(st, data), right(st, data));
  };
}

function equalsText(text: string, other: Evaluate, equal: Equal): Test {
  return (st, data) => {
    const value = other(st, data);
    return typeof value === "string" ? value === text : equal(st, value, text);
  };
}

/** JavaScript's a < b, or a <= b. */
export function less(st: State | undefined, a: unknown, b: unknown, orEqual: boolean): boolean {
  if (typeof a === "number" && typeof b === "number") {
    return orEqual ? a <= b : a < b;
  }
  const left = toPrimitive(coerced(st, a));
  const right = toPrimitive(coerced(st, b));
  if (typeof left === "string" && typeof right === "string") {
    return orEqual ? left <= right : left < right;
  }
  const first = toNumber(left);
  const second = toNumber(right);
  return orEqual ? first <= second : first < second;
}

/** a < b, or with three arguments a < b < c. An undefined third argument is ignored. */
export function compileLess(orEqual: boolean): (c: Compiler, node: Node) => Test {
  return (c, node) => {
    const a = source(c, node, 0);
    const b = source(c, node, 1);
    const third = source(c, node, 2);
    return (st, data) => {
      const low = a(st, data);
      const middle = b(st, data);
      const high = third(st, data);
      return less(st, low, middle, orEqual) && (high === undefined || less(st, middle, high, orEqual));
    };
  };
}

export function compileGreater(orEqual: boolean): (c: Compiler, node: Node) => Test {
  return (c, node) => {
    const a = source(c, node, 0);
    const b = source(c, node, 1);
    return (st, data) => {
      const first = a(st, data);
      return less(st, b(st, data), first, orEqual);
    };
  };
}
