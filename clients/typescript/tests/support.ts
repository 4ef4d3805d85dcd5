// A real server, a network that fails, and waiting for conditions.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  type Adapter,
  type Box,
  ConflictError,
  type Flag,
  type Level,
  NotFoundError,
  type Options,
  SignalboxError,
  startSync,
  type Timing,
} from "@signalbox/client";
import { Address } from "@signalbox/client/address";
import { Transport } from "@signalbox/client/http";
import { describe, onTestFinished } from "vitest";

const BINARY = process.env.SIGNALBOX_BINARY ?? join(import.meta.dirname, "../../../bin/signalbox");
export const OWNER_KEY = "sk_api_owner-of-the-account-in-the-typescript-tests";
export const PATIENCE = 30_000;
export const SOAK = Boolean(process.env.SIGNALBOX_SOAK);

/** Waiting times for tests, short enough to see everything happen. */
export const FAST: Partial<Timing> = {
  minBackoff: 50,
  maxBackoff: 200,
  poll: 200,
  settle: 5,
  report: 300,
  applied: 20,
  save: 20,
  stable: 200,
  request: 5000,
};

/** Waits until a condition holds, and returns its value. */
export async function eventually<T>(holds: () => T | Promise<T>, what: string, timeout = PATIENCE): Promise<T> {
  const end = performance.now() + timeout;
  for (;;) {
    const found = await holds();
    if (found) {
      return found;
    }
    if (performance.now() > end) {
      throw new Error(`it never came: ${what}`);
    }
    await new Promise((resolve) => setTimeout(resolve, 3));
  }
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), "signalbox-typescript-"));
}

/** A Signalbox server on SQLite, or on PostgreSQL when a URL is given. */
export class Server {
  port = 0;
  admin!: Admin;
  readonly folder = temporaryFolder();
  private process: ChildProcess | undefined;

  private constructor(
    private readonly database: string,
    private readonly more: Record<string, string>,
  ) {}

  static async start(database = "", more: Record<string, string> = {}): Promise<Server> {
    const server = new Server(database, more);
    await server.start();
    return server;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`;
  }

  async start(): Promise<void> {
    const env = {
      SIGNALBOX_LISTEN: `127.0.0.1:${this.port}`,
      SIGNALBOX_DATA: this.folder,
      SIGNALBOX_BOOTSTRAP_KEY: OWNER_KEY,
      SIGNALBOX_LOG_FORMAT: "json",
      ...(this.database && { SIGNALBOX_DATABASE: this.database }),
      ...this.more,
    };
    this.process = spawn(BINARY, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
    const lines = createInterface({ input: this.process.stderr as NodeJS.ReadableStream });
    const printed: string[] = [];
    this.port = await new Promise<number>((resolve, reject) => {
      lines.on("line", (line) => {
        printed.push(line);
        const found = /Signalbox is ready.*"address":"127\.0\.0\.1:(\d+)"/.exec(line);
        if (found) {
          resolve(Number(found[1]));
        }
      });
      this.process?.on("exit", () => reject(new Error(`the server did not start:\n${printed.join("\n")}`)));
    });
    this.admin = new Admin(this.url);
  }

  /** Changes a setting of the next start. */
  setting(name: string, value: string): void {
    this.more[name] = value;
  }

  async stop(how: NodeJS.Signals = "SIGTERM"): Promise<void> {
    const ending = this.process;
    this.process = undefined;
    if (ending) {
      const exited = once(ending, "exit");
      ending.kill(how);
      await exited;
    }
  }

  /** Runs a command of the program on the server's data. */
  run(...command: string[]): void {
    execFileSync(BINARY, command, { env: { SIGNALBOX_DATA: this.folder }, stdio: "pipe" });
  }
}

// biome-ignore lint/suspicious/noExplicitAny: documents of the server, which the tests know
type Document = any;

/** Changes things on the server. */
export class Admin {
  private readonly transport: Transport;

  constructor(url: string, options?: Options["tls"]) {
    this.transport = new Transport(new Address(url, options), OWNER_KEY, PATIENCE);
    this.transport.hold();
  }

  async request(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<Document> {
    const response = await this.transport.request({ method, path, body, headers });
    return response.body ? response.json() : null;
  }

  /** Creates or replaces a flag. */
  async flag(key: string, type: string, value: unknown, here?: { rules?: unknown[]; default?: unknown; enabled?: boolean }): Promise<void> {
    const environments = here ? { production: { enabled: true, rules: [], ...here } } : {};
    const values = type === "BOOLEAN" ? { values: [named("On", true), named("Off", false)] } : {};
    await this.put("flags", "flag", key, { name: key, type, default: value, environments, managed: true, ...values });
  }

  async level(key: string, level: string | null, more: object = {}): Promise<void> {
    const attributes = { level, managed: level !== null, ...more };
    await this.request("PUT", `/api/v1/loggers/${key}`, { data: { id: key, type: "logger", attributes } });
  }

  async config(key: string, values: Record<string, unknown>): Promise<void> {
    const items = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
    await this.put("configs", "config", key, { name: key, items });
  }

  private async put(path: string, type: string, id: string, attributes: object): Promise<void> {
    const document = { data: { id, type, attributes } };
    const replace = () => this.request("PUT", `/api/v1/${path}/${id}`, document);
    const create = () => this.request("POST", `/api/v1/${path}`, document);
    const upsert = () => unless(NotFoundError, replace, create);
    await unless(ConflictError, upsert, replace); // a box may declare it meanwhile
  }

  /** Creates an API key. */
  async key(more: object = { role: "VIEWER" }): Promise<{ id: string; key: string }> {
    const attributes = { name: randomUUID(), ...more };
    const { data } = await this.request("POST", "/api/v1/api_keys", { data: { type: "api_key", attributes } });
    return { id: data.id, key: data.attributes.key };
  }

  /** Returns the levels that services have reported for a logger. */
  async sourceLevels(logger: string): Promise<string[]> {
    try {
      const { data } = await this.request("GET", `/api/v1/loggers/${logger}/sources`);
      return data.map((each: Document) => each.attributes.resolved_level);
    } catch (error) {
      if (error instanceof SignalboxError) {
        return [];
      }
      throw error;
    }
  }
}

/** Calls a function, and another if it fails with a kind of error. */
async function unless(kind: new (...args: never[]) => Error, first: () => Promise<unknown>, then: () => Promise<unknown>): Promise<void> {
  try {
    await first();
  } catch (error) {
    if (!(error instanceof kind)) {
      throw error;
    }
    await then();
  }
}

function named(name: string, value: unknown): object {
  return { name, value };
}

/** A network between a box and the server that can be cut, go silent, delay, or block sockets. */
export class Network {
  silent = false;
  /** Refuses WebSockets. */
  blocked = false;
  /** Answers nothing to WebSockets. */
  swallowed = false;
  delay = 0;
  url = "";
  private readonly pairs = new Set<net.Socket>();
  private readonly listener: net.Server;

  private constructor(target: number) {
    this.listener = net.createServer((client) => {
      const server = net.connect(target, "127.0.0.1");
      this.copy(client, server);
      this.copy(server, client);
    });
  }

  static async start(target: number): Promise<Network> {
    const proxy = new Network(target);
    proxy.listener.listen(0, "127.0.0.1");
    await once(proxy.listener, "listening");
    proxy.url = `http://127.0.0.1:${(proxy.listener.address() as net.AddressInfo).port}`;
    onTestFinished(() => proxy.close());
    return proxy;
  }

