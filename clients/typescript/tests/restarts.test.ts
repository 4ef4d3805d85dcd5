// These tests have a server of their own, which stops, restarts or never starts.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, statSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { NotReadyError } from "@signalbox/client";
import { expect, test } from "vitest";
import { Admin, eventually, Framework, isLive, PATIENCE, Server, startBox, temporaryFolder } from "./support.js";

test.each(["SIGTERM", "SIGKILL"] as const)("a restart after %s is followed", async (how) => {
  const server = await Server.start();
  await server.admin.flag("restart", "NUMERIC", 1);
  const box = startBox(server.url);
  const flag = box.number("restart", 0);
  await eventually(() => isLive(box) && flag() === 1, "the socket");
  await server.stop(how);
  await eventually(() => box.state.status === "STALE", "STALE");
  expect(flag()).toBe(1);
  await server.start();
  await server.admin.flag("restart", "NUMERIC", 2);
  await eventually(() => flag() === 2, "the change after the restart");
  await eventually(() => isLive(box), "LIVE");
  await server.stop();
});

test("a start from the cache needs no server", async () => {
  const server = await Server.start();
  await server.admin.flag("cached", "NUMERIC", 1);
  await server.admin.level("cached", "ERROR");
  const cache = temporaryFolder();
  const first = startBox(server.url, { cache });
  await first.ready(PATIENCE);
  await first.close();
  await server.stop();
  const [name] = readdirSync(cache) as [string];
  expect(readdirSync(cache)).toHaveLength(1);
  const file = join(cache, name);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const box = startBox(server.url, { cache });
  expect(box.number("cached", 0)()).toBe(1);
  expect(new Framework().follow(box, "cached").applied.get("cached")).toBe("ERROR");
  await box.close();
  truncateSync(file, readFileSync(file).length / 2);
  expect(startBox(server.url, { cache }).number("cached", 0)()).toBe(0);
});

test("a temporary level ends on time", async () => {
  const server = await Server.start();
  const box = startBox(server.url);
  const { applied } = new Framework().follow(box, "temporary").follow(box, "longer");
  await eventually(() => isLive(box), "the socket");
  await server.admin.level("temporary", "DEBUG", { level_ttl_seconds: 1 });
  await server.admin.level("longer", "DEBUG", { level_ttl_seconds: 2 });
  await eventually(() => applied.has("temporary") && applied.has("longer"), "the levels");
  await eventually(() => !applied.has("temporary"), "its end by the server");
  await server.stop();
  await eventually(() => !applied.has("longer"), "its end by the client's clock");
  expect(box.state.status).not.toBe("LIVE");
});

test("a box follows a database that was restored to an earlier state", async () => {
  const server = await Server.start();
  await server.admin.flag("restored", "NUMERIC", 1);
  const backup = join(temporaryFolder(), "backup");
  server.run("admin", "backup", backup);
  for (let i = 2; i < 12; i++) {
    await server.admin.flag("restored", "NUMERIC", i);
  }
  const flag = startBox(server.url).number("restored", 0);
  await eventually(() => flag() === 11, "the flag");
  await server.stop();
  server.run("admin", "restore", backup, "--yes");
  await server.start();
  await eventually(() => flag() === 1, "the restored value");
  await server.stop();
});

test("a box trusts certificates of the caller's own authority", async () => {
  const folder = temporaryFolder();
  const [certificate, key] = [join(folder, "certificate.pem"), join(folder, "key.pem")];
  const command = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost";
  const files = ["-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate];
  execFileSync("openssl", [...command.split(" "), ...files], { stdio: "pipe" });
  const server = await Server.start("", { SIGNALBOX_TLS_CERT: certificate, SIGNALBOX_TLS_KEY: key });
  const url = `https://localhost:${server.port}`;
  const tls = { ca: readFileSync(certificate) };
  const admin = new Admin(url, tls);
  await admin.flag("tls", "NUMERIC", 1);
  const box = startBox(url, { tls });
  const flag = box.number("tls", 0);
  await eventually(() => isLive(box) && flag() === 1, "the socket");
  await admin.flag("tls", "NUMERIC", 2);
  await eventually(() => flag() === 2, "a change over TLS");
  const distrustful = startBox(url);
  await eventually(() => distrustful.state.why?.message.includes("certificate"), "the reason");
  await server.stop();
});

test("without a server a box has the defaults, and ready rejects", async () => {
  const began = performance.now();
  const box = startBox("http://127.0.0.1:9");
  const flag = box.string("anything", "code");
  expect(flag()).toBe("code");
  expect(performance.now() - began).toBeLessThan(500);
  await expect(box.ready(50)).rejects.toThrow(NotReadyError);
  await eventually(() => box.state.status === "STALE", "STALE");
});
