// Lets Signalbox turn loggers of the package debug on and off.

import type { Box } from "./box.js";
import { type Access, Followers } from "./followers.js";

/** The members of a debug logger that this module uses. */
export interface DebugLogger {
  enabled: boolean;
  // biome-ignore lint/suspicious/noExplicitAny: the arguments of debug
  extend: any;
}

/** null lets the variable DEBUG decide. */
type Switch = boolean | null;

const overrides = new WeakMap<DebugLogger, Switch>();

const access: Access<DebugLogger, Switch> = {
  read: (logger) => overrides.get(logger) ?? null,
  write: (logger, level) => {
    overrides.set(logger, level);
    logger.enabled = level as boolean;
  },
  levelFor: (_logger, level) => level === "TRACE" || level === "DEBUG",
  levelOf: (logger, level) => ((level ?? logger.enabled) ? "DEBUG" : "SILENT"),
};

/** Returns the function of the package debug for loggers that follow Signalbox:
 *
 *     const debug = debugLevels(box, createDebug);
 *     const log = debug("shop:payments");
 *
 * A logger prints while its level is DEBUG or TRACE. While Signalbox manages neither the logger nor an ancestor, the
 * variable DEBUG decides. */
export function debugLevels<T extends DebugLogger>(box: Box, createDebug: (namespace: string) => T): (namespace: string) => T {
  const followers = new Followers<DebugLogger, Switch>(box, access);
  const made = (namespace: string): T => {
    const logger = createDebug(namespace);
    const { extend } = logger;
    logger.extend = function (this: DebugLogger, ...given: unknown[]) {
      const { namespace: extended } = Reflect.apply(extend, this, given) as { namespace: string };
      return made(extended);
    };
    followers.follow(logger, namespace);
    return logger;
  };
  return made;
}
