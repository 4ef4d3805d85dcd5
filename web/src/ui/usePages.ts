import { keepPreviousData, useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";
import type { Query } from "../api/client";
import type { Kind, Resource } from "../api/kinds";
import { listOf } from "../api/queries";

const size = 200;

/** pagesAround returns the numbers of the pages with the rows from…to, of the page before them and of two pages after them. Pages count from 1. */
export function pagesAround(from: number, to: number, total: number): number[] {
  const last = Math.max(1, Math.ceil(total / size));
  const first = Math.max(1, Math.floor(from / size));
  const end = Math.min(last, Math.floor(to / size) + 3);
  return Array.from({ length: end - first + 1 }, (_, index) => first + index);
}

/** pageOf describes the query of one page of a list. */
export const pageOf = <K extends Kind>(kind: K, query: Query, number: number) =>
  listOf(kind, { ...query, "page[number]": number, "page[size]": size, "meta[total]": true });

/** usePages reads the pages of a list that are in view, and the next ones in advance. */
export function usePages<K extends Kind>(kind: K, query: Query) {
  // The range counts pages, so that scrolling within them renders only rows again.
  const [range, setRange] = useState({ from: 0, to: 0 });
  const first = useQuery({ ...pageOf(kind, query, 1), placeholderData: keepPreviousData });
  const total = first.data?.meta.pagination.total ?? 0;
  const numbers = pagesAround(range.from * size, range.to * size, total);
  const rows = useQueries({
    queries: numbers.map((number) =>
      number === 1 ? { ...pageOf(kind, query, 1), placeholderData: keepPreviousData } : pageOf(kind, query, number),
    ),
    combine: (results) =>
      new Map(results.map((result, index) => [numbers[index] as number, result.data?.data as Resource<K>[] | undefined])),
  });
  const at = useMemo(() => (index: number) => rows.get(Math.floor(index / size) + 1)?.[index % size], [rows]);
  const onRange = useCallback((first: number, last: number) => {
    const [from, to] = [Math.floor(first / size), Math.floor(last / size)];
    setRange((old) => (old.from === from && old.to === to ? old : { from, to }));
  }, []);
  return { total, at, onRange, isPending: first.isPending, error: first.data ? null : first.error, refetch: first.refetch };
}
