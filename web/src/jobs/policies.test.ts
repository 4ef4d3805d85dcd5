import { expect, test } from "vitest";
import { alertWords, healthDetail, retryWords, span } from "./policies";

const retry = {
  max_attempts: 3,
  delay_seconds: 60,
  max_delay_seconds: 3600,
  backoff: "exponential" as const,
  on: ["TIMEOUT" as const],
  statuses: [],
};
const alerts = {
  after_failures: 1,
  recover_after: 1,
  late_after_seconds: null,
  no_success_for_seconds: null,
  remind_every_seconds: null,
};
const since = "2030-01-01T00:00:00Z";

test("a span of seconds has its units", () => {
  expect([0, 1, 60, 90, 3600, 86_400, 90_061].map(span)).toEqual(["0 s", "1 s", "1 min", "1 min 30 s", "1 h", "1 d", "1 d 1 h 1 min 1 s"]);
});

test("a retry says how often and how far apart", () => {
  expect(retryWords(null)).toBe("at most one attempt");
  expect(retryWords(retry)).toBe("up to 3 attempts, 1 min to 2 min apart");
  expect(retryWords({ ...retry, max_attempts: 10 })).toBe("up to 10 attempts, 1 min to 1 h apart");
  expect(retryWords({ ...retry, backoff: "fixed" })).toBe("up to 3 attempts, 1 min apart");
  expect(retryWords({ ...retry, max_attempts: 2 })).toBe("up to 2 attempts, 1 min apart");
});

test("alerts say when a job is failing or late", () => {
  expect(alertWords(null)).toBe("none");
  expect(alertWords(alerts)).toBe("after a failure");
  expect(alertWords({ ...alerts, after_failures: 3, recover_after: 2, late_after_seconds: 90, no_success_for_seconds: 86_400 })).toBe(
    "after 3 failures in a row, when 1 min 30 s late, without a success for 1 d, recovered after 2 successes",
  );
});

test("health has its failures in a row", () => {
  const health = { state: "failing" as const, since, failures: 3, last_success_at: null };
  expect(healthDetail(health)).toBe("3 failures in a row");
  expect(healthDetail({ ...health, state: "ok", failures: 1 })).toBe("1 failure");
  expect(healthDetail({ ...health, state: "new", failures: 0 })).toBe("no run has ended yet");
  expect(healthDetail({ ...health, state: "ok", failures: 0 })).toBe("");
});
