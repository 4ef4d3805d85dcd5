import { expect, test } from "vitest";
import { Clock } from "./clock";

const date = (ms: number) => new Date(ms).toUTCString();

test.each([-7_200_000, 0, 86_400_000])("the server's time counts, if it is %i ms ahead of the browser's clock", (skew) => {
  const clock = new Clock();
  const server = Math.floor((Date.now() + skew) / 1000) * 1000;
  clock.hear(date(server));
  expect(Math.abs(clock.now() - server)).toBeLessThan(2500);
});

test("an answer without a time, or a slow one, moves nothing", () => {
  const clock = new Clock();
  clock.hear(null);
  clock.hear("soon");
  clock.hear(date(Date.now() - 900));
  expect(Math.abs(clock.now() - Date.now())).toBeLessThan(50);
});
