import { expect, test } from "vitest";
import { concerned } from "./live";

test("a flag's change concerns the flag, the lists and the history", () => {
  expect(concerned("flag_changed", "checkout")).toEqual([["flag", "one", "checkout"], ["flag", "list"], ["flag_source"], ["change"]]);
});

test("a bulk event concerns every flag", () => {
  expect(concerned("flags_changed")).toContainEqual(["flag"]);
});

test("a group's change concerns the loggers that inherit from it", () => {
  expect(concerned("group_deleted", "sql")).toContainEqual(["logger"]);
});

test("an environment's change concerns everything with values", () => {
  const keys = concerned("environment_changed", "staging").map(([kind]) => kind);
  expect(keys).toEqual(expect.arrayContaining(["environment", "flag", "logger", "config"]));
});

test("another kind concerns itself", () => {
  expect(concerned("api_key_changed", "x")).toEqual([["api_key"], ["change"]]);
});
