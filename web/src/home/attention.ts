import type { Resource } from "../api/kinds";
import { day, staleText } from "../ui/stale";

/** Matter is something that needs attention. */
export interface Matter {
  id: string;
  title: string;
  reason: string;
  href: string;
  /** at is the time of the event, past or future. */
  at?: string | null;
}

const age = (at: string, now: number) => now - new Date(at).getTime();

const failures: Record<string, string> = {
  TIMEOUT: "timeout",
  CONNECTION_ERROR: "no connection",
  NON_SUCCESS_STATUS: "unexpected HTTP status",
  SSRF_BLOCKED: "address not allowed",
  QUOTA_EXCEEDED: "no runs left in the plan",
  WORKER_LOST: "server node lost",
};

/** failingJobs returns the jobs whose last run failed. */
export function failingJobs(jobs: Resource<"job">[]): Matter[] {
  return jobs
    .filter(({ attributes }) => attributes.last_run?.status === "FAILED")
    .map(({ id, attributes }) => ({
      id,
      title: attributes.name,
      reason: `failed (${failures[attributes.last_run?.failure_reason ?? ""] ?? "see the run"})`,
      href: `/jobs/${encodeURIComponent(id)}`,
      at: attributes.last_run?.finished_at,
    }));
}

/** lateJobs returns the overdue jobs: those that should have fired more than a minute ago. */
export function lateJobs(jobs: Resource<"job">[], now: number): Matter[] {
  return jobs
    .filter(({ attributes: { enabled, next_run_at } }) => enabled && next_run_at !== null && age(next_run_at, now) > 60_000)
    .map(({ id, attributes }) => ({
      id,
      title: attributes.name,
      reason: "was due",
      href: `/jobs/${encodeURIComponent(id)}`,
      at: attributes.next_run_at,
    }));
}

/** expiringLevels returns the temporary levels, the first to end first; with a focus, only those of that environment. */
export function expiringLevels(loggers: Resource<"logger">[], focus?: string): Matter[] {
  const found = loggers.flatMap(({ id, attributes }) => {
    const href = `/loggers/${encodeURIComponent(id)}`;
    const own = Object.entries(attributes.environments).flatMap(([environment, { level, expires_at }]) =>
      expires_at && (focus ?? environment) === environment
        ? [{ id: `${id}:${environment}`, title: id, reason: `${level} in ${environment} ends`, href, at: expires_at }]
        : [],
    );
    const { level, level_expires_at } = attributes;
    return level_expires_at ? [...own, { id, title: id, reason: `${level} everywhere ends`, href, at: level_expires_at }] : own;
  });
  return found.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** staleFlags returns the flags that the server calls stale, with the reason. */
export function staleFlags(flags: Resource<"flag">[], now: number): Matter[] {
  return flags.flatMap(({ id, attributes: { name, stale } }) =>
    stale ? [{ id, title: name, reason: staleText(stale, now), href: `/flags/${encodeURIComponent(id)}` }] : [],
  );
}

export interface Limit {
  name: string;
  used: number;
  /** maximum is -1 for no limit. */
  maximum: number;
}

/** share returns how much of a limit is used, from 0 to 1; undefined without a limit. */
export const share = ({ used, maximum }: Limit): number | undefined => (maximum < 0 ? undefined : used / Math.max(1, maximum));

/** tightLimits returns the limits of which more than 80 % is used. */
export function tightLimits(limits: Limit[]): Matter[] {
  return limits
    .filter((limit) => (share(limit) ?? 0) > 0.8)
    .map(({ name, used, maximum }) => ({ id: name, title: name, reason: `${used} of ${maximum} are used`, href: "/plan" }));
}

interface Seen {
  service: string;
  last_seen: string;
}

const silentAfter = day;

/** silentServices returns the services that have not reported for a day and are not connected. */
export function silentServices(sources: Seen[], connected: Set<string>, now: number): Matter[] {
  const last = new Map<string, string>();
  for (const { service, last_seen } of sources) if ((last.get(service) ?? "") < last_seen) last.set(service, last_seen);
  return [...last]
    .filter(([service, at]) => !connected.has(service) && age(at, now) > silentAfter)
    .map(([service, at]) => ({
      id: service,
      title: service,
      reason: "last reported",
      href: `/services?id=${encodeURIComponent(service)}`,
      at,
    }));
}
