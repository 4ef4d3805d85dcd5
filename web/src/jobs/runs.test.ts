import { expect, test } from "vitest";
import { explain, lastOutcome, outcome, phasesOf, pollingFor, pretty, type RunAttributes } from "./runs";

const run = (changes: Partial<RunAttributes>): RunAttributes => ({
  job: "nightly",
  job_version: 1,
  trigger: "SCHEDULE",
  rerun_of: null,
  scheduled_for: null,
  attempt: 1,
  not_before: null,
  final: true,
  status: "FAILED",
  started_at: "2030-01-01T00:00:00Z",
  finished_at: "2030-01-01T00:00:01Z",
  pending_duration_ms: 4,
  run_duration_ms: 120,
  total_duration_ms: 124,
  failure_reason: null,
  error: null,
  request: null,
  result: null,
  created_at: "2030-01-01T00:00:00Z",
  ...changes,
});
const result = (status: number) => ({ status, headers: {}, body: "", body_truncated: false, body_bytes: 0 });

test("phases add up to the whole exchange", () => {
  const timings = { dns_ms: 1, connect_ms: 2, tls_ms: 3, first_byte_ms: 100, total_ms: 110 };
  const phases = phasesOf(run({ result: { ...result(200), timings } }), 0);
  expect(phases.map(({ key, ms }) => [key, ms])).toEqual([
    ["pending", 4],
    ["dns", 1],
    ["connect", 2],
    ["tls", 3],
    ["wait", 100],
    ["body", 4],
  ]);
});

test("a run without an answer has its execution as one phase", () => {
  expect(phasesOf(run({}), 0).map(({ key }) => key)).toEqual(["pending", "run"]);
  expect(phasesOf(run({ run_duration_ms: null }), 0).map(({ key }) => key)).toEqual(["pending"]);
});

test("the last phase of a run that has not ended goes on", () => {
  const times = { pending_duration_ms: null, run_duration_ms: null, finished_at: null };
  const now = Date.parse("2030-01-01T00:00:09Z");
  const shown = (of: Partial<RunAttributes>) => phasesOf(run({ ...times, ...of }), now).map(({ key, ms }) => [key, ms]);
  expect(shown({ status: "PENDING", started_at: null })).toEqual([["pending", 9000]]);
  expect(shown({ status: "RUNNING", started_at: "2030-01-01T00:00:02Z" })).toEqual([
    ["pending", 2000],
    ["run", 7000],
  ]);
});

test("a failure is explained with what to do", () => {
  expect(explain(run({ failure_reason: "NON_SUCCESS_STATUS", result: result(503) }), "204")).toEqual({
    what: "The receiver answered 503; the job counts 204 as a success.",
    todo: "Look into the receiver's log; the header X-Signalbox-Run of the request has this run's id.",
  });
  expect(explain(run({ failure_reason: "NON_SUCCESS_STATUS", result: result(302) }))?.todo).toContain("not followed");
  expect(explain(run({ failure_reason: "CONNECTION_ERROR", error: "connection refused" }))?.todo).toContain("host and port");
  expect(explain(run({ failure_reason: "CONNECTION_ERROR", error: "x509: unknown authority" }))?.todo).toContain("CA certificate");
  expect(explain(run({ status: "CANCELED", started_at: null }))?.todo).toBe("Nothing was sent.");
  expect(explain(run({ status: "SUCCEEDED" }))).toBeUndefined();
});

test("every reason has an explanation", () => {
  const reasons = ["TIMEOUT", "CONNECTION_ERROR", "NON_SUCCESS_STATUS", "SSRF_BLOCKED", "QUOTA_EXCEEDED", "WORKER_LOST"] as const;
  for (const failure_reason of reasons) expect(explain(run({ failure_reason, result: result(500) })), failure_reason).toBeDefined();
});

test("an outcome is the status, or why there is none", () => {
  expect(outcome(run({ failure_reason: null, result: result(204) }))).toBe("HTTP 204");
  expect(outcome(run({ failure_reason: "TIMEOUT" }))).toBe("timeout");
});

test("the last run of a job has its status", () => {
  expect(lastOutcome({ failure_reason: "NON_SUCCESS_STATUS", failure_status: 503 })).toBe("HTTP 503");
  expect(lastOutcome({ failure_reason: "TIMEOUT", failure_status: null })).toBe("timeout");
  expect(lastOutcome({ failure_reason: null, failure_status: null })).toBe("");
});

test("JSON is indented, everything else stays", () => {
  expect(pretty('{"a":1}')).toBe('{\n  "a": 1\n}');
  expect(pretty("ok")).toBe("ok");
  expect(pretty('{"id":9007199254740993}')).toBe('{\n  "id": 9007199254740993\n}');
});

test("jobs are read again while one runs, and when the next one fires", () => {
  const job = (next_run_at: string | null, status?: "RUNNING" | "FAILED") => ({
    next_run_at,
    last_run: status
      ? {
          id: "x",
          status,
          failure_reason: null,
          failure_status: null,
          trigger: "MANUAL" as const,
          started_at: null,
          finished_at: null,
          run_duration_ms: 1,
        }
      : null,
  });
  expect(pollingFor([job("2030-01-01T00:00:05Z"), job("2030-01-01T00:00:01Z"), job(null)])).toEqual({
    inFlight: false,
    soonest: Date.parse("2030-01-01T00:00:01Z"),
  });
  expect(pollingFor([job(null, "RUNNING")])).toEqual({ inFlight: true, soonest: undefined });
});
