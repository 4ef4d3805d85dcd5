import type { Role } from "../api/kinds";
import { asCommand, asGo, goText } from "../ui/copyas";

/** Draft is a key as the form edits it. */
export interface Draft {
  name: string;
  access: "full" | "evaluate" | "levels";
  role: Role;
  environments: string[];
  origins: string;
  /** days until it expires; "" is never. */
  days: string;
}

export const empty: Draft = { name: "", access: "full", role: "MEMBER", environments: [], origins: "", days: "" };

const originsOf = ({ access, origins }: Draft) => (access === "evaluate" ? origins.split(/[\s,]+/).filter(Boolean) : []);

/** commandOf returns the command that creates such a key. */
export function commandOf(draft: Draft): string {
  const { name, access, role, environments, days } = draft;
  const isFull = access === "full";
  return asCommand(["keys", "create", name || "NAME"], {
    access: isFull ? null : access,
    role: isFull ? role : "VIEWER",
    e: environments,
    origin: originsOf(draft),
    "expires-in": days && `${days}d`,
  });
}

/** goOf returns the call of the Go client that creates such a key. */
export function goOf(draft: Draft): string {
  const { name, access, role, environments, days } = draft;
  const list = (label: string, items: string[]) => (items.length > 0 ? [`${label}: []string{${items.map(goText).join(", ")}}`] : []);
  const scopes = [...list("Environments", environments), ...list("Origins", originsOf(draft))].join(", ");
  return asGo("Keys.Create", undefined, "KeyDraft", {
    Name: goText(name),
    Role: goText(access === "full" ? role : "VIEWER"),
    Access: access === "full" ? undefined : goText(access),
    Scopes: scopes && `&signalbox.KeyScopes{${scopes}}`,
    ExpiresAt: days && `new(time.Now().AddDate(0, 0, ${days}))`,
  });
}

/** attributesOf returns the attributes to send. Without a scope, a key is unrestricted. */
export function attributesOf(draft: Draft, now = new Date()): Record<string, unknown> {
  const origins = originsOf(draft);
  const scopes = {
    environments: draft.environments.length > 0 ? draft.environments : undefined,
    origins: origins.length > 0 ? origins : undefined,
  };
  return {
    name: draft.name,
    access: draft.access,
    role: draft.access === "full" ? draft.role : "VIEWER",
    scopes,
    expires_at: draft.days ? new Date(now.getTime() + Number(draft.days) * 86_400_000).toISOString() : undefined,
  };
}

/** stateOf returns the state of a key in a word. */
export function stateOf(
  { status, expires_at }: { status: "ACTIVE" | "REVOKED"; expires_at: string | null },
  now = Date.now(),
): "active" | "revoked" | "expired" {
  if (status === "REVOKED") return "revoked";
  return expires_at && new Date(expires_at).getTime() <= now ? "expired" : "active";
}

/** exampleFor returns an example request with a new key. */
export function exampleFor(origin: string, access: string, key: string, environment = ""): string {
  if (access === "levels") return `${origin}/levels/${key}/${encodeURIComponent(environment)}/logback.properties?service=NAME`;
  if (access === "evaluate")
    return `curl -X POST '${origin}/ofrep/v1/evaluate/flags' \\
  -H 'Authorization: Bearer ${key}' \\
  -d '{"context":{"targetingKey":"alice"}}'`;
  return `curl '${origin}/api/v1/flags' \\
  -H 'Authorization: Bearer ${key}'`;
}
