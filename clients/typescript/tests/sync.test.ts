// A box and a server that answers what a test wants.

import { once } from "node:events";
import { writeFileSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { gzipSync } from "node:zlib";
import { SignalboxError } from "@signalbox/client";
import { type Contents, firstExpiry, instant, NOTHING, unexpired } from "@signalbox/client/contents";
import { backoff } from "@signalbox/client/sync";
import { expect, onTestFinished, test, vi } from "vitest";
import { eventually, isLive, Network, PATIENCE, Server, startBox, temporaryFolder } from "./support.js";

/** A server without sockets, which answers requests for a snapshot with one answer after the other. */
class Stub {
  answers: unknown[] = [];
  asked = 0;
  readonly posted: string[] = [];
  /** Answers a POST; the default refuses it. */
  accept: (path: string, body: string) => number = () => 500;
  private readonly server = http.createServer((request, response) => {
    const snapshot = request.url?.startsWith("/api/v1/snapshots/");
    if (request.method === "POST") {
      this.posted.push(request.url ?? "");
      void text(request).then((body) => this.answerPost(response, this.accept(request.url ?? "", body)));
    } else if (snapshot) {
      this.asked++;
      const answer = this.answers[Math.min(this.asked, this.answers.length) - 1];
      if (answer instanceof Half) {
        answer.send(response);
      } else if (typeof answer === "number") {
        response.writeHead(answer, { "Retry-After": "3600" }).end('{"errors":[]}');
      } else {
        response.end(JSON.stringify(answer));
      }
    } else {
      response.writeHead(404).end('{"errors":[]}');
    }
  });

  static async start(...answers: unknown[]): Promise<Stub> {
    const stub = new Stub();
    stub.answers = answers;
    stub.server.listen(0, "127.0.0.1");
    await once(stub.server, "listening");
    onTestFinished(() => {
      stub.server.closeAllConnections();
      stub.server.close();
    });
    return stub;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as net.AddressInfo).port}`;
  }

  /** Answers with a status; 0 ends the connection. */
  private answerPost(response: http.ServerResponse, status: number): void {
    if (status === 0) {
      response.destroy();
    } else {
      response.writeHead(status).end(status < 300 ? "{}" : '{"errors":[{"status":"500","title":"oops"}]}');
    }
  }
}

function snapshot(seq: number, value: number, stale?: string, count = 1): object {
  const attributes = { type: "NUMERIC", default: value, managed: true };
  const flags = Array.from({ length: count }, (_, i) => ({ id: `f${i}`, type: "flag", attributes }));
  return { data: { id: "production", type: "snapshot", attributes: { seq, flags } }, ...(stale && { meta: { stale_since: stale } }) };
}

const LOST = "2026-01-01T00:00:00Z";

test("a stale snapshot never goes back", async () => {
  const stub = await Stub.start(snapshot(10, 1), snapshot(9, 2, LOST), snapshot(11, 3, LOST), snapshot(5, 4));
  const box = startBox(stub.url);
  const flag = box.number("f0", 0);
  const seen: number[][] = [];
  flag.onChange(() => seen.push([flag(), box.state.seq]));
  await eventually(() => flag() === 4, "the last snapshot"); // the server has its database again, and is always right
  await eventually(() => seen.length === 3, "the listener");
  expect(seen).toEqual([
    [1, 10],
    [3, 11],
    [4, 5],
  ]);
});

test("a snapshot of 10,000 flags", async () => {
  const stub = await Stub.start(snapshot(1, 1, undefined, 10_000), snapshot(2, 2, undefined, 10_000));
  const box = startBox(stub.url);
  const flags = Array.from({ length: 100 }, (_, i) => box.number(`f${i * 100}`, 0));
  await eventually(() => flags.every((flag) => flag() === 2), "the second snapshot");
});

test("a refusing server costs one line", async () => {
  const stub = await Stub.start(snapshot(1, 1));
  const logged: string[] = [];
  const box = startBox(stub.url, { log: { warn: (line) => logged.push(line) } });
  for (let i = 0; i < 200; i++) {
    box.boolean(`b${i}`, false);
  }
  await box.ready(PATIENCE);
  await eventually(() => stub.posted.filter((path) => path === "/api/v1/flags/bulk").length > 3, "several reports");
  expect(logged.filter((line) => line.startsWith("Reporting to Signalbox failed"))).toHaveLength(1);
  expect(box.state.status).toBe("LIVE");
});

/** Evaluates 1,200 flags once and returns how many of them the server has counted, when the first requests with counts get these
 * answers. */
async function countedAfter(...answers: number[]): Promise<number> {
  const stub = await Stub.start(snapshot(1, 1));
  const box = startBox(stub.url);
  for (let i = 0; i < 1200; i++) {
    box.number(`f${i}`, 0)();
  }
  const counted: string[] = [];
  stub.accept = (path, body) => {
    const status = path === "/api/v1/metrics/bulk" ? answers.shift() : 200;
    if (status === undefined) {
      counted.push(...JSON.parse(body).data.map((each: Metric) => each.attributes.dimensions.flag));
    }
    return status ?? 200;
  };
  await eventually(() => counted.length > 0, "the counts after the failure");
  await box.close();
  expect(new Set(counted).size).toBe(counted.length);
  return counted.length;
}

interface Metric {
  attributes: { dimensions: { flag: string } };
}

test("a report has each flag once, with the default of its first declaration", async () => {
  const stub = await Stub.start(snapshot(1, 1));
  const box = startBox(stub.url);
  box.string("twice", "first");
  box.string("twice", "second");
  box.integer("twice", 3);
  const reports: { id: string; default: unknown }[][] = [];
  stub.accept = (path, body) => {
    if (path === "/api/v1/flags/bulk") {
      reports.push(JSON.parse(body).flags);
    }
    return 200;
  };
  await eventually(() => reports.length > 0, "the report");
  expect(reports[0]?.map((each) => [each.id, each.default])).toEqual([["twice", "first"]]);
});

test("counts are sent again after a refusal", async () => {
  expect(await countedAfter(503)).toBe(1200);
});

test("counts that may have arrived are not sent again, but later ones are", async () => {
  expect(await countedAfter(0, 0)).toBe(700); // the transport repeats the first one, because the kept connection was lost
});

test("the server cannot ask for a longer pause than the longest backoff", async () => {
  const stub = await Stub.start(503, 503, snapshot(1, 1)); // each asks for an hour
  const flag = startBox(stub.url).number("f0", 0);
  await eventually(() => flag() === 1, "the snapshot", 10_000);
});

test("an answer that is no snapshot is not used", async () => {
  const broken = { data: { type: "snapshot", attributes: { seq: 1, flags: [null] } } };
  const stub = await Stub.start({ data: [] }, { data: { type: "snapshot", attributes: { seq: "1" } } }, broken, snapshot(1, 1));
  const flag = startBox(stub.url).number("f0", 0);
  await eventually(() => flag() === 1, "the snapshot at last");
});

/** The first half of an answer, as of a server that is killed. */
class Half {
  constructor(
    readonly document: object,
    readonly sized: boolean,
  ) {}

  send(response: http.ServerResponse): void {
    const body = gzipSync(JSON.stringify(this.document));
    response.writeHead(200, { "Content-Encoding": "gzip", ...(this.sized ? { "Content-Length": body.length } : { Connection: "close" }) });
    response.write(body.subarray(0, body.length / 2), () => response.destroy());
  }
}

test.each([true, false])("a server is killed during a snapshot (with its length: %s)", async (sized) => {
  const stub = await Stub.start(snapshot(1, 1), new Half(snapshot(2, 2, undefined, 100), sized), snapshot(3, 3));
  const flag = startBox(stub.url).number("f0", 0);
  const seen: number[] = [];
  flag.onChange(() => seen.push(flag()));
  await eventually(() => flag() === 3, "the third snapshot");
  expect(seen).not.toContain(2);
});

test("a refused key that is accepted again", async () => {
  const stub = await Stub.start(snapshot(1, 1), 401, snapshot(2, 2));
  const box = startBox(stub.url);
  const flag = box.number("f0", 0);
  await eventually(() => flag() === 2 && box.state.status === "LIVE", "the value after the refusal");
  expect(stub.asked).toBeGreaterThanOrEqual(3);
});

test("an unexpected error starts over", async () => {
  const server = await Server.start();
  await server.admin.flag("unexpected", "NUMERIC", 1);
  const logged: string[] = [];
  const box = startBox(server.url, { log: (line) => logged.push(line) });
  const flag = box.number("unexpected", 0);
  await eventually(() => isLive(box) && flag() === 1, "the socket");
  vi.spyOn(box, "expire").mockImplementationOnce(() => {
    throw new RangeError("oops");
  });
  await server.admin.flag("unexpected", "NUMERIC", 2);
  await eventually(() => logged.join().includes("oops"), "the error");
  await eventually(() => isLive(box) && flag() === 2, "the value after the error");
  await server.stop();
});

test("a bootstrap file is used without a cache, and outranks nothing", async () => {
  const bootstrap = join(temporaryFolder(), "bootstrap.json");
  writeFileSync(bootstrap, JSON.stringify(snapshot(1000, 5)));
  expect(startBox("http://127.0.0.1:9", { bootstrap }).number("f0", 0)()).toBe(5);
  const stub = await Stub.start(snapshot(3, 6, LOST)); // the number of the file may be of another account
  const flag = startBox(stub.url, { bootstrap }).number("f0", 0);
  await eventually(() => flag() === 6, "the server's value");
  const logged: string[] = [];
  startBox("http://127.0.0.1:9", { bootstrap: "/nowhere", log: (line) => logged.push(line) });
  expect(logged[0]).toContain("Reading the bootstrap file failed");
});

test.each([
  [1, 1000],
  [3, 4000],
  [10, 60_000],
  [1000, 60_000],
])("the backoff of attempt %i has full jitter up to %i ms", (attempt, most) => {
  const pauses = Array.from({ length: 1000 }, () => backoff(attempt, 1000, 60_000));
  expect(Math.min(...pauses)).toBeLessThan(most * 0.1);
  expect(Math.max(...pauses)).toBeGreaterThan(most * 0.9);
  expect(Math.max(...pauses)).toBeLessThanOrEqual(most);
});

test("temporary levels end", () => {
  const at = instant("2026-01-01T00:00:00Z") as number;
  expect([instant("2026-01-01T01:00:00.5+01:00"), instant("soon"), instant(null)]).toEqual([at + 500, undefined, undefined]);
  const environments = { production: { level: "DEBUG", expires_at: "2026-01-01T00:00:00Z" } };
  const contents: Contents = {
    ...NOTHING,
    loggers: new Map([
      ["a", { managed: true, environments }],
      ["b", { managed: true, level: "ERROR", environments }],
      ["c", { managed: true, level: "DEBUG", level_expires_at: "2026-01-01T00:00:10Z", environments: {} }],
    ]),
  };
  const first = unexpired(contents, at);
  expect(first.due).toBe(at + 10_000);
  expect(["a", "b", "c"].map((key) => first.left.loggers.get(key)?.managed)).toEqual([false, true, true]);
  const second = unexpired(contents, at + 10_000);
  expect([second.left.loggers.get("c")?.managed, second.due]).toEqual([false, undefined]);
  expect(firstExpiry(contents)).toBe(at);
});

test("closing gives up a server that hangs", async () => {
  const silent = net.createServer();
  silent.listen(0, "127.0.0.1");
  await once(silent, "listening");
  const box = startBox(`http://127.0.0.1:${(silent.address() as net.AddressInfo).port}`, { timing: { request: 60_000 } });
  const [socket] = await once(silent, "connection");
  const began = performance.now();
  await box.close(400);
  expect(performance.now() - began).toBeLessThan(5000);
  expect(box.state.why).toBeInstanceOf(SignalboxError);
  socket.destroy();
  silent.close();
});

