import { expect, test } from "vitest";
import { branches } from "./tree";
import type { Level } from "./values";

const level = (id: string, parent: string | null): Level => ({
  id,
  config: { name: id, description: null, parent, items: {}, environments: {}, created_at: "", updated_at: "" },
});

test("configs stand below their parents", () => {
  const rows = branches([level("cart", "shop"), level("common", null), level("import", null), level("shop", "common")]);
  expect(rows.map(({ id, depth }) => [id, depth])).toEqual([
    ["common", 0],
    ["shop", 1],
    ["cart", 2],
    ["import", 0],
  ]);
});

test("a config whose parent is not listed stands at the left", () => {
  expect(branches([level("cart", "shop")]).map(({ depth }) => depth)).toEqual([0]);
});
