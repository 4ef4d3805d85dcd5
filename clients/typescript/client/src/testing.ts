/**
 * A box for unit tests, without a server:
 *
 *     const box = new FakeBox({ flags: { "checkout-v2": true }, levels: { shop: "DEBUG" }, configs: { checkout: { limit: 5 } } });
 *     …
 *     box.set({ flags: { "checkout-v2": false } });
 *
 * Values are set at once; only listeners are called later.
 */

import { Box } from "./box.js";
import { keyOf, type Level, parseLevel } from "./levels.js";
import { Plan } from "./plan.js";
import { settingsOf } from "./settings.js";

/** A flag with rules: `rules(false, [{ "==": [{ var: "user.plan" }, "pro"] }, true])`. */
export class Rules {
  constructor(
    readonly fallback: unknown,
    /** Pairs of logic and value. The first that matches decides. */
    readonly pairs: readonly (readonly [logic: unknown, value: unknown])[],
    readonly enabled = true,
  ) {}
}

/** Returns a flag with rules, each a pair of logic and value; the first that matches decides. */
export function rules(fallback: unknown, ...pairs: (readonly [logic: unknown, value: unknown])[]): Rules {
  return new Rules(fallback, pairs);
}

/** Values of a FakeBox. */
export interface FakeValues {
  /** A boolean, a text, a number, `rules(…)`, or anything else for a JSON flag. undefined removes a flag: reading it returns the
   * default of the code. */
  flags?: Readonly<Record<string, unknown>>;
  /** null releases a logger. */
  levels?: Readonly<Record<string, Level | null>>;
  configs?: Readonly<Record<string, object>>;
}

/** A box whose values a test sets. */
export class FakeBox extends Box {
  private readonly fakeFlags = new Map<string, object>();
  private readonly fakeLevels = new Map<string, object>();
  private readonly fakeConfigs = new Map<string, object>();
  private seq = 0;

  constructor(values: FakeValues = {}, { environment = "test", service = "" } = {}) {
    super(settingsOf({ url: "", key: "", environment, service, cache: false }));
    this.withoutReports();
    this.set(values);
  }

  /** Changes values; those with other keys stay. */
  set({ flags = {}, levels = {}, configs = {} }: FakeValues): void {
    for (const [key, value] of Object.entries(flags)) {
      if (value === undefined) {
        this.fakeFlags.delete(key);
      } else {
        this.fakeFlags.set(key, this.flag(key, value));
      }
    }
    for (const [name, level] of Object.entries(levels)) {
      this.fakeLevels.set(keyOf(name), logger(name, level));
    }
    for (const [key, values] of Object.entries(configs)) {
      this.fakeConfigs.set(key, { values });
    }
    this.seq++;
    const attributes = {
      flags: resources(this.fakeFlags),
      loggers: resources(this.fakeLevels),
      configs: Object.fromEntries(this.fakeConfigs),
    };
    this.replace({ seq: this.seq, attributes: structuredClone(attributes) });
  }

  private flag(key: string, value: unknown): object {
    const { fallback, pairs, enabled } = value instanceof Rules ? value : new Rules(value, []);
    const here = { enabled, rules: pairs.map(([logic, served]) => ({ logic, value: served })) };
    const flag = { type: typeOf(fallback), default: fallback, managed: true, environments: { [this.environment]: here } };
    const [problem] = new Plan(key, flag, this.environment).problems;
    if (problem) {
      throw new TypeError(`flag ${key}: ${problem.pointer}: ${problem.reason}`);
    }
    return flag;
  }
}

function resources(of: ReadonlyMap<string, object>): object[] {
  return [...of].map(([id, attributes]) => ({ id, attributes }));
}

function typeOf(value: unknown): string {
  return { boolean: "BOOLEAN", string: "STRING", number: "NUMERIC" }[typeof value as string] ?? "JSON";
}

function logger(name: string, level: Level | null): object {
  if (level !== null && !parseLevel(level)) {
    throw new TypeError(`logger ${name}: ${JSON.stringify(level)} is not a level`);
  }
  return { level, managed: level !== null };
}
