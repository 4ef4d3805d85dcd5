import { expect, test } from "vitest";
import { nameOf } from "./changes";

test("a resource whose id is a number is called by its name", () => {
  const key = "01a1e46d-7828-75e4-a2f2-c45d68d691b5";
  expect(nameOf({ key, before: null, after: { name: "Owner key" } })).toBe("Owner key");
  expect(nameOf({ key, before: { email: "ada@example.com" }, after: null })).toBe("ada@example.com");
  expect(nameOf({ key, before: null, after: {} })).toBe(key);
  expect(nameOf({ key: "checkout", before: null, after: { name: "Checkout" } })).toBe("checkout");
});
