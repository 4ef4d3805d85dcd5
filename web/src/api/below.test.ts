import { QueryClient } from "@tanstack/react-query";
import { afterEach, expect, test, vi } from "vitest";
import { below, refresh, withBelow } from "./below";
import type { Resource } from "./kinds";

afterEach(() => vi.unstubAllGlobals());

const logger = (id: string, level = "") => ({ id, type: "logger", attributes: { level } }) as unknown as Resource<"logger">;
const texts = (list: Resource<"logger">[]) => list.map(({ id, attributes }) => `${id} ${attributes.level}`.trim());

test("a logger and those below it are replaced, removed and added; others with its name in theirs stay", () => {
  const list = ["a", "shop", "shop.cart", "shop.gone", "shopping"].map((id) => logger(id));
  const found = [logger("shop", "WARN"), logger("shop.cart", "WARN"), logger("shop.new", "WARN"), logger("shopping", "WARN")];
  expect(texts(withBelow(list, "shop", found))).toEqual(["a", "shop WARN", "shop.cart WARN", "shop.new WARN", "shopping"]);
  expect(texts(withBelow(list, "shop", []))).toEqual(["a", "shopping"]);
});

test("a list that nobody sees is read when it is shown; many loggers are read as a list", async () => {
  const fetched = vi.fn();
  vi.stubGlobal("fetch", fetched);
  const queries = new QueryClient();
  const key = ["logger", "list", {}, "all"];
  queries.setQueryData(key, [logger("shop")]);
  refresh(queries, [below("shop")]);
  await vi.waitFor(() => expect(queries.getQueryState(key)?.isInvalidated).toBe(true));
  queries.setQueryData(key, [logger("shop")]);
  refresh(
    queries,
    ["a", "b", "c", "d"].map((id) => below(id)),
  );
  expect(queries.getQueryState(key)?.isInvalidated).toBe(true);
  expect(fetched).not.toHaveBeenCalled();
});
