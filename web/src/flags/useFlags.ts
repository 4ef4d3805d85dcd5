import { useMemo } from "react";
import type { Query } from "../api/client";
import { useAll } from "../api/queries";
import { useNow } from "../ui/RelativeTime";
import { staleness } from "../ui/stale";
import { usePages } from "../ui/usePages";

export interface Filters {
  q?: string;
  type?: string;
  managed?: string;
  references?: string;
  stale?: string;
}

/** queryOf returns the server's parameters for the filters. */
export function queryOf({ q, type, managed, references }: Filters): Query {
  const isOne = references?.includes(":");
  return {
    "filter[search]": q,
    "filter[type]": type,
    "filter[managed]": managed,
    "filter[references_context]": isOne ? references : undefined,
    "filter[references_context_type]": isOne ? undefined : references,
  };
}

const nothing = () => {};

/** useFlags reads the filtered flags: page by page, or all of them to find stale flags. */
export function useFlags(filters: Filters) {
  const query = queryOf(filters);
  const pages = usePages("flag", query);
  const { data, isPending, error, refetch } = useAll("flag", query, filters.stale !== undefined);
  const now = useNow(3600);
  const rows = useMemo(() => (data ?? []).filter(({ attributes }) => staleness(attributes, now)), [data, now]);
  const at = useMemo(() => (index: number) => rows[index], [rows]);
  return filters.stale === undefined ? pages : { total: rows.length, at, onRange: nothing, isPending, error: data ? null : error, refetch };
}
