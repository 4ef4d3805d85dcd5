// Services of web frameworks that follow a flag and a level, and the examples.

import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { contextMiddleware, pinoLevels } from "@signalbox/client";
import { FakeBox, rules } from "@signalbox/client/testing";
import fastify from "fastify";
import pino from "pino";
import ts from "typescript";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually, OWNER_KEY, Server, SOAK, temporaryFolder } from "./support.js";

const HERE = join(import.meta.dirname, "..");
const MODULES = join(HERE, "node_modules");
const EXAMPLES = join(HERE, "../../examples");
const TSC = join(MODULES, "typescript/bin/tsc");

let server: Server;

beforeAll(async () => {
  server = await Server.start();
});

afterAll(() => server.stop());

/** Copies a folder to where the packages of the tests are found. */
function copied(from: string): string {
  mkdirSync(join(MODULES, ".copies"), { recursive: true });
  const to = mkdtempSync(join(MODULES, ".copies/"));
  onTestFinished(() => rmSync(to, { recursive: true, force: true }));
  cpSync(from, to, { recursive: true, filter: (path) => !path.includes("node_modules", HERE.length) });
  return to;
}

function run(folder: string, program: string, ...args: string[]): string {
  try {
    return execFileSync(program, args, { cwd: folder, encoding: "utf8", stdio: "pipe", env: { ...process.env, NODE_ENV: "production" } });
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    throw new Error(`${program} ${args.join(" ")}:\n${stdout}${stderr}`);
  }
}

/** Removes the types of a program, which the check of the package looks at. */
function translate(from: string, to: string): void {
  const compilerOptions = { target: ts.ScriptTarget.ES2022, module: ts.ModuleKind.ES2022 };
  writeFileSync(to, ts.transpileModule(readFileSync(from, "utf8"), { compilerOptions }).outputText);
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, "127.0.0.1");
  await once(listener, "listening");
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, "close");
  return port;
}

