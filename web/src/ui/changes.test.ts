import { expect, test } from "vitest";
import { gistOf, healthVerb, nameOf } from "./changes";

const none = { before: null, after: null };

test("a resource whose id is a number is called by its name", () => {
  const key = "01a1e46d-7828-75e4-a2f2-c45d68d691b5";
  expect(nameOf({ kind: "api_key", key, before: null, after: { name: "Owner key" } })).toBe("Owner key");
  expect(nameOf({ kind: "user", key, before: { email: "ada@example.com" }, after: null })).toBe("ada@example.com");
  expect(nameOf({ kind: "api_key", key, before: null, after: {} })).toBe(key);
  expect(nameOf({ kind: "config", key: "checkout", before: null, after: { name: "Checkout" } })).toBe("checkout");
});

test("settings have no name", () => {
  expect(nameOf({ kind: "account_settings", key: "current", ...none })).toBe("");
  expect(nameOf({ kind: "user_settings", key: "01a1e46d-7828-75e4-a2f2-c45d68d691b5", ...none })).toBe("");
});

test("several resources are called by the first", () => {
  const several = (...keys: string[]) => nameOf({ kind: "flag", key: "*", before: null, after: { keys } });
  expect(several("legacy-import")).toBe("legacy-import");
  expect(several("shop", "shop.payments", "sql")).toBe("shop and 2 more");
  expect(nameOf({ kind: "flag", key: "*", ...none })).toBe("*");
});

test("a change of health says what happened to the job", () => {
  expect(["failing", "late", "recovered"].map(healthVerb)).toEqual(["is failing", "is late", "recovered"]);
});

test("a change in one line says more than its action", () => {
  const pointer = "";
  expect(gistOf([{ text: "Turned on", environment: "staging", pointer }])).toBe("staging: Turned on");
  const created = [
    { text: "Created", pointer },
    { text: "Role set to VIEWER", pointer },
  ];
  expect(gistOf(created)).toBe("Role set to VIEWER");
  expect(gistOf(created.slice(0, 1))).toBe("Created");
});
