// The box: the flags, levels and configs of a running service.

import { Address } from "./address.js";
import { cacheFile, defaultFolder, readSnapshot, writeSnapshot } from "./cache.js";
import { type Config, ConfigTable } from "./config.js";
import {
  ALL,
  type Contents,
  changedKeys,
  documentOf,
  firstExpiry,
  NOTHING,
  readDocument,
  type Snapshot,
  unexpired,
  withSnapshot,
} from "./contents.js";
import { ClosedError, NotReadyError, SettingsError } from "./errors.js";
import { beforeExit } from "./exit.js";
import { asError } from "./failures.js";
import { type Declared, type Flag, FlagTable, type Reader } from "./flags.js";
import { Transport } from "./http.js";
import { Tree } from "./levels.js";
import { Dispatcher, Listeners, Problems, type Stop } from "./listeners.js";
import { type Adapter, LoggerTable } from "./loggers.js";
import { type Parser, parsed, type StandardSchema } from "./parser.js";
import type { FlagType } from "./plan.js";
import { isWorthALine, Reports } from "./reports.js";
import { missingSettings, type Options, type Settings, settingsOf } from "./settings.js";
import { State, type Status } from "./state.js";
import { Sync } from "./sync.js";
import type { Members } from "./values.js";

/** How long closing takes at most, in milliseconds, unless the caller says otherwise. */
const CLOSE_TIMEOUT = 5000;

/** The longest time that a timer can wait, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/** The flags, levels and configs of a running service. `start` makes one. */
export class Box {
  /** @internal */
  readonly settings: Settings;
  /** @internal */
  readonly loggers: LoggerTable;
  /** @internal */
  contents: Contents = NOTHING;
  /** @internal */
  readonly serviceContext: Members;
  protected readonly reports: Reports;
  private readonly problems: Problems;
  private readonly flags: FlagTable;
  private readonly configs: ConfigTable;
  private readonly states: Listeners;
  private readonly readers = new WeakMap<object, Reader<unknown>>();
  private currentState = new State("STARTING", new Date());
  private wasLive = false;
  /** Whether this box has ended levels that the server may not have ended yet. */
  private expired = false;
  private transport: Transport | undefined;
  private sync: Sync | undefined;
  private cachePath: string | undefined;
  private closed: Promise<void> | undefined;
  private readonly moved = new Set<() => void>();
  private forgetExit: Stop = () => undefined;

  /** @internal Use `start`. */
  constructor(settings: Settings) {
    this.settings = settings;
    this.problems = new Problems(settings.log);
    this.serviceContext = settings.service ? { service: { key: settings.service } } : {};
    const dispatcher = new Dispatcher(this.problems, settings.timing.slow);
    this.states = new Listeners(dispatcher);
    this.flags = new FlagTable(settings.environment, this, dispatcher, (key) =>
      this.warn(
        "flags",
        `The service declares more than 10,000 flags. Flag ${key} and later ones do not follow Signalbox; declare flags once, and with the same parser.`,
      ),
    );
    this.configs = new ConfigTable(dispatcher, (key, error) =>
      this.warn(`config ${key}`, `Config ${key} cannot be used; the last good values stay: ${error.message}`),
    );
    this.loggers = new LoggerTable((name, error) =>
      this.warn("adapter", `Setting the level of logger ${name} failed: ${asError(error).message}`),
    );
    this.reports = new Reports(this);
  }

  // Flags.

  /** Declares a BOOLEAN flag. It has the default while the account has no flag with this key and type. */
  boolean(key: string, fallback: boolean): Flag<boolean> {
    return this.declare(key, "BOOLEAN", fallback, asBoolean);
  }

  /** Declares a STRING flag. */
  string<T extends string = string>(key: string, fallback: string extends T ? string : T): Flag<T> {
    return this.declare(key, "STRING", fallback as T, asString as Reader<T>);
  }

  /** Declares a NUMERIC flag. */
  number(key: string, fallback: number): Flag<number> {
    return this.declare(key, "NUMERIC", fallback, asNumber);
  }

  /** Declares a NUMERIC flag whose values are whole numbers. A value with a fraction is replaced by the default. */
  integer(key: string, fallback: number): Flag<number> {
    return this.declare(key, "NUMERIC", fallback, asInteger);
  }

