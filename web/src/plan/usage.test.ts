import { expect, test } from "vitest";
import { filled, historySentence, sentenceFor, toneOf } from "./usage";

const limit = (used: number, maximum?: number) => ({ name: "Runs", product: "jobs" as const, used, maximum });

test("a bar is filled as far as the limit is used", () => {
  expect(filled(limit(30, 120))).toBe(25);
  expect(filled(limit(130, 120))).toBe(100);
  expect(filled(limit(0, 0))).toBe(100);
  expect(filled(limit(5, -1))).toBeUndefined();
  expect(filled(limit(5))).toBeUndefined();
});

test("a bar says when it is time to act", () => {
  expect([50, 80, 81, 100].map(toneOf)).toEqual(["plain", "plain", "warning", "bad"]);
});

test("use is said in words", () => {
  expect(sentenceFor(limit(1200, 3000))).toBe("1,200 of 3,000");
  expect(sentenceFor(limit(7, -1))).toBe("7, without a limit");
  expect(sentenceFor(limit(7))).toBe("7");
});

test("the room of the history is said in words", () => {
  expect(historySentence({ history_bytes: 5000, history_bytes_limit: 2 ** 30 })).toContain("takes 1 of 1,024 MiB");
  expect(historySentence({ history_bytes: 5000, history_bytes_limit: -1 })).toBe("The history takes 1 MiB.");
});
