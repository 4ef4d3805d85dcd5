import { expect, test } from "vitest";
import { inWords } from "./inwords";
import { kindOf, offsetTime, shiftInWords, zoned, zones } from "./schedule";

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

test("a schedule of a zone names it", () => {
  expect(inWords("30 2 * * *", "Europe/Berlin")).toBe("At 02:30, Europe/Berlin");
  expect(inWords("0 */6 * * *", "Europe/Berlin")).toBe("On the hour, every 6 hours, Europe/Berlin");
  expect(inWords("2030-01-01T12:00", "Asia/Tokyo")).toBe("Once, at 2030-01-01 12:00 Asia/Tokyo");
  expect(inWords("2030-01-01T12:00")).toBe("Once, at 2030-01-01 12:00 UTC");
  expect(inWords("2030-01-01T12:00+01:00", "Asia/Tokyo")).toBe("Once, at 2030-01-01 11:00 UTC");
});

test("local times have their offset", () => {
  expect(offsetTime("2030-03-31T03:00:00+02:00")).toBe("2030-03-31 03:00 +02:00");
  expect(offsetTime("2030-03-31T03:00:07.5Z")).toBe("2030-03-31 03:00:07 UTC");
  expect(zoned("2030-03-31T01:00:00Z", "Europe/Berlin")).toBe("2030-03-31 03:00 Europe/Berlin");
  expect(zoned("2030-03-31T01:00:00Z", "Nowhere/Else")).toBeUndefined();
  expect([shiftInWords(3600), shiftInWords(-1800)]).toEqual(["goes forward 1 h", "goes back 30 min"]);
});

test("the zones have UTC first, and a chosen one that the browser does not know", () => {
  expect(zones("").slice(0, 1)).toEqual(["UTC"]);
  expect(zones("")).toContain("Europe/Berlin");
  expect(zones("Mars/Base")).toContain("Mars/Base");
  expect(new Set(zones("UTC")).size).toBe(zones("UTC").length);
});
