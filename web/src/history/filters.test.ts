import { expect, test } from "vitest";
import { addressOf, fieldOf, hoursAgo, passes, queryOf, reasonFor, wayBack } from "./filters";

const change = (kind: string) => ({ attributes: { kind } });

test("sign-ins are listed when they are asked for", () => {
  expect(passes(change("session"), {})).toBe(false);
  expect(passes(change("session"), { sessions: "1" })).toBe(true);
  expect(passes(change("session"), { kind: "session" })).toBe(true);
});

test("a kind leaves out the others", () => {
  expect(passes(change("flag"), { kind: "flag" })).toBe(true);
  expect(passes(change("config"), { kind: "flag" })).toBe(false);
});

test("settings of another user have no way back", () => {
  const settings = { kind: "user_settings", key: "01a1e46d-7828-75e4-a2f2-c45d68d691b5", action: "updated" };
  expect(wayBack(settings)).toEqual({ needs: "MEMBER" });
  expect(wayBack({ ...settings, private: true })).toHaveProperty("refusal");
  expect(wayBack({ ...settings, documents_removed: true })).toHaveProperty("refusal");
});

test("times in the address mean the same in every time zone", () => {
  const from = hoursAgo(2, new Date("2030-01-31T12:30:00Z"));
  expect(from).toBe("2030-01-31T10:30Z");
  expect(queryOf({ from })["filter[created_at]"]).toBe("[2030-01-31T10:30:00.000Z,*)");
  expect(addressOf(fieldOf(from))).toBe(from);
  expect([fieldOf("then"), addressOf("")]).toEqual(["", undefined]);
});

test("an empty list says what may be wrong with the filters", () => {
  expect(reasonFor({ kind: "flag" })).toBeUndefined();
  expect(reasonFor({ kind: "flag", id: "shop" })).toContain("exactly");
  expect(reasonFor({ kind: "flag", from: "2026-11-19", to: "2026-11-01" })).toContain("before it begins");
  expect(reasonFor({ from: "2026-11-01", to: "2026-11-19" })).toBeUndefined();
});
