import { placeOf, type Resource } from "../api/kinds";
import { healthDetail } from "../jobs/policies";
import { lastOutcome } from "../jobs/runs";
import { day, staleText } from "../ui/stale";
import { type Delivery, outcomeOf } from "../webhooks/deliveries";

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

/** sharedLine is the number of unhealthy jobs of one host from which on they share one line. */
const sharedLine = 3;

/** failingJobs returns the jobs that are failing. Many of one host are one matter: the host is down, not each of its jobs. */
export function failingJobs(jobs: Resource<"job">[]): Matter[] {
  return byHost(jobs, "failing", ({ attributes: { health, last_run } }) => {
    const why = last_run ? lastOutcome(last_run) : "";
    return [why || "failing", healthDetail(health), "began"].filter(Boolean).join(", ");
  });
}

/** lateJobs returns the overdue jobs: those that are late by their alerts, and those that should have fired more than a minute ago. */
export function lateJobs(late: Resource<"job">[], due: Resource<"job">[], now: number): Matter[] {
  const known = new Set(late.map(({ id }) => id));
  const overdue = due
    .filter(({ id, attributes: { enabled, next_run_at } }) => {
      return !known.has(id) && enabled && next_run_at !== null && age(next_run_at, now) > 60_000;
    })
    .map((job) => ({ ...matterOf(job, "was due"), at: job.attributes.next_run_at }));
  return [...byHost(late, "late", () => "late, began"), ...overdue];
}

const matterOf = ({ id, attributes }: Resource<"job">, reason: string): Matter => ({
  id,
  title: attributes.name,
  reason,
  href: `/jobs/${encodeURIComponent(id)}`,
  at: attributes.health.since,
});

function byHost(jobs: Resource<"job">[], state: string, reason: (job: Resource<"job">) => string): Matter[] {
  const hosts = new Map<string, Resource<"job">[]>();
  for (const job of jobs) {
    const host = hostOf(job.attributes.configuration.url);
    hosts.set(host, [...(hosts.get(host) ?? []), job]);
  }
  return [...hosts].flatMap(([host, of]) => {
    if (of.length < sharedLine || host === "") return of.map((job) => matterOf(job, reason(job)));
    const first = of.map(({ attributes }) => attributes.health.since).sort()[0];
    return [
      {
        id: `host:${host}`,
        title: `${of.length} jobs of ${host}`,
        reason: `${state}, the first began`,
        href: `/jobs?health=${state}`,
        at: first,
      },
    ];
  });
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return "";
  }
}

/** expiringLevels returns the temporary levels, the first to end first; with a focus, only those of that environment. */
export function expiringLevels(owners: Resource<"logger" | "log_group">[], focus?: string): Matter[] {
  const found = owners.flatMap(({ id, type, attributes }) => {
    const title = type === "log_group" ? `Group ${id}` : id;
    const href = placeOf(type, id) ?? "";
    const own = Object.entries(attributes.environments).flatMap(([environment, { level, expires_at }]) =>
      expires_at && (focus ?? environment) === environment
        ? [{ id: `${href}:${environment}`, title, reason: `${level} in ${environment} ends`, href, at: expires_at }]
        : [],
    );
    const { level, level_expires_at } = attributes;
    return level_expires_at ? [...own, { id: href, title, reason: `${level} everywhere ends`, href, at: level_expires_at }] : own;
  });
  return found.toSorted((one, other) => one.at.localeCompare(other.at));
}

/** staleFlags returns the flags that the server calls stale, with the reason. */
export function staleFlags(flags: Resource<"flag">[], now: number): Matter[] {
  return flags.flatMap(({ id, attributes: { name, stale } }) =>
    stale ? [{ id, title: name, reason: staleText(stale, now), href: `/flags/${encodeURIComponent(id)}` }] : [],
  );
}

const webhookMatter = ({ id, attributes }: Resource<"webhook">, reason: string, at?: string): Matter => ({
  id,
  title: attributes.name,
  reason,
  href: `/webhooks/${encodeURIComponent(id)}`,
  at,
});

/** failingWebhook describes the last failed attempt of a webhook, which is in one of its newest deliveries. */
export function failingWebhook(webhook: Resource<"webhook">, deliveries: Delivery[]): Matter {
  const [last] = deliveries.flatMap(({ attributes }) => attributes.attempts).toSorted((one, other) => other.at.localeCompare(one.at));
  return last ? webhookMatter(webhook, `${outcomeOf(last)}, tried`, last.at) : webhookMatter(webhook, "failing");
}

/** disabledWebhook says why the server has disabled a webhook, by the webhook's newest change. It returns null if a person disabled it. */
export function disabledWebhook(webhook: Resource<"webhook">, change: Resource<"change"> | undefined): Matter | null {
  if (change?.attributes.actor.type !== "system") return null;
  const { note, created_at } = change.attributes;
  return webhookMatter(webhook, `${note ?? ""} Disabled`.trim(), created_at);
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
