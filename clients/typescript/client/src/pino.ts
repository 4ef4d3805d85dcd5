// Lets Signalbox set the levels of pino's loggers.

import type { Box } from "./box.js";
import { type Access, Followers, levelAt } from "./followers.js";
import { LEVELS } from "./levels.js";

/** The members of a pino logger that this module uses. */
export interface PinoLogger {
  level: string;
  readonly levels: { readonly values: { readonly [name: string]: number } };
  bindings(): Record<string, unknown>;
  // biome-ignore lint/suspicious/noExplicitAny: child and on have type parameters of pino
  child: any;
  // biome-ignore lint/suspicious/noExplicitAny: child and on have type parameters of pino
  on: any;
}

/** The numbers of TRACE to FATAL. */
const NUMBERS = [10, 20, 30, 40, 50, 60];

const access: Access<PinoLogger, string> = {
  read: (logger) => logger.level,
  write: (logger, level) => {
    logger.level = level;
  },
  levelFor: (logger, level) => labelFor(logger, NUMBERS[LEVELS.indexOf(level)]),
  levelOf: ({ levels }, level) => levelAt(levels.values[level] ?? Number.POSITIVE_INFINITY, NUMBERS),
};

/** Returns the logger's name for a level. If the service has custom levels, it is the least severe one that is not below the
 * level. */
function labelFor({ levels }: PinoLogger, number: number | undefined): string {
  const enough = Object.entries(levels.values).filter(([, value]) => number !== undefined && value >= number);
  return enough.length > 0 ? enough.reduce((a, b) => (b[1] < a[1] ? b : a))[0] : "silent";
}

/** Lets a box set the level of a logger of pino and of all its children, existing and future:
 *
 *     const log = pinoLevels(box, pino()).child({ name: "shop.payments" });
 *
 * A child has the name in its bindings, else its parent's name. The logger itself is "root" if it has no name. Only
 * loggers that Signalbox manages, and their descendants, are changed; a released logger has the level of the code
 * again. It returns the same logger. */
export function pinoLevels<T extends PinoLogger>(box: Box, logger: T, name?: string): T {
  const followers = new Followers<PinoLogger, string>(box, access);
  const { child } = logger;
  let isBeingMade = false;
  followers.follow(logger, name ?? nameIn(logger.bindings()) ?? "root");
  logger.child = function (this: PinoLogger, bindings?: object, options?: { level?: string }) {
    isBeingMade = true;
    let made: PinoLogger;
    try {
      made = Reflect.apply(child, this, [bindings, options]);
    } finally {
      isBeingMade = false;
    }
    const own = nameIn(bindings);
    if (own !== undefined || options?.level !== undefined || hasMethods(made)) {
      followers.follow(made, own ?? followers.nameOf(this) ?? "root", options?.level === undefined ? this : undefined);
    }
    return made;
  };
  // Children have the listeners of their parents; the event says which logger it is about.
  logger.on("level-change", (level: string, _to: number, _before: string, _from: number, changed: PinoLogger) => {
    if (!isBeingMade) {
      followers.codeHasSet(changed, level, () => followers.nameOf(changed) ?? "root");
    }
  });
  return logger;
}

/** Reports whether a logger has methods of its own. Most children of requests share the methods of their parent and follow its
 * level with them. They are not tracked, because there are many, and a WeakRef to each would cost more than the child. */
function hasMethods(logger: PinoLogger): boolean {
  return Object.keys(logger.levels.values).some((level) => Object.hasOwn(logger, level));
}

function nameIn(bindings: { name?: unknown } | undefined): string | undefined {
  return typeof bindings?.name === "string" && bindings.name ? bindings.name : undefined;
}
