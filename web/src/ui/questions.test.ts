import { expect, test } from "vitest";
import { Questions } from "./questions";

test("a second question waits until the first is answered, and both get their own answer", async () => {
  const questions = new Questions<{ title: string; answer: (note: string) => void }>();
  const ask = (title: string) => questions.ask<string>((answer) => ({ title, answer }));
  const answers = Promise.all([ask("Switch a off"), ask("Switch b off")]);
  const first = questions.snapshot();
  expect(first?.question.title).toBe("Switch a off");
  first?.question.answer("for a");
  const second = questions.snapshot();
  expect(second?.question.title).toBe("Switch b off");
  expect(second?.key).not.toBe(first?.key);
  second?.question.answer("for b");
  expect(questions.snapshot()).toBeUndefined();
  expect(await answers).toEqual(["for a", "for b"]);
});
