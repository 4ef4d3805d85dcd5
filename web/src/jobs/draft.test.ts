import { expect, test } from "vitest";
import { applied, asCommand, attributesOf, draftOf, emptyAlerts, emptyDraft, emptyRetry, isCommand, type Job, writable } from "./draft";

const job: Job = {
  name: "Nightly",
  description: null,
  enabled: true,
  type: "http",
  schedule: "30 2 * * *",
  timezone: "Europe/Berlin",
  overlap: "skip",
  retry: {
    max_attempts: 3,
    delay_seconds: 10,
    backoff: "fixed",
    max_delay_seconds: 60,
    on: ["TIMEOUT"],
    statuses: ["429", "5xx"],
  },
  alerts: { after_failures: 2, recover_after: 1, late_after_seconds: 300, no_success_for_seconds: null, remind_every_seconds: null },
  configuration: {
    method: "POST",
    url: "https://example.com/a",
    headers: [{ name: "Authorization", value: "secret" }],
    success_status: "2xx",
    tls_verify: true,
    ca_cert: null,
    body: null,
    timeout: 30,
  },
  concurrency_policy: "ALLOW",
  next_run_at: null,
  last_run: null,
  skipped_at: null,
  health: { state: "ok", since: "2030-01-01T00:00:00Z", failures: 0, last_success_at: null },
  created_at: "2030-01-01T00:00:00Z",
  updated_at: "2030-01-01T00:00:00Z",
  deleted_at: null,
  version: 1,
};

test("a draft that was not changed sends the job as it is", () => {
  const { type, concurrency_policy, ...sent } = writable(job);
  expect(attributesOf(draftOf("nightly", job))).toEqual(sent);
});

test("only what the form changed replaces what somebody else wrote", () => {
  const opened = draftOf("nightly", job);
  const theirs = { ...job, name: "Renamed", configuration: { ...job.configuration, timeout: 60 } };
  const sent = applied(theirs, opened, { ...opened, url: "https://example.com/b" });
  expect(sent.name).toBe("Renamed");
  expect(sent.configuration).toEqual({ ...job.configuration, timeout: 60, url: "https://example.com/b" });
});

test("empty header rows are left out, and a new job is named after its id", () => {
  const sent = attributesOf({ ...emptyDraft, id: "nightly", headers: [{ name: "", value: "" }] });
  expect(sent.configuration.headers).toEqual([]);
  expect(sent.name).toBe("nightly");
});

test("a switch keeps the policies of the job", () => {
  const { timezone, overlap, retry, alerts } = job;
  expect(writable(job)).toMatchObject({ timezone, overlap, retry, alerts });
  expect(Object.keys(writable(job))).not.toContain("health");
});

test("policies are sent as numbers and lists, and what is empty as null", () => {
  const retry = { ...emptyRetry, max_attempts: "", delay_seconds: "5", statuses: " 503,5xx  429" };
  const sent = attributesOf({ ...emptyDraft, retry, alerts: { ...emptyAlerts, late_after_seconds: 60 } });
  expect(sent.retry).toMatchObject({ max_attempts: null, delay_seconds: 5, statuses: ["503", "5xx", "429"] });
  expect(sent.alerts).toMatchObject({ after_failures: 1, late_after_seconds: 60, no_success_for_seconds: null });
  expect(attributesOf({ ...emptyDraft, alerts: null })).toMatchObject({ timezone: null, overlap: "allow", retry: null, alerts: null });
});

test("a draft of an older console has no policies", () => {
  const { timezone, overlap, retry, alerts, ...old } = draftOf("nightly", job);
  const opened = old as typeof emptyDraft;
  expect(applied(job, opened, { ...opened, url: "https://example.com/b" }).retry).toEqual(job.retry);
});

test("a command has flags for policies, or is not offered", () => {
  const draft = { ...emptyDraft, timezone: "Europe/Berlin", overlap: "skip" as const, retry: emptyRetry };
  expect(asCommand({ ...draft, alerts: { ...emptyAlerts, after_failures: 2, late_after_seconds: 60 } })).toContain(
    "--tz Europe/Berlin --retry 3 --overlap skip --alert-after 2 --late-after 60",
  );
  expect(isCommand(draft)).toBe(true);
  expect(isCommand({ ...draft, retry: { ...emptyRetry, max_attempts: 5 } })).toBe(true);
  expect(isCommand({ ...draft, retry: { ...emptyRetry, delay_seconds: 5 } })).toBe(false);
  expect(isCommand({ ...draft, alerts: null })).toBe(false);
});

test("a command has no values of headers", () => {
  const command = asCommand({
    ...draftOf("nightly", { ...job, timezone: null }),
    retry: null,
    overlap: "allow",
    alerts: emptyAlerts,
    body: "it's",
    timeout: 5,
  });
  expect(command).toBe(
    "signalbox jobs create nightly '30 2 * * *' https://example.com/a --method POST --header 'Authorization: env:AUTHORIZATION' --body 'it'\\''s' --timeout 5",
  );
});
