import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { pathOf } from "../api/kinds";
import type { components } from "../api/schema";

/** useUsage counts what is stored for an environment. */
export function useUsage(id: string) {
  return useQuery({
    queryKey: ["environment", "one", id, "usage"],
    staleTime: 0, // values come and go by writes of flags, loggers and configs
    queryFn: async ({ signal }) => {
      const path = `${pathOf("environment", id)}/usage`;
      return (await send<components["schemas"]["EnvironmentUsageDocument"]>("GET", path, { signal })).document.data.attributes;
    },
  });
}