  /** Declares a JSON flag. A parser or schema checks its values, once when they arrive; a value that it rejects is replaced by
   * the default. Do not change the values. */
  json<T>(key: string, fallback: T, parser?: Parser<T>): Flag<T> {
    return this.declare(key, "JSON", fallback, parser ? this.readerOf(parser) : (asIs as Reader<T>));
  }

  private readerOf<T>(parser: Parser<T>): Reader<T> {
    let reader = this.readers.get(parser) as Reader<T> | undefined;
    if (!reader) {
      reader = (value) => parsed(parser, value);
      this.readers.set(parser, reader);
    }
    return reader;
  }

  private declare<T>(key: string, type: FlagType, fallback: T, reader: Reader<T>): Flag<T> {
    const { flag, isNew } = this.flags.declare(key, type, fallback, reader);
    if (isNew) {
      this.reports.declared();
    }
    return flag;
  }

  /** Calls a function with the keys of flags that were changed, created or deleted. The returned function ends the calls. */
  onFlagChange(listener: (keys: string[]) => unknown): Stop {
    return this.flags.listeners.add(listener);
  }

  // Configs.

  /** Declares a config: `box.config("checkout", { timeoutMs: 1500 })`. Values that the account's config does not have come from
   * the defaults, also in nested objects. If a value has another type than its default, or the parser or schema rejects it, the
   * last good values stay. A parser gets the values unchecked. */
  config<T extends object>(key: string, defaults: T, parser: StandardSchema<T>): Config<T>;
  config<T extends object>(key: string, defaults: T, parser?: (values: unknown) => T): Config<T>;
  config<T extends object>(key: string, defaults: T, parser?: Parser<T>): Config<T> {
    return this.configs.declare(key, defaults, parser);
  }

  // Levels.

  /** Lets the box set the level of a logger. The level of Signalbox applies while Signalbox manages the logger or an ancestor. It
   * is set before this method returns. */
  addLogger(adapter: Adapter, name: string): void {
    if (this.loggers.add(adapter, name)) {
      this.reports.declared();
    }
  }

  // State.

  /** The environment of the values. */
  get environment(): string {
    return this.settings.environment;
  }

  /** How current the values are. */
  get state(): State {
    const { status, since, why, polling } = this.currentState;
    return new State(status, since, why, polling, this.contents.seq);
  }

  /** Calls a function with the new state after each change. The returned function ends the calls. */
  onState(listener: (state: State) => unknown): Stop {
    let last = this.currentState;
    return this.states.add(() => {
      const before = last;
      last = this.currentState;
      return before.status === last.status && before.polling === last.polling ? undefined : listener(this.state);
    });
  }

  /** Waits until the box has the values of the server. It rejects when the server refuses the key, or has not answered in time,
   * in milliseconds; the box keeps trying in both cases. */
  ready(timeout?: number): Promise<void> {
    return new Promise((resolve, reject) => {
      // The timer keeps the process alive while somebody waits.
      const timer = setTimeout(
        () => finish(new NotReadyError(`the server has not answered: ${this.state}`)),
        Math.min(timeout ?? MAX_TIMER, MAX_TIMER),
      );
      const finish = (error: Error | undefined) => {
        clearTimeout(timer);
        this.moved.delete(check);
        return error ? reject(error) : resolve();
      };
      const check = () => {
        const { status, why } = this.currentState;
        if (this.wasLive) {
          finish(undefined);
        } else if (status === "REFUSED" || this.closed) {
          finish(why ?? new NotReadyError(`the server has not answered: ${this.state}`));
        }
      };
      this.moved.add(check);
      check();
    });
  }

  /** Ends the synchronization and sends the last report, within a time limit in milliseconds. Values can still be read, and loggers
   * keep their levels until the code sets others. When Node.js has nothing left to do, the box closes itself. */
  close(timeout = CLOSE_TIMEOUT): Promise<void> {
    this.closed ??= this.end(timeout);
    return this.closed;
  }

  private async end(timeout: number): Promise<void> {
    this.forgetExit();
    await this.sync?.close(timeout);
    this.note("STALE", new ClosedError("the box is closed"), false);
  }

