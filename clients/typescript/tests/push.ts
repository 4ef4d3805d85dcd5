// Web pages that follow flags in Chromium by the event streams of a real server. The pages are of another origin than the server.
// The tests of each page are in a file of their own, so that they run at once.

import { execFileSync } from "node:child_process";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { build } from "vite";
import { afterAll, beforeAll, expect, type TestContext, test } from "vitest";
import { eventually, Server, SOAK } from "./support.js";

/** The flag that the pages follow. */
export const FLAG = "pushed";

/** In milliseconds: after an event, the server joins changes for 250 ms. */
const JOIN = 300;

/** How many changes are measured. */
const CHANGES = SOAK ? 20 : 7;

/** How often they are measured at most: other tests run at the same time and can take the processors for seconds. */
const ROUNDS = 3;

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

/** Serves a page of pages/, and starts a browser, for the tests of a file. */
export function serve(name: string): void {
  beforeAll(async () => {
    const [script, launched] = await Promise.all([bundle(`${import.meta.dirname}/pages/${name}.ts`), launch()]);
    browser = launched;
    site = http.createServer((request, response) => {
      const isScript = request.url === "/page.js";
      response.setHeader("Content-Type", isScript ? "text/javascript" : "text/html");
      response.end(isScript ? script : '<!doctype html><script src="page.js"></script>');
    });
    await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  });

  afterAll(async () => {
    await browser?.close();
    site?.close();
  });
}

function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: installed(), args: ["--no-sandbox", "--disable-dev-shm-usage"] });
}

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
export async function startServer(test: TestContext, more: Record<string, string> = {}): Promise<{ server: Server; key: string }> {
  const server = await Server.start("", more);
  test.onTestFinished(() => server.stop());
  const { key } = await server.admin.key({ access: "evaluate", scopes: { environments: ["production"] } });
  await server.admin.flag(FLAG, "NUMERIC", 0);
  return { server, key };
}

/** A page that follows the flag, and the requests that it has made. */
export async function open(
  test: TestContext,
  url: string,
  key: string,
  pollInterval?: number,
): Promise<{ page: Page; requests: string[] }> {
  const page = await browser.newPage();
  test.onTestFinished(() => page.close());
  const requests: string[] = [];
  page.on("request", (request) => requests.push(`${request.method()} ${new URL(request.url()).pathname}`));
  await page.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}/`);
  await page.evaluate((all) => window.page.start(...(all as [string, string, number?])), [url, key, pollInterval]);
  return { page, requests };
}

/** Changes the flag, and returns how many milliseconds later the page has the value. */
export async function change(server: Server, page: Page, value: number): Promise<number> {
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
export async function proxy(
  test: TestContext,
  target: Server,
  answer: (from: http.IncomingMessage, to: http.ServerResponse) => void,
): Promise<string> {
  const server = http.createServer((request, response) => {
    const passed = http.request(`${target.url}${request.url}`, { method: request.method, headers: request.headers }, (from) =>
      answer(from, response),
    );
    passed.on("error", () => response.destroy());
    response.on("close", () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  test.onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Collects the body of an answer before it sends anything, as proxies do by default. */
export function buffered(from: http.IncomingMessage, to: http.ServerResponse): void {
  const chunks: Buffer[] = [];
  from.on("data", (chunk) => chunks.push(chunk));
  from.on("end", () => {
    to.writeHead(from.statusCode ?? 502, from.headers);
    to.end(Buffer.concat(chunks));
  });
}

/** The tests that every page passes. They mostly wait, so all run at once but the one that measures. */
export function testPage(): void {
  test("a page sees changes at once and does not poll", async (context) => {
    const { server, key } = await startServer(context);
    const { page, requests } = await open(context, server.url, key);
    await eventually(() => evaluations(requests) === 2, "the first answer, and the one to the first event");
    let changes = 0;
    let median = Number.POSITIVE_INFINITY;
    for (let round = 0; round < ROUNDS && median >= 200; round++) {
      const times: number[] = [];
      for (let i = 0; i < CHANGES; i++) {
        await new Promise((resolve) => setTimeout(resolve, JOIN)); // else the server would join the changes
        times.push(await change(server, page, ++changes));
      }
      times.sort((a, b) => a - b);
      median = times[Math.floor(CHANGES / 2)] as number;
      console.log(`a change is seen after ${median.toFixed(0)} ms at the median, ${times.at(-1)?.toFixed(0)} ms at most`);
    }
    expect(median).toBeLessThan(200);
    await eventually(() => evaluations(requests) === changes + 2, "one evaluation for each change");
    expect(requests.filter((each) => each === "GET /ofrep/v1/events")).toHaveLength(1);
  });

  test.concurrent("a page follows a server that was restarted", async (context) => {
    const { server, key } = await startServer(context);
    const { page } = await open(context, server.url, key);
    await change(server, page, 1);
    await server.stop();
    await server.start();
    await change(server, page, 2);
    await server.stop("SIGKILL");
    await server.start();
    await change(server, page, 3);
  });

  test.concurrent("a page whose token has expired gets a new one", async (context) => {
    const { server, key } = await startServer(context, { SIGNALBOX_STREAM_TOKEN_TTL: "2s", SIGNALBOX_STREAM_MAX_AGE: "3s" });
    const { page, requests } = await open(context, server.url, key);
    const refused = new Promise<void>((resolve) => page.on("response", (response) => (response.status() === 401 ? resolve() : undefined)));
    await change(server, page, 1);
    await refused;
    const before = requests.filter((each) => each === "GET /ofrep/v1/events").length;
    await eventually(() => requests.filter((each) => each === "GET /ofrep/v1/events").length > before, "another stream");
    await change(server, page, 2);
  });

  test.concurrent("a proxy that buffers unless the answer forbids it", async (context) => {
    const { server, key } = await startServer(context);
    const url = await proxy(context, server, (from, to) => {
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
    const { page, requests } = await open(context, url, key);
    await eventually(() => evaluations(requests) === 2, "the first event");
    await change(server, page, 1);
    await change(server, page, 2);
    await eventually(() => evaluations(requests) === 4, "one evaluation for each change");
  });
}
