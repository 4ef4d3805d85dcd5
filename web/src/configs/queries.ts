import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { pathOf } from "../api/kinds";
import { keyOf, load } from "../api/queries";
import { type Level, levelOf, type Resolved } from "./values";

/** useChain reads a config and its ancestors, the nearest first. */
export function useChain(id: string) {
  return useQuery({
    queryKey: [...keyOf.one("config", id), "chain"],
    queryFn: async ({ signal }) => {
      const chain: Level[] = [];
      for (let next: string | null = id; next !== null; next = (chain.at(-1) as Level).config.parent) {
        const { resource, etag } = await load("config", next, signal);
        chain.push(levelOf(resource, etag));
      }
      return chain;
    },
    placeholderData: keepPreviousData,
  });
}

const resolvedOf = (id: string, environment: string | undefined) => ({
  queryKey: [...keyOf.one("config", id), "resolved", environment ?? ""],
  queryFn: async ({ signal }: { signal: AbortSignal }) => {
    const path = `${pathOf("config", id)}/resolved`;
    const { document } = await send<{ data: { attributes: Resolved } }>("GET", path, { query: { environment }, signal });
    return document.data.attributes;
  },
});

/** useResolved reads the resolved values of a config: for each environment, and without an environment under the key "". */
export function useResolved(id: string, environments: string[]) {
  const asked = [undefined, ...environments];
  return useQueries({
    queries: asked.map((environment) => resolvedOf(id, environment)),
    combine: (results) => ({
      error: results.find((result) => result.error)?.error ?? undefined,
      isPending: results.some((result) => result.isPending),
      of: new Map(results.map((result, index) => [asked[index] ?? "", result.data])),
    }),
  });
}