  /** The same as close, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** Returns the state, the declared flags, the loggers and the configs (without values, which may be secret), for a page that
   * only operators can reach. */
  debug(): object {
    return {
      environment: this.settings.environment,
      service: this.settings.service,
      state: String(this.state),
      flags: this.flags.all().map((each) => each.summary()),
      loggers: this.loggers.all().map(({ name, adapter, applied }) => ({
        name,
        level: adapter.levels(name).uses,
        managed: applied !== undefined,
      })),
      configs: this.configs.all().map(({ key, error }) => ({ key, error: error?.message ?? null })),
    };
  }

  // The following methods are for this package only.

  /** Applies the first values, from the cache or else from the bootstrap file, and starts to follow the server.
   * @internal */
  begin(): this {
    this.readFirst();
    let problem = missingSettings(this.settings);
    try {
      const { url, key, tls, timing } = this.settings;
      if (!problem) {
        this.transport = new Transport(new Address(url, tls), key, timing.request);
      }
    } catch (error) {
      problem = error instanceof SettingsError ? error : new SettingsError(asError(error).message);
    }
    if (!this.transport) {
      this.reports.enabled = false;
      this.warn("settings", `Signalbox is not followed: ${problem?.message}`);
      this.note("REFUSED", problem, false);
      return this;
    }
    this.sync = new Sync(this, this.transport);
    this.forgetExit = beforeExit(() => void this.close());
    return this;
  }

  private readFirst(): void {
    const { cache, cacheFolder, url, key, environment, bootstrap } = this.settings;
    const folder = cache ? (cacheFolder ?? defaultFolder()) : undefined;
    if (folder) {
      this.cachePath = cacheFile(folder, url, key, environment);
      if (this.beginWith(this.cachePath, false)) {
        return;
      }
    } else if (cache) {
      this.warn(
        "cache",
        "There is no cache folder, so the service cannot start with its last values while the server is away. Name one in the option cache, or set it to false.",
      );
    }
    if (bootstrap !== undefined) {
      this.beginWith(bootstrap, true);
    }
  }

  private beginWith(path: string, bootstrap: boolean): boolean {
    try {
      const { snapshot, at } = readSnapshot(path);
      this.apply({ ...withSnapshot(NOTHING, this.settings.environment, snapshot, ALL), confirmed: false, bootstrap });
      this.currentState = new State("STARTING", at);
      return true;
    } catch (thrown) {
      const error = asError(thrown) as NodeJS.ErrnoException;
      if (bootstrap || error.code !== "ENOENT") {
        const what = bootstrap ? "the bootstrap file" : "the last known values";
        this.warn(bootstrap ? "bootstrap" : "cached", `Reading ${what} failed; the service starts without them: ${path}: ${error.message}`);
      }
      return false;
    }
  }

  /** @internal */
  apply(contents: Contents, changed?: readonly string[]): void {
    const before = this.contents;
    this.contents = contents;
    this.flags.replace(contents.flags, changed ?? changedKeys(before.flags, contents.flags));
    this.applyLevels(contents.confirmed ? contents : unexpired(contents, Date.now()).left);
    this.expired = !contents.confirmed;
    this.configs.replace(contents.configs);
    this.sync?.contentsChanged();
  }

  /** @internal */
  moveTo(seq: number): void {
    this.contents = { ...this.contents, seq };
  }

  private applyLevels(contents: Contents): void {
    this.loggers.replace(new Tree(this.settings.environment, contents.loggers, contents.groups));
  }

  /** @internal */
  expire(now: number): { due: number | undefined; late: boolean } {
    if (this.currentState.status === "LIVE") {
      if (this.expired) {
        this.applyLevels(this.contents);
        this.expired = false;
      }
      const first = firstExpiry(this.contents);
      const due = first === undefined ? undefined : first + this.settings.timing.overdue;
      return { due, late: due !== undefined && due <= now };
    }
    const { left, due } = unexpired(this.contents, now);
    this.applyLevels(left);
    this.expired = true;
    return { due, late: false };
  }

  /** Whether close was called.
   * @internal */
  get isClosed(): boolean {
    return this.closed !== undefined;
  }

  /** @internal */
  get status(): Status {
    return this.currentState.status;
  }

