import { useQueries, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { type CursorList, pathOf } from "../api/kinds";
import { useAll, useList } from "../api/queries";
import { useEnvironments } from "../api/session";
import { storedOptions, type Usage, usageOptions } from "../api/usage";
import { useFocus } from "../app/focus";
import { staleOptions } from "../flags/useFlags";
import { useNow } from "../ui/RelativeTime";
import type { Tone } from "../ui/Tag";
import * as attention from "./attention";
import { useWebhookMatters } from "./useWebhookMatters";

/** Group has the matters of one kind. */
export interface Group {
  title: string;
  matters: attention.Matter[];
  /** more is the address of the list of all matters. */
  more: string;
  /** total counts all matters, if the group has only some of them. */
  total?: number;
  /** tone says how serious it is. */
  tone?: Tone;
}

/** useMatters collects the matters that need attention, in the environment in focus if there is one. Its queries follow live updates. */
export function useMatters(): { groups: Group[]; isPending: boolean; error: unknown; refetch: () => void } {
  const now = useNow(60);
  const focus = useFocus();
  const failing = useList("job", { "filter[health]": "failing", "page[size]": 1000, "meta[total]": true });
  const late = useList("job", { "filter[health]": "late", "page[size]": 1000 });
  const due = useList("job", { "filter[enabled]": true, sort: "next_run_at", "page[size]": 50 });
  const loggers = useAll("logger", { "filter[managed]": true }); // the server has no filter for temporary levels
  const logGroups = useAll("log_group");
  const flags = useQuery(staleOptions);
  const usage = useQuery(usageOptions);
  const silent = useSilent(now, focus);
  const frozen = useFrozen(focus);
  const webhooks = useWebhookMatters();
  const first = [failing, late, due, loggers, logGroups, flags, usage];
  const groups: Group[] = [
    {
      tone: "bad",
      title: "Failing jobs",
      matters: attention.failingJobs(failing.data?.data ?? []),
      total: failing.data?.meta.pagination.total,
      more: "/jobs?health=failing",
    },
    {
      tone: "bad",
      title: "Overdue jobs",
      matters: attention.lateJobs(late.data?.data ?? [], due.data?.data ?? [], now),
      more: "/jobs?health=late",
    },
    { tone: "bad", title: "Failing webhooks", matters: webhooks, more: "/webhooks" },
    {
      title: "Temporary levels",
      matters: attention.expiringLevels([...(loggers.data ?? []), ...(logGroups.data ?? [])], focus),
      more: "/loggers?only=expiring",
    },
    {
      tone: "warning",
      title: "Limits nearly reached",
      matters: attention.tightLimits(usage.data ? limitsOf(usage.data) : []),
      more: "/plan",
    },
    { tone: "warning", title: "Silent services", matters: silent, more: "/services" },
    { title: "Frozen environments", matters: frozen, more: "/environments" },
    {
      title: "Stale flags",
      matters: attention.staleFlags(flags.data?.data ?? [], now),
      total: flags.data?.meta.pagination.total,
      more: "/flags?stale=1",
    },
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

// useSilent reads one page of the newest reports. A service without a report on that page is not called silent.
function useSilent(now: number, focus?: string): attention.Matter[] {
  const newest = { sort: "-last_seen", "page[size]": 1000, "filter[environment]": focus };
  const loggers = useList("logger_source", newest);
  const flags = useList("flag_source", newest);
  const connections = useQuery({
    queryKey: ["connection", "home"],
    queryFn: async () =>
      (await send<CursorList<"connection">>("GET", pathOf("connection"), { query: { "page[size]": 1000 } })).document.data,
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

// useFrozen counts the values of frozen environments, or of the one in focus.
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
    return [{ id, title: name, reason: `${stored} frozen values`, href: `/environments?id=${encodeURIComponent(id)}` }];
  });
}
