// The table of operators. Each compiles a node to a function; see rules.ts.

import { argument, type Operator } from "./evaluation.js";
import { compileMissing, compileMissingSome, compileVar } from "./op-data.js";
import { compileFractional } from "./op-fractional.js";
import { compileFilter, compileMap, compileMerge, compileQuantifier, compileReduce } from "./op-lists.js";
import {
  compileAllOf,
  compileAnyOf,
  compileEquality,
  compileFirst,
  compileGreater,
  compileIf,
  compileLess,
  compileTruthy,
  looseEqual,
  negated,
  strictEqual,
} from "./op-logic.js";
import { compileArithmetic, compileExtreme, compileMinus, compileProduct, compileSum } from "./op-math.js";
import { compileAffix, compileCat, compileIn, compileSemVer, compileSubstr } from "./op-text.js";

export const OPERATORS: Readonly<Record<string, Operator>> = {
  var: { value: compileVar, arity: 2 },
  missing: { value: compileMissing, stateful: true },
  missing_some: { value: compileMissingSome, arity: 2, stateful: true },
  log: { value: (c, node) => argument(c, node, 0), arity: 1 }, // it prints nothing
  if: { value: compileIf },
  "?:": { value: compileIf },
  and: { value: compileFirst(false), test: compileAllOf },
  or: { value: compileFirst(true), test: compileAnyOf },
  "!": { test: negated(compileTruthy), arity: 1 },
  "!!": { test: compileTruthy, arity: 1 },
  "==": { test: compileEquality(looseEqual), arity: 2 },
  "===": { test: compileEquality(strictEqual), arity: 2 },
  "!=": { test: negated(compileEquality(looseEqual)), arity: 2 },
  "!==": { test: negated(compileEquality(strictEqual)), arity: 2 },
  "<": { test: compileLess(false), arity: 3 },
  "<=": { test: compileLess(true), arity: 3 },
  ">": { test: compileGreater(false), arity: 2 },
  ">=": { test: compileGreater(true), arity: 2 },
  "+": { value: compileSum },
  "*": { value: compileProduct, stateful: true },
  "-": { value: compileMinus, arity: 2 },
  "/": { value: compileArithmetic((a, b) => a / b), arity: 2 },
  "%": { value: compileArithmetic((a, b) => a % b), arity: 2 },
  max: { value: compileExtreme(Math.max) },
  min: { value: compileExtreme(Math.min) },
  in: { test: compileIn, arity: 2 },
  cat: { value: compileCat, stateful: true },
  substr: { value: compileSubstr, arity: 3 },
  map: { value: compileMap, stateful: true },
  filter: { value: compileFilter, stateful: true },
  reduce: { value: compileReduce, stateful: true },
  all: { test: compileQuantifier(false), stateful: true },
  some: { test: compileQuantifier(true), stateful: true },
  none: { test: negated(compileQuantifier(true)), stateful: true },
  merge: { value: compileMerge, stateful: true },
  fractional: { value: compileFractional, stateful: true },
  starts_with: { value: compileAffix((text, part) => text.startsWith(part)) },
  ends_with: { value: compileAffix((text, part) => text.endsWith(part)) },
  sem_ver: { value: compileSemVer },
};
