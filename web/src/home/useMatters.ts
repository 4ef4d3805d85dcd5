import { useQueries, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { pathOf, type Stream } from "../api/kinds";
import { useList } from "../api/queries";
import { useEnvironments } from "../api/session";
import { storedOptions, type Usage, usageOptions } from "../api/usage";
import { useFocus } from "../app/focus";
import { useNow } from "../ui/RelativeTime";
import * as attention from "./attention";

/** Group is what needs somebody for the same reason. */
export interface Group {
  title: string;
  matters: attention.Matter[];
  /** more is where all of it is listed. */
  more: string;
}

/** useMatters gathers what needs somebody, in the environment in focus if there is one. It is live, because everything it reads is. */
export function useMatters(): { groups: Group[]; isPending: boolean; error: unknown; refetch: () => void } {
  const now = useNow(60);
  const [focus] = useFocus();
  const failing = useList("job", { "filter[last_status]": "FAILED", "page[size]": 50 });
  const due = useList("job", { "filter[enabled]": true, sort: "next_run_at", "page[size]": 50 });
  const loggers = useList("logger", { "filter[managed]": true, "page[size]": 1000 });
  const flags = useList("flag", { "filter[managed]": true, "page[size]": 1000 });
  const usage = useQuery(usageOptions);
  const silent = useSilent(now, focus);
  const frozen = useFrozen(focus);
  const first = [failing, due, loggers, flags, usage];
  const groups = [
    { title: "Jobs that fail", matters: attention.failingJobs(failing.data?.data ?? []), more: "/jobs?status=FAILED" },
    { title: "Jobs that are late", matters: attention.lateJobs(due.data?.data ?? [], now), more: "/jobs" },
    { title: "Levels that end", matters: attention.expiringLevels(loggers.data?.data ?? [], focus), more: "/loggers?only=expiring" },
    { title: "Limits that are near", matters: attention.tightLimits(usage.data ? limitsOf(usage.data) : []), more: "/plan" },
    { title: "Services that are silent", matters: silent, more: "/services" },
    { title: "Values that are frozen", matters: frozen, more: "/environments" },
    { title: "Flags that look stale", matters: attention.staleFlags(flags.data?.data ?? [], now), more: "/flags?stale=1" },
  ];
  return {
    groups: groups.filter(({ matters }) => matters.length > 0),
    isPending: first.some((query) => query.isPending),
    error: first.find((query) => query.error && !query.data)?.error,
    refetch: () => void Promise.all(first.map((query) => query.refetch())),
  };
}

const limitsOf = (usage: Usage): attention.Limit[] => [
  { name: "Runs of this month", used: usage.runs_used, maximum: usage.runs_included },
  { name: "Enabled jobs", used: usage.active_jobs, maximum: usage.active_jobs_limit },
];

// useSilent reads the newest reports. When there are more than a page, a service that is not among them is not judged.
function useSilent(now: number, focus?: string): attention.Matter[] {
  const newest = { sort: "-last_seen", "page[size]": 1000, "filter[environment]": focus };
  const loggers = useList("logger_source", newest);
  const flags = useList("flag_source", newest);
  const connections = useQuery({
    queryKey: ["connection", "home"],
    queryFn: async () => (await send<Stream<"connection">>("GET", pathOf("connection"), { query: { "page[size]": 1000 } })).document.data,
  });
  if (!loggers.data || !flags.data || !connections.data) return [];
  const sources = [...loggers.data.data, ...flags.data.data].map(({ attributes }) => attributes);
  const connected = new Set(
    connections.data.flatMap(({ attributes }) =>
      (focus ?? attributes.environment) === attributes.environment ? (attributes.service ?? []) : [],
    ),
  );
  return attention.silentServices(sources, connected, now);
}

// useFrozen counts what unmanaged environments store, or the one in focus.
function useFrozen(focus?: string): attention.Matter[] {
  const unmanaged = useEnvironments()
    .filter(({ id, managed }) => !managed && (focus ?? id) === id)
    .slice(0, 20);
  const counts = useQueries({
    queries: unmanaged.map(({ id }) => storedOptions(id)),
  });
  return unmanaged.flatMap(({ id, name }, index) => {
    const usage = counts[index]?.data;
    const stored = usage ? Object.values(usage).reduce((sum, count) => sum + count, 0) : 0;
    if (stored === 0) return [];
    return [{ id, title: name, reason: `${stored} values cannot be changed`, href: `/environments?id=${encodeURIComponent(id)}` }];
  });
}
