import { expect, test } from "vitest";
import { aLogger } from "./fixtures";
import { base, confirmationIn, effectiveIn, type Logger, lengthOf, originOf, secondsOf, stepsOf, withLevel } from "./levels";

const at = "2030-01-01T00:00:00Z";

test("a level knows when it expires where it is the logger's own", () => {
  const logger = aLogger("a", {
    environments: { production: { level: "DEBUG", expires_at: at } },
    resolved: { production: { level: "DEBUG", origin: "environment", of: "a" } },
  });
  expect(effectiveIn(logger.attributes, "production")).toMatchObject({ level: "DEBUG", expiresAt: at });
  expect(effectiveIn(logger.attributes, "staging")).toBeUndefined();
});

test("a discovered logger shows what services report", () => {
  const logger = aLogger("a", { managed: false, effective_levels: { production: ["DEBUG", "INFO"] } });
  expect(effectiveIn(logger.attributes, "production")).toEqual({ level: "DEBUG", origin: "reported", of: null });
});

test("origins are told in a word", () => {
  expect(originOf({ level: "INFO", origin: "ancestor", of: "shop" })).toBe("↑ shop");
  expect(originOf({ level: "INFO", origin: "group", of: "sql" })).toBe("group sql");
  expect(originOf({ level: "INFO", origin: "environment", of: "a" })).toBe("own");
});

test("services that use another level are named", () => {
  const source = (service: string, resolved_level: "INFO" | "DEBUG", environment = "production") => ({
    service,
    environment,
    level: null,
    resolved_level,
    last_seen: at,
  });
  const { attributes } = aLogger("a", {
    resolved: { production: { level: "DEBUG", origin: "base", of: "a" } },
    sources: [source("checkout", "INFO"), source("web", "DEBUG"), source("web", "INFO", "staging")],
  });
  expect(confirmationIn(attributes, "production")).toEqual({
    applied: 1,
    total: 2,
    others: [{ service: "checkout", level: "INFO", lastSeen: at }],
  });
  expect(confirmationIn(attributes, "development")).toBeUndefined();
});

test("setting one level keeps the others with their expiry", () => {
  const current = aLogger("a", {
    level: "WARN",
    level_expires_at: at,
    group: "sql",
    environments: { staging: { level: "INFO", expires_at: at } },
  }).attributes;
  expect(withLevel(current, "production", { level: "DEBUG", seconds: 900 })).toEqual({
    name: "a",
    group: "sql",
    level: "WARN",
    level_expires_at: at,
    environments: { staging: { level: "INFO", expires_at: at }, production: { level: "DEBUG", ttl_seconds: 900 } },
  });
  expect(withLevel(current, "staging", { level: null })).toMatchObject({ environments: {} });
  expect(withLevel(current, base, { level: "ERROR" })).toMatchObject({ level: "ERROR", level_expires_at: null });
  expect(withLevel(undefined, "production", { level: "DEBUG" })).toMatchObject({
    level: null,
    environments: { production: { level: "DEBUG", expires_at: null } },
  });
});

test.each(["environment", "base", "group", "ancestor", "default"] as const)("exactly one step decides for the origin %s", (origin) => {
  const logger = aLogger("a", { group: "sql", resolved: { production: { level: "INFO", origin, of: "x" } } });
  expect(stepsOf(logger, "production").filter(({ decided }) => decided)).toHaveLength(1);
});

test("a managed logger has a level in a frozen environment, which lists leave out", () => {
  const frozen = (attributes: Partial<Logger["attributes"]>) =>
    effectiveIn(aLogger("a", { resolved: {}, ...attributes }).attributes, "old");
  expect(frozen({ level: "WARN" })).toMatchObject({ level: "WARN", origin: "base" });
  expect(frozen({ effective_levels: { old: ["ERROR"] } })).toMatchObject({ level: "ERROR", origin: "reported" });
  expect(frozen({})).toBeUndefined();
});

test.each([
  ["45 min", 2700],
  ["45", 2700],
  ["90m", 5400],
  ["2 h 30 min", 9000],
  ["1h30m", 5400],
  ["1 D", 86_400],
  ["30 d", 2_592_000],
])("%s is a time", (text, seconds) => {
  expect(secondsOf(text)).toBe(seconds);
});

test.each(["", "0", "soon", "-5", "31 d", "1.5 h", "5 s"])("%j is no time", (text) => {
  expect(secondsOf(text)).toBeUndefined();
});

test("a time is said in its units", () => {
  expect([900, 9000, 90_000].map(lengthOf)).toEqual(["15 min", "2 h 30 min", "1 d 1 h"]);
});
