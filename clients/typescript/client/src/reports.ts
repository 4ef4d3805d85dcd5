// The reports of a service: its flags, loggers and contexts, and how often each flag had each value.

import { APIError, NotFoundError, SignalboxError } from "./errors.js";
import type { Counter, Declared } from "./flags.js";
import type { Transport } from "./http.js";
import type { LoggerTable } from "./loggers.js";
import type { Settings } from "./settings.js";
import { isObject, type Members } from "./values.js";

/** The number of new declarations or contexts that triggers a report before the next regular one. */
const MANY_PENDING = 50;
/** How many contexts wait for a report; further contexts are dropped. */
const MAX_PENDING = 1000;
/** How many contexts are remembered as reported. */
const MAX_SEEN = 10_000;
/** How many items one request has. */
const CHUNK = 500;

/** The box that reports come from. */
export interface ReportSource {
  readonly settings: Settings;
  readonly loggers: LoggerTable;
  declaredFlags(): Declared<unknown>[];
  /** Is called when MANY_PENDING items wait for a report. */
  reportNow(): void;
  warn(kind: string, message: string): void;
}

interface ReportedContext {
  type: string;
  key: string;
  attributes?: Members;
}

interface Count {
  flag: string;
  value: string;
  count: number;
  counter: Counter;
}

/** Sends reports. Its memory is limited, and callers never wait for a request. */
export class Reports {
  enabled = true;
  private readonly seen = new Set<string>(); // the oldest first
  private contexts: ReportedContext[];
  /** Flags and loggers that are not reported yet. */
  private declaredCount = 0;
  /** How many flags the server knows. */
  private flagsKnown = 0;
  private countedAt = Date.now();
  private environmentChecked = false;
  private readonly common: { environment: string; service?: string };

  constructor(private readonly source: ReportSource) {
    const { environment, service } = source.settings;
    this.common = { environment, ...(service && { service }) };
    this.contexts = [...(service ? [{ type: "service", key: service }] : []), { type: "environment", key: environment }];
  }

  /** Notes the contexts of a request. A context is reported once. */
  sawContexts(types: Members): void {
    if (!this.enabled || !this.source.settings.reportContexts) {
      return;
    }
    for (const type in types) {
      const context = types[type];
      if (type && isObject(context) && typeof context.key === "string" && context.key) {
        this.saw(type, context.key, context);
      }
    }
  }

  private saw(type: string, key: string, context: Members): void {
    const identity = `${type}:${key}`;
    const known = this.seen.delete(identity);
    this.seen.add(identity); // it becomes the newest
    if (this.seen.size > MAX_SEEN) {
      this.seen.delete(this.seen.values().next().value as string);
    }
    if (known || this.contexts.length >= MAX_PENDING) {
      return;
    }
    const { key: _, ...attributes } = context;
    this.contexts.push({ type, key, attributes });
    if (this.contexts.length === MANY_PENDING) {
      this.source.reportNow();
    }
  }

  /** Counts a flag or logger that is not reported yet. */
  declared(): void {
    this.declaredCount++;
    if (this.declaredCount === MANY_PENDING) {
      this.source.reportNow();
    }
  }

  /** Sends new items, or everything with the counts. It rejects with the first error after trying all parts. */
  async send(transport: Transport, everything: boolean): Promise<void> {
    await this.checkEnvironment(transport);
    this.declaredCount = 0;
    const parts = [
      () => this.sendContexts(transport),
      () => this.sendFlags(transport, everything),
      () => this.sendLoggers(transport, everything),
      ...(everything ? [() => this.sendCounts(transport)] : []),
    ];
    let failed: unknown;
    for (const part of parts) {
      try {
        await part();
      } catch (error) {
        failed ??= error;
        if (!(error instanceof APIError)) {
          break; // the server is away
        }
      }
    }
    if (failed) {
      throw failed;
    }
  }

