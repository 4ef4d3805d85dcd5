import type { Query } from "../api/client";
import type { Role } from "../api/kinds";
import { isWorth } from "../ui/changes";

/** Filters are the filters in the address. Times are in UTC, so that a link means the same in every time zone. */
export interface Filters {
  kind?: string;
  id?: string;
  actor?: string;
  from?: string;
  to?: string;
  /** sessions lists sign-ins and sign-outs as well. */
  sessions?: string;
}

/** kinds are the kinds of resources that have changes, in the order of the rail. */
export const kinds = [
  "flag",
  "logger",
  "log_group",
  "config",
  "job",
  "job_health",
  "environment",
  "service",
  "context",
  "context_type",
  "user",
  "invitation",
  "link",
  "session",
  "api_key",
  "webhook",
  "account",
  "account_settings",
  "user_settings",
];

/** queryOf returns the server's parameters. A resource needs both its kind and its id. */
export function queryOf({ kind, id, actor, from, to }: Filters): Query {
  return {
    "filter[resource]": kind && id ? `${kind}:${id}` : undefined,
    "filter[actor]": actor,
    "filter[created_at]": from || to ? `[${instant(from)},${instant(to)})` : undefined,
    "page[size]": 100,
  };
}

/** passes reports whether a change passes the filters that the server does not have. */
export function passes({ attributes }: { attributes: { kind: string } }, { kind, sessions }: Filters): boolean {
  return kind ? attributes.kind === kind : isWorth({ attributes }) || sessions !== undefined;
}

/** reasonFor says why no change may match the filters: the reader may have made a mistake. */
export function reasonFor({ id, from, to }: Filters): string | undefined {
  if (from && to && new Date(from) >= new Date(to)) return "The range ends before it begins, so no change is in it.";
  return id ? "The id must match exactly." : undefined;
}

function instant(time: string | undefined): string {
  const date = time ? new Date(time) : undefined;
  return date && !Number.isNaN(date.getTime()) ? date.toISOString() : "*";
}

const toMinute = (date: Date) => date.toISOString().slice(0, 16);

/** hoursAgo returns a time for the address. */
export function hoursAgo(hours: number, now = new Date()): string {
  return `${toMinute(new Date(now.getTime() - hours * 3_600_000))}Z`;
}

/** fieldOf returns a time of the address for a datetime-local field, which has the reader's time zone. */
export function fieldOf(time: string | undefined): string {
  const date = new Date(time ?? "");
  return Number.isNaN(date.getTime()) ? "" : toMinute(new Date(date.getTime() - date.getTimezoneOffset() * 60_000));
}

/** addressOf returns the value of a datetime-local field for the address. */
export function addressOf(field: string): string | undefined {
  const date = new Date(field);
  return Number.isNaN(date.getTime()) ? undefined : `${toMinute(date)}Z`;
}

const administered = new Set(["environment", "account", "account_settings"]);
const neverReverted: Record<string, string> = {
  job_health: "This is an event of a job's health: there is nothing to revert.",
  api_key: "Changes of keys cannot be reverted: access is never granted by a revert. Create a new key instead.",
  user: "Changes of people cannot be reverted: access is never granted by a revert. Set the role on the People screen.",
  invitation: "Changes of invitations cannot be reverted. Invite again, or withdraw the invitation.",
  link: "A withdrawn link cannot be restored. Create another reset link.",
  webhook: "Changes of webhooks cannot be reverted: the history does not keep their URL, headers and secret. Edit the webhook instead.",
  session: "Changes of sessions cannot be reverted. Sign in again.",
};

/** wayBack returns the role that a revert needs, or the reason why the change cannot be reverted. The server decides; this only avoids requests that would be refused. */
export function wayBack(change: {
  kind: string;
  key: string;
  action: string;
  private?: boolean;
  documents_removed?: boolean;
}): { needs: Role } | { refusal: string } {
  const refusal = neverReverted[change.kind];
  if (refusal) return { refusal };
  if (change.private) return { refusal: "These are personal settings of another user. Only that user can see and revert them." };
  if (change.documents_removed)
    return {
      refusal: "This change cannot be reverted: its documents were removed because the history of the account reached its size limit.",
    };
  if (change.key === "*") return { refusal: "This change concerns several resources; revert the changes of the single resources." };
  if (change.action === "expired") return { refusal: "The temporary level ended. Set it again if you need it." };
  return { needs: administered.has(change.kind) ? "ADMIN" : "MEMBER" };
}
