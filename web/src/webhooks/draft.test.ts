import { expect, test } from "vitest";
import { applied, asCommand, attributesOf, draftOf, emptyDraft } from "./draft";
import type { Webhook } from "./webhook";

const webhook: Webhook = {
  name: "On call",
  url: "https://events.pagerduty.com/v2/enqueue",
  format: "pagerduty",
  events: ["job.*"],
  filter: { environments: [], ids: ["nightly-*"] },
  headers: [
    { name: "x-routing-key", value: "r0" },
    { name: "X-Team", value: "ops" },
  ],
  enabled: true,
  state: "ok",
  last_delivery: null,
  created_at: "2030-01-01T00:00:00Z",
  updated_at: "2030-01-01T00:00:00Z",
};

test("the routing key of PagerDuty is a field of its own, and a header for the server", () => {
  const draft = draftOf(webhook);
  expect(draft.routingKey).toBe("r0");
  expect(draft.headers).toEqual([{ name: "X-Team", value: "ops" }]);
  expect(attributesOf(draft).headers).toEqual([
    { name: "X-Team", value: "ops" },
    { name: "X-Routing-Key", value: "r0" },
  ]);
  expect(attributesOf({ ...draft, format: "standard" }).headers).toEqual([{ name: "X-Team", value: "ops" }]);
});

test("empty rows are not sent, and ids are a list", () => {
  const draft = { ...emptyDraft, name: "n", url: " https://a.example ", ids: "a-*, b\nc", headers: [{ name: "", value: "" }] };
  expect(attributesOf(draft)).toEqual({
    name: "n",
    url: "https://a.example",
    format: "standard",
    events: ["job.failing", "job.late", "job.recovered"],
    filter: { environments: [], ids: ["a-*", "b", "c"] },
    headers: [],
    enabled: true,
  });
});

test("what others changed meanwhile stays", () => {
  const opened = draftOf(webhook);
  const merged = applied({ ...webhook, name: "Theirs" }, opened, { ...opened, ids: "" });
  expect(merged.name).toBe("Theirs");
  expect(merged.filter).toEqual({ environments: [], ids: [] });
  expect("state" in merged).toBe(false);
});

test("a copied command has the filter, and variables in place of secrets", () => {
  const draft = { ...draftOf(webhook), environments: ["production"] };
  expect(asCommand(draft)).toBe(
    "signalbox webhooks create 'On call' https://events.pagerduty.com/v2/enqueue --events 'job.*' --format pagerduty --environment production" +
      " --id 'nightly-*' --header 'X-Team: env:X_TEAM' --header 'X-Routing-Key: env:X_ROUTING_KEY'",
  );
});
