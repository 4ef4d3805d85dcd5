// A logger over the console whose level Signalbox sets.

import type { Box } from "./box.js";
import { LEVELS, type Level } from "./levels.js";
import type { Adapter } from "./loggers.js";

/** The methods of the console that log at a level. */
export type ConsoleLogger = Pick<Console, "debug" | "error" | "info" | "log" | "trace" | "warn">;

const METHODS: readonly [keyof ConsoleLogger, Level][] = [
  ["trace", "TRACE"],
  ["debug", "DEBUG"],
  ["info", "INFO"],
  ["log", "INFO"],
  ["warn", "WARN"],
  ["error", "ERROR"],
];

const nothing = () => undefined;

/** Returns a logger that writes to the console while its level allows it:
 *
 *     const log = consoleLevels(box, "shop.payments");
 *
 * level is the level of the code, which applies while Signalbox manages neither the logger nor an ancestor. The console
 * itself is not changed. */
export function consoleLevels(box: Box, name: string, level: Level = "TRACE", to: ConsoleLogger = console): ConsoleLogger {
  const logger = { ...to } as ConsoleLogger;
  let uses = level;
  const use = (next: Level) => {
    uses = next;
    for (const [method, of] of METHODS) {
      logger[method] = LEVELS.indexOf(of) >= LEVELS.indexOf(next) ? to[method].bind(to) : nothing;
    }
  };
  const adapter: Adapter = {
    setLevel: (_name, next) => use(next ?? level),
    levels: () => ({ own: level, uses }),
  };
  use(level);
  box.addLogger(adapter, name);
  return logger;
}