  /** Sets the state. If the status or polling changed, listeners are called and the loss of the server is logged.
   * @internal */
  note(status: Status, why: Error | undefined, polling: boolean): void {
    const before = this.currentState;
    const begins = before.status !== status && (before.status !== "STARTING" || status === "LIVE");
    this.currentState = new State(status, begins ? new Date() : before.since, why, polling);
    const first = status === "LIVE" && !this.wasLive;
    this.wasLive ||= status === "LIVE";
    for (const check of [...this.moved]) {
      check();
    }
    if (before.status === status && before.polling === polling) {
      return;
    }
    if (first) {
      this.sync?.firstLive();
    }
    this.sync?.levelsChanged();
    this.states.notify();
    if (before.status !== status && !(why instanceof ClosedError)) {
      this.logState(status, why);
    }
  }

  private logState(status: Status, why: Error | undefined): void {
    if (status === "STALE") {
      this.warn("state", `Signalbox cannot be reached; the last known values are served until it can: ${why?.message}`);
    } else if (status === "REFUSED" && !(why instanceof SettingsError)) {
      this.warn(
        "state",
        `Signalbox refuses the service's API key; the last known values are served. Give the service another key: ${why?.message}`,
      );
    }
  }

  /** @internal */
  async save(contents: Contents): Promise<void> {
    if (this.cachePath === undefined) {
      return;
    }
    try {
      await writeSnapshot(this.cachePath, documentOf(contents, this.settings.environment));
    } catch (error) {
      this.warn(
        "cache",
        `Keeping the last known values failed; the service would start with older ones while the server is away: ${asError(error).message}`,
      );
    }
  }

  /** @internal */
  async report(everything: boolean): Promise<void> {
    try {
      if (this.transport) {
        await this.reports.send(this.transport, everything);
      }
    } catch (error) {
      if (isWorthALine(error)) {
        this.warn("report", `Reporting to Signalbox failed; it is tried again within a minute: ${asError(error).message}`);
      }
    }
  }

  /** @internal */
  sawContexts(types: Members): void {
    this.reports.sawContexts(types);
  }

  /** @internal */
  declaredFlags(): Declared<unknown>[] {
    return this.flags.all();
  }

  /** @internal */
  reportNow(): void {
    this.sync?.reportNow();
  }

  /** @internal */
  warn(kind: string, message: string): void {
    this.problems.warn(kind, message);
  }

  /** @internal */
  replace(snapshot: Snapshot): void {
    this.apply(withSnapshot(NOTHING, this.settings.environment, snapshot, ALL));
    this.note("LIVE", undefined, false);
  }

  /** @internal */
  withoutReports(): this {
    this.reports.enabled = false;
    return this;
  }
}

const asIs: Reader<unknown> = (value) => value;

const asBoolean: Reader<boolean> = (value) => expect(typeof value === "boolean", value);
const asString: Reader<string> = (value) => expect(typeof value === "string", value);
const asNumber: Reader<number> = (value) => expect(typeof value === "number", value);
const asInteger: Reader<number> = (value) => expect(Number.isInteger(value), value);

function expect<T>(fits: boolean, value: unknown): T {
  if (!fits) {
    throw new TypeError("the value has another type");
  }
  return value as T;
}

/** Returns a box that stays in sync with the server until the process ends or the box is closed. It does not wait for the
 * server and throws nothing: until the server has answered, values come from the last run, else the bootstrap file, else the
 * code. A missing setting is logged, and the state is then REFUSED. */
export function startSync(options: Options = {}): Box {
  return new Box(settingsOf(options)).begin();
}

/** The same as `startSync`, in the form that Node.js programs expect: `const box = await start()`. It does not wait for the
 * server; `box.ready(timeout)` does. */
export async function start(options: Options = {}): Promise<Box> {
  return startSync(options);
}

/** Returns a box without a server, and the function that sets the document of another snapshot, for programs that get their
 * snapshots another way. */
export function staticBox(
  document: unknown,
  options: Pick<Options, "environment" | "service" | "log"> = {},
): { box: Box; replace: (document: unknown) => void } {
  const box = new Box(settingsOf({ url: "", key: "", cache: false, ...options })).withoutReports();
  const replace = (next: unknown) => box.replace(readDocument(structuredClone(next)));
  replace(document);
  return { box, replace };
}
