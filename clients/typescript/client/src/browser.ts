/**
 * Flags in a web page, evaluated by the server for one user:
 *
 *     const flags = startBrowser({ url: "https://signalbox.example.com", key: "sk_api_…", context: { targetingKey: "alice" } });
 *     const checkout = flags.boolean("checkout-v2", false);
 *     if (checkout()) …
 *
 * The key must be one for browsers (access `evaluate`), which is not a secret. Starting waits for nothing and throws
 * nothing. Until the server has answered, flags have the values of the last visit, else the defaults of the code.
 * Changes arrive at once, by a stream of events that the server announces, or by polling where a stream does not work.
 */

import { APIError, NotReadyError, SignalboxError } from "./errors.js";
import { asError } from "./failures.js";
import { Dispatcher, KeyListeners, Listeners, Problems, type Stop } from "./listeners.js";
import { type Evaluated, type Evaluation, type EventStream, evaluateAll } from "./ofrep.js";
import { State, type Status } from "./state.js";
import { type PageStorage, StoredFlags } from "./stored.js";
import { isObject, same } from "./values.js";

export * from "./errors.js";
export type { Stop } from "./listeners.js";
export type { State, Status } from "./state.js";
export type { PageStorage } from "./stored.js";

/** The context for which flags are evaluated: `targetingKey` is the key of the user, an object such as `account` is the
 * context of that type, and other members are attributes of the user. */
export type BrowserContext = Readonly<Record<string, unknown>>;

/** The options of `startBrowser`. */
export interface BrowserOptions {
  /** The URL of the server. */
  url: string;
  /** A key for browsers. */
  key: string;
  context?: BrowserContext;
  /** The environment. A key for browsers has exactly one, so it needs no other. */
  environment?: string;
  /** The time between two requests while no stream of events works, in milliseconds; 30 s by default. */
  pollInterval?: number;
  /** The storage for the values of the last visit, such as localStorage. By default they are not kept. It has one entry, which is only
   * used for the same context. */
  storage?: PageStorage;
  /** Is called with a sentence about each problem. */
  log?: (message: string) => void;
}

/** A flag's value and why. */
export interface BrowserDetail<T> {
  readonly value: T;
  readonly reason: string;
  readonly variant: string;
  /** Why the value is the code's default, such as FLAG_NOT_FOUND or TYPE_MISMATCH; else empty. */
  readonly code: string;
}

/** A flag of a web page. Calling it returns its value. It never throws. */
export interface BrowserFlag<T> {
  (): T;
  readonly key: string;
  readonly default: T;
  detail(): BrowserDetail<T>;
  /** Calls a function when the value has changed. The returned function ends the calls. */
  onChange(listener: () => unknown): Stop;
}

const POLL = 30_000;
const REQUEST = 10_000;
const MIN_BACKOFF = 1000;
/** The longest pause that the server can ask for. */
const MAX_RETRY_AFTER = 60_000;
/** The poll interval while a stream works. */
const POLL_WITH_STREAM = 300_000;
const SLOW_LISTENER = 1000;

/** The flags of a web page. `startBrowser` makes one. */
export class BrowserBox {
  private flags: ReadonlyMap<string, Evaluated> = new Map();
  private context: BrowserContext;
  private etag = "";
  private currentState = new State("STARTING", new Date());
  private known = false;
  /** Whether the server has answered for the current context, perhaps from its memory. */
  private isAnswered = false;
  private closed = false;
  private attempt = 0;
  /** Answers for an older context are dropped. */
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private request: AbortController | undefined;
  /** The etag of the event that causes the next request, which follows the current one. */
  private cause: string | undefined;
  private announced: readonly EventStream[] = [];
  private streams: EventSource[] = [];
  private streamUrls = "";
  /** Whether a stream has delivered an event. A proxy may hold events back, so an open stream alone proves nothing. */
  private pushed = false;
  private streamFailures = 0;
  /** Runs while the page is hidden. When it ends, the streams are closed and `asleep` is true. */
  private inactivity: ReturnType<typeof setTimeout> | undefined;
  private asleep = false;
  private readonly stored: StoredFlags | undefined;
  private readonly problems: Problems;
  private readonly states: Listeners;
  private readonly changes: KeyListeners;
  private readonly waiting = new Set<() => void>();
  private readonly visible = () => {
    clearTimeout(this.inactivity);
    if (document.visibilityState === "visible") {
      this.asleep = false;
      void this.refresh();
    } else if (this.announced.length > 0) {
      const seconds = Math.min(...this.announced.map((each) => each.inactivityDelaySec));
      this.inactivity = setTimeout(() => this.sleep(), seconds * 1000);
    }
  };

  /** @internal Use `startBrowser`. */
  constructor(private readonly options: BrowserOptions) {
    this.context = options.context ?? {};
    this.problems = new Problems(options.log ?? (() => undefined));
    const dispatcher = new Dispatcher(this.problems, SLOW_LISTENER);
    this.states = new Listeners(dispatcher);
    this.changes = new KeyListeners(dispatcher);
    const { storage, url, key, environment } = options;
    this.stored = storage && new StoredFlags(storage, url, key, environment);
    this.readStored();
    if (typeof document !== "undefined") {
      document.addEventListener("visibilitychange", this.visible);
    }
    void this.refresh();
  }

