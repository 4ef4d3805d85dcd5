/**
 * Feature flags, log levels and configuration of a Signalbox server in a running Node.js service:
 *
 *     const box = await start(); // SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT, SIGNALBOX_SERVICE
 *     const checkout = box.boolean("checkout-v2", false);
 *     const log = pinoLevels(box, pino()).child({ name: "shop.payments" });
 *     const settings = box.config("checkout", { timeoutMs: 1500 });
 *
 *     withContext({ user: { key: "alice", plan: "pro" } }, () => {
 *       if (checkout()) log.debug("New checkout, timeout %d ms.", settings.value.timeoutMs);
 *     });
 *
 * Flags are evaluated in the process. Nothing here waits for the server, and reading never throws an error.
 */

export { type Box, start, startSync, staticBox } from "./box.js";
export { type BunyanLogger, bunyanLevels } from "./bunyan.js";
export type { Config } from "./config.js";
export { type ConsoleLogger, consoleLevels } from "./console.js";
export { type Context, type Contexts, setContext, withContext } from "./context.js";
export { type DebugLogger, debugLevels } from "./debug.js";
export * from "./errors.js";
export type { Detail, Flag } from "./flags.js";
export type { Level } from "./levels.js";
export type { Stop } from "./listeners.js";
export type { Adapter } from "./loggers.js";
export { contextHandler, contextMiddleware } from "./middleware.js";
export type { Parser, StandardSchema } from "./parser.js";
export { type PinoLogger, pinoLevels } from "./pino.js";
export type { Code, FlagType, Reason } from "./plan.js";
export type { Log, Options, Timing } from "./settings.js";
export type { State, Status } from "./state.js";
export { VERSION } from "./version.js";
export { type WinstonContainer, type WinstonLogger, winstonLevels } from "./winston.js";
