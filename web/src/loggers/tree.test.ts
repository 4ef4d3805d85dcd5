import { expect, test } from "vitest";
import { aLogger } from "./fixtures";
import { buildTree, matches, rowsOf } from "./tree";

const tree = buildTree(["shop", "shop.payments.gateway", "shop.payments.ledger", "shop-admin", "web"].map((id) => aLogger(id)));

test("names become branches, also those that nobody reported", () => {
  const rows = rowsOf(tree, () => true);
  expect(rows.map(({ id, depth, below }) => [id, depth, below])).toEqual([
    ["shop", 0, 2],
    ["shop.payments", 1, 2],
    ["shop.payments.gateway", 2, 0],
    ["shop.payments.ledger", 2, 0],
    ["shop-admin", 0, 0],
    ["web", 0, 0],
  ]);
  expect(rows[1]?.logger).toBeUndefined();
});

test("a branch above a found logger keeps its own logger, which the filter left out", () => {
  const parent = aLogger("shop", { level: "WARN" });
  const rows = rowsOf(buildTree([aLogger("shop.payments")], new Map([["shop", parent]])), () => true);
  expect(rows.map(({ id, logger, below }) => [id, logger?.attributes.level, below])).toEqual([
    ["shop", "WARN", 1],
    ["shop.payments", null, 0],
  ]);
});

test("closed branches hide their descendants", () => {
  expect(rowsOf(tree, () => false).map(({ id }) => id)).toEqual(["shop", "shop-admin", "web"]);
  expect(rowsOf(tree, (id) => id === "shop").map(({ id }) => id)).toEqual(["shop", "shop.payments", "shop-admin", "web"]);
});

test("a deep name and ten thousand names are no problem", () => {
  const many = Array.from({ length: 10_000 }, (_, index) => aLogger(`a.b${index % 100}.c${index}`));
  expect(rowsOf(buildTree(many), () => true)).toHaveLength(10_101);
});

test("filters look at the environments that are shown", () => {
  const environments = ["production"];
  const temporary = aLogger("a", { environments: { production: { level: "DEBUG", expires_at: "2030-01-01T00:00:00Z" } } });
  expect(matches(temporary, { only: "expiring", environments })).toBe(true);
  expect(matches(temporary, { only: "expiring", environments: ["staging"] })).toBe(false);
  expect(matches(aLogger("a"), { only: "overridden", environments })).toBe(false);
  expect(matches(aLogger("a", { level: "WARN" }), { only: "overridden", environments })).toBe(true);
  expect(matches(aLogger("a", { name: "Payments" }), { q: "PAY", environments })).toBe(true);
  expect(matches(aLogger("a", { managed: false }), { managed: "true", environments })).toBe(false);
  expect(matches(aLogger("a"), { level: "DEBUG", environments })).toBe(false);
  expect(matches(aLogger("a", { group: "sql" }), { group: "sql", environments })).toBe(true);
});