  private copy(from: net.Socket, to: net.Socket): void {
    this.pairs.add(from);
    from.on("error", () => undefined);
    from.on("close", () => {
      this.pairs.delete(from);
      to.destroy();
    });
    from.on("data", (data) => {
      if (this.blocked && data.includes("Upgrade: websocket")) {
        from.destroy();
      } else if (!this.silent && !(this.swallowed && data.includes("Upgrade: websocket"))) {
        setTimeout(() => to.destroyed || to.write(data), this.delay);
      }
    });
  }

  /** Ends all connections. */
  cut(): void {
    for (const each of this.pairs) {
      each.destroy();
    }
  }

  close(): void {
    this.listener.close();
    this.cut();
  }
}

/** Starts a box, which is closed at the end of the test. */
export function startBox(url: string, options: Options = {}): Box {
  const box = startSync({
    url,
    key: OWNER_KEY,
    environment: "production",
    service: "shop",
    cache: false,
    ...options,
    timing: { ...FAST, ...options.timing },
  });
  onTestFinished(() => box.close(2000));
  return box;
}

/** A logging framework with one level for each logger. */
export class Framework implements Adapter {
  readonly applied = new Map<string, Level>();

  setLevel(name: string, level: Level | undefined): void {
    if (level) {
      this.applied.set(name, level);
    } else {
      this.applied.delete(name);
    }
  }

  levels(name: string): { own: Level; uses: Level } {
    return { own: "INFO", uses: this.applied.get(name) ?? "INFO" };
  }

  follow(box: Box, name: string): this {
    box.addLogger(this, name);
    return this;
  }
}

/** Declares a flag of a type. */
export function declareFlag(box: Box, type: string, key: string, value: unknown): Flag<unknown> {
  switch (type) {
    case "BOOLEAN":
      return box.boolean(key, value as boolean);
    case "STRING":
      return box.string(key, value as string);
    case "NUMERIC":
      return box.number(key, value as number);
    default:
      return box.json(key, value);
  }
}

/** Reports whether a box has an open socket and the server's values. */
export function isLive(box: Box): boolean {
  return box.state.status === "LIVE" && !box.state.polling;
}

/** The databases to test with: PostgreSQL too, where scripts/with-postgres provides one. */
const DATABASES = ["SQLite", ...(process.env.SIGNALBOX_TEST_POSTGRES ? ["PostgreSQL"] : [])];

/** Defines tests on a database, if there is one. */
export function describeOn(database: string, tests: () => void): void {
  describe.runIf(DATABASES.includes(database))(`on ${database}`, tests);
}

/** Creates a database on the PostgreSQL server of scripts/with-postgres, or returns "" for SQLite. */
export function newDatabase(kind: string): string {
  const server = process.env.SIGNALBOX_TEST_POSTGRES;
  if (kind === "SQLite" || !server) {
    return "";
  }
  const psql = join(process.env.SIGNALBOX_TEST_POSTGRES_BIN ?? "", "psql");
  const name = `typescript_${randomUUID().replaceAll("-", "")}`;
  execFileSync(psql, [server, "-qc", `CREATE DATABASE ${name}`]);
  return server.replace(/\/postgres(\?|$)/, `/${name}$1`);
}
