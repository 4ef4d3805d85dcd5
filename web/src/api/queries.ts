import { keepPreviousData, QueryClient, queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { asApiError, type Query, send } from "./client";
import { type Collection, type CursorList, type Kind, pathOf, type Resource, type Single } from "./kinds";

/** newQueryClient caches data until a live update says that it changed. */
export function newQueryClient(): QueryClient {
  return new QueryClient({
    defaultOptions: {
      queries: {
        staleTime: 60_000,
        gcTime: 300_000,
        refetchOnWindowFocus: false,
        retry: (count, failure) => [0, 502, 503, 504].includes(asApiError(failure).status) && count < 3,
      },
    },
  });
}

/** Loaded is one resource with its ETag, which a write sends as If-Match. */
export interface Loaded<K extends Kind> {
  resource: Resource<K>;
  etag: string;
}

/** load reads one resource from the server. */
export async function load<K extends Kind>(kind: K, id: string, signal?: AbortSignal): Promise<Loaded<K>> {
  const answer = await send<Single<K>>("GET", pathOf(kind, id), { signal });
  return { resource: answer.document.data, etag: answer.etag };
}

/*
 * Query keys begin with the kind, because live updates invalidate by kind: [kind, "one", id],
 * [kind, "list", query], [kind, "stream", query]. A query of something derived from a resource
 * (a resolution, statistics) begins with the same kind: [kind, "one", id, "resolved", …].
 */
export const keyOf = {
  one: (kind: Kind, id: string) => [kind, "one", id] as const,
  list: (kind: Kind, query: Query) => [kind, "list", query] as const,
  stream: (kind: Kind, query: Query) => [kind, "stream", query] as const,
};

/** oneOf describes the query of one resource. */
export function oneOf<K extends Kind>(kind: K, id: string) {
  return queryOptions({ queryKey: keyOf.one(kind, id), queryFn: ({ signal }) => load(kind, id, signal) });
}

/** listOf describes the query of one page of a list. */
export function listOf<K extends Kind>(kind: K, query: Query = {}) {
  return queryOptions({
    queryKey: keyOf.list(kind, query),
    queryFn: async ({ signal }) => (await send<Collection<K>>("GET", pathOf(kind), { query, signal })).document,
  });
}

/** useOne reads one resource. Reports of services send no events; refetchInterval polls for confirmations. */
export const useOne = <K extends Kind>(kind: K, id: string, { refetchInterval }: { refetchInterval?: number } = {}) =>
  useQuery({ ...oneOf(kind, id), refetchInterval });

/** useList reads a list, and shows the previous list until the new one arrives. */
export const useList = <K extends Kind>(kind: K, query: Query = {}) =>
  useQuery({ ...listOf(kind, query), placeholderData: keepPreviousData });

const most = 1000;

/** useAll reads a whole list, for filters and orders that the server does not have. An account has at most 10,000 rows of a kind. */
export function useAll<K extends Kind>(kind: K, query: Query = {}, enabled = true) {
  return useQuery({
    queryKey: [...keyOf.list(kind, query), "all"],
    enabled,
    placeholderData: keepPreviousData,
    queryFn: async ({ signal }): Promise<Resource<K>[]> => {
      const page = async (number: number) => {
        const asked = { ...query, "page[number]": number, "page[size]": most, "meta[total]": true };
        return (await send<Collection<K>>("GET", pathOf(kind), { query: asked, signal })).document;
      };
      const first = await page(1);
      const pages = first.meta.pagination.total_pages ?? 1;
      const rest = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, index) => page(index + 2)));
      return [first, ...rest].flatMap(({ data }) => data);
    },
  });
}

/** useSources reads the services that report a flag or a logger, and their environments. */
export function useSources<K extends "flag_source" | "logger_source">(kind: K, of: string) {
  const owner = kind === "flag_source" ? "flag" : "logger";
  return useQuery({
    queryKey: [...keyOf.one(owner, of), "sources"],
    refetchInterval: 5000,
    queryFn: async ({ signal }) =>
      (await send<Collection<K>>("GET", `${pathOf(owner, of)}/sources`, { query: { "page[size]": 200 }, signal })).document,
  });
}

/** useCursorList reads a list with a cursor, page by page. */
export function useCursorList<K extends Kind>(kind: K, query: Query = {}) {
  return useInfiniteQuery({
    queryKey: keyOf.stream(kind, query),
    initialPageParam: "",
    queryFn: async ({ pageParam, signal }) =>
      (await send<CursorList<K>>("GET", pathOf(kind), { query: { ...query, "page[after]": pageParam }, signal })).document,
    getNextPageParam: (last) => (last.links.next === null ? undefined : (last.data.at(-1)?.id ?? undefined)),
  });
}