  /** Declares a BOOLEAN flag. */
  boolean(key: string, fallback: boolean): BrowserFlag<boolean> {
    return this.flag(key, fallback, (value) => typeof value === "boolean");
  }

  /** Declares a STRING flag. */
  string(key: string, fallback: string): BrowserFlag<string> {
    return this.flag(key, fallback, (value) => typeof value === "string");
  }

  /** Declares a NUMERIC flag. */
  number(key: string, fallback: number): BrowserFlag<number> {
    return this.flag(key, fallback, (value) => typeof value === "number");
  }

  /** Declares a JSON flag. Do not change its values. */
  json<T>(key: string, fallback: T): BrowserFlag<T> {
    return this.flag(key, fallback, () => true);
  }

  private flag<T>(key: string, fallback: T, fits: (value: unknown) => boolean): BrowserFlag<T> {
    const detail = (): BrowserDetail<T> => {
      const found = this.flags.get(key);
      if (!found || found.errorCode) {
        return { value: fallback, reason: "ERROR", variant: "", code: found?.errorCode ?? "FLAG_NOT_FOUND" };
      }
      if (!fits(found.value)) {
        return { value: fallback, reason: "ERROR", variant: "", code: "TYPE_MISMATCH" };
      }
      return { value: found.value as T, reason: found.reason ?? "", variant: found.variant ?? "", code: "" };
    };
    const read = () => detail().value;
    const onChange = (listener: () => unknown) => this.onChange((keys) => (keys.includes(key) ? listener() : undefined));
    return Object.assign(read, { key, default: fallback, detail, onChange });
  }

  /** Calls a function with the keys of flags whose values have changed. The returned function ends the calls. */
  onChange(listener: (keys: string[]) => unknown): Stop {
    return this.changes.add(listener);
  }

  /** How current the values are. */
  get state(): State {
    return this.currentState;
  }

  /** Calls a function with the new state after each change. The returned function ends the calls. */
  onState(listener: (state: State) => unknown): Stop {
    return this.states.add(() => listener(this.state));
  }

  /** Whether there are values of the server, of this visit or of the last one. */
  get hasValues(): boolean {
    return this.known;
  }

  /** Waits until the server has answered for the current context. It rejects when the server refuses the key, or has not answered
   * in time, in milliseconds; the box keeps trying in both cases. */
  ready(timeout = REQUEST): Promise<void> {
    return new Promise((resolve, reject) => {
      const late = () => finish(new NotReadyError(`the server has not answered: ${this.state}`));
      const timer = setTimeout(late, timeout);
      const finish = (error?: Error) => {
        clearTimeout(timer);
        this.waiting.delete(check);
        return error ? reject(error) : resolve();
      };
      const check = () => {
        const { status, why } = this.currentState;
        if (status === "REFUSED" || this.closed) {
          finish(why ?? new NotReadyError("the box is closed"));
        } else if (this.isAnswered) {
          finish();
        }
      };
      this.waiting.add(check);
      check();
    });
  }

  /** Evaluates flags for another context, such as after a sign-in. It resolves when the values are there, or rejects like
   * `ready`; flags keep their values until then. If the box has no values yet, flags have those of the last visit at once. */
  setContext(context: BrowserContext): Promise<void> {
    this.context = context;
    if (!this.known) {
      this.readStored();
    }
    this.etag = "";
    this.isAnswered = false;
    this.generation++;
    this.currentState = new State("STARTING", new Date());
    void this.refresh();
    return this.ready();
  }

  /** Asks the server for the current values. It never rejects. */
  async refresh(): Promise<void> {
    if (this.closed) {
      return;
    }
    clearTimeout(this.timer);
    this.request?.abort();
    const { cause } = this;
    this.cause = undefined;
    const request = new AbortController();
    this.request = request;
    const { generation } = this;
    const limit = setTimeout(() => request.abort(new Error(`no answer within ${REQUEST} ms`)), REQUEST);
    try {
      const { url, key, environment } = this.options;
      const headers = { Authorization: `Bearer ${key}`, ...(environment && { "X-Signalbox-Environment": environment }) };
      const found = await evaluateAll(url, headers, this.context, this.etag, request.signal, cause);
      if (generation === this.generation && request === this.request) {
        this.answered(found);
      }
    } catch (error) {
      if (generation === this.generation && request === this.request) {
        this.failed(error);
      }
    } finally {
      clearTimeout(limit);
      if (request === this.request) {
        this.request = undefined;
        this.follow();
      }
    }
  }

  /** Asks for the values that an event has announced. It does not abort the current request, because events may come faster than
   * answers. */
  private follow(): void {
    if (this.cause !== undefined && !this.request) {
      void this.refresh();
    }
  }

