// Listeners, which run after the change that they are called for, and problems, which are logged once a minute.

import { asError } from "./failures.js";

/** The shortest time between two log lines about the same kind of problem, in milliseconds. */
const QUIET = 60_000;

/** Ends the calls of a listener. */
export type Stop = () => void;

/** Logs problems, each kind at most once a minute. */
export class Problems {
  private readonly last = new Map<string, number>();

  constructor(private readonly log: (message: string) => void) {}

  warn(kind: string, message: string): void {
    const now = performance.now();
    if (now - (this.last.get(kind) ?? Number.NEGATIVE_INFINITY) < QUIET) {
      return;
    }
    this.last.set(kind, now);
    try {
      this.log(message);
    } catch {
      // A log that throws must not reach the service.
    }
  }
}

/** Calls listeners in turns of their own. A listener that throws, or a promise of it that fails or hangs, is logged. */
export class Dispatcher {
  private queue: (() => unknown)[] = [];

  constructor(
    private readonly problems: Problems,
    /** How long a listener may take before a warning is logged. */
    private readonly slow: number,
  ) {}

  push(call: () => unknown): void {
    this.queue.push(call);
    if (this.queue.length === 1) {
      setTimeout(() => this.run(), 0);
    }
  }

  private run(): void {
    const calls = this.queue;
    this.queue = [];
    for (const call of calls) {
      this.call(call);
    }
  }

  private call(listener: () => unknown): void {
    const began = performance.now();
    try {
      const result = listener();
      if (result instanceof Promise) {
        this.follow(result);
      }
    } catch (error) {
      this.failed(error);
    }
    if (performance.now() - began >= this.slow) {
      this.problems.warn("slow", "A Signalbox listener took more than a second; the whole service waited for it.");
    }
  }

  private follow(promise: Promise<unknown>): void {
    const timer = setTimeout(
      () => this.problems.warn("hanging", "The promise of a Signalbox listener has been pending for a second."),
      this.slow,
    );
    unref(timer);
    promise.catch((error) => this.failed(error)).finally(() => clearTimeout(timer));
  }

  private failed(error: unknown): void {
    this.problems.warn("listener", `A Signalbox listener failed; it is called again at the next change: ${asError(error).stack}`);
  }
}

/** Lets a timer not keep the process alive. Timers of browsers are numbers. */
export function unref(timer: unknown): void {
  (timer as { unref?: () => void }).unref?.();
}

/** The listeners of one flag, config or state. Several changes before a listener's turn cause one call. */
export class Listeners {
  private readonly all = new Set<() => void>();

  constructor(private readonly dispatcher: Dispatcher) {}

  /** Adds a listener and returns the function that removes it. */
  add(call: () => unknown): Stop {
    let pending = false;
    const notify = () => {
      if (!pending) {
        pending = true;
        this.dispatcher.push(() => {
          pending = false;
          return this.all.has(notify) ? call() : undefined;
        });
      }
    };
    this.all.add(notify);
    return () => this.all.delete(notify);
  }

  notify(): void {
    for (const each of this.all) {
      each();
    }
  }
}

/** Listeners that are called with the keys of flags that changed. */
export class KeyListeners {
  private readonly listeners: Listeners;
  private readonly news = new Set<Set<string>>();

  constructor(dispatcher: Dispatcher) {
    this.listeners = new Listeners(dispatcher);
  }

  add(call: (keys: string[]) => unknown): Stop {
    const own = new Set<string>();
    this.news.add(own);
    const remove = this.listeners.add(() => {
      const keys = [...own].sort();
      own.clear();
      return call(keys);
    });
    return () => {
      remove();
      this.news.delete(own);
    };
  }

  notify(changed: readonly string[]): void {
    if (changed.length > 0) {
      for (const own of this.news) {
        for (const key of changed) {
          own.add(key);
        }
      }
      this.listeners.notify();
    }
  }
}
