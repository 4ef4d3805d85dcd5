import { useDebouncedValue } from "@mantine/hooks";
import { skipToken, useQuery } from "@tanstack/react-query";
import { type ApiError, asApiError, send } from "../api/client";
import { parse, stringify } from "../api/json";
import { type Kind, pathOf, type Single } from "../api/kinds";

export interface Trial {
  kind: Kind;
  id: string;
  method: "PUT" | "POST";
  attributes: unknown;
}

/** useDryRun makes a dry run of a write while people type. Without a trial it does nothing. */
export function useDryRun(trial: Trial | undefined): { failure?: ApiError; warnings: string[] } {
  const [asked] = useDebouncedValue(trial && stringify(trial), 250);
  const { data, error } = useQuery({
    queryKey: ["dry_run", asked],
    queryFn: asked === undefined ? skipToken : ({ signal }) => ask(parse(asked) as Trial, signal),
    gcTime: 10_000,
    retry: false,
  });
  const failure = error ? asApiError(error) : undefined;
  return { failure: failure?.code === "offline" ? undefined : failure, warnings: data ?? [] };
}

async function ask({ kind, id, method, attributes }: Trial, signal: AbortSignal): Promise<string[]> {
  const path = pathOf(kind, method === "POST" ? undefined : id);
  const body = { data: { type: kind, id, attributes } };
  const { document } = await send<Single<Kind>>(method, path, { body, query: { dry_run: true }, signal });
  return (document.meta?.warnings ?? []).map(({ detail }) => detail);
}
