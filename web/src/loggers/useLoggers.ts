import { queryOptions, useQuery } from "@tanstack/react-query";
import { type Query, send } from "../api/client";
import type { Collection } from "../api/kinds";
import { keyOf } from "../api/queries";
import type { Logger } from "./levels";

const size = 1000;

async function page(query: Query, number: number, signal: AbortSignal): Promise<Collection<"logger">> {
  const asked = { ...query, "page[number]": number, "page[size]": size, "meta[total]": true };
  return (await send<Collection<"logger">>("GET", "/api/v1/loggers", { query: asked, signal })).document;
}

/** loggersOf describes the query of all loggers: an account has at most 10,000, and a tree needs every name. */
export function loggersOf(query: Query) {
  return queryOptions({
    queryKey: [...keyOf.list("logger", query), "all"],
    queryFn: async ({ signal }): Promise<Logger[]> => {
      const first = await page(query, 1, signal);
      const pages = first.meta.pagination.total_pages ?? 1;
      const rest = await Promise.all(Array.from({ length: Math.max(0, pages - 1) }, (_, index) => page(query, index + 2, signal)));
      return [first, ...rest].flatMap(({ data }) => data);
    },
  });
}

/** useLoggers returns all loggers, or those that a service reports. */
export function useLoggers(service?: string) {
  return useQuery({ ...loggersOf({ "filter[service]": service }), placeholderData: (previous) => previous });
}
