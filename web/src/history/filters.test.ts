import { expect, test } from "vitest";
import { passes } from "./filters";

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
