// Lets Signalbox set the levels of bunyan's loggers.

import type { Box } from "./box.js";
import { type Access, Followers, levelAt } from "./followers.js";
import { LEVELS } from "./levels.js";

/** The members of a bunyan logger that this module uses. */
export interface BunyanLogger {
  fields: Record<string, unknown>;
  levels(): number[];
  // biome-ignore lint/suspicious/noExplicitAny: overloaded in the types of bunyan
  level: any;
  // biome-ignore lint/suspicious/noExplicitAny: overloaded in the types of bunyan
  child: any;
}

/** The numbers of TRACE to FATAL. SILENT is one more, which no record reaches. */
const NUMBERS = [10, 20, 30, 40, 50, 60];
const SILENT = 61;

const access: Access<BunyanLogger, number> = {
  read: (logger) => logger.level(),
  write: (logger, level) => logger.level(level),
  levelFor: (_logger, level) => NUMBERS[LEVELS.indexOf(level)] ?? SILENT,
  levelOf: (_logger, level) => levelAt(level, NUMBERS),
};

/** Lets a box set the level of a logger of bunyan and of all children that are made later:
 *
 *     const log = bunyanLevels(box, bunyan.createLogger({ name: "shop" })).child({ component: "payments" }); // shop.payments
 *
 * The name of a child is its parent's name, a dot and its component. Only loggers that Signalbox manages, and their
 * descendants, are changed; a released logger has the level of the code again, the same for all of its streams. It
 * returns the same logger. */
export function bunyanLevels<T extends BunyanLogger>(box: Box, logger: T, name?: string): T {
  const followers = new Followers<BunyanLogger, number>(box, access);
  adopt(followers, logger, name ?? String(logger.fields.name ?? "root"));
  return logger;
}

function adopt(followers: Followers<BunyanLogger, number>, logger: BunyanLogger, name: string, parent?: BunyanLogger): void {
  followers.follow(logger, name, parent);
  const { child, level } = logger;
  logger.child = function (this: BunyanLogger, options?: { component?: unknown; level?: unknown }, simple?: boolean) {
    const made: BunyanLogger = Reflect.apply(child, this, [options, simple]);
    const below = typeof options?.component === "string" && options.component ? `${name}.${options.component}` : name;
    adopt(followers, made, below, options?.level === undefined ? logger : undefined);
    return made;
  };
  logger.level = function (this: BunyanLogger, ...given: unknown[]) {
    const result = Reflect.apply(level, this, given);
    if (given.length > 0 && given[0] !== undefined) {
      followers.codeHasSet(logger, Reflect.apply(level, this, []));
    }
    return result;
  };
}
