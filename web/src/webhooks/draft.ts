import { same } from "../ui/diff";
import type { Webhook } from "./webhook";

/** Draft is a webhook as a form edits it: ids and typed events are texts, and the routing key of PagerDuty is apart from the headers. */
export interface Draft {
  name: string;
  url: string;
  format: Webhook["format"];
  events: string[];
  environments: string[];
  ids: string;
  headers: { name: string; value: string }[];
  routingKey: string;
  enabled: boolean;
}

export const emptyDraft: Draft = {
  name: "",
  url: "",
  format: "standard",
  events: ["job.failing", "job.late", "job.recovered"],
  environments: [],
  ids: "",
  headers: [],
  routingKey: "",
  enabled: true,
};

const routing = "X-Routing-Key";
const isRouting = ({ name }: { name: string }) => name.toLowerCase() === routing.toLowerCase();

/** listOf returns the words of a text. */
export const listOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

/** draftOf returns a webhook as a form shows it. */
export function draftOf({ name, url, format, events, filter, headers, enabled }: Webhook): Draft {
  const isPaging = format === "pagerduty";
  return {
    name,
    url,
    format,
    events,
    environments: filter.environments,
    ids: filter.ids.join(", "),
    headers: isPaging ? headers.filter((header) => !isRouting(header)) : headers,
    routingKey: (isPaging && headers.find(isRouting)?.value) || "",
    enabled,
  };
}

/** attributesOf returns the attributes that a draft sends, without empty header rows. */
export function attributesOf(draft: Draft) {
  const { name, url, format, events, environments, ids, headers, routingKey, enabled } = { ...emptyDraft, ...draft };
  const kept = headers.filter((header) => header.name !== "" || header.value !== "");
  return {
    name,
    url: url.trim(),
    format,
    events,
    filter: { environments, ids: listOf(ids) },
    headers: format === "pagerduty" && routingKey ? [...kept, { name: routing, value: routingKey }] : kept,
    enabled,
  };
}

/** writable returns the members of a webhook that a replacement sends. */
export function writable({ name, url, format, events, filter, headers, enabled }: Webhook) {
  return { name, url, format, events, filter, headers, enabled };
}

/** applied returns the current webhook, which may have changes of others, with the changes of a form. */
export function applied(current: Webhook, opened: Draft, draft: Draft) {
  const [before, after] = [attributesOf(opened), attributesOf(draft)];
  const names = (Object.keys(after) as (keyof typeof after)[]).filter((name) => !same(before[name], after[name]));
  return { ...writable(current), ...Object.fromEntries(names.map((name) => [name, after[name]])) };
}

const quote = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

/** asCommand returns the command that creates such a webhook; values of headers are taken from variables. */
export function asCommand(draft: Draft): string {
  const { name, url, format, events, environments, ids } = draft;
  const words = ["signalbox webhooks create", quote(name || "NAME"), quote(url || "URL"), `--events ${quote(events.join(",") || "TYPES")}`];
  if (format !== "standard") words.push(`--format ${format}`);
  for (const environment of environments) words.push(`--environment ${quote(environment)}`);
  for (const id of listOf(ids)) words.push(`--id ${quote(id)}`);
  for (const { name } of attributesOf(draft).headers) {
    words.push(`--header ${quote(`${name}: env:${name.toUpperCase().replaceAll("-", "_")}`)}`);
  }
  return words.join(" ");
}
