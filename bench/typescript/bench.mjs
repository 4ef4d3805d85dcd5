// Compares the TypeScript client with those of LaunchDarkly, Unleash and flagd, side by side in one run, and prints ratios.
//
//     make bench-typescript
//
// Reads are interleaved: every round measures every client once, and the best round of each counts. A read that returns a
// promise is awaited.

import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { cpus, loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { Writable } from "node:stream";
import { fileURLToPath } from "node:url";
import pino from "pino";
import winston from "winston";
import { CLIENTS, PRO, signalbox } from "./clients.mjs";

const ROUNDS = 15;
const FLAGS = 1000;
const NAMES = ["no rule", "a rule on user.plan", "a 25 % rollout"];
const KEY = "sk_api_owner-of-the-account-in-the-typescript-bench";

const say = (text = "") => process.stdout.write(`${text}\n`);

function expect(holds, what) {
  if (!holds) {
    throw new Error(`a goal is missed: ${what}`);
  }
}

/** Returns the nanoseconds that one call of a function takes. */
async function timed(read, count) {
  const isAsync = read() instanceof Promise;
  const began = process.hrtime.bigint();
  if (isAsync) {
    for (let i = 0; i < count; i++) {
      await read();
    }
  } else {
    for (let i = 0; i < count; i++) {
      read();
    }
  }
  return Number(process.hrtime.bigint() - began) / count;
}

/** Returns the nanoseconds that one call of each function takes, in its best round of about 20 ms. */
async function best(functions) {
  const counts = {};
  for (const [name, read] of Object.entries(functions)) {
    await timed(read, 2000);
    counts[name] = Math.max(Math.ceil(2e7 / (await timed(read, 2000))), 100);
  }
  const found = Object.fromEntries(Object.keys(functions).map((name) => [name, Number.POSITIVE_INFINITY]));
  for (let round = 0; round < ROUNDS; round++) {
    for (const [name, read] of Object.entries(functions)) {
      found[name] = Math.min(found[name], await timed(read, counts[name]));
    }
  }
  return found;
}

const columns = (texts) => texts.map((text) => text.padStart(16)).join("");

async function reads() {
  const made = {};
  for (const [name, make] of Object.entries(CLIENTS)) {
    made[name] = await make(FLAGS);
  }
  say(`A flag read, with ${FLAGS} flags loaded\n`);
  say("".padEnd(24) + columns(Object.keys(CLIENTS)));
  for (let i = 0; i < NAMES.length; i++) {
    const found = await best(Object.fromEntries(Object.entries(made).map(([name, functions]) => [name, functions[i]])));
    say(NAMES[i].padEnd(24) + columns(Object.values(found).map((each) => `${each.toFixed(0)} ns`)));
    say("".padEnd(24) + columns(Object.values(found).map((each) => `${(each / found.signalbox).toFixed(1)} ×`)));
    expect(
      Object.entries(found).every(([name, each]) => name === "signalbox" || found.signalbox < each),
      `${NAMES[i]} is ahead`,
    );
  }
  const { FakeBox, rules, withContext } = signalbox();
  const flag = new FakeBox({ flags: { f: rules(false, [PRO, true]) } }).boolean("f", false);
  const { request } = await best({ request: () => withContext({ user: { key: "alice", plan: "pro" } }, flag) });
  say(`${"a new context, a read".padEnd(24)}${columns([`${request.toFixed(0)} ns`])}`);
}

/** A suppressed record, bare and followed by Signalbox. */
async function records() {
  const { FakeBox, pinoLevels, winstonLevels } = signalbox();
  const nowhere = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  const box = new FakeBox({ levels: { shop: "INFO" } });
  const newPino = () => pino({ name: "shop" }, nowhere());
  const newWinston = () => winston.createLogger({ level: "info", transports: [new winston.transports.Stream({ stream: nowhere() })] });
  const pairs = {
    pino: [newPino().child({ name: "shop.payments" }), pinoLevels(box, newPino()).child({ name: "shop.payments" })],
    winston: [newWinston(), winstonLevels(box, newWinston(), "shop.payments")],
  };
  say("\nA suppressed record, bare and with Signalbox");
  for (const [name, [bare, followed]] of Object.entries(pairs)) {
    const found = await best({ bare: () => bare.debug("no %s", 1), followed: () => followed.debug("no %s", 1) });
    const ratio = found.followed / found.bare;
    say(`  ${name.padEnd(22)}${columns([`${found.bare.toFixed(1)} ns`, `${found.followed.toFixed(1)} ns`, `${ratio.toFixed(2)} ×`])}`);
    expect(ratio <= 1.1, `a suppressed record of ${name} costs what it costs`);
  }
}

async function startServer() {
  const binary = fileURLToPath(new URL("../../bin/signalbox", import.meta.url));
  const env = {
    SIGNALBOX_LISTEN: "127.0.0.1:0",
    SIGNALBOX_DATA: mkdtempSync(join(tmpdir(), "bench-")),
    SIGNALBOX_BOOTSTRAP_KEY: KEY,
    SIGNALBOX_LOG_FORMAT: "json",
  };
  const child = spawn(binary, ["serve"], { env, stdio: ["ignore", "ignore", "pipe"] });
  for await (const line of createInterface({ input: child.stderr })) {
    const found = /Signalbox is ready.*"address":"([^"]*)"/.exec(line);
    if (found) {
      child.stderr.resume();
      return { child, url: `http://${found[1]}` };
    }
  }
  throw new Error("the server did not start");
}

