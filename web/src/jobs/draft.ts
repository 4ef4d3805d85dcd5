import type { Kinds } from "../api/kinds";
import { same } from "../ui/diff";

export type Job = Kinds["job"];
type Configuration = Job["configuration"];

/** Draft is a job as a form edits it. */
export interface Draft {
  id: string;
  name: string;
  description: string;
  enabled: boolean;
  schedule: string;
  method: Configuration["method"];
  url: string;
  headers: { name: string; value: string }[];
  body: string;
  success_status: string;
  timeout: number | string;
  tls_verify: boolean;
  ca_cert: string;
}

export const methods: Configuration["method"][] = ["GET", "POST", "PUT", "PATCH", "DELETE"];

export const emptyDraft: Draft = {
  id: "",
  name: "",
  description: "",
  enabled: true,
  schedule: "",
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
export function draftOf(id: string, { name, description, enabled, schedule, configuration }: Job): Draft {
  const { body, ca_cert, ...rest } = configuration;
  return { id, name, description: description ?? "", enabled, schedule, ...rest, body: body ?? "", ca_cert: ca_cert ?? "" };
}

/** attributesOf returns the attributes that a draft sends, without empty header rows. */
export function attributesOf(draft: Draft) {
  const { id, name, description, enabled, schedule, body, ca_cert, timeout, ...configuration } = draft;
  return {
    name: name || id,
    description: description || null,
    enabled,
    schedule: schedule.trim(),
    configuration: {
      ...configuration,
      headers: configuration.headers.filter((header) => header.name !== "" || header.value !== ""),
      body: body || null,
      ca_cert: ca_cert || null,
      timeout: timeout === "" ? null : Number(timeout),
    },
  };
}

/** applied returns a job with the changes of a form on top of the changes that others made since it was opened. */
export function applied(current: Job, opened: Draft, draft: Draft) {
  const [before, after] = [attributesOf(opened), attributesOf(draft)];
  const now = writable(current);
  return {
    ...now,
    ...changed(before, after, "configuration"),
    configuration: { ...now.configuration, ...changed(before.configuration, after.configuration) },
  };
}

/** writable returns the members of a job that a replacement sends. */
export function writable({ name, description, enabled, type, schedule, configuration, concurrency_policy }: Job) {
  return { name, description, enabled, type, schedule, configuration, concurrency_policy };
}

function changed<T extends object>(before: T, after: T, ...except: string[]): Partial<T> {
  const names = (Object.keys(after) as (keyof T & string)[]).filter((name) => !except.includes(name) && !same(before[name], after[name]));
  return Object.fromEntries(names.map((name) => [name, after[name]])) as Partial<T>;
}

const quote = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** asCommand returns the command that creates such a job; values of headers are taken from variables. */
export function asCommand({ id, schedule, url, method, headers, body, success_status, timeout }: Draft): string {
  const words = ["signalbox jobs create", quote(id || "ID"), quote(schedule || "SCHEDULE"), quote(url || "URL"), `--method ${method}`];
  for (const { name } of headers) if (name) words.push(`--header ${quote(`${name}: env:${name.toUpperCase().replaceAll("-", "_")}`)}`);
  if (body) words.push(`--body ${quote(body)}`);
  if (success_status !== "2xx") words.push(`--success ${success_status}`);
  if (Number(timeout) !== 30) words.push(`--timeout ${timeout}`);
  return words.join(" ");
}
