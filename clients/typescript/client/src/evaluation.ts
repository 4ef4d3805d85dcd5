// One evaluation of a rule: its limits, its state, and the arguments of operators. See rules.ts.

import type { Compiler, Node } from "./rules.js";
import { type Members, textWeight } from "./values.js";

// The limits of one evaluation. Without them a short rule could run for hours or fill the memory.
/** Nodes evaluated in loops, elements copied, bytes of text built or converted. */
export const MAX_FUEL = 1 << 20;
const MAX_BUILT_WEIGHT = 1 << 26;
const MAX_BUILT_DEPTH = 2000;
const MAX_EXTENT_WEIGHT = 2 ** 40;
/** Conversions of lighter values cost no fuel. */
const FREE_WEIGHT = 64;

/** Why an evaluation failed: it exceeded a limit, or an operator got a value that JavaScript refuses. */
export type Failure = "limit" | "type";

/** A compiled node: a function of the state and the data of its scope. Rules of plain operators run without a state. */
export type Evaluate = (st: State | undefined, data: unknown) => unknown;
/** A compiled node whose caller only needs its truthiness. */
export type Test = (st: State | undefined, data: unknown) => boolean;

interface Extent {
  depth: number;
  weight: number;
}

const SCALAR: Extent = { depth: 0, weight: 8 };

/** The state of one evaluation. */
export class State {
  fuel = MAX_FUEL;
  split = false;
  error: Failure | undefined;
  private extents: Map<object, Extent> | undefined; // most evaluations need none

  /** root is the data of the whole rule; inside a loop, data is an element. */
  constructor(readonly root: unknown) {}

  fail(error: Failure): void {
    this.error ??= error;
  }

  /** Uses fuel and reports whether the evaluation may continue. */
  spend(amount: number): boolean {
    this.fuel -= amount;
    if (this.fuel < 0) {
      this.fail("limit");
    }
    return this.error === undefined;
  }

  /** Checks the size of a value that the evaluation made. */
  built<T extends object>(value: T): T | null {
    const { depth, weight } = this.extent(value);
    if (depth > MAX_BUILT_DEPTH || weight > MAX_BUILT_WEIGHT) {
      this.fail("limit");
      return null;
    }
    return value;
  }

  /** Returns the levels of nesting and the approximate size of the JSON of a value. The JSON can be far larger than the
   * value: reduce can put one list a million times into another. */
  extent(value: unknown): Extent {
    if (typeof value === "string") {
      return { depth: 0, weight: textWeight(value) };
    }
    if (typeof value !== "object" || value === null) {
      return SCALAR;
    }
    this.extents ??= new Map();
    let known = this.extents.get(value);
    if (known === undefined) {
      known = { depth: 1, weight: 1 };
      for (const key in value) {
        const below = this.extent((value as Members)[key]);
        known.depth = Math.max(known.depth, below.depth + 1);
        known.weight += below.weight;
      }
      known.weight = Math.min(known.weight, MAX_EXTENT_WEIGHT);
      this.extents.set(value, known);
    }
    return known;
  }
}

/** Uses fuel for a value that is about to be converted. It returns null when there is no fuel left. */
export function coerced(st: State | undefined, value: unknown): unknown {
  if (st === undefined || (typeof value !== "string" && !Array.isArray(value))) {
    return value;
  }
  const { weight } = st.extent(value);
  return weight > FREE_WEIGHT && !st.spend(weight) ? null : value;
}

/** The state of an operator that is marked as stateful. */
export function stateOf(st: State | undefined): State {
  return st as State;
}

/** How an operation compiles. It has value or test. */
export interface Operator {
  value?: (c: Compiler, node: Node) => Evaluate;
  test?: (c: Compiler, node: Node) => Test;
  /** Arguments that the operator reads; all if absent. */
  arity?: number;
  /** The operator can fail, loop, build large values or split. */
  stateful?: boolean;
}

/** Reports whether there are more arguments than the operator reads. */
export function hasSurplus(op: Operator, node: Node): boolean {
  return op.arity !== undefined && node.args.length > op.arity;
}

export const constant =
  (value: unknown): Evaluate =>
  () =>
    value;
export const undefinedValue = constant(undefined);
export const nullValue = constant(null);

/** Every evaluation makes a new list, since lists compare by identity. */
export function newList(elements: Evaluate[]): Evaluate {
  return (st, data) => stateOf(st).built(elements.map((each) => each(st, data)));
}

export function after(first: Evaluate[], then: Evaluate): Evaluate {
  return (st, data) => {
    for (const each of first) {
      each(st, data);
    }
    return then(st, data);
  };
}

/** Compiles the argument at i; a missing argument is undefined. */
export function argument(c: Compiler, node: Node, i: number): Evaluate {
  const arg = node.args[i];
  return arg ? c.value(arg) : undefinedValue;
}

export function testArgument(c: Compiler, node: Node, i: number): Test {
  const arg = node.args[i];
  return arg ? c.test(arg) : () => false;
}

/** Returns an argument that is the same at every evaluation: a literal, or a list of scalars. Callers must not pass the list
 * on, since its identity would be visible. */
export function known(node: Node, i: number): { value: unknown } | undefined {
  const arg = node.args[i];
  return arg && (arg.kind === "literal" || arg.isScalarList()) ? { value: arg.value } : undefined;
}

/** Compiles the argument at i for an operator that reads the argument but does not return it. */
export function source(c: Compiler, node: Node, i: number): Evaluate {
  const fixed = known(node, i);
  return fixed ? constant(fixed.value) : argument(c, node, i);
}

export function sources(c: Compiler, node: Node): Evaluate[] {
  return node.args.map((_, i) => source(c, node, i));
}

/** Compiles an operator with a wrong number of arguments: the arguments are evaluated, and the result is null. */
export function discard(c: Compiler, node: Node): Evaluate {
  return after(
    node.args.map((each) => c.value(each)),
    nullValue,
  );
}
