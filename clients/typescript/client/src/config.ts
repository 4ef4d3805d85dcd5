// Configs that a service declares.

import { asError } from "./failures.js";
import { type Dispatcher, Listeners, type Stop } from "./listeners.js";
import { checkTypes, merged, type Parser, parsed } from "./parser.js";
import { type Members, same } from "./values.js";

/** A declared config. */
export class Config<T extends object> {
  private current: T;
  private failure: Error | undefined;
  private readonly listeners: Listeners;

  /** Boxes make configs: see `Box.config`. */
  constructor(
    readonly key: string,
    private readonly defaults: T,
    private readonly parser: Parser<T> | undefined,
    dispatcher: Dispatcher,
  ) {
    this.current = { ...defaults };
    this.listeners = new Listeners(dispatcher);
  }

  /** The current values, all of one moment. Do not change them. */
  get value(): Readonly<T> {
    return this.current;
  }

  /** Why the newest values are not used; undefined when they are. With an error, value has the last good values. */
  get error(): Error | undefined {
    return this.failure;
  }

  /** Calls a function with the values before and after each change. The returned function ends the calls. */
  onChange(listener: (before: Readonly<T>, after: Readonly<T>) => unknown): Stop {
    let last = this.current;
    return this.listeners.add(() => {
      const before = last;
      last = this.current;
      return before === last ? undefined : listener(before, last);
    });
  }

  /** Reports whether another declaration is the same. */
  isDeclaredAs(key: string, defaults: object, parser: unknown): boolean {
    return key === this.key && parser === this.parser && same(defaults, this.defaults);
  }

  /** Takes new values from the box. If they do not fit, the last good values stay, and it returns the error. A config that
   * does not exist has the defaults. */
  update(values: Members | undefined): Error | undefined {
    let next: T;
    try {
      const given = structuredClone(values) ?? {};
      const all = merged(this.defaults as Members, given) as T;
      if (!this.parser) {
        checkTypes(this.defaults as Members, given);
      }
      next = this.parser ? parsed(this.parser, all) : all;
    } catch (error) {
      this.failure = asError(error);
      return this.failure;
    }
    this.failure = undefined;
    if (!same(next, this.current)) {
      this.current = next;
      this.listeners.notify();
    }
    return undefined;
  }
}

/** The declared configs, and the values of all configs. */
export class ConfigTable {
  private readonly declared: Config<object>[] = [];
  private values: ReadonlyMap<string, Members> | undefined;

  constructor(
    private readonly dispatcher: Dispatcher,
    private readonly failed: (key: string, error: Error) => void,
  ) {}

  declare<T extends object>(key: string, defaults: T, parser: Parser<T> | undefined): Config<T> {
    const found = this.declared.find((each) => each.isDeclaredAs(key, defaults, parser));
    if (found) {
      return found as unknown as Config<T>;
    }
    const made = new Config(key, defaults, parser, this.dispatcher);
    this.declared.push(made as unknown as Config<object>);
    if (this.values) {
      this.update(made as unknown as Config<object>, this.values);
    }
    return made;
  }

  private update(config: Config<object>, values: ReadonlyMap<string, Members>): void {
    const error = config.update(values.get(config.key));
    if (error) {
      this.failed(config.key, error);
    }
  }

  replace(values: ReadonlyMap<string, Members>): void {
    const before = this.values;
    this.values = values;
    for (const each of this.declared) {
      if (!before || !same(before.get(each.key), values.get(each.key))) {
        this.update(each, values);
      }
    }
  }

  all(): readonly Config<object>[] {
    return this.declared;
  }
}