  private answered(found: Evaluation | undefined): void {
    this.attempt = 0;
    this.isAnswered = true;
    if (found) {
      // A 304 to the ETag of a stale answer would look like a current one.
      this.etag = found.staleSince ? "" : found.etag;
      this.replace(found.flags);
      this.announced = found.streams;
      this.store();
    }
    this.openStreams();
    if (found?.staleSince) {
      this.note("STALE", new SignalboxError(`the server cannot reach its database (since ${found.staleSince})`));
    } else {
      this.note("LIVE");
    }
    const rarely = this.asleep || (this.pushed && !found?.staleSince);
    this.plan(rarely ? POLL_WITH_STREAM : this.pollInterval);
  }

  private get pollInterval(): number {
    return this.options.pollInterval ?? POLL;
  }

  private failed(thrown: unknown): void {
    const error = asError(thrown);
    this.attempt++;
    const refused = error instanceof APIError && (error.status === 401 || error.status === 403);
    this.note(refused ? "REFUSED" : "STALE", error);
    this.problems.warn("state", `Signalbox cannot be asked; the last known values are served: ${error.message}`);
    const asked = error instanceof APIError ? Math.min(error.retryAfter * 1000, MAX_RETRY_AFTER) : 0;
    this.plan(Math.random() * Math.min(MIN_BACKOFF * 2 ** Math.min(this.attempt, 20), this.pollInterval) + asked);
  }

  private plan(pause: number): void {
    clearTimeout(this.timer);
    if (!this.closed) {
      this.timer = setTimeout(() => void this.refresh(), pause);
    }
  }

  private replace(flags: ReadonlyMap<string, Evaluated>): void {
    const before = this.flags;
    const keys = new Set([...before.keys(), ...flags.keys()]);
    const changed = new Set([...keys].filter((key) => !same(before.get(key), flags.get(key))));
    // A value that is the same stays the same object, so that components that depend on it are not rendered again.
    this.flags = new Map([...flags].map(([key, each]) => [key, changed.has(key) ? each : (before.get(key) ?? each)]));
    this.known = true;
    this.changes.notify([...changed]);
  }

  private note(status: Status, why?: Error): void {
    const before = this.currentState;
    this.currentState = new State(status, before.status === status ? before.since : new Date(), why);
    for (const check of [...this.waiting]) {
      check();
    }
    if (before.status !== status) {
      this.states.notify();
    }
  }

  /** Follows the streams that the server announces. Each says only that something has changed. */
  private openStreams(): void {
    const urls = this.announced.map((each) => each.url);
    if (this.asleep || this.closed || urls.join(" ") === this.streamUrls || typeof EventSource === "undefined") {
      return;
    }
    this.streamUrls = urls.join(" ");
    this.closeStreams();
    this.streams = urls.map((url) => {
      const stream = new EventSource(url);
      stream.onmessage = ({ data }) => {
        const etag = refetchOf(data);
        if (etag !== undefined) {
          this.pushed = true;
          this.streamFailures = 0;
          this.cause = etag;
          this.follow();
        }
      };
      stream.onerror = () => {
        if (stream.readyState === EventSource.CLOSED) {
          this.streamFailed();
        }
      };
      return stream;
    });
  }

  /** Asks the server again after a stream was refused, because its URL may have expired. The answer opens a stream again. */
  private streamFailed(): void {
    this.closeStreams();
    this.streamUrls = "";
    this.streamFailures++;
    this.plan(Math.min(MIN_BACKOFF * 2 ** Math.min(this.streamFailures - 1, 20), this.pollInterval));
  }

  /** Closes the streams of a page that nobody sees. */
  private sleep(): void {
    this.asleep = true;
    this.closeStreams();
    this.streamUrls = "";
    this.plan(POLL_WITH_STREAM);
  }

  private closeStreams(): void {
    for (const each of this.streams) {
      each.close();
    }
    this.streams = [];
    this.pushed = false;
  }

  private readStored(): void {
    try {
      this.stored?.removeFormer();
      const flags = this.stored?.read(this.context);
      if (flags) {
        this.replace(flags);
      }
    } catch {
      // An incomplete value, or a storage that may not be used, counts as no value.
    }
  }

  private store(): void {
    try {
      this.stored?.write(this.context, this.flags);
    } catch (error) {
      this.problems.warn("storage", `Keeping the last known values failed: ${asError(error).message}`);
    }
  }

  /** Ends the requests. Values can still be read. */
  close(): void {
    this.closed = true;
    clearTimeout(this.timer);
    clearTimeout(this.inactivity);
    this.request?.abort();
    this.request = undefined; // its end is not a failure
    this.closeStreams();
    if (typeof document !== "undefined") {
      document.removeEventListener("visibilitychange", this.visible);
    }
    this.note("STALE", new SignalboxError("the box is closed"));
  }
}

/** Returns the etag of an event that asks for an evaluation, which may be empty; undefined for other events. */
function refetchOf(data: unknown): string | undefined {
  try {
    const event: unknown = JSON.parse(String(data));
    return isObject(event) && event.type === "refetchEvaluation" ? String(event.etag ?? "") : undefined;
  } catch {
    return undefined;
  }
}

/** Returns the flags of a web page, which stay in sync with the server until it is closed. */
export function startBrowser(options: BrowserOptions): BrowserBox {
  return new BrowserBox(options);
}
