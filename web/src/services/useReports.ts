import { useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { type CursorList, pathOf } from "../api/kinds";
import { listOf } from "../api/queries";

/** useConnections reads the open connections. They send no events, so they are read every few seconds. */
export function useConnections() {
  return useQuery({
    queryKey: ["connection", "all"],
    refetchInterval: 5000,
    queryFn: async ({ signal }) =>
      (await send<CursorList<"connection">>("GET", pathOf("connection"), { query: { "page[size]": 1000 }, signal })).document.data,
  });
}

/** useLastReport returns the time and environment of the last report of a service. */
export function useLastReport(service: string) {
  const query = { "filter[service]": service, sort: "-last_seen", "page[size]": 1 };
  const loggers = useQuery({ ...listOf("logger_source", query), refetchInterval: 30_000 });
  const flags = useQuery({ ...listOf("flag_source", query), refetchInterval: 30_000 });
  const found = [loggers.data?.data[0], flags.data?.data[0]].flatMap((source) => (source ? [source.attributes] : []));
  const last = found.toSorted((one, other) => other.last_seen.localeCompare(one.last_seen))[0];
  return { last, isPending: loggers.isPending || flags.isPending };
}