test("closing reports while the socket hangs", async () => {
  const server = await Server.start();
  const network = await Network.start(server.port);
  network.swallowed = true;
  const box = startBox(network.url, { service: "swallowed", timing: { request: 60_000, applied: 60_000 } });
  await box.ready(PATIENCE);
  await box.close(10_000);
  expect(await server.admin.request("GET", "/api/v1/services/swallowed")).toBeTruthy();
  await server.stop();
});

/** An HTTP proxy that makes tunnels, and remembers the first lines. */
async function forwardProxy(): Promise<{ url: string; seen: string[] }> {
  const seen: string[] = [];
  const server = http.createServer();
  server.on("connect", (request, client, head) => {
    seen.push(`${request.method} ${request.url} ${request.headers["proxy-authorization"]}`);
    const [host, port] = String(request.url).split(":");
    const target = net.connect(Number(port), host, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      target.write(head);
      target.pipe(client).pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("error", () => target.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://user:secret@127.0.0.1:${(server.address() as net.AddressInfo).port}`, seen };
}

test("a proxy of the environment makes tunnels", async () => {
  const server = await Server.start();
  await server.admin.flag("proxied", "NUMERIC", 1);
  const proxy = await forwardProxy();
  vi.stubEnv("http_proxy", proxy.url);
  vi.stubEnv("no_proxy", "example.com");
  const box = startBox(server.url);
  const flag = box.number("proxied", 0);
  await eventually(() => isLive(box) && flag() === 1, "the socket");
  await box.close();
  vi.stubEnv("no_proxy", "127.0.0.1");
  const before = proxy.seen.length;
  const direct = startBox(server.url);
  await direct.ready(PATIENCE);
  await direct.close();
  vi.unstubAllEnvs();
  expect(new Set(proxy.seen)).toEqual(new Set([`CONNECT 127.0.0.1:${server.port} Basic dXNlcjpzZWNyZXQ=`]));
  expect([before > 1, proxy.seen.length]).toEqual([true, before]);
  await server.stop();
});
