// Keeps a box in sync with the server.
//
// One loop waits for events, for the next timer and for a wake-up, and does one thing at a time: loads never overlap, so an
// older answer cannot replace a newer one. Reports and writes of the cache run beside it. No timer or connection keeps the
// process alive.

import { ALL, type Contents, type Kind, type Part } from "./contents.js";
import { APIError, ConnectionError, ForbiddenError, SignalboxError, UnauthorizedError } from "./errors.js";
import { asError } from "./failures.js";
import { type Transport, USER_AGENT } from "./http.js";
import { type Loaded, Loader } from "./loader.js";
import { openEventSocket } from "./socket.js";
import type { Status } from "./state.js";
import type { Members } from "./values.js";
import type { WebSocketConnection } from "./websocket.js";

/** The parts of a box that the loop needs. */
export interface Synced extends Loaded {
  readonly status: Status;
  note(status: Status, why: Error | undefined, polling: boolean): void;
  /** Applies the levels that have not expired. It returns when the next level expires, and whether the server is late. */
  expire(now: number): { due: number | undefined; late: boolean };
  report(everything: boolean): Promise<void>;
  save(contents: Contents): Promise<void>;
  warn(kind: string, message: string): void;
}

/** How many changes are read one by one; a larger number is loaded as one snapshot. */
const MAX_SINGLE = 8;

const SINGLE: Readonly<Record<string, Kind>> = {
  flag_changed: "flags",
  flag_deleted: "flags",
  logger_changed: "loggers",
  logger_deleted: "loggers",
  group_changed: "groups",
  group_deleted: "groups",
};
const WHOLE: Readonly<Record<string, Part>> = {
  flags_changed: "flags",
  loggers_changed: "levels",
  // Configs that inherit from a changed one change too.
  config_changed: "configs",
  config_deleted: "configs",
  configs_changed: "configs",
};

const NEVER = Number.POSITIVE_INFINITY;

/** The longest time that a timer can wait, in milliseconds. */
const MAX_TIMER = 2 ** 31 - 1;

/** The background work of a box. */
export class Sync {
  /** The number of the last event; undefined before the first snapshot. */
  private since: number | undefined;
  private parts = new Set<Part>();
  private single: Record<Kind, Set<string>> = { flags: new Set(), loggers: new Set(), groups: new Set() };
  private socket: WebSocketConnection | undefined;
  private heard = 0;
  private opened = 0;
  private attempt = 0;
  private loadAttempt = 0;
  // The times at which work is due, in milliseconds of performance.now.
  private connectAt = 0;
  private loadAt = NEVER;
  private expireAt = NEVER;
  private askedAt = Number.NEGATIVE_INFINITY;
  private reportAt = NEVER;
  private newsAt = NEVER;
  private saveAt = NEVER;
  private saved: Contents | undefined;
  private saving: Promise<void> | undefined;
  private reporting: Promise<void> | undefined;
  private closing = false;
  private readonly stopped = new AbortController();
  private ring: () => void = () => undefined;
  private readonly loader: Loader;
  private readonly done: Promise<void>;

  constructor(
    private readonly box: Synced,
    private readonly transport: Transport,
  ) {
    this.loader = new Loader(box, transport, (seq) => this.begin(seq));
    this.done = this.run();
  }

  /** Reports new items as soon as possible. */
  reportNow(): void {
    this.newsAt = performance.now();
    this.ring();
  }

  /** Records that other levels may apply: they are reported soon, and the next expiry is computed again. */
  levelsChanged(): void {
    this.newsAt = Math.min(this.newsAt, performance.now() + this.timing.applied);
    this.expireAt = performance.now();
    this.ring();
  }

  /** Notes that the contents have changed. */
  contentsChanged(): void {
    if (this.saveAt === NEVER) {
      this.saveAt = performance.now();
    }
    this.levelsChanged();
  }

  /** Starts the reports, when the box has heard from the server for the first time. */
  firstLive(): void {
    this.reportAt = performance.now() + this.timing.applied;
    this.ring();
  }

  /** Ends the loop after the last report. A request that hangs is given up after half of the time. */
  async close(timeout: number): Promise<void> {
    this.transport.hold();
    this.transport.timeout = Math.max(timeout / 3, 100);
    this.closing = true;
    this.stopped.abort();
    this.ring();
    const half = setTimeout(() => this.transport.abort(), timeout / 2);
    const deadline = new Promise<void>((resolve) => setTimeout(resolve, timeout).unref());
    await Promise.race([this.done, deadline]);
    clearTimeout(half);
    this.transport.abort();
    this.transport.close();
  }

  private get timing() {
    return this.box.settings.timing;
  }

  private async run(): Promise<void> {
    await null; // the box is not complete before its constructor has returned
    while (!this.closing) {
      try {
        await this.work();
      } catch (error) {
        this.startOver(error);
      }
      if (!this.closing) {
        await this.wait();
      }
    }
    this.socket?.close();
    await this.finish();
  }

