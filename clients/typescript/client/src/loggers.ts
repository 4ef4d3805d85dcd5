// The loggers of a service, whose levels the box sets.

import { keyOf, type Level, Tree } from "./levels.js";

/** How many loggers a box controls, the maximum of an account. */
const MAX_LOGGERS = 10_000;

/** Connects a logging framework. Call `Box.addLogger` with every logger, before its first record. */
export interface Adapter {
  /** Sets the level of a logger. undefined restores the level that the code has set. */
  setLevel(name: string, level: Level | undefined): void;
  /** Returns the level that the code has set for this logger (absent when it inherits), and the level that it uses now. */
  levels(name: string): { readonly own?: Level | undefined; readonly uses: Level };
}

interface Controlled {
  readonly adapter: Adapter;
  readonly name: string;
  readonly key: string;
  /** undefined while the level of the code applies. */
  applied: Level | undefined;
  /** The levels that the server knows. */
  reported: string;
}

/** A logger as the server reads it. */
export interface ReportedLogger {
  id: string;
  resolved_level: Level;
  level?: Level;
}

/** Sets the levels of all loggers. */
export class LoggerTable {
  private readonly loggers = new Map<Adapter, Map<string, Controlled>>();
  private count = 0;
  private tree: Tree;

  constructor(private readonly failed: (name: string, error: unknown) => void) {
    this.tree = new Tree("", new Map(), new Map());
  }

  /** Sets the level of a new logger. It returns false for a known logger. */
  add(adapter: Adapter, name: string): boolean {
    let named = this.loggers.get(adapter);
    if (!named) {
      named = new Map();
      this.loggers.set(adapter, named);
    }
    if (named.has(name) || this.count >= MAX_LOGGERS) {
      return false;
    }
    const added: Controlled = { adapter, name, key: keyOf(name), applied: undefined, reported: "" };
    named.set(name, added);
    this.count++;
    this.settle(added);
    return true;
  }

  /** Applies the levels of a tree. */
  replace(tree: Tree): void {
    this.tree = tree;
    for (const each of this.all()) {
      this.settle(each);
    }
  }

  private settle(logger: Controlled): void {
    const level = this.tree.applied(logger.key);
    if (level === logger.applied) {
      return;
    }
    logger.applied = level;
    try {
      logger.adapter.setLevel(logger.name, level);
    } catch (error) {
      this.failed(logger.name, error);
    }
  }

  /** Returns the level that the box has set; undefined if the level of the code applies. */
  applied(adapter: Adapter, name: string): Level | undefined {
    return this.loggers.get(adapter)?.get(name)?.applied;
  }

  all(): Controlled[] {
    return [...this.loggers.values()].flatMap((named) => [...named.values()]);
  }

  /** Returns the loggers whose levels the server does not know yet, or all of them. accepted is called when it knows. */
  news(everything: boolean): { item: ReportedLogger; accepted: () => void }[] {
    return this.all().flatMap((each) => {
      const { own, uses } = each.adapter.levels(each.name);
      const levels = `${own} ${uses}`;
      if (!everything && levels === each.reported) {
        return [];
      }
      const item: ReportedLogger = { id: each.name, resolved_level: uses, ...(own && { level: own }) };
      return [{ item, accepted: () => (each.reported = levels) }];
    });
  }
}
