import { expect, test } from "vitest";
import { actionsFor, commandOf, hitOf, itemHits } from "./hits";

const split = (text: string) => {
  const { verb, name } = commandOf(text);
  return [verb?.kind ?? verb?.words, name];
};

test("a verb is no part of what is searched", () => {
  expect(["run nightly", "Set level of shop", "level shop", "runner", "set  level", "run job", "run", "go to flags"].map(split)).toEqual([
    ["job", "nightly"],
    ["logger", "shop"],
    ["logger", "shop"],
    [undefined, "runner"],
    ["logger", ""],
    ["job", ""],
    ["job", ""],
    ["go to", "flags"],
  ]);
});

test("actions without a resource are found by several words", () => {
  const labels = (text: string) => actionsFor(text, []).map(({ label }) => label);
  expect(labels("sign out")).toEqual(["Sign out"]);
  expect(labels("logout")).toEqual(["Sign out"]);
  expect(labels("dark")).toEqual(["Dark theme"]);
  expect(labels("theme")).toEqual(["Light theme", "Dark theme", "Theme of the system"]);
});

test("what is found can be acted on", () => {
  const found = [
    { kind: "job", id: "nightly", name: "Nightly" },
    { kind: "logger", id: "shop", name: "shop" },
    { kind: "context", id: "user:alice", name: "Alice" },
    { kind: "flag", id: "f", name: "F" },
  ] as const;
  expect(actionsFor("x", [...found]).map(({ label, href }) => `${label} ${href}`)).toEqual([
    "Run job nightly now /jobs/nightly",
    "Set level of shop… /loggers/shop",
    "What does user:alice get? /services/contexts/gets?of=user%3Aalice",
  ]);
  expect(actionsFor("new f", []).map(({ href }) => href)).toEqual(["/flags?new=1"]);
  expect(actionsFor("", [])).toEqual([]);
});

test("a resource with a random id is shown by its name", () => {
  const id = "0190b1f0-0000-7000-8000-000000000000";
  expect(hitOf({ kind: "api_key", id, name: "checkout" })).toEqual({
    id: `api_key:${id}`,
    label: "checkout",
    hint: "key",
    href: `/keys?id=${id}`,
  });
  expect(hitOf({ kind: "flag", id: "f", name: "The flag" }).hint).toBe("The flag · flag");
});

test("items are found by a part of their key", () => {
  expect(itemHits([{ id: "shop", attributes: { items: { timeout_ms: {}, url: {} } } }], "TIME")).toEqual([
    { id: "item:shop:timeout_ms", label: "timeout_ms", hint: "shop · config item", href: "/configs/shop?q=timeout_ms" },
  ]);
});
