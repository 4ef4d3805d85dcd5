import { queryOptions } from "@tanstack/react-query";
import { send } from "./client";
import { pathOf } from "./kinds";
import type { components } from "./schema";

type Schemas = components["schemas"];

/** Stored counts the values that are stored for an environment. */
export type Stored = Schemas["EnvironmentUsageDocument"]["data"]["attributes"];

/** Usage is how much of its plan the account uses. */
export type Usage = Schemas["UsageDocument"]["data"]["attributes"];

/** usageOptions describes the query of the account's usage. */
export const usageOptions = queryOptions({
  queryKey: ["usage"],
  queryFn: async ({ signal }): Promise<Usage> =>
    (await send<Schemas["UsageDocument"]>("GET", "/api/v1/usage", { signal })).document.data.attributes,
});

/** storedOptions describes the query of the values that are stored for an environment. */
export function storedOptions(id: string) {
  return queryOptions({
    queryKey: ["environment", "one", id, "usage"],
    staleTime: 0, // writes of flags, loggers and configs change it
    queryFn: async ({ signal }): Promise<Stored> => {
      const path = `${pathOf("environment", id)}/usage`;
      return (await send<Schemas["EnvironmentUsageDocument"]>("GET", path, { signal })).document.data.attributes;
    },
  });
}
