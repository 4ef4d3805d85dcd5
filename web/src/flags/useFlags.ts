import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import type { Query } from "../api/client";
import type { Kinds } from "../api/kinds";
import { listOf } from "../api/queries";
import { usePages } from "../ui/usePages";

export interface Filters {
  q?: string;
  type?: string;
  managed?: string;
  references?: string;
  stale?: string;
  sort?: string;
}

/** queryOf returns the server's parameters for the filters. */
export function queryOf({ q, type, managed, references, stale, sort }: Filters): Query {
  const isOne = references?.includes(":");
  return {
    "filter[search]": q,
    "filter[type]": type,
    "filter[managed]": managed,
    "filter[references_context]": isOne ? references : undefined,
    "filter[references_context_type]": isOne ? undefined : references,
    "filter[stale]": stale ? true : undefined,
    sort,
  };
}

/** useFlags reads the filtered flags page by page. */
export const useFlags = (filters: Filters) => usePages("flag", queryOf(filters));

/** staleOptions describes the query of the stale flags. It does not follow live updates: flags grow stale in days, and the search costs the server a read of them all. */
export const staleOptions = {
  ...listOf("flag", { "filter[stale]": true, "page[size]": 1000, "meta[total]": true }),
  queryKey: ["stale"] as never,
  staleTime: 600_000,
};

/** useStale returns why flags are stale, by their ids. */
export function useStale(): ReadonlyMap<string, Kinds["flag"]["stale"]> {
  const { data } = useQuery(staleOptions);
  return useMemo(() => new Map((data?.data ?? []).map(({ id, attributes }) => [id, attributes.stale])), [data]);
}
