// The options of `start`.

import type { SecureContextOptions } from "node:tls";
import { debuglog } from "node:util";
import { SettingsError } from "./errors.js";

/** The waiting times of a box, in milliseconds. Tests shorten them. */
export interface Timing {
  /** The longest first pause before another attempt to reach the server. */
  minBackoff: number;
  maxBackoff: number;
  /** The time between snapshots while no socket can be opened. */
  poll: number;
  /** How long changes are collected before a snapshot is loaded. */
  settle: number;
  /** The time between two reports of everything. */
  report: number;
  /** The time from a level's change to its report. */
  applied: number;
  /** The time between two writes of the cache. */
  save: number;
  /** The time without any frame after which a connection is given up. */
  silence: number;
  /** The time after which a connection that lasts resets the backoff. */
  stable: number;
  /** How long the server may take until the first, and between two parts of an answer. */
  request: number;
  /** How long a listener may run before a warning is logged. */
  slow: number;
  /** How long the server may take to end an expired level before the box asks. */
  overdue: number;
}

export const TIMING: Readonly<Timing> = {
  minBackoff: 1000,
  maxBackoff: 60_000,
  poll: 30_000,
  settle: 10,
  report: 60_000,
  applied: 500,
  save: 5000,
  silence: 90_000,
  stable: 10_000,
  request: 10_000,
  slow: 1000,
  overdue: 5000,
};

/** The receiver of a box's messages about problems: a function, or an object with warn, such as console or a pino logger. */
export type Log = ((message: string) => void) | { warn(message: string): unknown };

/** The options of `start`. */
export interface Options {
  /** The URL of the server, instead of SIGNALBOX_URL. */
  url?: string | undefined;
  /** The API key, instead of SIGNALBOX_API_KEY. The role VIEWER is enough. */
  key?: string | undefined;
  /** The environment, instead of SIGNALBOX_ENVIRONMENT. */
  environment?: string | undefined;
  /** The name of the service, instead of SIGNALBOX_SERVICE. Rules read it as service.key. */
  service?: string | undefined;
  /** Whether the last known values are kept on disk, which is the default, or the folder for them. */
  cache?: boolean | string | undefined;
  /** A file with the snapshot to begin with when there is no cache. */
  bootstrap?: string | undefined;
  /** false never sends keys and attributes of users and other contexts to the server. */
  reportContexts?: boolean | undefined;
  /** The receiver of messages about problems, such as console. By default they are only shown with NODE_DEBUG=signalbox. */
  log?: Log | undefined;
  /** Certificates of your own, as for tls.createSecureContext. */
  tls?: SecureContextOptions | undefined;
  /** Waiting times, for tests. */
  timing?: Partial<Timing> | undefined;
}

/** The options of `start`, over the environment's variables. */
export interface Settings {
  readonly url: string;
  readonly key: string;
  readonly environment: string;
  readonly service: string;
  readonly cache: boolean;
  readonly cacheFolder: string | undefined;
  readonly bootstrap: string | undefined;
  readonly reportContexts: boolean;
  readonly log: (message: string) => void;
  readonly tls: SecureContextOptions | undefined;
  readonly timing: Readonly<Timing>;
}

export function settingsOf(options: Options): Settings {
  const { env } = process;
  return {
    url: options.url ?? env.SIGNALBOX_URL ?? "",
    key: (options.key ?? env.SIGNALBOX_API_KEY ?? "").trim(), // a mounted secret often ends with a line break
    environment: options.environment ?? env.SIGNALBOX_ENVIRONMENT ?? "",
    service: options.service ?? env.SIGNALBOX_SERVICE ?? "",
    cache: options.cache !== false,
    cacheFolder: typeof options.cache === "string" ? options.cache : undefined,
    bootstrap: options.bootstrap,
    reportContexts: options.reportContexts !== false,
    log: logOf(options.log),
    tls: options.tls,
    timing: { ...TIMING, ...options.timing },
  };
}

function logOf(log: Log | undefined): (message: string) => void {
  if (log === undefined) {
    return debuglog("signalbox");
  }
  return typeof log === "function" ? log : (message) => log.warn(message);
}

/** Returns an error with every setting that is missing. */
export function missingSettings(settings: Settings): SettingsError | undefined {
  const missing = [
    [settings.url, "server", "SIGNALBOX_URL", "url"],
    [settings.key, "API key", "SIGNALBOX_API_KEY", "key"],
    [settings.environment, "environment", "SIGNALBOX_ENVIRONMENT", "environment"],
  ].filter(([value]) => !value);
  if (missing.length === 0) {
    return undefined;
  }
  return new SettingsError(missing.map(([, what, variable, option]) => `no ${what}: set ${variable} or pass ${option}`).join("; "));
}
