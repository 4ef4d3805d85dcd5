import { expect, test } from "vitest";
import type { Resource } from "../api/kinds";
import { expiringLevels, failingJobs, lateJobs, share, silentServices, staleFlags, tightLimits } from "./attention";

const now = new Date("2030-03-01T00:00:00Z").getTime();
const job = (attributes: object) => ({ id: "nightly", type: "job", attributes: { name: "Nightly", ...attributes } }) as Resource<"job">;
const flag = (attributes: object) =>
  ({ id: "f", type: "flag", attributes: { name: "F", managed: true, ...attributes } }) as Resource<"flag">;

test("a job whose last run failed needs attention", () => {
  const failed = job({ last_run: { status: "FAILED", failure_reason: "TIMEOUT", finished_at: "2030-02-28T00:00:00Z" } });
  expect(failingJobs([failed, job({ last_run: { status: "SUCCEEDED" } }), job({ last_run: null })])).toEqual([
    { id: "nightly", title: "Nightly", reason: "failed (timeout)", href: "/jobs/nightly", at: "2030-02-28T00:00:00Z" },
  ]);
});

test("a job is overdue a minute after its instant", () => {
  expect(lateJobs([job({ enabled: true, next_run_at: "2030-02-28T23:58:00Z" })], now)).toHaveLength(1);
  expect(lateJobs([job({ enabled: true, next_run_at: "2030-02-28T23:59:30Z" })], now)).toEqual([]);
  expect(lateJobs([job({ enabled: false, next_run_at: "2030-02-28T23:00:00Z" })], now)).toEqual([]);
});

test("temporary levels are listed, the first to end first", () => {
  const environments = {
    production: { level: "DEBUG", expires_at: "2030-03-01T00:30:00Z" },
    staging: { level: "TRACE", expires_at: "2030-03-01T00:10:00Z" },
    test: { level: "INFO" },
  };
  const logger = {
    id: "shop",
    type: "logger",
    attributes: { environments, level: null, level_expires_at: null },
  } as unknown as Resource<"logger">;
  expect(expiringLevels([logger]).map(({ reason }) => reason)).toEqual(["TRACE in staging ends", "DEBUG in production ends"]);
  expect(expiringLevels([logger], "production").map(({ reason }) => reason)).toEqual(["DEBUG in production ends"]);
});

test("a stale flag has the server's reason", () => {
  const stale = (reason: string) => flag({ stale: { since: "2030-01-20T00:00:00Z", reason } });
  expect(staleFlags([stale("not_evaluated"), stale("one_value"), flag({})], now).map(({ reason }) => reason)).toEqual([
    "declared but not evaluated for 40 days",
    "one value everywhere, unchanged for 40 days",
  ]);
});

test("a limit is tight above 80 %", () => {
  const limits = [
    { name: "a", used: 81, maximum: 100 },
    { name: "b", used: 80, maximum: 100 },
    { name: "c", used: 1000, maximum: -1 },
  ];
  expect(tightLimits(limits).map(({ id }) => id)).toEqual(["a"]);
  expect(share({ name: "c", used: 3, maximum: -1 })).toBeUndefined();
});

test("a service is silent after a day without a report, unless it is connected", () => {
  const sources = [
    { service: "old", last_seen: "2030-02-20T00:00:00Z" },
    { service: "old", last_seen: "2030-02-25T00:00:00Z" },
    { service: "connected", last_seen: "2030-02-20T00:00:00Z" },
    { service: "fresh", last_seen: "2030-02-28T23:00:00Z" },
  ];
  expect(silentServices(sources, new Set(["connected"]), now).map(({ id, at }) => [id, at])).toEqual([["old", "2030-02-25T00:00:00Z"]]);
});
