import { expect, test } from "vitest";
import type { Resource } from "../api/kinds";
import type { Delivery } from "../webhooks/deliveries";
import {
  disabledWebhook,
  expiringLevels,
  failingJobs,
  failingWebhook,
  lateJobs,
  share,
  silentServices,
  staleFlags,
  tightLimits,
} from "./attention";

const now = new Date("2030-03-01T00:00:00Z").getTime();
const job = (attributes: object) => ({ id: "nightly", type: "job", attributes: { name: "Nightly", ...attributes } }) as Resource<"job">;
const flag = (attributes: object) =>
  ({ id: "f", type: "flag", attributes: { name: "F", managed: true, ...attributes } }) as Resource<"flag">;

const since = "2030-02-28T00:00:00Z";
const unhealthy = (id: string, url: string, attributes: object = {}) => ({
  ...job({ health: { state: "failing", since, failures: 2 }, configuration: { url }, last_run: null, ...attributes }),
  id,
});

test("a failing job needs attention, with what its last run answered", () => {
  const last_run = { status: "FAILED", failure_reason: "NON_SUCCESS_STATUS", failure_status: 503 };
  expect(failingJobs([unhealthy("nightly", "https://a/", { last_run })])).toEqual([
    { id: "nightly", title: "Nightly", reason: "HTTP 503, 2 failures in a row, began", href: "/jobs/nightly", at: since },
  ]);
});

test("many failing jobs of one host are one line", () => {
  const jobs = Array.from({ length: 1000 }, (_, index) => unhealthy(`job-${index}`, `https://reports.example.com/${index}`));
  const other = [unhealthy("x", "https://other.example.com"), unhealthy("y", "https://other.example.com")];
  expect(failingJobs([...jobs, ...other]).map(({ title, reason, href }) => [title, reason, href])).toEqual([
    ["1000 jobs of reports.example.com", "failing, the first began", "/jobs?health=failing"],
    ["Nightly", "failing, 2 failures in a row, began", "/jobs/x"],
    ["Nightly", "failing, 2 failures in a row, began", "/jobs/y"],
  ]);
});

test("a job is overdue when it is late, or a minute after its instant", () => {
  const due = (id: string, attributes: object) => unhealthy(id, "https://a/", { enabled: true, ...attributes });
  const late = [due("late", { next_run_at: "2030-02-28T23:00:00Z" })];
  const others = [
    ...late,
    due("a", { next_run_at: "2030-02-28T23:58:00Z" }),
    due("b", { next_run_at: "2030-02-28T23:59:30Z" }),
    due("c", { enabled: false, next_run_at: "2030-02-28T23:00:00Z" }),
  ];
  expect(lateJobs(late, others, now).map(({ id, reason }) => [id, reason])).toEqual([
    ["late", "late, began"],
    ["a", "was due"],
  ]);
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
  const group = {
    id: "shop",
    type: "log_group",
    attributes: { environments: {}, level: "ERROR", level_expires_at: "2030-03-01T00:20:00Z" },
  } as unknown as Resource<"log_group">;
  expect(expiringLevels([logger, group]).map(({ title, href }) => [title, href])).toEqual([
    ["shop", "/loggers/shop"],
    ["Group shop", "/log-groups/shop"],
    ["shop", "/loggers/shop"],
  ]);
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

const webhook = (state: string) => ({ id: "1", type: "webhook", attributes: { name: "Ops", state } }) as Resource<"webhook">;

test("a failing webhook says what came of its last attempt", () => {
  const attempt = (at: string, status: number | null, error: string | null) => ({ at, status, error, duration_ms: 1, answer: null });
  const delivery = (...attempts: object[]) => ({ attributes: { attempts } }) as unknown as Delivery;
  const older = delivery(attempt("2030-02-28T23:00:00Z", 503, null), attempt("2030-02-28T23:59:00Z", null, "connection refused"));
  const found = failingWebhook(webhook("failing"), [delivery(), delivery(attempt("2030-02-28T23:30:00Z", 500, null)), older]);
  expect(found).toEqual({ id: "1", title: "Ops", reason: "connection refused, tried", href: "/webhooks/1", at: "2030-02-28T23:59:00Z" });
  expect(failingWebhook(webhook("failing"), []).reason).toBe("failing");
});

test("a webhook that the server has disabled needs attention; one that a person has disabled does not", () => {
  const change = (type: string, note: string | null) =>
    ({ id: "7", attributes: { actor: { type }, note, created_at: since } }) as unknown as Resource<"change">;
  expect(disabledWebhook(webhook("disabled"), change("system", "The target answered 410 Gone."))?.reason).toBe(
    "The target answered 410 Gone. Disabled",
  );
  expect(disabledWebhook(webhook("disabled"), change("user", null))).toBeNull();
});
