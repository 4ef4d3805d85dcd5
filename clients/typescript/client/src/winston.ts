// Lets Signalbox set the levels of winston's loggers.

import type { Box } from "./box.js";
import { type Access, Followers } from "./followers.js";
import { LEVELS, type Level } from "./levels.js";

/** The members of a winston logger that this module uses. */
export interface WinstonLogger {
  level: string;
  silent: boolean;
  readonly levels: { readonly [name: string]: number };
}

/** The members of a winston container, such as winston.loggers, that this module uses. */
export interface WinstonContainer {
  readonly loggers: Map<string, WinstonLogger>;
  // biome-ignore lint/suspicious/noExplicitAny: a function with the options of winston
  add: any;
}

/** The level that suppresses everything. winston has a switch for that instead of a level. */
const SILENT = "silent";

/** The names of winston's levels for each level of Signalbox: in winston's own set, and in the sets syslog and cli. */
const NAMES: Readonly<Record<Exclude<Level, "SILENT">, readonly string[]>> = {
  TRACE: ["trace", "silly"],
  DEBUG: ["debug", "verbose"],
  INFO: ["info", "notice", "http"],
  WARN: ["warn", "warning"],
  ERROR: ["error"],
  FATAL: ["fatal", "crit", "alert", "emerg"],
};

const access: Access<WinstonLogger, string> = {
  read: (logger) => (logger.silent ? SILENT : logger.level),
  write: (logger, level) => {
    logger.silent = level === SILENT;
    if (!logger.silent) {
      logger.level = level;
    }
  },
  levelFor: ({ levels }, level) => labelFor(levels, level),
  levelOf: ({ levels }, level) => (level === SILENT ? SILENT.toUpperCase() : levelOf(levels, level)) as Level,
};

/** Returns the logger's name for a level, or for the next more severe level that it has. If it has none, it logs nothing. */
function labelFor(levels: WinstonLogger["levels"], level: Level): string {
  for (const each of LEVELS.slice(LEVELS.indexOf(level))) {
    const found = each === "SILENT" ? undefined : NAMES[each].find((name) => name in levels);
    if (found !== undefined) {
      return found;
    }
  }
  return SILENT;
}

/** Returns the level of a name. A custom name has the level of the nearest known name that is as severe. */
function levelOf(levels: WinstonLogger["levels"], name: string): Level {
  const severity = levels[name] ?? 0;
  const known = LEVELS.find(
    (each) => each !== "SILENT" && NAMES[each].some((label) => (levels[label] ?? Number.POSITIVE_INFINITY) <= severity),
  );
  return known ?? "FATAL";
}

/** Lets a box set the level of a logger of winston:
 *
 *     const log = winstonLevels(box, winston.createLogger({ … }), "shop.payments");
 *
 * or of all loggers of a container, existing and future, by their ids:
 *
 *     winstonLevels(box, winston.loggers);
 *
 * Children of winston have the level of their parents. Transports with levels of their own are not changed. Only
 * loggers that Signalbox manages, and their descendants, are changed; a released logger has the level of the code
 * again. winston does not announce a level that the code sets, so such a level applies until the next change of
 * Signalbox. It returns the same logger or container. */
export function winstonLevels<T extends WinstonContainer>(box: Box, container: T): T;
export function winstonLevels<T extends WinstonLogger>(box: Box, logger: T, name: string): T;
export function winstonLevels(box: Box, of: WinstonLogger | WinstonContainer, name = "root"): WinstonLogger | WinstonContainer {
  const followers = new Followers<WinstonLogger, string>(box, access);
  if ("loggers" in of) {
    followAll(followers, of);
  } else {
    followers.follow(of, name);
  }
  return of;
}

function followAll(followers: Followers<WinstonLogger, string>, container: WinstonContainer): void {
  for (const [id, logger] of container.loggers) {
    followers.follow(logger, id);
  }
  const { add } = container;
  // get of a container calls add.
  container.add = function (this: WinstonContainer, id: string, ...rest: unknown[]) {
    const isNew = !this.loggers.has(id);
    const logger: WinstonLogger = Reflect.apply(add, this, [id, ...rest]);
    if (isNew) {
      followers.follow(logger, id);
    }
    return logger;
  };
}
