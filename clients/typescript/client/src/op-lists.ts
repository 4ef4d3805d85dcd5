// Operators of lists.

import { argument, type Evaluate, nullValue, source, sources, stateOf, type Test, testArgument } from "./evaluation.js";
import type { Compiler, Node } from "./rules.js";

/** Compiles the body of a loop, in which data is an element. */
function scoped<T>(c: Compiler, compile: () => T): T {
  const outer = c.scoped;
  c.scoped = true;
  const body = compile();
  c.scoped = outer;
  return body;
}

/** The fuel for one element of a loop. */
const cost = (node: Node): number => 1 + (node.args[1]?.size ?? 0);

const items = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

export function compileMap(c: Compiler, node: Node): Evaluate {
  const list = source(c, node, 0);
  const body = scoped(c, () => argument(c, node, 1));
  const each = cost(node);
  return (st, data) => {
    const state = stateOf(st);
    const out: unknown[] = [];
    for (const element of items(list(st, data))) {
      if (!state.spend(each)) {
        break;
      }
      out.push(body(st, element));
    }
    return state.built(out);
  };
}

export function compileFilter(c: Compiler, node: Node): Evaluate {
  const list = source(c, node, 0);
  const test = scoped(c, () => testArgument(c, node, 1));
  const each = cost(node);
  return (st, data) => {
    const state = stateOf(st);
    const out: unknown[] = [];
    for (const element of items(list(st, data))) {
      if (!state.spend(each)) {
        break;
      }
      if (test(st, element)) {
        out.push(element);
      }
    }
    return state.built(out);
  };
}

/** The body gets {current, accumulator} and returns the next accumulator. */
export function compileReduce(c: Compiler, node: Node): Evaluate {
  const list = source(c, node, 0);
  const body = scoped(c, () => argument(c, node, 1));
  const initial = node.args[2] ? c.value(node.args[2]) : nullValue;
  const each = cost(node);
  return (st, data) => {
    const state = stateOf(st);
    const elements = list(st, data);
    let accumulator = initial(st, data);
    for (const current of items(elements)) {
      if (!state.spend(each)) {
        break;
      }
      accumulator = body(st, state.built({ current, accumulator }));
    }
    return accumulator;
  };
}

/** `some` and `all`. It stops at the first element that decides; `all` of no elements is false. */
export function compileQuantifier(decisive: boolean): (c: Compiler, node: Node) => Test {
  return (c, node) => {
    const list = source(c, node, 0);
    const test = scoped(c, () => testArgument(c, node, 1));
    const each = cost(node);
    return (st, data) => {
      const elements = items(list(st, data));
      for (const element of elements) {
        if (!stateOf(st).spend(each)) {
          return false;
        }
        if (test(st, element) === decisive) {
          return decisive;
        }
      }
      return !decisive && elements.length > 0;
    };
  };
}

/** One list of all arguments, in which the elements of a list replace that list. */
export function compileMerge(c: Compiler, node: Node): Evaluate {
  const args = sources(c, node);
  return (st, data) => {
    const state = stateOf(st);
    const out: unknown[] = [];
    for (const each of args) {
      const value = each(st, data);
      if (!Array.isArray(value)) {
        out.push(value);
      } else if (state.spend(value.length)) {
        for (const element of value) {
          out.push(element);
        }
      } else {
        break;
      }
    }
    return state.built(out);
  };
}
