import { expect, test } from "vitest";
import { type Day, pictureOf, rangeOf, totals } from "./stats";

const day = (succeeded: number, failed = 0, canceled = 0, max_ms: number | null = 5): Day => ({
  date: "2030-01-01",
  succeeded,
  failed,
  canceled,
  skipped: 1,
  p50_ms: 1,
  p95_ms: 2,
  max_ms,
});

test("totals of days", () => {
  expect(totals([day(3, 1), day(0, 0, 2, null)])).toEqual({ runs: 6, succeeded: 3, failed: 1, skipped: 2, rate: "75 %", slowest: 5 });
  expect(totals([]).rate).toBe("–");
});

test("a failure is never rounded away", () => {
  expect(totals([day(100_000, 1)]).rate).toBe("99.9 %");
});

test("days are drawn by outcome, with their durations", () => {
  const { times, series } = pictureOf([day(3, 2, 1)]);
  expect(times).toEqual([Date.parse("2030-01-01T00:00:00Z") / 1000]);
  expect(series.map(({ label, values }) => `${label} ${values}`)).toEqual([
    "Canceled 1",
    "Failed 2",
    "Succeeded 3",
    "Median 1",
    "95th percentile 2",
  ]);
});

test("a day is a range of 24 hours", () => {
  expect(rangeOf("2030-12-31")).toBe("[2030-12-31T00:00:00.000Z,2031-01-01T00:00:00.000Z)");
  expect([rangeOf(undefined), rangeOf("today"), rangeOf("2030-13-01")]).toEqual([undefined, undefined, undefined]);
});
