import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Point } from "../ui/series";
import { send } from "./client";
import type { components } from "./schema";

interface Asked {
  /** from is in seconds. */
  from: number;
  step: number;
  /** by lists the dimensions to group by. */
  by: string[];
  flags?: string[];
  environment?: string;
}

/** evaluationsOptions describes the query of how often flags were evaluated. Reports send no events, so it is repeated. */
export function evaluationsOptions({ from, step, by, flags, environment }: Asked) {
  return queryOptions({
    queryKey: ["metric", "flags.evaluations", from, step, by, flags, environment],
    placeholderData: keepPreviousData,
    refetchInterval: 30_000,
    queryFn: async ({ signal }): Promise<Point[]> => {
      const query = {
        name: "flags.evaluations",
        from: new Date(from * 1000).toISOString(),
        step,
        by: by.join(",") || undefined,
        "filter[flag]": flags && (flags.length === 1 ? flags[0] : JSON.stringify(flags)),
        "filter[environment]": environment,
      };
      const { document } = await send<components["schemas"]["MetricSeriesDocument"]>("GET", "/api/v1/metrics", { query, signal });
      return document.data.attributes.points as Point[];
    },
  });
}