/** Starts a service that follows the server. */
function service(folder: string, args: string[], port: number, name: string): ChildProcess {
  const env = {
    ...process.env,
    PORT: String(port),
    SIGNALBOX_URL: server.url,
    SIGNALBOX_API_KEY: OWNER_KEY,
    SIGNALBOX_ENVIRONMENT: "production",
    SIGNALBOX_SERVICE: name,
    XDG_CACHE_HOME: temporaryFolder(),
  };
  const child = spawn(process.execPath, args, { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  return child;
}

async function get(url: string, headers: Record<string, string> = {}): Promise<string> {
  try {
    return await (await fetch(url, { headers })).text();
  } catch {
    return ""; // not up yet
  }
}

test("the Express example follows a flag, a level and a config", async () => {
  const folder = copied(join(EXAMPLES, "typescript-express"));
  translate(join(folder, "shop.ts"), join(folder, "shop.js"));
  const port = await freePort();
  const child = service(folder, ["shop.js"], port, "express-shop");
  const checkout = async (plan: string) =>
    JSON.parse((await get(`http://127.0.0.1:${port}/checkout`, { "x-user": "alice", "x-plan": plan })) || "{}");
  await eventually(async () => (await checkout("pro")).new === false, "the service");
  await server.admin.flag("checkout-v2", "BOOLEAN", false, { rules: [{ logic: { "==": [{ var: "user.plan" }, "pro"] }, value: true }] });
  await server.admin.level("shop", "DEBUG");
  await server.admin.config("checkout", { timeout_ms: 200 });
  await eventually(async () => (await checkout("pro")).timeout_ms === 200, "the config");
  await eventually(async () => (await checkout("pro")).new && (await checkout("pro")).level === "debug", "the flag and the level");
  expect(await checkout("free")).toEqual({ new: false, timeout_ms: 200, level: "debug" });
  expect(await get(`http://127.0.0.1:${port}/health`)).toContain("LIVE since");
  const exited = once(child, "exit");
  child.kill("SIGTERM");
  expect((await exited)[0]).toBe(0);
  const { data } = await server.admin.request("GET", "/api/v1/contexts/user%3Aalice");
  expect(data.id).toBe("user:alice");
});

test("the service of the demo follows a level", async () => {
  await server.admin.level("storefront", "DEBUG");
  const child = service(join(import.meta.dirname, ".."), ["demo.mjs"], 0, "storefront");
  const levels = async () => {
    const { data } = await server.admin.request("GET", "/api/v1/loggers/storefront/sources").catch(() => ({ data: [] }));
    return data.map((each: { attributes: { resolved_level: string } }) => each.attributes.resolved_level);
  };
  await eventually(async () => (await levels()).includes("DEBUG"), "the level");
  const exited = once(child, "exit");
  child.kill("SIGINT");
  expect((await exited)[0]).toBe(0);
});

test("the React example builds", () => {
  const folder = copied(join(EXAMPLES, "react"));
  run(folder, process.execPath, join(MODULES, "vite/bin/vite.js"), "build", "--logLevel", "error");
  const [script] = readdirSync(join(folder, "dist/assets"));
  const bundle = readFileSync(join(folder, "dist/assets", String(script)), "utf8");
  expect(bundle.includes("/ofrep/v1/evaluate/flags")).toBe(true);
  expect(bundle.includes("async_hooks")).toBe(false);
});

test("a hook of Fastify sets contexts", async () => {
  const box = new FakeBox({ flags: { f: rules(false, [{ "==": [{ var: "user.plan" }, "pro"] }, true]) }, levels: { shop: "DEBUG" } });
  const flag = box.boolean("f", false);
  const loggerInstance = pinoLevels(box, pino({ name: "shop", enabled: true }, { write: () => undefined }));
  const app = fastify({ loggerInstance });
  app.addHook(
    "preHandler",
    contextMiddleware((request: { headers: Record<string, unknown> }) => ({ user: { plan: request.headers["x-plan"] } })),
  );
  app.post("/", async (request) => {
    await new Promise(setImmediate);
    return { flag: flag(), level: request.log.level };
  });
  const answers = await Promise.all(
    ["pro", "free", "pro"].map(async (plan) =>
      (await app.inject({ method: "POST", url: "/", body: { a: 1 }, headers: { "x-plan": plan } })).json(),
    ),
  );
  expect(answers.map((each) => each.flag)).toEqual([true, false, true]);
  expect(answers[0].level).toBe("debug");
  await app.close();
});

/** Packs both packages and returns their files. */
function packed(): string[] {
  const folder = temporaryFolder();
  const made = run(HERE, "npm", "pack", "--workspaces", "--json", "--loglevel=error", "--pack-destination", folder);
  return JSON.parse(made).map(({ filename, size }: { filename: string; size: number }) => {
    expect(size, filename).toBeLessThan(200_000);
    return join(folder, filename);
  });
}

const ESM = `
import { start, withContext } from "@signalbox/client";
import { FakeBox } from "@signalbox/client/testing";
import { API } from "@signalbox/client/api";
import { startBrowser } from "@signalbox/client/browser";
import { createRequire } from "node:module";
const { VERSION, withContext: required } = createRequire(import.meta.url)("@signalbox/client");
if (withContext !== required || !API || !startBrowser || !start) throw new Error("two forms");
if (!new FakeBox({ flags: { f: true } }).boolean("f", false)()) throw new Error("no flag");
console.log(VERSION);
`;
const TYPED = `
import { type Box, type Flag, start } from "@signalbox/client";
import { API } from "@signalbox/client/api";
import { FakeBox } from "@signalbox/client/testing";
import { startBrowser } from "@signalbox/client/browser";
export async function main(): Promise<boolean> {
  const box: Box = await start();
  const flag: Flag<boolean> = new FakeBox().boolean("f", false);
  const { data } = await new API().listFlags();
  const name: string | undefined = data[0]?.id;
  return flag() && box.boolean("f", true)() && name !== undefined && startBrowser({ url: "", key: "" }).hasValues;
}
`;

test("the packages install into an empty folder, and work in both forms", () => {
  const folder = temporaryFolder();
  const files = packed();
  writeFileSync(join(folder, "package.json"), "{}");
  run(
    folder,
    "npm",
    "install",
    "--offline",
    "--legacy-peer-deps",
    "--ignore-scripts",
    "--no-audit",
    "--no-fund",
    "--loglevel=error",
    ...files,
  );
  expect(readdirSync(join(folder, "node_modules")).filter((name) => !name.startsWith("."))).toEqual(["@signalbox"]);
  const shipped = readdirSync(join(folder, "node_modules/@signalbox/client")).sort();
  expect(shipped).toEqual(["LICENSE", "README.md", "dist", "package.json"]);
  writeFileSync(join(folder, "program.mjs"), ESM);
  const { version } = JSON.parse(readFileSync(join(HERE, "client/package.json"), "utf8"));
  expect(run(folder, process.execPath, "program.mjs").trim()).toBe(version);
  expect(run(folder, process.execPath, "-p", "require('@signalbox/client').VERSION").trim()).toBe(version);
  writeFileSync(join(folder, "typed.mts"), TYPED);
  writeFileSync(join(folder, "typed.cts"), TYPED);
  const quick = SOAK ? [] : ["--skipLibCheck"]; // the types of the management calls alone take seconds
  const options = [
    ...quick,
    "--strict",
    "--noEmit",
    "--module",
    "nodenext",
    "--target",
    "es2022",
    "--types",
    "node",
    "--typeRoots",
    join(MODULES, "@types"),
  ];
  run(folder, process.execPath, TSC, ...options, "typed.mts", "typed.cts");
});

/** Returns how many event sockets are open, as the server says. */
async function openSockets(): Promise<number> {
  const headers = { Authorization: `Bearer ${OWNER_KEY}` };
  const answer = await get(`${server.url}/metrics`, headers);
  return Number(/^signalbox_stream_sockets (\d+)$/m.exec(answer)?.[1]);
}

// Next.js is 300 MB and builds for a minute.
test.runIf(SOAK)(
  "a service of Next.js follows a flag and a level",
  async () => {
    const folder = temporaryFolder();
    cpSync(join(import.meta.dirname, "next"), folder, { recursive: true });
    run(folder, "npm", "ci", "--no-audit", "--no-fund", "--loglevel=error");
    const install = ["install", "--no-save", "--legacy-peer-deps", "--no-audit", "--no-fund", "--loglevel=error"];
    run(folder, "npm", ...install, packed()[0] as string);
    const next = join(folder, "node_modules/next/dist/bin/next");
    run(folder, process.execPath, next, "build");
    const port = await freePort();
    const child = service(folder, [next, "start", "--port", String(port)], port, "next-shop");
    const checkout = async () => JSON.parse((await get(`http://127.0.0.1:${port}/checkout`, { "x-plan": "pro" })) || "{}");
    await eventually(async () => (await checkout()).new === false, "the service");
    await server.admin.flag("next.flag", "BOOLEAN", false, { rules: [{ logic: { "==": [{ var: "user.plan" }, "pro"] }, value: true }] });
    await server.admin.level("next", "DEBUG");
    await eventually(async () => (await checkout()).new && (await checkout()).level === "debug", "the flag and the level");
    expect(JSON.parse(await get(`http://127.0.0.1:${port}/checkout`)).new).toBe(false);
    expect(await get(`http://127.0.0.1:${port}/`)).toContain("new");
    const exited = once(child, "exit");
    child.kill("SIGTERM");
    await exited;
    // While it is developed, it loads edited files again, which must not make another box.
    await server.admin.level("next", null);
    service(folder, [next, "dev", "--port", String(port)], port, "next-shop");
    await eventually(async () => (await checkout()).level === "info", "the service again", 120_000);
    const route = join(folder, "app/checkout/route.js");
    writeFileSync(route, readFileSync(route, "utf8").replace("new:", "edited: true, new:"));
    await eventually(async () => (await checkout()).edited, "the edited route", 120_000);
    const files = join(folder, "app/signalbox.js");
    writeFileSync(files, `${readFileSync(files, "utf8")}// edited\n`);
    await server.admin.level("next", "DEBUG");
    await eventually(async () => (await checkout()).level === "debug", "the level");
    await eventually(async () => (await openSockets()) === 1, "one socket");
  },
  600_000,
);
