import type { components } from "./schema";

type Schemas = components["schemas"];

/** Kinds are the resources with their attributes, by their JSON:API type. */
export interface Kinds {
  flag: Schemas["FlagAttributes"];
  flag_source: Schemas["FlagSource"]["attributes"];
  logger: Schemas["LoggerAttributes"];
  logger_source: Schemas["LoggerSource"]["attributes"];
  log_group: Schemas["LogGroup"]["attributes"];
  config: Schemas["Config"]["attributes"];
  job: Schemas["Job"]["attributes"];
  run: Schemas["Run"]["attributes"];
  environment: Schemas["EnvironmentAttributes"];
  service: Schemas["Service"]["attributes"];
  context_type: Schemas["ContextType"]["attributes"];
  context: Schemas["Context"]["attributes"];
  api_key: Schemas["ApiKeyAttributes"];
  user: Schemas["UserAttributes"];
  invitation: Schemas["InvitationAttributes"];
  link: Schemas["PasswordLinkAttributes"];
  session: Schemas["SessionAttributes"];
  webhook: Schemas["Webhook"]["attributes"];
  change: Schemas["Change"]["attributes"];
  connection: Schemas["ConnectionStream"]["data"][number]["attributes"];
  account: Schemas["AccountAttributes"];
  account_settings: Schemas["Settings"];
  user_settings: Schemas["Settings"];
}

export type Kind = keyof Kinds;
export type Level = Schemas["Level"];
/** Sentence is one thing that a change does, in plain words. */
export type Sentence = Schemas["Sentence"];
export type Role = Schemas["Role"];

export interface Resource<K extends Kind> {
  id: string;
  type: K;
  attributes: Kinds[K];
}

export interface WriteMeta {
  dry_run?: boolean;
  ignored?: string[];
  warnings?: { pointer: string; detail: string }[];
  /** summary is what a dry run would do. */
  summary?: Sentence[];
}

export interface Single<K extends Kind> {
  data: Resource<K>;
  meta?: WriteMeta;
}

export interface Collection<K extends Kind> {
  data: Resource<K>[];
  meta: { pagination: { page: number; size: number; total?: number; total_pages?: number } };
}

/** CursorList is a list with a cursor: changes, runs, connections. */
export interface CursorList<K extends Kind> {
  data: Resource<K>[];
  links: { next: string | null };
}

const collections: Record<Kind, string> = {
  flag: "flags",
  flag_source: "flag_sources",
  logger: "loggers",
  logger_source: "logger_sources",
  log_group: "log_groups",
  config: "configs",
  job: "jobs",
  run: "runs",
  environment: "environments",
  service: "services",
  context_type: "context_types",
  context: "contexts",
  api_key: "api_keys",
  user: "users",
  invitation: "invitations",
  link: "links",
  session: "sessions",
  webhook: "webhooks",
  change: "changes",
  connection: "connections",
  account: "accounts/current",
  account_settings: "accounts/current/settings",
  user_settings: "users/current/settings",
};

/** only lists the kinds that have exactly one resource for the caller. */
const only = new Set<Kind>(["account", "account_settings", "user_settings"]);

/** pathOf returns the path of a list, or of one resource in it. */
export function pathOf(kind: Kind, id?: string): string {
  const list = `/api/v1/${collections[kind]}`;
  return id === undefined || only.has(kind) ? list : `${list}/${encodeURIComponent(id)}`;
}

const words: Partial<Record<Kind, string>> = { api_key: "key", log_group: "log group", context_type: "context type" };

/** wordFor returns the name of a kind for people. */
export function wordFor(kind: string): string {
  return words[kind as Kind] ?? kind.replaceAll("_", " ");
}

/** screens are the lists of the resources that have a page of their own. */
const screens: Record<string, string> = {
  flag: "/flags",
  logger: "/loggers",
  log_group: "/log-groups",
  config: "/configs",
  job: "/jobs",
  job_health: "/jobs",
  webhook: "/webhooks",
};

/** kindOn returns the kind of the resources that a list shows. */
export const kindOn = (screen: string) => Object.keys(screens).find((kind) => screens[kind] === screen) as Kind;

/** placeOf returns the console's address of a resource, or undefined when the resource has no page. */
export function placeOf(kind: string, id: string): string | undefined {
  if (id === "*") return screens[kind];
  if (screens[kind]) return `${screens[kind]}/${encodeURIComponent(id)}`;
  const lists: Record<string, string> = {
    environment: "/environments",
    service: "/services",
    context: "/services",
    user: "/people",
    api_key: "/keys",
  };
  return lists[kind];
}
