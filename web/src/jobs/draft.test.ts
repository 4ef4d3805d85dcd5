import { expect, test } from "vitest";
import { applied, asCommand, attributesOf, draftOf, emptyDraft, type Job } from "./draft";

const job: Job = {
  name: "Nightly",
  description: null,
  enabled: true,
  type: "http",
  schedule: "30 2 * * *",
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
  created_at: "2030-01-01T00:00:00Z",
  updated_at: "2030-01-01T00:00:00Z",
  deleted_at: null,
  version: 1,
};

test("a draft that was not changed sends the job as it is", () => {
  const { name, description, enabled, schedule, configuration } = job;
  expect(attributesOf(draftOf("nightly", job))).toEqual({ name, description, enabled, schedule, configuration });
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

test("a command has no values of headers", () => {
  const command = asCommand({ ...draftOf("nightly", job), body: "it's", timeout: 5 });
  expect(command).toBe(
    "signalbox jobs create nightly '30 2 * * *' https://example.com/a --method POST --header 'Authorization: env:AUTHORIZATION' --body 'it'\\''s' --timeout 5",
  );
});
