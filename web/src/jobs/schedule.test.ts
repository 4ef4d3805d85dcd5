import { expect, test } from "vitest";
import { instant, inWords, kindOf } from "./schedule";

test("a schedule is a cron expression, an instant or now", () => {
  expect(kindOf("0 7 * * MON-FRI")).toBe("cron");
  expect(kindOf("2030-01-01T12:00:00Z")).toBe("datetime");
  expect(kindOf(" NOW ")).toBe("now");
});

test("a schedule in words says when, and that cron means UTC", () => {
  expect(inWords("30 2 * * *")).toBe("At 02:30, UTC");
  expect(inWords("*/5 * * * *")).toBe("Every 5 minutes");
  expect(inWords("0 7 * * MON-FRI")).toBe("At 07:00, Monday through Friday, UTC");
  expect(inWords("2030-01-01T12:00:00Z")).toBe("Once, at 2030-01-01 12:00 UTC");
  expect(inWords("now")).toBe("Once, right away");
});

test("a schedule without words stays unchanged", () => {
  expect(inWords("61 * * * *")).toBe("61 * * * *");
  expect(inWords("tomorrow")).toBe("tomorrow");
});

test("an instant is shown with its seconds only when it has some", () => {
  expect(instant("2030-01-01T12:00:00Z").utc).toBe("2030-01-01 12:00 UTC");
  expect(instant("2030-01-01T12:00:07.5Z").utc).toBe("2030-01-01 12:00:07 UTC");
});
