import { expect, test } from "vitest";
import { ApiError } from "../api/client";
import { messages, say, sayFailure } from "./messages";

test("one message is shown, the last one, and only the last write can be undone", () => {
  say("First.", { undo: async () => {} });
  say("Second.");
  expect(messages.snapshot()).toEqual({ text: "Second.", title: undefined });
});

test("what is unknown is not called a failure", () => {
  sayFailure("Delete a", new ApiError(400, "validation_error", "It is needed.", "r-1"));
  expect(messages.snapshot()).toMatchObject({ title: "Delete a: failed", text: "It is needed. (request r-1)" });
  sayFailure("Delete a", new ApiError(0, "unknown", "The server did not answer.", ""));
  expect(messages.snapshot()?.title).toBe("Delete a: no answer");
});
