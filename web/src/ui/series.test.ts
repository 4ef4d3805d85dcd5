import { expect, test } from "vitest";
import { compact, grouped, periodOf, polyline, stack, startOf, timesOf } from "./series";

const hour = { key: "1h", label: "1 h", seconds: 3600, step: 60 } as const;

test("a period has one time for each of its steps, and ends with the step that is going on", () => {
  const now = Date.parse("2030-01-01T10:00:30Z");
  const times = timesOf(hour, startOf(hour, now));
  expect(times).toHaveLength(60);
  expect(times.at(-1)).toBe(Date.parse("2030-01-01T10:00:00Z") / 1000);
  expect(startOf(hour, now + 20_000)).toBe(startOf(hour, now));
  expect(periodOf("7d").step).toBe(3600);
  expect(periodOf("nothing").key).toBe("24h");
});

test("points are added up by a text, at their time, and small groups are joined", () => {
  const times = [0, 60, 120];
  const point = (seconds: number, value: string, sum: number) => ({
    at: new Date(seconds * 1000).toISOString(),
    dimensions: { value },
    sum,
  });
  const points = [point(0, "a", 1), point(65, "a", 2), point(60, "b", 9), point(120, "c", 1), point(120, "d", 2), point(180, "a", 50)];
  const name = ({ value }: Record<string, unknown>) => String(value);
  expect(grouped(points, times, name)).toEqual([
    { name: "b", values: [0, 9, 0], total: 9 },
    { name: "a", values: [1, 2, 0], total: 3 },
    { name: "d", values: [0, 0, 2], total: 2 },
    { name: "c", values: [0, 0, 1], total: 1 },
  ]);
  expect(grouped(points, times, name, 3).at(-1)).toEqual({ name: "2 others", values: [0, 0, 3], total: 3 });
});

test("bars are stacked from the last series up", () => {
  expect(
    stack([
      [1, null],
      [2, 3],
    ]),
  ).toEqual([
    [3, 3],
    [2, 3],
  ]);
});

test("numbers are short", () => {
  expect([0, 7, 950, 1000, 1234, 12_345, 3_400_000, 0.5].map(compact)).toEqual(["0", "7", "950", "1 k", "1.2 k", "12 k", "3.4 M", "0.5"]);
});

test("a small line fills its box", () => {
  expect(polyline([0, 5, 10], 20, 10)).toBe("0.0,9.0 10.0,5.0 20.0,1.0");
});
