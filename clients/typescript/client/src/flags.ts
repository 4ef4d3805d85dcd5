// The flags that a service declares.

import type { FlagDefinition } from "./contents.js";
import { type ContextOwner, type Contexts, current, Prepared, prepared } from "./context.js";
import { type Dispatcher, KeyListeners, Listeners, type Stop } from "./listeners.js";
import { type Code, type FlagType, NO_RULE, Plan, type Reason, type Served } from "./plan.js";
import { isObject, normalize, same, weightOf } from "./values.js";

/** How many flags a box keeps up to date, the maximum of an account. */
const MAX_FLAGS = 10_000;
/** How many values of a flag have their own counter. */
const MAX_VALUES = 100;
/** How many bytes of a value's text name its counter. */
const MAX_VALUE_TEXT = 100;

/** A flag's value for a context, and why. */
export interface Detail<T> {
  readonly value: T;
  readonly reason: Reason;
  /** The index of the rule that decided, or -1. */
  readonly rule: number;
  /** The name of the value. A value without a name has its origin: "rule-0", "environment" or "default". */
  readonly variant: string;
  /** Why the value is the code's default; else empty. */
  readonly code: Code;
}

/** A declared flag. Calling it returns its value for the contexts that apply; see `withContext`. It never throws. */
export interface Flag<T> {
  (): T;
  readonly key: string;
  readonly type: FlagType;
  /** The value of the code, while the server has no flag with this key and type. */
  readonly default: T;
  /** Returns the flag's value for contexts, over those that apply. */
  get(contexts?: Contexts): T;
  /** Returns the flag's value for contexts, over those that apply, and the reason for it. */
  detail(contexts?: Contexts): Detail<T>;
  /** Calls a function whenever the flag's definition has changed, which may change its value. The returned function ends the
   * calls. */
  onChange(listener: () => unknown): Stop;
}

/** Counts the evaluations that had one value. */
export interface Counter {
  count: number;
}

/** One value of the server that a declared flag may have. */
interface Found<T> {
  readonly value: T;
  readonly served: Served;
  readonly variant: string;
  readonly code: "";
  readonly counter: Counter;
}

/** The lack of a value of the server: the flag has the default of the code. It has the members of Found, because reading objects of
 * two forms is slower. */
interface Missing {
  readonly value: undefined;
  readonly served: undefined;
  readonly variant: "";
  readonly code: Exclude<Code, "">;
  readonly counter: undefined;
}

type Outcome<T> = Found<T> | Missing;

/** Reads a value of the server; it throws an error for one that does not fit. */
export type Reader<T> = (value: unknown) => T;

/** The state behind the flags with one key, type and reader. They differ only in their defaults. */
export class Declared<T> {
  private readonly listeners: Listeners;
  private readonly counters = new Map<string, Counter>();
  private readonly first: Flag<T>;
  private plan: Plan | undefined;
  private outcomes: readonly Outcome<T>[] = [];
  private evaluate: (contexts: Prepared) => Outcome<T>;

  constructor(
    private readonly table: FlagTable,
    readonly key: string,
    readonly type: FlagType,
    /** The default of the first declaration, which is reported. */
    readonly fallback: T,
    private readonly reader: Reader<T>,
    dispatcher: Dispatcher,
  ) {
    this.listeners = new Listeners(dispatcher);
    this.evaluate = () => this.outcomes[0] as Outcome<T>;
    this.serve(undefined, undefined);
    this.first = this.callable(fallback);
  }

  /** Returns the flag with a default. One with another default than the first shares everything else with it. */
  flag(fallback: T): Flag<T> {
    return same(fallback, this.fallback) ? this.first : this.callable(fallback);
  }

  private callable(fallback: T): Flag<T> {
    const { table } = this;
    let missed: Counter | undefined; // made when it is needed: there may be many defaults
    const counted = (outcome: Outcome<T>): T => {
      if (outcome.served) {
        outcome.counter.count++;
        return outcome.value;
      }
      missed ??= this.counter(fallback);
      missed.count++;
      return fallback;
    };
    const read = (): T => {
      const contexts = current();
      const bound = contexts === undefined ? table.none : contexts.owner === table.owner ? contexts : contexts.boundTo(table.owner);
      return counted(this.evaluate(bound));
    };
    const members = {
      key: this.key,
      type: this.type,
      default: fallback,
      get: (contexts?: Contexts) => counted(this.evaluate(table.contexts(contexts))),
      detail: (contexts?: Contexts) => this.detail(contexts, counted),
      onChange: (listener: () => unknown) => this.listeners.add(listener),
    };
    return Object.assign(read, members);
  }

