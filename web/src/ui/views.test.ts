import { expect, test } from "vitest";
import { isShown, keptOf, viewsIn, withView } from "./views";

const mine = { screen: "/flags", name: "Mine", search: { q: "shop" } };

test("a view replaces one of its name on its screen, and is removed without a search", () => {
  const elsewhere = { ...mine, screen: "/loggers" };
  const views = withView([mine, elsewhere], "/flags", "Mine", { type: "JSON" });
  expect(views).toEqual([elsewhere, { ...mine, search: { type: "JSON" } }]);
  expect(withView(views, "/flags", "Mine")).toEqual([elsewhere]);
});

test("what is no view in the settings is left out", () => {
  expect(viewsIn(undefined)).toEqual([]);
  expect(viewsIn({ views: "all" })).toEqual([]);
  expect(viewsIn({ views: [null, { name: "Half" }, { ...mine, search: { q: 1 } }, mine] })).toEqual([mine]);
});

test("an address shows a view when it has its parameters and no other", () => {
  expect(isShown(mine, { q: "shop", type: undefined })).toBe(true);
  expect(isShown(mine, { q: "shop", type: "JSON" })).toBe(false);
  expect(isShown(mine, { q: "web" })).toBe(false);
});

test("an open form is no filter", () => {
  expect(keptOf({ new: "1" })).toEqual({});
  expect(keptOf({ q: "shop", new: "1", type: undefined })).toEqual({ q: "shop" });
  expect(isShown(mine, { q: "shop", new: "1" })).toBe(true);
});
