import type { Query } from "../api/client";
import type { Role } from "../api/kinds";
import { isWorth } from "../ui/changes";

/** Filters are what the address says about the list; times are those of a datetime-local field, in the reader's zone. */
export interface Filters {
  kind?: string;
  id?: string;
  actor?: string;
  from?: string;
  to?: string;
  /** sessions lists sign-ins and sign-outs as well. */
  sessions?: string;
}

/** kinds are those that the server records changes of, in the order of the rail. */
export const kinds = [
  "flag",
  "logger",
  "log_group",
  "config",
  "job",
  "environment",
  "service",
  "context",
  "context_type",
  "user",
  "invitation",
  "link",
  "session",
  "api_key",
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

/** passes reports whether a change is listed: what the server cannot filter by is left out here. */
export function passes({ attributes }: { attributes: { kind: string } }, { kind, sessions }: Filters): boolean {
  return kind ? attributes.kind === kind : isWorth({ attributes }) || sessions !== undefined;
}

function instant(local: string | undefined): string {
  const time = local ? new Date(local) : undefined;
  return time && !Number.isNaN(time.getTime()) ? time.toISOString() : "*";
}

/** hoursAgo returns an instant as a datetime-local field has it. */
export function hoursAgo(hours: number, now = new Date()): string {
  const then = new Date(now.getTime() - hours * 3_600_000);
  return new Date(then.getTime() - then.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const administered = new Set(["environment", "account", "account_settings"]);
const neverReverted: Record<string, string> = {
  api_key: "A key's changes cannot be reverted: access is decided anew. Make a new key instead.",
  user: "Changes of people cannot be reverted: access is decided anew. Set the role on the People screen.",
  invitation: "An invitation's changes cannot be reverted. Invite again, or withdraw the invitation.",
  link: "A link cannot come back once it was withdrawn. Make another reset link.",
  session: "A session's changes cannot be reverted. Sign in again.",
};

/** wayBack says which role a revert needs, or why there is none. The server decides; this spares a question that it always refuses. */
export function wayBack(change: {
  kind: string;
  key: string;
  action: string;
  private?: boolean;
  documents_removed?: boolean;
}): { needs: Role } | { refusal: string } {
  const refusal = neverReverted[change.kind];
  if (refusal) return { refusal };
  if (change.private) return { refusal: "These are the settings of another user, who alone sees and reverts them." };
  if (change.documents_removed)
    return {
      refusal: "What this change replaced is no longer kept, because the history of the account reached its size. It cannot be reverted.",
    };
  if (change.key === "*") return { refusal: "This change concerns several resources at once; revert what caused it, or each of them." };
  if (change.action === "expired") return { refusal: "The level's time was over. Set it again to have it back." };
  return { needs: administered.has(change.kind) ? "ADMIN" : "MEMBER" };
}
