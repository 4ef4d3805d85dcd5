// The six steps of a flag's evaluation. They mean the same as the Go package client/flageval.

import type { FlagDefinition } from "./contents.js";
import { type Decision, Rule, RuleError } from "./rules.js";
import { escapePointer, isObject, type Members } from "./values.js";

/** Why a flag has a value. */
export type Reason = "STATIC" | "TARGETING_MATCH" | "SPLIT" | "DEFAULT" | "DISABLED" | "ERROR";

/** Why a flag has the code's default; empty if it has a value of the server. */
export type Code = "" | "FLAG_NOT_FOUND" | "TYPE_MISMATCH" | "PARSE_ERROR";

/** The type of a flag. */
export type FlagType = "BOOLEAN" | "STRING" | "NUMERIC" | "JSON";

/** The index of the rule that decided when none did. */
export const NO_RULE = -1;

/** A value that a flag may serve, and why. */
export interface Served {
  readonly value: unknown;
  readonly reason: Reason;
  readonly rule: number;
  readonly code: Code;
  readonly environmentDefault: boolean;
}

interface PlannedRule {
  /** undefined for a rule that never matches. */
  readonly logic: Rule | undefined;
  readonly served: Served;
}

/** A part of a definition that cannot be served. */
export interface Problem {
  readonly pointer: string;
  readonly reason: string;
}

const ABSENT = Symbol("absent");

/** A flag's compiled definition in one environment. */
export class Plan {
  readonly problems: Problem[] = [];
  readonly type: unknown;
  readonly enabled: boolean;
  readonly rules: readonly PlannedRule[];
  /** The value that is served when no rule matches. */
  readonly fallback: Served;
  /** The weight of contexts up to which no rule needs a state to notice that it exceeds a limit. */
  readonly light: number;

  constructor(key: string, definition: Partial<FlagDefinition>, environment: string) {
    this.type = definition.type;
    const json = this.type === "JSON";
    const base = this.value("default" in definition ? definition.default : ABSENT, "/default", json);
    const all = definition.environments;
    const found = isObject(all) && Object.hasOwn(all, environment) ? all[environment] : undefined;
    const here: Members = isObject(found) ? found : {};
    this.enabled = here.enabled !== false;
    const pointer = `/environments/${escapePointer(environment)}`;
    const own = here.default == null ? ABSENT : this.value(here.default, `${pointer}/default`, false);
    const rules: unknown[] = Array.isArray(here.rules) ? here.rules : [];
    this.rules = rules.map((each, i) => this.rule(key, i, isObject(each) ? each : {}, `${pointer}/rules/${i}`));
    this.fallback = this.fallbackOf(own === ABSENT ? base : own, own !== ABSENT);
    this.light = Math.min(...this.rules.map((each) => each.logic?.plainWeight ?? Number.POSITIVE_INFINITY));
  }

  /** Returns a value that the flag can serve, or ABSENT. */
  private value(given: unknown, pointer: string, nullable: boolean): unknown {
    const absent = given === ABSENT || (given === null && !nullable);
    if (absent || !fits(this.type, given)) {
      this.problems.push({ pointer, reason: absent ? "a value is required" : `the value does not fit a ${this.type} flag` });
      return ABSENT;
    }
    return given;
  }

  private rule(key: string, index: number, rule: Members, pointer: string): PlannedRule {
    const value = this.value("value" in rule ? rule.value : ABSENT, `${pointer}/value`, this.type === "JSON");
    const served = servedBy(value === ABSENT ? null : value, "TARGETING_MATCH", index);
    const { logic } = rule;
    if (logic === null || logic === undefined) {
      this.problems.push({ pointer: `${pointer}/logic`, reason: "logic is required" });
      return { logic: undefined, served };
    }
    try {
      const compiled = new Rule(logic, key);
      const never = value === ABSENT || (isObject(logic) && Object.keys(logic).length === 0); // empty logic never matches
      return { logic: never ? undefined : compiled, served };
    } catch (error) {
      const where = error instanceof RuleError ? error.pointer : "";
      this.problems.push({ pointer: `${pointer}/logic${where}`, reason: String(error) });
      return { logic: undefined, served };
    }
  }

  private fallbackOf(value: unknown, environmentDefault: boolean): Served {
    if (value === ABSENT) {
      return { ...servedBy(null, "ERROR", NO_RULE), code: "PARSE_ERROR" };
    }
    const reason = !this.enabled ? "DISABLED" : this.rules.length > 0 ? "DEFAULT" : "STATIC";
    return { ...servedBy(value, reason, NO_RULE), environmentDefault };
  }

  /** Returns the index of the rule that matches, or NO_RULE, and whether a bucket decided. A rule that fails does not match. */
  decide(data: unknown, weight: number): { rule: number; split: boolean } {
    for (let i = 0; this.enabled && i < this.rules.length; i++) {
      const logic = this.rules[i]?.logic;
      const decided = logic && decideSafely(logic, data, weight);
      if (decided?.matched) {
        return { rule: i, split: decided.split };
      }
    }
    return { rule: NO_RULE, split: false };
  }

  /** Returns what is served if the rule at an index matches, or for NO_RULE if none does. */
  serves(rule: number): Served {
    return this.rules[rule]?.served ?? this.fallback;
  }

  evaluate(data: unknown, weight: number): Served {
    const { rule, split } = this.decide(data, weight);
    const served = this.serves(rule);
    return split ? { ...served, reason: "SPLIT" } : served;
  }
}

function servedBy(value: unknown, reason: Reason, rule: number): Served {
  return { value, reason, rule, code: "", environmentDefault: false };
}

/** Rules are nested at most 64 deep, but data may be nested deeper than the stack allows. */
function decideSafely(logic: Rule, data: unknown, weight: number): Decision {
  try {
    return logic.decide(data, weight);
  } catch {
    return { matched: false, split: false, error: "limit" };
  }
}

function fits(type: unknown, value: unknown): boolean {
  switch (type) {
    case "BOOLEAN":
      return typeof value === "boolean";
    case "STRING":
      return typeof value === "string";
    case "NUMERIC":
      return typeof value === "number" && Number.isFinite(value);
    default:
      return type === "JSON";
  }
}
