// JSON Logic with flagd's operators, compiled to functions. It means the same as the Go package client/jsonlogic.
//
// Compiling checks the limits, splits paths and prepares literals. A rule runs without a state if none of its operators
// can fail, loop, build large values or split.

import { after, constant, type Evaluate, type Failure, hasSurplus, MAX_FUEL, newList, State, type Test } from "./evaluation.js";
import { OPERATORS } from "./operators.js";
import { escapePointer, isObject, normalize, truthy } from "./values.js";

// The limits of a rule. Depth counts nested operations, lists and objects; nodes are operations, lists, objects and scalars.
const MAX_DEPTH = 64;
const MAX_NODES = 2000;

/** Why and where a rule was rejected. */
export class RuleError extends Error {
  constructor(
    readonly code: "too_many_nodes" | "too_deep" | "unknown_operator",
    readonly pointer: string,
    detail: string,
  ) {
    super(pointer ? `${detail} (at ${pointer})` : detail);
    this.name = "RuleError";
  }
}

/** The result of a rule for one context. */
export interface Decision {
  matched: boolean;
  /** A `fractional` was evaluated: the result depends on a bucket. */
  split: boolean;
  /** matched is then false. */
  error?: Failure | undefined;
}

/** One operation, list or literal of a rule. */
export class Node {
  kind: "literal" | "list" | "operation" = "literal";
  op = "";
  args: Node[] = [];
  size = 1;

  constructor(
    readonly value: unknown,
    readonly pointer: string,
  ) {}

  /** Reports whether the node is a list of scalar literals. */
  isScalarList(): boolean {
    return this.kind === "list" && this.args.every((each) => each.kind === "literal" && !isObject(each.value));
  }
}

/** Converts JSON to nodes and counts them. */
class Builder {
  private nodes = 0;

  build(value: unknown, pointer: string, depth: number): Node {
    const node = new Node(value, pointer);
    const before = this.nodes;
    if (Array.isArray(value)) {
      this.admit(value, pointer, depth);
      node.kind = "list";
      node.args = this.arguments(value, pointer, depth);
    } else if (isObject(value) && Object.keys(value).length === 1) {
      this.admit(value, pointer, depth);
      this.operation(node, value, depth);
    } else {
      this.data(value, pointer, depth);
    }
    node.size = this.nodes - before;
    return node;
  }

  /** Counts a node and checks the limits. */
  private admit(value: unknown, pointer: string, depth: number): void {
    this.nodes++;
    if (this.nodes > MAX_NODES) {
      throw new RuleError("too_many_nodes", pointer, `a rule may have at most ${MAX_NODES} nodes`);
    }
    if (depth >= MAX_DEPTH && typeof value === "object" && value !== null) {
      throw new RuleError("too_deep", pointer, `a rule may be at most ${MAX_DEPTH} levels deep`);
    }
  }

  /** Converts an object with one key. A single argument need not be in a list. */
  private operation(node: Node, value: Record<string, unknown>, depth: number): void {
    node.kind = "operation";
    node.op = Object.keys(value)[0] as string;
    const pointer = `${node.pointer}/${escapePointer(node.op)}`;
    if (!Object.hasOwn(OPERATORS, node.op)) {
      throw new RuleError("unknown_operator", pointer, `unknown operator "${node.op}"`);
    }
    const given = value[node.op];
    node.args = Array.isArray(given) ? this.arguments(given, pointer, depth) : [this.build(given, pointer, depth + 1)];
  }

  private arguments(items: unknown[], pointer: string, depth: number): Node[] {
    return items.map((each, i) => this.build(each, `${pointer}/${i}`, depth + 1));
  }

  /** Counts the nodes of a literal. */
  private data(value: unknown, pointer: string, depth: number): void {
    this.admit(value, pointer, depth);
    if (typeof value === "object" && value !== null) {
      for (const [key, each] of Object.entries(value)) {
        this.data(each, `${pointer}/${escapePointer(key)}`, depth + 1);
      }
    }
  }
}

/** Turns nodes into functions. */
export class Compiler {
  /** Inside a loop's body, where data is an element. */
  scoped = false;
  /** An operator needs a state. */
  stateful = false;

  constructor(readonly flagKey: string) {}

  /** Compiles a node. */
  value(node: Node): Evaluate {
    if (node.kind === "literal") {
      return constant(node.value);
    }
    if (node.kind === "list") {
      this.stateful = true;
      return newList(node.args.map((each) => this.value(each)));
    }
    const op = OPERATORS[node.op];
    if (!op) {
      throw new RuleError("unknown_operator", node.pointer, `unknown operator "${node.op}"`);
    }
    this.stateful ||= op.stateful === true;
    const compiled = (op.value ?? op.test)?.(this, node) as Evaluate;
    if (!hasSurplus(op, node)) {
      return compiled;
    }
    // The reference evaluates the arguments that the operator ignores, and one of them may fail.
    return after(
      node.args.slice(op.arity).map((each) => this.value(each)),
      compiled,
    );
  }

  /** Compiles a node whose caller only needs its truthiness. */
  test(node: Node): Test {
    const op = node.kind === "operation" ? OPERATORS[node.op] : undefined;
    if (op?.test && !hasSurplus(op, node)) {
      this.stateful ||= op.stateful === true;
      return op.test(this, node);
    }
    const value = this.value(node);
    return (st, data) => truthy(value(st, data));
  }
}

/** A compiled rule. */
export class Rule {
  /** Reports whether the rule matches data of at most plainWeight. */
  readonly match: (data: unknown) => boolean;
  /** The weight of data up to which match cannot exceed the limits, or needs no state to notice. */
  readonly plainWeight: number;
  private readonly evaluator: Evaluate;
  private readonly tester: Test;
  private readonly stateful: boolean;

  /** Throws a RuleError. */
  constructor(logic: unknown, flagKey = "") {
    const root = new Builder().build(normalize(logic), "", 0);
    const compiler = new Compiler(flagKey);
    this.evaluator = compiler.value(root);
    this.tester = compiler.test(root);
    this.stateful = compiler.stateful;
    this.plainWeight = Math.floor(MAX_FUEL / root.size);
    const test = this.tester;
    this.match = this.stateful ? (data) => this.matchWithState(data) : (data) => test(undefined, data);
  }

  private matchWithState(data: unknown): boolean {
    const st = new State(data);
    return this.tester(st, data) && st.error === undefined;
  }

  /** Applies the rule to data of a weight. */
  decide(data: unknown, weight: number): Decision {
    if (!this.stateful && weight <= this.plainWeight) {
      return { matched: this.tester(undefined, data), split: false };
    }
    const st = new State(data);
    const matched = this.tester(st, data) && st.error === undefined;
    return { matched, split: st.split, error: st.error };
  }

  /** Returns the rule's result for data, or the error. */
  evaluate(data: unknown): { value?: unknown; error?: Failure } {
    const st = new State(data);
    const value = this.evaluator(st, data);
    return st.error ? { error: st.error } : { value };
  }
}
