import { expect, test } from "vitest";
import { type Day, stacked, totals } from "./stats";

const day = (succeeded: number, failed = 0, canceled = 0, max_ms: number | null = 5): Day => ({
  date: "2030-01-01",
  succeeded,
  failed,
  canceled,
  p50_ms: 1,
  p95_ms: 2,
  max_ms,
});

test("totals of days", () => {
  expect(totals([day(3, 1), day(0, 0, 2, null)])).toEqual({ runs: 6, succeeded: 3, failed: 1, rate: "75 %", slowest: 5 });
  expect(totals([]).rate).toBe("–");
});

test("a failure is never rounded away", () => {
  expect(totals([day(100_000, 1)]).rate).toBe("99.9 %");
});

test("bars stand on each other", () => {
  expect(stacked([day(3, 2, 1)])).toEqual([[6], [5], [3]]);
});
