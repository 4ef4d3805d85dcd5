import { expect, test } from "vitest";
import { clock, duration, relative } from "./time";

test("durations are told in their largest unit", () => {
  expect([999, 1000, 59_999, 60_000, 3_600_000, 90_000_000].map(duration)).toEqual(["0 s", "1 s", "59 s", "1 min", "1 h", "1 d"]);
});

test("instants are told from now", () => {
  expect([-4000, 0, 7_200_000].map(relative)).toEqual(["4 s ago", "now", "in 2 h"]);
});

test("a timer counts down to nothing", () => {
  expect([-5, 872_000, 7_500_000, 200_000_000].map(clock)).toEqual(["0:00", "14:32", "2 h 05 min", "2 d"]);
});
