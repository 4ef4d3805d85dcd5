// Operators of numbers.

import { coerced, type Evaluate, source, sources, stateOf } from "./evaluation.js";
import type { Compiler, Node } from "./rules.js";
import { parseNumber, toNumber } from "./values.js";

export function compileSum(c: Compiler, node: Node): Evaluate {
  const args = sources(c, node);
  return (st, data) => {
    let total = 0;
    for (const each of args) {
      total += parseNumber(coerced(st, each(st, data)));
    }
    return total;
  };
}

/** A single argument is returned unchanged, and a product without arguments is a TypeError. */
export function compileProduct(c: Compiler, node: Node): Evaluate {
  const [first, ...rest] = node.args.map((each) => c.value(each));
  return (st, data) => {
    if (!first) {
      stateOf(st).fail("type");
      return null;
    }
    let product = first(st, data);
    for (const each of rest) {
      product = parseNumber(coerced(st, product)) * parseNumber(coerced(st, each(st, data)));
    }
    return product;
  };
}

/** Without a second argument, or if it is undefined, the first is negated. */
export function compileMinus(c: Compiler, node: Node): Evaluate {
  const a = source(c, node, 0);
  const b = source(c, node, 1);
  return (st, data) => {
    const left = coerced(st, a(st, data));
    const right = coerced(st, b(st, data));
    return right === undefined ? -toNumber(left) : toNumber(left) - toNumber(right);
  };
}

export function compileArithmetic(calculate: (a: number, b: number) => number): (c: Compiler, node: Node) => Evaluate {
  return (c, node) => {
    const a = source(c, node, 0);
    const b = source(c, node, 1);
    return (st, data) => {
      const left = coerced(st, a(st, data));
      return calculate(toNumber(left), toNumber(coerced(st, b(st, data))));
    };
  };
}

/** max and min. Without arguments the result is the infinity that every number beats. */
export function compileExtreme(extreme: (...numbers: number[]) => number): (c: Compiler, node: Node) => Evaluate {
  return (c, node) => {
    const args = sources(c, node);
    return (st, data) => extreme(...args.map((each) => toNumber(coerced(st, each(st, data)))));
  };
}