  private detail(contexts: Contexts | undefined, counted: (outcome: Outcome<T>) => T): Detail<T> {
    const { data, weight } = this.table.contexts(contexts);
    const { rule, split } = this.plan?.decide(data, weight) ?? { rule: NO_RULE, split: false };
    const outcome = this.outcomes[rule + 1] as Outcome<T>;
    const value = counted(outcome);
    if (!outcome.served) {
      return { value, reason: "ERROR", rule: NO_RULE, variant: "", code: outcome.code };
    }
    return { value, reason: split ? "SPLIT" : outcome.served.reason, rule, variant: outcome.variant, code: "" };
  }

  /** Reports whether another declaration reads values in the same way. */
  isReadBy(reader: unknown): boolean {
    return reader === this.reader;
  }

  /** Prepares every value that the flag may have. */
  serve(plan: Plan | undefined, choices: unknown): void {
    const served = plan ? [plan.fallback, ...plan.rules.map((each) => each.served)] : [];
    this.outcomes = plan ? served.map((each) => this.outcome(plan.type, each, choices)) : [missing("FLAG_NOT_FOUND")];
    this.plan = plan;
    this.evaluate = evaluator(plan, this.outcomes);
  }

  notify(): void {
    this.listeners.notify();
  }

  private outcome(type: unknown, served: Served, choices: unknown): Outcome<T> {
    if (served.code) {
      return missing(served.code);
    }
    try {
      if (type === this.type) {
        const value = this.reader(served.value);
        return { value, served, variant: variantOf(served, choices), code: "", counter: this.counter(served.value) };
      }
    } catch {
      // Reading may run a parser of the user, which rejects values by throwing.
    }
    return missing("TYPE_MISMATCH");
  }

  /** Returns the counter for a value. Beyond MAX_VALUES, new values share one. Counters stay when the definition changes, so
   * that no count is lost. */
  private counter(value: unknown): Counter {
    const full = this.counters.size >= MAX_VALUES;
    const text = valueText(value);
    const name = full && !this.counters.has(text) ? "" : text;
    let found = this.counters.get(name);
    if (!found) {
      found = { count: 0 };
      this.counters.set(name, found);
    }
    return found;
  }

  /** Returns the counters by the text of their values. */
  counts(): Iterable<[string, Counter]> {
    return this.counters;
  }

  /** Returns the declaration as the server reads it. */
  reported(): { id: string; type: FlagType; default: unknown } {
    return { id: this.key, type: this.type, default: normalize(this.fallback) };
  }

  /** Returns the flag for `Box.debug`: what it serves when no rule matches. It does not count as an evaluation. */
  summary(): object {
    const [first] = this.outcomes;
    const serves = first?.served ? first.value : this.fallback;
    return { ...this.reported(), serves, rules: this.plan?.rules.length ?? 0, error: first?.code || null };
  }
}

function missing(code: Exclude<Code, "">): Missing {
  return { value: undefined, served: undefined, variant: "", code, counter: undefined };
}

/** Returns the function that finds the outcome for contexts. */
function evaluator<T>(plan: Plan | undefined, outcomes: readonly Outcome<T>[]): (contexts: Prepared) => Outcome<T> {
  const fallback = outcomes[0] as Outcome<T>;
  if (!plan?.enabled || plan.rules.length === 0) {
    return () => fallback;
  }
  const matches: { match: (data: unknown) => boolean; outcome: Outcome<T> }[] = [];
  plan.rules.forEach(({ logic }, i) => {
    if (logic) {
      matches.push({ match: logic.match, outcome: outcomes[i + 1] as Outcome<T> });
    }
  });
  return ({ data, weight }) => {
    if (weight <= plan.light) {
      try {
        for (const { match, outcome } of matches) {
          if (match(data)) {
            return outcome;
          }
        }
        return fallback;
      } catch {
        // Reading a flag never throws; the code below skips the rule that fails.
      }
    }
    return outcomes[plan.decide(data, weight).rule + 1] as Outcome<T>;
  };
}

