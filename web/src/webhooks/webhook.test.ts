import { expect, test } from "vitest";
import { coveredBy, filterWords, placeOfURL, toggled } from "./webhook";

test("a pattern includes the types below it", () => {
  expect(coveredBy(["change.*"], "change.flag")).toBe("change.*");
  expect(coveredBy(["*"], "job.late")).toBe("*");
  expect(coveredBy(["*"], "change.*")).toBe("*");
  expect(coveredBy(["change.*"], "change.*")).toBeUndefined();
  expect(coveredBy(["job.failing"], "job.failing")).toBeUndefined();
});

test("a chosen pattern replaces the types that it includes", () => {
  expect(toggled(["change.flag", "job.late"], "change.*", true)).toEqual(["job.late", "change.*"]);
  expect(toggled(["job.late", "change.*"], "*", true)).toEqual(["*"]);
  expect(toggled(["job.late", "change.*"], "change.*", false)).toEqual(["job.late"]);
});

test("no more of a URL than its host is shown", () => {
  expect(placeOfURL("https://hooks.slack.com/services/T0/B0/secret")).toBe("https://hooks.slack.com/…");
  expect(placeOfURL("https://user:password@a.example/")).toBe("https://a.example");
  expect(placeOfURL("nowhere")).toBe("…");
});

test("a filter is told in words", () => {
  expect(filterWords({ environments: [], ids: [] })).toBeUndefined();
  expect(filterWords({ environments: ["production"], ids: ["a-*", "b"] })).toBe("about production, with the ids a-*, b");
});
