import { expect, test } from "vitest";
import {
  type Config,
  compare,
  copied,
  goType,
  type Item,
  type Level,
  originWord,
  pointerOf,
  readAs,
  rowsOf,
  shown,
  standing,
  textOf,
  withoutItem,
  withoutValue,
  withValue,
} from "./values";

const item = (value: unknown, type: Item["type"] = "NUMBER"): Item => ({ value, type, description: null });
const level = (id: string, items: Config["items"], environments: Config["environments"] = {}): Level => ({
  id,
  config: { name: id, description: null, parent: null, items, environments, created_at: "", updated_at: "" },
});
const chain = [
  level("checkout", { retries: item(3) }, { production: { retries: 5 }, staging: { timeout: 9 } }),
  level("shop", { timeout: item(1500), retries: item(1) }, { production: { timeout: 800 } }),
];
const checkout = (chain[0] as Level).config;

test("a config has its own items first, then those that it inherits", () => {
  expect(rowsOf(chain).map(({ key, of, isOwn }) => [key, of, isOwn])).toEqual([
    ["retries", "checkout", true],
    ["timeout", "shop", false],
  ]);
});

test("a cell says where its value comes from", () => {
  const base = { config: "checkout", source: "base" } as const;
  expect(standing("checkout", base, "production")).toBe("default");
  expect(standing("checkout", base)).toBe("own");
  expect(originWord("checkout", base, "production")).toBe("default");
  expect(originWord("checkout", { config: "checkout", source: "environment" }, "production")).toBe("");
  expect(originWord("checkout", { config: "shop", source: "base" }, "production")).toBe("↑ shop");
  expect(originWord("checkout", { config: "shop", source: "environment" }, "production")).toBe("↑ shop, production");
});

test("an override is set and removed, and nothing else changes", () => {
  const set = withValue(checkout, { key: "timeout", environment: "production" }, 7);
  expect(set.environments).toEqual({ production: { retries: 5, timeout: 7 }, staging: { timeout: 9 } });
  expect(withoutValue({ ...checkout, ...set }, { key: "timeout", environment: "production" }).environments).toEqual(checkout.environments);
  expect(set.items).toBe(checkout.items);
});

test("the default of an inherited item is declared here, with its type", () => {
  const inherited = rowsOf(chain)[1]?.item;
  expect(withValue(checkout, { key: "timeout" }, 7, inherited).items.timeout).toEqual({ type: "NUMBER", description: null, value: 7 });
});

test("an item is removed with its overrides", () => {
  const next = withoutItem(checkout, "retries");
  expect(next.items).toEqual({});
  expect(next.environments).toEqual({ production: {}, staging: { timeout: 9 } });
});

test("values are copied as overrides, and inherited again where both inherit", () => {
  const resolved = {
    values: { retries: 3, timeout: 1500 },
    origins: { retries: { config: "checkout", source: "base" }, timeout: { config: "shop", source: "base" } },
  } as const;
  const to = (environment: string) =>
    copied(checkout, { keys: ["retries", "timeout"], from: { environment: "development", resolved }, to: environment, chain }).environments[
      environment
    ];
  expect(to("production")).toEqual({ timeout: 1500 }); // shop has another one for production
  expect(to("staging")).toEqual({});
});

test("two environments are compared by what services get", () => {
  const resolved = (retries: number) => ({ values: { retries, timeout: 1 }, origins: {} });
  expect(compare(rowsOf(chain), resolved(3), resolved(5)).map(({ row, differs }) => [row.key, differs])).toEqual([
    ["retries", true],
    ["timeout", false],
  ]);
});

test.each([
  ["5", "STRING"],
  [0.5, "NUMBER"],
  [true, "BOOLEAN"],
  [{ a: [1] }, "JSON"],
] as const)("editors read what they show: %j as %s", (value, type) => {
  expect(readAs(textOf(value, type), type)).toEqual({ value });
});

test("editors explain a text that is not a value", () => {
  expect(readAs("", "NUMBER").problem).toContain("number");
  expect(readAs("{", "JSON").problem).toBeDefined();
});

test("a value is shown in one line", () => {
  expect([shown(""), shown("a"), shown({ a: 1 }), shown("x".repeat(9), 5)]).toEqual(['""', "a", '{"a":1}', "xxxx…"]);
});

test("a pointer escapes keys", () => {
  expect(pointerOf({ key: "a/b", environment: "production" })).toBe("/data/attributes/environments/production/a~1b");
});

test("Go has a field for each item", () => {
  expect(goType("check-out", rowsOf(chain))).toContain('\tRetries float64 `json:"retries"`');
  expect(goType("check-out", [])).toContain("type CheckOut struct");
});