  /** Plans a new connection and a load of everything: a bug must not end the service's updates. */
  private startOver(error: unknown): void {
    this.box.warn("bug", `Following Signalbox failed; it is tried again: ${asError(error).stack}`);
    this.parts = new Set(ALL);
    this.loadAt = NEVER;
    this.expireAt = NEVER;
    const failed = new SignalboxError("following Signalbox failed");
    if (this.socket) {
      this.lost(failed, false);
    } else {
      this.retry(this.timing.maxBackoff, failed);
      this.fail(failed);
    }
  }

  /** Does everything that is due. */
  private async work(): Promise<void> {
    if (!this.socket && performance.now() >= this.connectAt) {
      await this.connect();
    } else if (this.socket && performance.now() - this.heard > this.timing.silence) {
      this.lost(new ConnectionError("the server has been silent for too long"), false);
    }
    if (performance.now() >= this.loadAt) {
      await this.load();
    }
    if (performance.now() >= this.expireAt) {
      await this.expire();
    }
    if (performance.now() >= Math.min(this.reportAt, this.newsAt)) {
      this.report();
    }
    if (performance.now() >= this.saveAt) {
      this.save();
    }
  }

  /** Waits for an event, a timer or a wake-up. */
  private wait(): Promise<void> {
    const connection = this.socket ? this.heard + this.timing.silence + 1 : this.connectAt;
    const due = Math.min(connection, this.loadAt, this.expireAt, this.reportAt, this.newsAt, this.saveAt);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.ring(), Math.min(Math.max(due - performance.now(), 0), MAX_TIMER)).unref();
      this.ring = () => {
        clearTimeout(timer);
        this.ring = () => undefined;
        resolve();
      };
    });
  }

  /** Opens the socket. Before the first snapshot it loads one, and without a socket it polls. */
  private async connect(): Promise<void> {
    if (this.since === undefined) {
      const failed = await this.poll(undefined);
      if (failed) {
        this.retry(this.timing.maxBackoff, failed);
        return;
      }
    }
    if (this.closing) {
      return;
    }
    try {
      await this.openSocket();
    } catch (thrown) {
      if (this.closing) {
        return;
      }
      const error = signalboxError(thrown);
      const failed = await this.poll(error);
      this.retry(failed ? this.timing.maxBackoff : this.timing.poll, failed ?? error, !failed);
    }
  }

  private async openSocket(): Promise<void> {
    const { service, environment, key } = this.box.settings;
    const query = { environment, ...(service && { service }), ...(this.since !== undefined && { since: String(this.since) }) };
    const headers = { Authorization: `Bearer ${key}`, "User-Agent": USER_AGENT };
    const early: Members[] = []; // events that come together with the first message
    let linked = false;
    let ended: { error: SignalboxError; refused: boolean } | undefined;
    const { connection, seq } = await openEventSocket(this.transport.address, headers, query, this.transport.timeout, this.stopped.signal, {
      heard: () => (this.heard = performance.now()),
      event: (event) => (linked ? this.handle([event]) : early.push(event)),
      lost: (error, refused) => {
        if (linked) {
          this.lost(error, refused);
        } else {
          ended = { error, refused };
        }
      },
    });
    linked = true;
    this.linked(connection, seq, early);
    if (ended) {
      this.lost(ended.error, ended.refused);
    }
  }

  /** Records that the socket is open. If events were missed, everything is loaded before the box is live. */
  private linked(connection: WebSocketConnection, seq: number, early: readonly Members[]): void {
    this.socket = connection;
    this.opened = performance.now();
    if (this.since !== seq) {
      this.parts = new Set(ALL);
    }
    this.since = seq;
    this.handle(early);
    if (this.parts.size > 0 || this.pending() > 0) {
      this.loadAt = performance.now();
    } else if (this.loadAt === NEVER) {
      this.box.note("LIVE", undefined, false);
    }
  }

  /** Notes the resources of events as work. */
  private handle(events: readonly Members[]): void {
    for (const { event, id, seq } of events) {
      if (typeof seq === "number") {
        this.since = seq;
      }
      const kind = SINGLE[String(event)];
      const part = WHOLE[String(event)];
      if (kind && typeof id === "string") {
        this.single[kind].add(id);
      } else if (part) {
        this.parts.add(part);
      } else {
        continue; // of a newer server
      }
      this.loadAt = Math.min(this.loadAt, performance.now() + (this.parts.size > 0 ? this.timing.settle : 0));
      this.ring();
    }
  }

  private lost(error: SignalboxError, refused: boolean): void {
    if (!this.socket || this.closing) {
      return;
    }
    this.socket.close();
    this.socket = undefined;
    if (performance.now() - this.opened > this.timing.stable) {
      this.attempt = 0;
    }
    this.box.note("STALE", error, false);
    this.retry(this.timing.maxBackoff, error);
    if (refused) {
      this.connectAt = performance.now(); // the next attempt gets the reason
    }
    this.ring();
  }

  /** Plans the next attempt to open the socket. */
  private retry(longest: number, error: SignalboxError, polling = false): void {
    this.attempt++;
    const { minBackoff } = this.timing;
    let pause = backoff(this.attempt, minBackoff, longest);
    if (polling) {
      // It is also the pause between two snapshots.
      pause = Math.max(pause, Math.min(minBackoff * 2 ** (this.attempt - 1), longest) / 2);
    }
    this.connectAt = performance.now() + pause + this.askedFor(error);
  }

  /** Returns the pause that the server asks for with an error, in milliseconds. A longer one than the longest backoff is often a
   * mistake of a proxy, and would keep old values for too long. */
  private askedFor(error: SignalboxError): number {
    return error instanceof APIError ? Math.min(error.retryAfter * 1000, this.timing.maxBackoff) : 0;
  }

  private pending(): number {
    return this.single.flags.size + this.single.loggers.size + this.single.groups.size;
  }

  /** Loads the resources that events have named. After a failure, the next attempt loads everything. */
  private async load(): Promise<void> {
    this.loadAt = NEVER;
    const { parts, single } = this;
    if (this.pending() > MAX_SINGLE) {
      if (single.flags.size > 0) {
        parts.add("flags");
      }
      if (single.loggers.size > 0 || single.groups.size > 0) {
        parts.add("levels");
      }
    }
    this.parts = new Set();
    this.single = { flags: new Set(), loggers: new Set(), groups: new Set() };
    const seq = this.since ?? 0;
    try {
      if (parts.size > 0) {
        await this.loader.snapshot(ALL.filter((each) => parts.has(each)));
      }
      await this.loader.single(seq, {
        flags: parts.has("flags") ? new Set() : single.flags,
        loggers: parts.has("levels") ? new Set() : single.loggers,
        groups: parts.has("levels") ? new Set() : single.groups,
      });
    } catch (thrown) {
      const error = signalboxError(thrown);
      this.parts = new Set(ALL);
      this.loadAttempt++;
      const pause = backoff(this.loadAttempt, this.timing.minBackoff, this.timing.maxBackoff);
      this.loadAt = performance.now() + pause + this.askedFor(error);
      this.fail(error);
      return;
    }
    this.loadAttempt = 0;
    if (this.socket && this.loadAt === NEVER) {
      this.box.note("LIVE", undefined, false);
    }
  }

  /** Loads the snapshot because there is no socket; reason is why. It returns the error if that failed. */
  private async poll(reason: SignalboxError | undefined): Promise<SignalboxError | undefined> {
    try {
      await this.loader.snapshot(ALL);
    } catch (thrown) {
      const error = signalboxError(thrown);
      this.fail(error);
      return error;
    }
    this.box.note("LIVE", reason, reason !== undefined);
    return undefined;
  }

  private fail(error: SignalboxError): void {
    if (!this.closing) {
      this.box.note(error instanceof UnauthorizedError || error instanceof ForbiddenError ? "REFUSED" : "STALE", error, false);
    }
  }

  /** Sets the change after which the socket resumes. An open socket has a newer one already. */
  private begin(seq: number): void {
    if (this.since === undefined || !this.socket) {
      this.since = seq;
    }
  }

  /** Ends temporary levels on time while the server is away. While the box is live the server ends them, because the clock of
   * this machine may be wrong; if the server seems late, the box asks it. That also detects a connection that hangs. */
  private async expire(): Promise<void> {
    const wall = Date.now();
    const { due, late } = this.box.expire(wall);
    this.expireAt = due === undefined ? NEVER : performance.now() + Math.max(due - wall, 1);
    if (!late) {
      return;
    }
    const next = this.askedAt + this.timing.poll;
    if (performance.now() < next) {
      this.expireAt = next;
      return;
    }
    this.askedAt = performance.now();
    this.expireAt = this.askedAt;
    this.parts.add("levels");
    await this.load();
  }

  private report(): void {
    const everything = performance.now() >= this.reportAt;
    if (this.reporting) {
      this.newsAt = performance.now() + this.timing.applied; // after the current report
      this.reportAt = everything ? this.newsAt : this.reportAt;
      return;
    }
    if (everything) {
      this.reportAt = performance.now() + this.timing.report * (0.75 + Math.random() / 4);
    }
    this.newsAt = NEVER;
    if (this.box.status === "LIVE") {
      this.reporting = this.box.report(everything).finally(() => (this.reporting = undefined));
    }
  }

  private save(): void {
    this.saveAt = NEVER;
    const { contents } = this.box;
    if (contents !== this.saved && !this.saving) {
      this.saved = contents;
      this.saveAt = performance.now() + this.timing.save;
      this.saving = this.box.save(contents).finally(() => (this.saving = undefined));
    }
  }

  /** Sends the last report and writes the cache. */
  private async finish(): Promise<void> {
    await this.reporting;
    if (this.box.status === "LIVE") {
      await this.box.report(true);
    }
    await this.saving;
    if (this.saved !== this.box.contents) {
      await this.box.save(this.box.contents);
    }
  }
}

function signalboxError(thrown: unknown): SignalboxError {
  return thrown instanceof SignalboxError ? thrown : new SignalboxError(asError(thrown).message, { cause: thrown });
}

/** Returns the pause before an attempt. All of it is random, so that a fleet does not reconnect at once. */
export function backoff(attempt: number, shortest: number, longest: number): number {
  return Math.random() * Math.min(shortest * 2 ** Math.min(attempt - 1, 30), longest);
}
