import type { Role } from "../api/kinds";

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

/** attributesOf returns the attributes to send. Without a scope, a key is unrestricted. */
export function attributesOf(draft: Draft, now = new Date()): Record<string, unknown> {
  const origins = draft.origins.split(/[\s,]+/).filter(Boolean);
  const scopes = {
    environments: draft.environments.length > 0 ? draft.environments : undefined,
    origins: draft.access === "evaluate" && origins.length > 0 ? origins : undefined,
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
