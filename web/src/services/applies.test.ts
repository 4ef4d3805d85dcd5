import { expect, test } from "vitest";
import type { Resource } from "../api/kinds";
import { appliedBy, isPending, missedBy } from "./applies";

const logger = (id: string, reported: string, wanted?: string) =>
  ({
    id,
    attributes: {
      managed: wanted !== undefined,
      resolved: { production: { level: wanted } },
      sources: [
        { service: "shop", environment: "production", resolved_level: reported, last_seen: null },
        { service: "web", environment: "production", resolved_level: "WARN", last_seen: null },
      ],
    },
  }) as unknown as Resource<"logger">;

test("levels that a service does not use come first, and those that nobody manages last", () => {
  const found = appliedBy("shop", [logger("a", "INFO"), logger("b", "INFO", "INFO"), logger("c", "INFO", "DEBUG")]);
  expect(found.map(({ id }) => id)).toEqual(["c", "b", "a"]);
  expect(found.map(isPending)).toEqual([true, false, false]);
});

const at = Date.parse("2030-01-01T12:00:00Z");
const change = (id: number, kind: string, seconds: number) =>
  ({ id: String(id), attributes: { kind, created_at: new Date(at - seconds * 1000).toISOString() } }) as Resource<"change">;

test("sign-ins and changes of the last seconds do not make a connection late", () => {
  const changes = [change(9, "flag", 5), change(8, "session", 600), change(7, "flag", 600), change(6, "config", 900)];
  expect(missedBy(6, changes, at)).toBe(1);
  expect(missedBy(7, changes, at)).toBe(0);
});