/** From the write of a change to its application, through a real server on SQLite. */
async function changes(count = 200) {
  const { startSync } = signalbox();
  const { child, url } = await startServer();
  const headers = { Authorization: `Bearer ${KEY}`, "Content-Type": "application/json" };
  const write = async (method, path, value) => {
    const attributes = { name: "bench", type: "NUMERIC", default: value, managed: true };
    const answer = await fetch(url + path, { method, headers, body: JSON.stringify({ data: { id: "bench", type: "flag", attributes } }) });
    expect(answer.ok, await answer.text());
  };
  await write("POST", "/api/v1/flags", 0);
  const box = startSync({ url, key: KEY, environment: "production", service: "bench", cache: false });
  const flag = box.number("bench", -1);
  await box.ready(10_000);
  while (box.state.polling || box.state.status !== "LIVE") {
    await new Promise(setImmediate);
  }
  let applied = () => undefined;
  flag.onChange(() => applied());
  const taken = [];
  for (let i = 1; i <= count; i++) {
    const came = new Promise((resolve) => {
      applied = resolve;
    });
    const began = performance.now();
    await Promise.all([write("PUT", "/api/v1/flags/bench", i), came]);
    await came;
    taken.push(performance.now() - began);
    expect(flag() === i, "the value is there");
  }
  await box.close();
  const exited = once(child, "exit");
  child.kill();
  await exited;
  taken.sort((a, b) => a - b);
  const [p50, p99] = [taken[Math.floor(count / 2)], taken[Math.floor(count * 0.99)]];
  say(`\nA change, from the start of the write until it is applied: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
  expect(p50 <= 20, "a change is applied within 20 ms");
}

/** The memory of a client with its flags, each in a process of its own. */
function memory() {
  say(`\nMemory of a client with ${FLAGS} flags, its modules included`);
  const clients = new URL("clients.mjs", import.meta.url).href;
  for (const name of Object.keys(CLIENTS)) {
    const code = `import { CLIENTS } from ${JSON.stringify(clients)};
      gc(); const before = process.memoryUsage().rss;
      await CLIENTS[${JSON.stringify(name)}](${FLAGS});
      gc(); process.stdout.write(String(process.memoryUsage().rss - before)); process.exit(0);`;
    const printed = execFileSync(process.execPath, ["--expose-gc", "--input-type=module", "--eval", code], {
      encoding: "utf8",
      stdio: ["ignore", "pipe", "ignore"],
    });
    const bytes = Number(/\d+$/.exec(printed)?.[0]);
    say(`  ${name.padEnd(22)}${columns([`${(bytes / 1e6).toFixed(1)} MB`])}`);
  }
}

/** The start of a box from a warm cache, up to the first value. */
async function starts() {
  const { startSync } = signalbox();
  const attributes = { type: "BOOLEAN", default: true, managed: true, environments: { e: { rules: [{ logic: { "==": [{ var: "user.plan" }, "x"] }, value: false }] } } };
  const flags = Array.from({ length: FLAGS }, (_, i) => ({ id: `flag-${i}`, type: "flag", attributes }));
  const cache = mkdtempSync(join(tmpdir(), "bench-"));
  const options = { url: "http://127.0.0.1:9", key: "k", environment: "e", cache };
  const first = startSync(options);
  first.replace({ seq: 1, attributes: { flags } });
  await first.close();
  const taken = [];
  for (let i = 0; i < 20; i++) {
    const began = performance.now();
    const box = startSync(options);
    expect(box.boolean("flag-7", false)(), "the cache is read");
    taken.push(performance.now() - began);
    await box.close(100);
  }
  taken.sort((a, b) => a - b);
  say(`\nA start from a warm cache with ${FLAGS} flags, to the first value: p50 ${taken[10].toFixed(1)} ms`);
}

say(`Node.js ${process.version}, ${cpus().length} processors, load ${loadavg()[0].toFixed(1)}\n`);
await reads();
await records();
await changes();
memory();
await starts();
process.exit(0); // without waiting for the timers of the other clients