  /** Warns if the environment does not exist before the first report creates it: its name may be misspelled. */
  private async checkEnvironment(transport: Transport): Promise<void> {
    if (this.environmentChecked) {
      return;
    }
    const { environment } = this.common;
    try {
      await transport.request({ method: "GET", path: `/api/v1/environments/${encodeURIComponent(environment)}` });
    } catch (error) {
      if (!(error instanceof NotFoundError)) {
        return;
      }
      this.source.warn(
        "environment",
        `Environment ${environment} does not exist in Signalbox. It is created without values; check the name if it should have one.`,
      );
    }
    this.environmentChecked = true;
  }

  private async sendContexts(transport: Transport): Promise<void> {
    const items = this.contexts;
    this.contexts = [];
    try {
      for (const contexts of chunks(items)) {
        await transport.request({ method: "POST", path: "/api/v1/contexts/bulk", body: { contexts } });
      }
    } catch (error) {
      this.contexts = items.concat(this.contexts).slice(0, MAX_PENDING);
      throw error;
    }
  }

  private async sendFlags(transport: Transport, everything: boolean): Promise<void> {
    const flags = firstOfEach(this.source.declaredFlags());
    if (flags.length === this.flagsKnown && !everything) {
      return;
    }
    for (const some of chunks(flags)) {
      const items = some.map((each) => ({ ...each.reported(), ...this.common }));
      await transport.request({ method: "POST", path: "/api/v1/flags/bulk", body: { flags: items } });
    }
    this.flagsKnown = flags.length;
  }

  private async sendLoggers(transport: Transport, everything: boolean): Promise<void> {
    for (const some of chunks(this.source.loggers.news(everything))) {
      const items = some.map(({ item }) => ({ ...item, ...this.common }));
      await transport.request({ method: "POST", path: "/api/v1/loggers/bulk", body: { loggers: items } });
      for (const { accepted } of some) {
        accepted();
      }
    }
  }

  /** Sends the evaluations by flag and value. After an error, the counts that the server does not have are sent with the next
   * report. Those that may have arrived before a connection was lost are not sent again. */
  private async sendCounts(transport: Transport): Promise<void> {
    const now = Date.now();
    const period = Math.max(Math.round((now - this.countedAt) / 1000), 1);
    this.countedAt = now;
    const counts = this.takeCounts();
    let left: readonly Count[] = counts;
    for (const some of chunks(counts)) {
      const data = some.map((each) => this.metric(each, period, now));
      const later = left.slice(some.length);
      try {
        await transport.request({ method: "POST", path: "/api/v1/metrics/bulk", body: { data } });
      } catch (error) {
        putBack(error instanceof APIError ? left : later);
        throw error;
      }
      left = later;
    }
  }

  private takeCounts(): Count[] {
    const found: Count[] = [];
    for (const flag of this.source.declaredFlags()) {
      for (const [value, counter] of flag.counts()) {
        if (counter.count > 0) {
          found.push({ flag: flag.key, value, count: counter.count, counter });
          counter.count = 0;
        }
      }
    }
    return found;
  }

  private metric({ flag, value, count }: Count, period: number, now: number): object {
    const attributes = {
      name: "flags.evaluations",
      unit: "evaluations",
      value: count,
      period_seconds: period,
      recorded_at: new Date(now).toISOString(),
      dimensions: { flag, value, environment: this.common.environment },
    };
    return { type: "metric", attributes };
  }
}

/** Returns the first declaration of each key. A flag may be declared with several types or parsers. */
function firstOfEach(flags: readonly Declared<unknown>[]): Declared<unknown>[] {
  const found = new Map<string, Declared<unknown>>();
  for (const each of flags) {
    if (!found.has(each.key)) {
      found.set(each.key, each);
    }
  }
  return [...found.values()];
}

/** Adds counts to their counters again, for the next report. */
function putBack(counts: readonly Count[]): void {
  for (const { counter, count } of counts) {
    counter.count += count;
  }
}

/** Reports whether a failed report is logged. A refused key is not, because the state shows it. */
export function isWorthALine(error: unknown): boolean {
  return !(error instanceof SignalboxError && error instanceof APIError && error.status === 401);
}

function* chunks<T>(items: readonly T[]): Generator<T[]> {
  for (let i = 0; i < items.length; i += CHUNK) {
    yield items.slice(i, i + CHUNK);
  }
}
