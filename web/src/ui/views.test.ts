import { expect, test } from "vitest";
import { isShown, saveView, viewsOf } from "./views";

function storage(broken = false) {
  const kept = new Map<string, string>();
  return {
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => {
      if (broken) throw new DOMException("full", "QuotaExceededError");
      kept.set(name, value);
    },
  };
}

test("views are kept by user and screen, sorted by name", () => {
  const store = storage();
  saveView(store, "ada", "/flags", "Stale", { stale: "1" });
  saveView(store, "ada", "/flags", "Mine", { q: "shop" });
  saveView(store, "ada", "/flags", "Stale", { stale: "1", env: "production" });
  saveView(store, "bob", "/flags", "Other", { q: "x" });
  expect(viewsOf(store, "ada", "/flags")).toEqual([
    { name: "Mine", search: { q: "shop" } },
    { name: "Stale", search: { stale: "1", env: "production" } },
  ]);
  expect(viewsOf(store, "ada", "/loggers")).toEqual([]);
  saveView(store, "ada", "/flags", "Mine");
  expect(viewsOf(store, "ada", "/flags").map(({ name }) => name)).toEqual(["Stale"]);
});

test("a broken or full storage has no views", () => {
  expect(viewsOf({ ...storage(), getItem: () => "{" }, "ada", "/flags")).toEqual([]);
  const full = storage(true);
  saveView(full, "ada", "/flags", "Mine", { q: "x" });
  expect(viewsOf(full, "ada", "/flags")).toEqual([]);
});

test("a view is shown by an address with its parameters and no others", () => {
  const view = { name: "Stale", search: { stale: "1" } };
  expect(isShown(view, { stale: "1", q: "", env: undefined })).toBe(true);
  expect(isShown(view, { stale: "1", q: "x" })).toBe(false);
  expect(isShown(view, {})).toBe(false);
});