/** Returns the name of a value, or its origin in the server's words. */
function variantOf(served: Served, choices: unknown): string {
  for (const each of Array.isArray(choices) ? choices : []) {
    if (isObject(each) && each.name && same(each.value, served.value)) {
      return String(each.name);
    }
  }
  if (served.rule !== NO_RULE) {
    return `rule-${served.rule}`;
  }
  return served.environmentDefault ? "environment" : "default";
}

/** Returns the name of a value in counts: its JSON, or the text of a string, cut at 100 bytes. */
export function valueText(value: unknown): string {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value) ?? "null");
  } catch {
    text = typeof value; // a default that JSON cannot express
  }
  const bytes = Buffer.from(text);
  if (bytes.length <= MAX_VALUE_TEXT) {
    return text;
  }
  let end = MAX_VALUE_TEXT;
  while (((bytes[end] ?? 0) & 0xc0) === 0x80) {
    end--; // not in the middle of a character
  }
  return `${bytes.toString("utf8", 0, end)}…`;
}

/** The declared flags, and the definitions of all flags. */
export class FlagTable {
  readonly listeners: KeyListeners;
  /** The data of rules where no contexts apply. */
  readonly none: Prepared;
  private readonly declared = new Map<string, Declared<unknown>[]>();
  private count = 0;
  /** Whether a flag was not kept. */
  private isFull = false;
  private definitions: ReadonlyMap<string, FlagDefinition> = new Map();

  constructor(
    private readonly environment: string,
    readonly owner: ContextOwner,
    private readonly dispatcher: Dispatcher,
    /** Is called with the key of the first flag beyond MAX_FLAGS. */
    private readonly full: (key: string) => void,
  ) {
    this.listeners = new KeyListeners(dispatcher);
    this.none = new Prepared({});
    this.none.owner = owner;
    this.none.data = owner.serviceContext;
    this.none.weight = weightOf(owner.serviceContext);
  }

  /** Returns contexts over those that apply, for the rules of the box. */
  contexts(contexts: Contexts | undefined): Prepared {
    if (contexts) {
      return prepared(contexts).boundTo(this.owner);
    }
    const found = current();
    return found === undefined ? this.none : found.owner === this.owner ? found : found.boundTo(this.owner);
  }

  /** Returns the flag with a key, type, reader and default, and whether the first three are new. They are kept for up to MAX_FLAGS
   * declarations: the values of flags beyond that never change. */
  declare<T>(key: string, type: FlagType, fallback: T, reader: Reader<T>): { flag: Flag<T>; isNew: boolean } {
    const known = this.declared.get(key) ?? [];
    const found = known.find((each) => each.type === type && each.isReadBy(reader)) as Declared<T> | undefined;
    if (found) {
      return { flag: found.flag(fallback), isNew: false };
    }
    const made = new Declared(this, key, type, fallback, reader, this.dispatcher);
    const isKept = this.keep(made as Declared<unknown>, known);
    this.serve(made as Declared<unknown>);
    return { flag: made.flag(fallback), isNew: isKept };
  }

  private keep(made: Declared<unknown>, known: Declared<unknown>[]): boolean {
    if (this.count >= MAX_FLAGS) {
      if (!this.isFull) {
        this.isFull = true;
        this.full(made.key);
      }
      return false;
    }
    this.count++;
    known.push(made);
    this.declared.set(made.key, known);
    return true;
  }

  private serve(declared: Declared<unknown>): void {
    const definition = this.definitions.get(declared.key);
    declared.serve(definition && new Plan(declared.key, definition, this.environment), definition?.values);
  }

  /** Sets the definitions of all flags. changed has the keys of those that differ. */
  replace(definitions: ReadonlyMap<string, FlagDefinition>, changed: readonly string[]): void {
    this.definitions = definitions;
    const affected = changed.flatMap((key) => this.declared.get(key) ?? []);
    for (const each of affected) {
      this.serve(each);
    }
    for (const each of affected) {
      each.notify();
    }
    this.listeners.notify(changed);
  }

  all(): Declared<unknown>[] {
    return [...this.declared.values()].flat();
  }
}
