import { expect, test } from "vitest";
import { clock, duration, instant, localField, milliseconds, relative, timeOf } from "./time";

test("durations are told in their largest unit", () => {
  expect([999, 1000, 59_999, 60_000, 3_600_000, 90_000_000].map(duration)).toEqual(["0 s", "1 s", "59 s", "1 min", "1 h", "1 d"]);
});

test("instants are told from now", () => {
  expect([-4000, 0, 1900, 2000, 7_200_000].map(relative)).toEqual(["4 s ago", "now", "now", "in 2 s", "in 2 h"]);
});

test("a timer counts down to nothing", () => {
  expect([-5, 872_000, 7_500_000, 200_000_000].map(clock)).toEqual(["0:00", "14:32", "2 h 05 min", "2 d"]);
});

test("durations are short", () => {
  expect([0.34, 12.4, 999, 1400, 12_000, 125_000, null].map(milliseconds)).toEqual([
    "0.3 ms",
    "12 ms",
    "999 ms",
    "1.4 s",
    "12 s",
    "2 min 05 s",
    "–",
  ]);
});

test("a local field leads back to its time", () => {
  expect(timeOf(localField(new Date("2030-05-01T12:34:00Z")))).toBe("2030-05-01T12:34:00.000Z");
  expect(timeOf("")).toBeNull();
});

test("an instant is shown with its seconds only when it has some", () => {
  expect(instant("2030-01-01T12:00:00Z").utc).toBe("2030-01-01 12:00 UTC");
  expect(instant("2030-01-01T12:00:07.5Z").utc).toBe("2030-01-01 12:00:07 UTC");
});
