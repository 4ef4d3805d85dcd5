// A box and a real server, while things happen to them. The tests of each database are in a file of their own, so that they run
// at once.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { UnauthorizedError, withContext } from "@signalbox/client";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type Admin,
  eventually,
  Framework,
  isLive,
  Network,
  newDatabase,
  OWNER_KEY,
  PATIENCE,
  Server,
  SOAK,
  startBox,
  temporaryFolder,
} from "./support.js";

/** Returns the path of a program that uses the built package. */
function built(name: string): string {
  return new URL(`programs/${name}`, import.meta.url).pathname;
}

/** The tests on a database. */
export function testScenarios(database: string): void {
  let server: Server;
  let admin: Admin;

  beforeAll(async () => {
    server = await Server.start(newDatabase(database));
    admin = server.admin;
  });

  afterAll(() => server.stop());

  test("a box follows changes", async () => {
    const box = startBox(server.url);
    const flag = box.boolean("follow.flag", false);
    const settings = box.config("follow.config", { timeout_ms: 1500, hosts: [] as string[] });
    const framework = new Framework().follow(box, "follow.logger");
    await box.ready(PATIENCE);
    expect([flag(), settings.value.timeout_ms, framework.applied.size]).toEqual([false, 1500, 0]);
    await admin.flag("follow.flag", "BOOLEAN", false, { rules: [{ logic: { "==": [{ var: "user.plan" }, "pro"] }, value: true }] });
    await withContext({ user: { key: "alice", plan: "pro" } }, () => eventually(flag, "the flag"));
    expect(flag()).toBe(false);
    await admin.config("follow.config", { timeout_ms: 200, hosts: ["a", "b"] });
    await eventually(() => settings.value.timeout_ms === 200, "the config");
    expect(settings.value).toEqual({ timeout_ms: 200, hosts: ["a", "b"] });
    await admin.config("follow.config", { timeout_ms: "soon" });
    await eventually(() => settings.error, "the error");
    expect(settings.error?.message).toBe('timeout_ms must be a number, not "soon"');
    expect(settings.value).toEqual({ timeout_ms: 200, hosts: ["a", "b"] });
    await admin.level("follow.logger", "DEBUG");
    await eventually(() => framework.applied.get("follow.logger") === "DEBUG", "the level");
    await eventually(async () => (await admin.sourceLevels("follow.logger")).includes("DEBUG"), "the report of the level");
    framework.follow(box, "follow.logger.later");
    expect(framework.applied.get("follow.logger.later")).toBe("DEBUG");
    await admin.level("follow.logger", null);
    await eventually(() => framework.applied.size === 0, "the release");
  });

  test("a box reports", async () => {
    const box = startBox(server.url, { service: "reporter" });
    const flag = box.string("report.flag", "none");
    await box.ready(PATIENCE);
    withContext({ user: { key: "reported-user", plan: "pro" } }, () => {
      for (let i = 0; i < 7; i++) {
        flag();
      }
    });
    await box.close();
    const { data } = await admin.request("GET", "/api/v1/flags/report.flag/sources");
    expect(data.map(({ attributes }: (typeof data)[0]) => [attributes.service, attributes.declared_default])).toEqual([
      ["reporter", "none"],
    ]);
    const user = await admin.request("GET", "/api/v1/contexts/user%3Areported-user");
    expect(user.data.attributes.attributes).toEqual({ plan: "pro" });
    expect(await admin.request("GET", "/api/v1/services/reporter")).toBeTruthy();
    const path = "/api/v1/metrics?name=flags.evaluations&filter[flag]=report.flag&by=flag,value";
    await eventually(async () => {
      const { points } = (await admin.request("GET", path)).data.attributes;
      return points.reduce((sum: number, each: { sum: number }) => sum + each.sum, 0) === 7;
    }, "the counts");
  });

  test("a cut network is resumed", async () => {
    const proxy = await Network.start(server.port);
    await admin.flag("cut", "NUMERIC", 0);
    const box = startBox(proxy.url);
    const flag = box.number("cut", -1);
    await eventually(() => isLive(box), "the socket");
    for (let i = 1; i <= 5; i++) {
      proxy.cut();
      await admin.flag("cut", "NUMERIC", i);
      await eventually(() => flag() === i, "a change that came during a cut");
    }
  });

  test("a silent network is noticed", async () => {
    const proxy = await Network.start(server.port);
    await admin.flag("silent", "NUMERIC", 0);
    const box = startBox(proxy.url, { timing: { silence: 300, request: 300 } });
    const flag = box.number("silent", -1);
    await eventually(() => isLive(box) && flag() === 0, "the socket");
    proxy.silent = true;
    await admin.flag("silent", "NUMERIC", 1);
    await eventually(() => box.state.status === "STALE", "STALE");
    expect(flag()).toBe(0);
    proxy.silent = false;
    proxy.cut();
    await eventually(() => flag() === 1, "the change");
  });

  test("blocked sockets are replaced by polling", async () => {
    const proxy = await Network.start(server.port);
    await admin.flag("blocked", "NUMERIC", 0);
    proxy.blocked = true;
    const box = startBox(proxy.url);
    const flag = box.number("blocked", -1);
    await eventually(() => box.state.polling && flag() === 0, "polling");
    await admin.flag("blocked", "NUMERIC", 1);
    await eventually(() => flag() === 1, "a change by polling");
    expect(box.state.status).toBe("LIVE");
    proxy.blocked = false;
    await eventually(() => isLive(box), "the socket");
  });

  test("a revoked key is refused", async () => {
    await admin.flag("revoked", "NUMERIC", 1);
    const { id, key } = await admin.key();
    const box = startBox(server.url, { key });
    const flag = box.number("revoked", 0);
    const seen: string[] = [];
    box.onState((state) => seen.push(state.status));
    await eventually(() => isLive(box), "the socket");
    await admin.request("POST", `/api/v1/api_keys/${id}/actions/revoke`);
    await eventually(() => box.state.status === "REFUSED", "REFUSED");
    expect(box.state.why).toBeInstanceOf(UnauthorizedError);
    await eventually(() => seen.includes("REFUSED"), "the listener");
    expect(flag()).toBe(1);
  });

  test("a wrong key is refused", async () => {
    const box = startBox(server.url, { key: "sk_api_unknown-key-of-nobody" });
    await expect(box.ready(PATIENCE)).rejects.toThrow(UnauthorizedError);
    expect(box.boolean("anything", true)()).toBe(true);
  });

  test("a slow server delays only the values", async () => {
    const proxy = await Network.start(server.port);
    await admin.flag("slow", "NUMERIC", 1);
    proxy.delay = 100;
    const flag = startBox(proxy.url).number("slow", 0);
    expect(flag()).toBe(0);
    await eventually(() => flag() === 1, "the value");
    proxy.delay = 0; // the box is closed
  });

  test("a full disk costs one line", async () => {
    const file = join(temporaryFolder(), "file");
    writeFileSync(file, "no folder");
    await admin.flag("disk", "NUMERIC", 1);
    const logged: string[] = [];
    const box = startBox(server.url, { cache: file, log: (line) => logged.push(line) });
    const flag = box.number("disk", 0);
    const failures = () => logged.filter((line) => line.startsWith("Keeping the last known values failed")).length;
    await eventually(failures, "the warning");
    await admin.flag("disk", "NUMERIC", 2);
    await eventually(() => flag() === 2, "the change");
    expect(failures()).toBe(1);
  });

  test("many changes never go back", async () => {
    const changes = SOAK ? 1000 : 100;
    await admin.flag("many", "NUMERIC", 0);
    const flag = startBox(server.url).number("many", -1);
    await eventually(() => flag() === 0, "the flag");
    const seen: number[] = [0];
    let evaluating = true;
    const evaluate = () => {
      const now = flag();
      if (now !== seen.at(-1)) {
        seen.push(now);
      }
      if (evaluating) {
        setImmediate(evaluate);
      }
    };
    evaluate();
    for (let i = 1; i <= changes; i++) {
      await admin.flag("many", "NUMERIC", i);
    }
    await eventually(() => flag() === changes, "the last change");
    evaluating = false;
    expect(seen).toEqual([...seen].sort((a, b) => a - b));
  });

  test("a worker thread has a box of its own", async () => {
    await admin.flag("worker", "NUMERIC", 0);
    const workerData = { url: server.url, key: OWNER_KEY };
    const worker = new Worker(built("worker.cjs"), { workerData });
    const [first] = await once(worker, "message");
    expect(first).toBe(0);
    await admin.flag("worker", "NUMERIC", 7);
    const [second] = await once(worker, "message");
    expect(second).toBe(7);
    const [code] = await once(worker, "exit");
    expect(code).toBe(0);
  });

  test.each(["end", "exit", "SIGTERM"])("a process that ends by %s has reported", async (how) => {
    const service = `exit-${how.toLowerCase()}`;
    const child = spawn(process.execPath, [built("exit.cjs"), server.url, OWNER_KEY, service, how], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exited = once(child, "exit");
    if (how === "SIGTERM") {
      await once(child.stdout, "data");
      child.kill("SIGTERM");
    }
    expect((await exited)[0]).toBe(0);
    expect(await admin.request("GET", `/api/v1/services/${service}`)).toBeTruthy();
  });
}
