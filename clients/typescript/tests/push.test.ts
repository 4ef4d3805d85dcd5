// Web pages that follow flags in Chromium by the event streams of a real server: with the public OpenFeature provider, and with
// ours. The pages are of another origin than the server.

import { execFileSync } from "node:child_process";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { eventually, OWNER_KEY, Server } from "./support.js";

const FLAG = "pushed";
/** In milliseconds: after an event, the server joins changes for 250 ms. */
const JOIN = 300;

/** The value of the flag in a page, and when it came. */
interface Seen {
  value: unknown;
  at: number;
}

declare global {
  interface Window {
    page: { start(url: string, key: string, pollInterval?: number): Promise<void> };
    seen: Seen[];
  }
}

let browser: Browser;
let site: http.Server;
const scripts = new Map<string, string>();

beforeAll(async () => {
  for (const name of ["public-provider", "own-client"]) {
    scripts.set(`/${name}.js`, await bundle(`${import.meta.dirname}/pages/${name}.ts`));
  }
  site = http.createServer((request, response) => {
    const script = scripts.get(request.url ?? "");
    response.setHeader("Content-Type", script ? "text/javascript" : "text/html");
    response.end(script ?? `<!doctype html><script src="${request.url?.slice(1)}.js"></script>`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  browser = await chromium.launch({ executablePath: installed(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
});

afterAll(async () => {
  await browser?.close();
  site?.close();
});

function installed(): string {
  const wanted = process.env.SIGNALBOX_TEST_CHROMIUM;
  const search = "command -v chromium || command -v chromium-browser || command -v google-chrome";
  return wanted ?? execFileSync("sh", ["-c", search], { encoding: "utf8" }).trim();
}

/** Returns a program of pages/ as a script, with all that it imports. */
async function bundle(entry: string): Promise<string> {
  const options = { entry, formats: ["iife" as const], name: "page" };
  const built = await build({
    logLevel: "silent",
    configFile: `${import.meta.dirname}/../vitest.config.ts`,
    build: { lib: options, write: false },
  });
  const [output] = Array.isArray(built) ? built : [built];
  if (!output || !("output" in output)) {
    throw new Error("the page was not built");
  }
  return output.output[0].code;
}

/** A server with a flag whose value is 0, and a key for browsers. */
async function startServer(more: Record<string, string> = {}): Promise<{ server: Server; key: string }> {
  const server = await Server.start("", more);
  onTestFinished(() => server.stop());
  const { key } = await server.admin.key({ access: "evaluate", scopes: { environments: ["production"] } });
  await server.admin.flag(FLAG, "NUMERIC", 0);
  return { server, key };
}

/** A page that follows the flag, and the requests that it has made. */
async function open(name: string, url: string, key: string, pollInterval?: number): Promise<{ page: Page; requests: string[] }> {
  const page = await browser.newPage();
  onTestFinished(() => page.close());
  const requests: string[] = [];
  page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/${name}`);
  await page.evaluate((all) => window.page.start(...(all as [string, string, number?])), [url, key, pollInterval]);
  return { page, requests };
}

/** Changes the flag, and returns how many milliseconds later the page has the value. */
async function change(server: Server, page: Page, value: number): Promise<number> {
  const began = Date.now();
  await server.admin.flag(FLAG, "NUMERIC", value);
  const seen = await eventually(
    () => page.evaluate((wanted) => window.seen.find((each) => each.value === wanted), value),
    `the value ${value}`,
  );
  return (seen as Seen).at - began;
}

const evaluations = (requests: string[]) => requests.filter((each) => each === "POST /ofrep/v1/evaluate/flags").length;

/** A proxy that passes requests on, and answers as `answer` says. */
async function proxy(target: Server, answer: (from: http.IncomingMessage, to: http.ServerResponse) => void): Promise<string> {
  const server = http.createServer((request, response) => {
    const passed = http.request(`${target.url}${request.url}`, { method: request.method, headers: request.headers }, (from) =>
      answer(from, response),
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Collects the body of an answer before it sends anything, as proxies do by default. */
function buffered(from: http.IncomingMessage, to: http.ServerResponse): void {
  const chunks: Buffer[] = [];
  from.on("data", (chunk) => chunks.push(chunk));
  from.on("end", () => {
    to.writeHead(from.statusCode ?? 502, from.headers);
    to.end(Buffer.concat(chunks));
  });
}

for (const name of ["public-provider", "own-client"]) {
  test(`${name}: a page sees changes at once and does not poll`, async () => {
    const { server, key } = await startServer();
    const { page, requests } = await open(name, server.url, key);
    await eventually(() => evaluations(requests) === 2, "the first answer, and the one to the first event");
    const times: number[] = [];
    for (let value = 1; value <= 20; value++) {
      await new Promise((resolve) => setTimeout(resolve, JOIN)); // else the server would join the changes
      times.push(await change(server, page, value));
    }
    times.sort((a, b) => a - b);
    console.log(`${name}: a change is seen after ${times[10]?.toFixed(0)} ms at the median, ${times[19]?.toFixed(0)} ms at most`);
    expect(times[10]).toBeLessThan(200);
    await eventually(() => evaluations(requests) === 22, "one evaluation for each change");
    expect(requests.filter((each) => each === "GET /ofrep/v1/events")).toHaveLength(1);
  });

  test(`${name}: a page follows a server that was restarted`, async () => {
    const { server, key } = await startServer();
    const { page } = await open(name, server.url, key);
    await change(server, page, 1);
    await server.stop();
    await server.start();
    await change(server, page, 2);
    await server.stop("SIGKILL");
    await server.start();
    await change(server, page, 3);
  });

  test(`${name}: a page whose token has expired gets a new one`, async () => {
    const { server, key } = await startServer({ SIGNALBOX_STREAM_TOKEN_TTL: "2s", SIGNALBOX_STREAM_MAX_AGE: "3s" });
    const { page, requests } = await open(name, server.url, key);
    const refused = new Promise<void>((resolve) => page.on("response", (response) => (response.status() === 401 ? resolve() : undefined)));
    await change(server, page, 1);
    await refused;
    const before = requests.filter((each) => each === "GET /ofrep/v1/events").length;
    await eventually(() => requests.filter((each) => each === "GET /ofrep/v1/events").length > before, "another stream");
    await change(server, page, 2);
  });

  test(`${name}: a proxy that buffers unless the answer forbids it`, async () => {
    const { server, key } = await startServer();
    const url = await proxy(server, (from, to) => {
      if (from.headers["x-accel-buffering"] !== "no") {
        buffered(from, to);
        return;
      }
      to.writeHead(from.statusCode ?? 502, from.headers);
      from.pipe(to);
    });
    await server.stop();
    server.setting("SIGNALBOX_PUBLIC_URL", url);
    await server.start();
    const { page, requests } = await open(name, url, key);
    await eventually(() => evaluations(requests) === 2, "the first event");
    await change(server, page, 1);
    await change(server, page, 2);
    await eventually(() => evaluations(requests) === 4, "one evaluation for each change");
  });
}

test("own-client: a proxy that buffers everything leaves polling", async () => {
  const { server, key } = await startServer();
  const url = await proxy(server, buffered);
  await server.stop();
  server.setting("SIGNALBOX_PUBLIC_URL", url);
  await server.start();
  const { page } = await open("own-client", url, key, 100);
  await change(server, page, 1);
  await change(server, page, 2);
});

test("own-client: a hidden page closes its stream, and opens it again", async () => {
  const { server, key } = await startServer();
  const { page, requests } = await open("own-client", server.url, key);
  await change(server, page, 1);
  const streams = () => requests.filter((each) => each === "GET /ofrep/v1/events").length;
  const show = (state: string) =>
    page.evaluate((visible) => {
      Object.defineProperty(document, "visibilityState", { value: visible, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await page.clock.install();
  await show("hidden");
  await page.clock.fastForward(119_000);
  expect(await openStreams(server)).toBe(1);
  await page.clock.fastForward(2000);
  await eventually(async () => (await openStreams(server)) === 0, "the stream is closed");
  await server.admin.flag(FLAG, "NUMERIC", 2);
  await show("visible");
  await eventually(() => page.evaluate(() => window.seen.some((each) => each.value === 2)), "the change");
  await eventually(() => streams() === 2, "another stream");
});

/** Returns how many streams are open, as the server says. */
async function openStreams(server: Server): Promise<number> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${OWNER_KEY}` } });
  return Number(/^signalbox_stream_sockets (\d+)$/m.exec(await answer.text())?.[1]);
}
