// These tests run the real logging frameworks with levels of Signalbox.

import { PassThrough } from "node:stream";
import { bunyanLevels, consoleLevels, debugLevels, pinoLevels, winstonLevels } from "@signalbox/client";
import { FakeBox } from "@signalbox/client/testing";
import bunyan from "bunyan";
import createDebug from "debug";
import pino from "pino";
import { expect, test } from "vitest";
import winston from "winston";

/** A stream that keeps everything that is written to it. */
function sink(): { stream: PassThrough; written: () => string[] } {
  const stream = new PassThrough();
  const chunks: string[] = [];
  stream.on("data", (chunk) => chunks.push(String(chunk)));
  return { stream, written: () => chunks.splice(0) };
}

test("pino follows levels, and so do children", () => {
  const box = new FakeBox();
  const { stream, written } = sink();
  const root = pinoLevels(box, pino({ base: null }, stream));
  const early = root.child({ name: "shop.payments" });
  const request = early.child({ id: 7 });
  const other = root.child({ name: "mail" });
  box.set({ levels: { shop: "DEBUG" } });
  const late = root.child({ name: "shop.search" });
  for (const each of [root, early, request, other, late]) {
    each.debug("hidden or not");
  }
  expect(written().map((line) => JSON.parse(line).name)).toEqual(["shop.payments", "shop.payments", "shop.search"]);
  box.set({ levels: { shop: "ERROR" } });
  expect([root, early, request, other, late].map((each) => each.level)).toEqual(["info", "error", "error", "info", "error"]);
  box.set({ levels: { shop: "SILENT" } });
  expect(request.level).toBe("silent");
  box.set({ levels: { shop: null } });
  expect([root, early, request, other, late].map((each) => each.level)).toEqual(["info", "info", "info", "info", "info"]);
});

test("pino keeps the level of the code for the release", () => {
  const box = new FakeBox({ levels: { shop: "ERROR" } });
  const root = pinoLevels(box, pino({ name: "shop", level: "warn" }, sink().stream));
  const own = root.child({ name: "shop.own" }, { level: "trace" });
  const child = root.child({ name: "shop.child" });
  expect([root.level, own.level, child.level]).toEqual(["error", "error", "error"]);
  root.level = "debug";
  expect(root.level).toBe("error");
  expect(box.debug()).toMatchObject({ loggers: [{ name: "shop" }, { name: "shop.own" }, { name: "shop.child" }] });
  box.set({ levels: { shop: null } });
  expect([root.level, own.level, child.level]).toEqual(["debug", "trace", "debug"]);
  root.level = "info";
  expect(root.level).toBe("info");
});

test("the code sets levels again after the box is closed", async () => {
  const box = new FakeBox({ levels: { shop: "ERROR" } });
  const root = pinoLevels(box, pino({ name: "shop" }, sink().stream));
  const child = root.child({ name: "shop.child" });
  const logger = winstonLevels(box, winston.createLogger({ silent: true }), "shop.search");
  const old = bunyanLevels(box, bunyan.createLogger({ name: "shop", stream: sink().stream }));
  await box.close();
  expect([root.level, child.level, logger.level, old.level()]).toEqual(["error", "error", "error", bunyan.ERROR]);
  const levels = () => [root.level, child.level, logger.level, old.level(), root.child({ name: "late" }, { level: "trace" }).level];
  root.level = "debug";
  child.level = "warn";
  logger.level = "debug";
  old.level("debug");
  expect(levels()).toEqual(["debug", "warn", "debug", bunyan.DEBUG, "trace"]);
  box.set({ levels: { shop: "FATAL" } }); // an answer that comes late
  expect(levels()).toEqual(["debug", "warn", "debug", bunyan.DEBUG, "trace"]);
});

test("pino's own levels", () => {
  const box = new FakeBox({ levels: { shop: "DEBUG" } });
  const logger = pino({ name: "shop", customLevels: { audit: 35, quiet: 5 }, useOnlyCustomLevels: true, level: "quiet" }, sink().stream);
  expect(pinoLevels(box, logger).level).toBe("audit");
});

test("a child of pino with a level of its own is followed", () => {
  const box = new FakeBox({ levels: { shop: "ERROR" } });
  const request = pinoLevels(box, pino({ name: "shop" }, sink().stream)).child({ id: 7 });
  request.level = "debug";
  expect(request.level).toBe("error");
  box.set({ levels: { shop: null } });
  expect(request.level).toBe("debug");
});

test("pino's children are not kept", async () => {
  const box = new FakeBox();
  const root = pinoLevels(box, pino(sink().stream));
  for (let i = 0; i < 1000; i++) {
    root.child({ request: i }, { level: "warn" });
    if (i % 100 === 0) {
      await new Promise(setImmediate); // a WeakRef keeps its logger until the end of the turn
    }
  }
  box.set({ levels: { root: "DEBUG" } });
  expect(root.level).toBe("debug");
});

