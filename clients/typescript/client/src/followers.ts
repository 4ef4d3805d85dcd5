// Loggers of a framework, of which several may have the same name: the box sets one level for all of them.

import type { Box } from "./box.js";
import { LEVELS, type Level } from "./levels.js";
import type { Adapter } from "./loggers.js";

/** How the level of one logger of a framework is read and written. L is the framework's own level. */
export interface Access<T extends object, L> {
  read(logger: T): L;
  write(logger: T, level: L): void;
  /** Returns the framework's level for a level of Signalbox. */
  levelFor(logger: T, level: Level): L;
  /** Returns the level of Signalbox for the framework's own. */
  levelOf(logger: T, level: L): Level;
}

interface Follower<T extends object, L> {
  readonly name: string;
  /** A logger is often made for one request, and must not be kept longer. */
  readonly logger: WeakRef<T>;
  /** The level that the code has set; undefined for a logger that inherits it from its parent. */
  own: L | undefined;
  /** The level that the box has written; undefined while the level of the code applies. */
  written: L | undefined;
  readonly parent: Follower<T, L> | undefined;
}

interface Named<T extends object, L> {
  followers: Follower<T, L>[];
  /** The number of followers at which sweep removes those whose loggers are gone. */
  sweepAt: number;
}

const FIRST_SWEEP = 64;

/** Connects the loggers of a framework to a box. */
export class Followers<T extends object, L> implements Adapter {
  private readonly named = new Map<string, Named<T, L>>();
  private readonly known = new WeakMap<T, Follower<T, L>>();
  private writing = false;

  constructor(
    private readonly box: Box,
    private readonly access: Access<T, L>,
  ) {}

  /** Lets the box set the level of a logger. parent is the logger from which it inherits the level of the code, if it does. A box
   * that is closed sets no levels. */
  follow(logger: T, name: string, parent?: T): void {
    if (this.box.isClosed) {
      return;
    }
    const from = parent && this.nearest(parent);
    const own = from ? undefined : this.access.read(logger);
    const follower: Follower<T, L> = { name, logger: new WeakRef(logger), own, written: undefined, parent: from };
    let named = this.named.get(name);
    if (!named) {
      named = { followers: [], sweepAt: FIRST_SWEEP };
      this.named.set(name, named);
    }
    sweep(named);
    named.followers.push(follower);
    this.known.set(logger, follower);
    this.box.addLogger(this, name);
    this.write(logger, follower, this.box.loggers.applied(this, name));
  }

  /** Returns the follower of a logger, or of the nearest logger from which it inherits. */
  private nearest(logger: T): Follower<T, L> | undefined {
    for (let each: T | null = logger; each; each = Object.getPrototypeOf(each)) {
      const found = this.known.get(each);
      if (found) {
        return found;
      }
    }
    return undefined;
  }

  /** Returns the name of a logger, or of the nearest logger from which it inherits; undefined if neither is followed. */
  nameOf(logger: T): string | undefined {
    return this.nearest(logger)?.name;
  }

  /** Records a level that the code has set. While Signalbox decides, it sets its own level again. A logger that is not followed
   * yet is followed if name is given, and ignored otherwise. */
  codeHasSet(logger: T, level: L, name?: () => string): void {
    if (this.writing) {
      return;
    }
    const follower = this.known.get(logger);
    if (!follower) {
      if (name) {
        this.follow(logger, name());
      }
      return;
    }
    follower.own = level;
    const applied = this.box.loggers.applied(this, follower.name);
    if (applied && !this.box.isClosed) {
      this.write(logger, follower, applied);
    }
  }

  setLevel(name: string, level: Level | undefined): void {
    if (this.box.isClosed) {
      return;
    }
    for (const follower of this.named.get(name)?.followers ?? []) {
      const logger = follower.logger.deref();
      if (logger) {
        this.write(logger, follower, level);
      }
    }
  }

  private write(logger: T, follower: Follower<T, L>, level: Level | undefined): void {
    const now = this.access.read(logger);
    if (follower.written === undefined ? follower.own !== undefined : now !== follower.written) {
      follower.own = now; // the code has set it: not every framework announces that
    }
    const wanted = level === undefined ? codeLevel(follower) : this.access.levelFor(logger, level);
    if (wanted === undefined) {
      return;
    }
    if (now !== wanted) {
      this.writing = true;
      try {
        this.access.write(logger, wanted);
      } finally {
        this.writing = false;
      }
    }
    follower.written = level === undefined ? undefined : wanted;
  }

  /** The levels of the oldest logger of a name that still exists. */
  levels(name: string): { own?: Level | undefined; uses: Level } {
    for (const { logger, own } of this.named.get(name)?.followers ?? []) {
      const found = logger.deref();
      if (found) {
        const uses = this.access.levelOf(found, this.access.read(found));
        return { own: own === undefined ? undefined : this.access.levelOf(found, own), uses };
      }
    }
    return { uses: this.box.loggers.applied(this, name) ?? "INFO" };
  }
}

function codeLevel<T extends object, L>(follower: Follower<T, L>): L | undefined {
  let each: Follower<T, L> | undefined = follower;
  while (each && each.own === undefined) {
    each = each.parent;
  }
  return each?.own;
}

/** Removes loggers that are gone, each time that the number of followers has doubled. */
function sweep<T extends object, L>(named: Named<T, L>): void {
  if (named.followers.length >= named.sweepAt) {
    named.followers = named.followers.filter(({ logger }) => logger.deref() !== undefined);
    named.sweepAt = Math.max(FIRST_SWEEP, 2 * named.followers.length);
  }
}

/** Returns the least severe level that suppresses everything that a framework's number suppresses. numbers has the
 * framework's numbers of TRACE to FATAL. */
export function levelAt(number: number, numbers: readonly number[]): Level {
  const found = numbers.findIndex((each) => number <= each);
  return found < 0 ? "SILENT" : (LEVELS[found] as Level);
}
