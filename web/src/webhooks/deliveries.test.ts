import { expect, test } from "vitest";
import { type Attempt, canSendAgain, explain, lastAttempt, outcomeOf, statusLabel } from "./deliveries";

const attempt = (changes: Partial<Attempt>): Attempt => ({
  at: "2030-01-01T00:00:00Z",
  status: null,
  duration_ms: 1400,
  error: null,
  answer: null,
  ...changes,
});

test("a delivery that has failed once waits to be sent again", () => {
  expect(statusLabel({ status: "pending", attempts: [] })).toBe("Pending");
  expect(statusLabel({ status: "pending", attempts: [attempt({ status: 500 })] })).toBe("Waiting to retry");
  expect(statusLabel({ status: "delivered", attempts: [attempt({ status: 204 })] })).toBe("Delivered");
});

test("what waits for another attempt can be sent at once", () => {
  expect(canSendAgain({ status: "pending", attempts: [] })).toBe(false);
  expect(canSendAgain({ status: "pending", attempts: [attempt({ status: 500 })] })).toBe(true);
  expect(canSendAgain({ status: "sending", attempts: [attempt({ status: 500 })] })).toBe(false);
  expect(canSendAgain({ status: "delivered", attempts: [attempt({ status: 204 })] })).toBe(true);
});

test("the last attempt says its status, or why there was none", () => {
  expect(lastAttempt({ attempts: [] })).toBeUndefined();
  expect(lastAttempt({ attempts: [attempt({ status: 500 }), attempt({ status: 204 })] })).toEqual({ outcome: "HTTP 204", took: "1.4 s" });
  expect(outcomeOf(attempt({ error: "connection refused" }))).toBe("connection refused");
  expect(outcomeOf(attempt({}))).toBe("No answer");
});

test("a failure is explained, a success is not", () => {
  expect(explain(attempt({ status: 204 }))).toBeUndefined();
  expect(explain(attempt({ status: 302 }))).toContain("Redirects");
  expect(explain(attempt({ status: 410 }))).toContain("disabled");
  expect(explain(attempt({ error: "refused" }))).toBe("refused");
});