test("winston follows levels", () => {
  const box = new FakeBox();
  const { stream, written } = sink();
  const transports = [new winston.transports.Stream({ stream })];
  const log = winstonLevels(box, winston.createLogger({ transports }), "shop.payments");
  log.debug("hidden");
  box.set({ levels: { shop: "DEBUG" } });
  log.debug("shown");
  log.child({ id: 7 }).debug("shown");
  expect(written()).toHaveLength(2);
  box.set({ levels: { shop: "SILENT" } });
  log.error("hidden");
  expect(written()).toHaveLength(0);
  box.set({ levels: { shop: "WARN" } });
  log.level = "verbose"; // winston does not say so
  box.set({ levels: { shop: "ERROR" } });
  expect(log.level).toBe("error");
  box.set({ levels: { shop: null } });
  expect([log.level, log.silent]).toEqual(["verbose", false]);
  log.level = "info";
  expect(log.level).toBe("info");
});

test("a level that the code of winston sets is back after the release", () => {
  const box = new FakeBox({ levels: { same: "INFO" } });
  const logger = (name: string) => winstonLevels(box, winston.createLogger({ silent: false }), name);
  const [same, before, between] = [logger("same"), logger("before"), logger("between")];
  same.level = "debug"; // Signalbox had the level of the code
  before.level = "debug"; // Signalbox has not set a level yet
  box.set({ levels: { same: "WARN", before: "WARN", between: "WARN" } });
  box.set({ levels: { between: null } });
  between.level = "debug";
  box.set({ levels: { between: "ERROR" } });
  expect([same.level, before.level, between.level]).toEqual(["warn", "warn", "error"]);
  box.set({ levels: { same: null, before: null, between: null } });
  expect([same.level, before.level, between.level]).toEqual(["debug", "debug", "debug"]);
});

test("winston's containers follow levels", () => {
  const box = new FakeBox({ levels: { shop: "ERROR" } });
  const container = new winston.Container({ transports: [new winston.transports.Stream({ stream: sink().stream })] });
  const early = container.add("shop.early");
  winstonLevels(box, container);
  const late = container.get("shop.late");
  const syslog = container.add("shop.syslog", { levels: winston.config.syslog.levels });
  expect([early.level, late.level, syslog.level]).toEqual(["error", "error", "error"]);
  box.set({ levels: { shop: "WARN" } });
  expect([early.level, late.level, syslog.level]).toEqual(["warn", "warn", "warning"]);
  box.set({ levels: { shop: "FATAL" } });
  expect([early.silent, syslog.level]).toEqual([true, "crit"]);
});

test("bunyan follows levels, and so do children", () => {
  const box = new FakeBox();
  const { stream, written } = sink();
  const root = bunyanLevels(box, bunyan.createLogger({ name: "shop", stream }));
  const payments = root.child({ component: "payments" });
  box.set({ levels: { "shop.payments": "DEBUG" } });
  const request = payments.child({ id: 7 });
  root.debug("hidden");
  payments.debug("shown");
  request.debug("shown");
  expect(written()).toHaveLength(2);
  payments.level("error");
  expect(payments.level()).toBe(bunyan.DEBUG);
  box.set({ levels: { "shop.payments": "SILENT" } });
  payments.fatal("hidden");
  expect(written()).toHaveLength(0);
  box.set({ levels: { "shop.payments": null } });
  expect([root.level(), payments.level(), request.level()]).toEqual([bunyan.INFO, bunyan.ERROR, bunyan.ERROR]);
});

test("debug follows levels", () => {
  const box = new FakeBox();
  const debug = debugLevels(box, createDebug);
  const log = debug("shop:payments");
  expect(log.enabled).toBeFalsy();
  box.set({ levels: { shop: "DEBUG" } });
  expect([log.enabled, log.extend("http").enabled, Boolean(debug("mail").enabled)]).toEqual([true, true, false]);
  box.set({ levels: { shop: "INFO" } });
  expect(log.enabled).toBe(false);
  createDebug.enable("shop:*");
  box.set({ levels: { shop: null } });
  expect(log.enabled).toBe(true);
  createDebug.disable();
  expect(log.enabled).toBe(false);
});

test("a logger over the console follows levels", () => {
  const box = new FakeBox({ levels: { shop: "WARN" } });
  const written: string[] = [];
  const to = Object.fromEntries(["trace", "debug", "info", "log", "warn", "error"].map((name) => [name, () => written.push(name)]));
  const log = consoleLevels(box, "shop.payments", "DEBUG", to as unknown as Console);
  const all = () => {
    log.trace();
    log.debug();
    log.info();
    log.log();
    log.warn();
    log.error();
    return written.splice(0);
  };
  expect(all()).toEqual(["warn", "error"]);
  box.set({ levels: { shop: "SILENT" } });
  expect(all()).toEqual([]);
  box.set({ levels: { shop: null } });
  expect(all()).toEqual(["debug", "info", "log", "warn", "error"]);
});
