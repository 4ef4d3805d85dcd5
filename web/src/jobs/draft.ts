import type { Kinds } from "../api/kinds";
import { same } from "../ui/diff";
import type { Alerts, Overlap, Retry } from "./policies";

export type Job = Kinds["job"];
type Configuration = Job["configuration"];

/** Draft is a job as a form edits it. */
export interface Draft {
  id: string;
  name: string;
  description: string;
  enabled: boolean;
  schedule: string;
  /** timezone is empty for UTC. */
  timezone: string;
  overlap: Overlap;
  retry: RetryDraft | null;
  alerts: AlertsDraft | null;
  method: Configuration["method"];
  url: string;
  headers: { name: string; value: string }[];
  body: string;
  success_status: string;
  timeout: number | string;
  tls_verify: boolean;
  ca_cert: string;
}

type Typed = number | string;

/** RetryDraft is a retry as a form edits it: statuses are a text. */
export interface RetryDraft extends Pick<Retry, "backoff" | "on"> {
  max_attempts: Typed;
  delay_seconds: Typed;
  max_delay_seconds: Typed;
  statuses: string;
}

/** AlertsDraft is alerts as a form edits them; empty is null. */
export type AlertsDraft = Record<keyof Alerts, Typed>;

/** emptyRetry is the retry that the server would choose for three attempts. */
export const emptyRetry: RetryDraft = {
  max_attempts: 3,
  delay_seconds: 60,
  backoff: "exponential",
  max_delay_seconds: 3600,
  on: ["TIMEOUT", "CONNECTION_ERROR", "NON_SUCCESS_STATUS"],
  statuses: "408, 429, 5xx",
};

/** emptyAlerts are the alerts of a job that sets none. */
export const emptyAlerts: AlertsDraft = {
  after_failures: 1,
  recover_after: 1,
  late_after_seconds: "",
  no_success_for_seconds: "",
  remind_every_seconds: "",
};

export const methods: Configuration["method"][] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export const emptyDraft: Draft = {
  id: "",
  name: "",
  description: "",
  enabled: true,
  schedule: "",
  timezone: "",
  overlap: "allow",
  retry: null,
  alerts: emptyAlerts,
  method: "POST",
  url: "",
  headers: [],
  body: "",
  success_status: "2xx",
  timeout: 30,
  tls_verify: true,
  ca_cert: "",
};

/** draftOf returns a job as a form shows it. */
export function draftOf(id: string, { name, description, enabled, schedule, timezone, overlap, retry, alerts, configuration }: Job): Draft {
  const { body, ca_cert, ...rest } = configuration;
  return {
    id,
    name,
    description: description ?? "",
    enabled,
    schedule,
    timezone: timezone ?? "",
    overlap,
    retry: retry && { ...retry, statuses: retry.statuses.join(", ") },
    alerts: alerts && eachOf(alerts, (seconds) => seconds ?? ""),
    ...rest,
    body: body ?? "",
    ca_cert: ca_cert ?? "",
  };
}

/** attributesOf returns the attributes that a draft sends, without empty header rows. A draft of an older version of the console may lack members. */
export function attributesOf(draft: Draft) {
  const { id, name, description, enabled, schedule, timezone, overlap, retry, alerts, body, ca_cert, timeout, ...configuration } = {
    ...emptyDraft,
    ...draft,
  };
  return {
    name: name || id,
    description: description || null,
    enabled,
    schedule: schedule.trim(),
    timezone: timezone || null,
    overlap,
    retry: retry && {
      ...retry,
      max_attempts: numberOf(retry.max_attempts),
      delay_seconds: numberOf(retry.delay_seconds),
      max_delay_seconds: numberOf(retry.max_delay_seconds),
      statuses: retry.statuses.split(/[\s,]+/).filter(Boolean),
    },
    alerts: alerts && eachOf(alerts, numberOf),
    configuration: {
      ...configuration,
      headers: configuration.headers.filter((header) => header.name !== "" || header.value !== ""),
      body: body || null,
      ca_cert: ca_cert || null,
      timeout: numberOf(timeout),
    },
  };
}

const numberOf = (typed: Typed) => (typed === "" ? null : Number(typed));

function eachOf<K extends string, V, W>(object: Record<K, V>, to: (value: V) => W): Record<K, W> {
  return Object.fromEntries(Object.entries<V>(object).map(([name, value]) => [name, to(value)])) as Record<K, W>;
}

/** applied returns the current job, which may have changes of others, with the changes of a form. */
export function applied(current: Job, opened: Draft, draft: Draft) {
  const [before, after] = [attributesOf(opened), attributesOf(draft)];
  const now = writable(current);
  return {
    ...now,
    ...changed(before, after, "configuration"),
    configuration: { ...now.configuration, ...changed(before.configuration, after.configuration) },
  };
}

/** writable returns the members of a job that a replacement sends: a member that is left out gets its default. */
export function writable({ next_run_at, last_run, skipped_at, health, created_at, updated_at, deleted_at, version, ...members }: Job) {
  return members;
}

function changed<T extends object>(before: T, after: T, ...except: string[]): Partial<T> {
  const names = (Object.keys(after) as (keyof T & string)[]).filter((name) => !except.includes(name) && !same(before[name], after[name]));
  return Object.fromEntries(names.map((name) => [name, after[name]])) as Partial<T>;
}

const quote = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** asCommand returns the command that creates such a job; values of headers are taken from variables. */
export function asCommand(draft: Draft): string {
  const { id, schedule, url, method, headers, body, success_status, timeout } = draft;
  const words = ["signalbox jobs create", quote(id || "ID"), quote(schedule || "SCHEDULE"), quote(url || "URL"), `--method ${method}`];
  for (const { name } of headers) if (name) words.push(`--header ${quote(`${name}: env:${name.toUpperCase().replaceAll("-", "_")}`)}`);
  if (body) words.push(`--body ${quote(body)}`);
  if (success_status !== "2xx") words.push(`--success ${success_status}`);
  if (Number(timeout) !== 30) words.push(`--timeout ${timeout}`);
  return [...words, ...policyWords(draft)].join(" ");
}

function policyWords({ timezone, overlap, retry, alerts }: Draft): string[] {
  const words: string[] = [];
  if (timezone) words.push(`--tz ${quote(timezone)}`);
  if (retry) words.push(`--retry ${retry.max_attempts}`);
  if (overlap && overlap !== "allow") words.push(`--overlap ${overlap}`);
  if (alerts && Number(alerts.after_failures) > 1) words.push(`--alert-after ${alerts.after_failures}`);
  if (alerts?.late_after_seconds) words.push(`--late-after ${alerts.late_after_seconds}`);
  return words;
}

/** isCommand reports whether the command line has a flag for everything in a draft; otherwise a copied command would make another job. */
export function isCommand({ retry, alerts }: Draft): boolean {
  if (!alerts) return false;
  const { after_failures, late_after_seconds, ...rest } = alerts;
  const { after_failures: _, late_after_seconds: __, ...plain } = emptyAlerts;
  return same(rest, plain) && (!retry || same({ ...retry, max_attempts: 0 }, { ...emptyRetry, max_attempts: 0 }));
}
