import type { Kinds } from "../api/kinds";
import type { Tone } from "../ui/Tag";

export type Webhook = Kinds["webhook"];

/** formats are the forms of messages, with the names that people know. */
export const formats: { value: Webhook["format"]; label: string; url: string; hint: string }[] = [
  {
    value: "standard",
    label: "Standard Webhooks",
    url: "https://hooks.example.com/signalbox",
    hint: "JSON with a signature, for your own programs",
  },
  {
    value: "slack",
    label: "Slack",
    url: "https://hooks.slack.com/services/…",
    hint: "The URL of an incoming webhook. Events of 30 seconds are one message.",
  },
  {
    value: "teams",
    label: "Microsoft Teams",
    url: "https://….logic.azure.com/workflows/…",
    hint: "The URL of a workflow. Events of 30 seconds are one message.",
  },
  {
    value: "discord",
    label: "Discord",
    url: "https://discord.com/api/webhooks/…",
    hint: "The URL of a channel's webhook. Events of 30 seconds are one message.",
  },
  {
    value: "pagerduty",
    label: "PagerDuty",
    url: "https://events.pagerduty.com/v2/enqueue",
    hint: "A recovered job resolves its incident",
  },
];

/** formatName returns the name of a format. */
export const formatName = (format: Webhook["format"]) => formats.find(({ value }) => value === format)?.label ?? format;

/** Choice is events that a form offers by name. */
export interface Choice {
  type: string;
  label: string;
}

/** choices are the events that a form offers, by group. Other types can be typed. */
export const choices: { label: string; of: Choice[] }[] = [
  {
    label: "Jobs",
    of: [
      { type: "job.failing", label: "A job starts to fail" },
      { type: "job.late", label: "A job is late" },
      { type: "job.recovered", label: "A job has recovered" },
      { type: "job.reminder", label: "A job still fails or is still late" },
      { type: "run.failed", label: "Each failed attempt" },
      { type: "usage.exhausted", label: "The runs of the month are used up" },
    ],
  },
  {
    label: "Changes",
    of: [
      { type: "change.*", label: "Every change" },
      { type: "change.flag", label: "Flags" },
      { type: "change.logger", label: "Log levels" },
      { type: "change.config", label: "Config" },
      { type: "change.job", label: "Jobs" },
      { type: "change.environment", label: "Environments" },
      { type: "change.api_key", label: "Keys" },
      { type: "change.user", label: "People" },
    ],
  },
  {
    label: "Services",
    of: [
      { type: "level.expired", label: "A temporary level has ended" },
      { type: "service.silent", label: "A service is silent for an hour" },
    ],
  },
];

/** offered are the types of all choices. */
export const offered = new Set(["*", ...choices.flatMap(({ of }) => of.map(({ type }) => type))]);

/** coveredBy returns the pattern among events that includes a type; the type itself does not count. */
export function coveredBy(events: string[], type: string): string | undefined {
  return events.find((pattern) => pattern !== type && pattern.endsWith("*") && type.startsWith(pattern.slice(0, -1)));
}

/** toggled returns events with or without a type. A pattern replaces the types that it includes. */
export function toggled(events: string[], type: string, on: boolean): string[] {
  const others = events.filter((each) => each !== type && !(on && coveredBy([type], each)));
  return on ? [...others, type] : others;
}

/** placeOfURL returns the scheme and host of a URL. Most chat systems accept the rest in place of a password, so it is hidden. */
export function placeOfURL(url: string): string {
  try {
    const { protocol, host, pathname, search } = new URL(url);
    return `${protocol}//${host}${pathname.length > 1 || search ? "/…" : ""}`;
  } catch {
    return "…";
  }
}

const states: Record<Webhook["state"], { label: string; tone: Tone }> = {
  ok: { label: "OK", tone: "good" },
  failing: { label: "Failing", tone: "bad" },
  disabled: { label: "Disabled", tone: "warning" },
};

/** stateOf returns the state of a webhook as a label. */
export const stateOf = (state: Webhook["state"]) => states[state];

/** filterWords says which events pass a filter; undefined if all do. */
export function filterWords({ environments, ids }: Webhook["filter"]): string | undefined {
  const parts = [environments.length > 0 && `about ${environments.join(", ")}`, ids.length > 0 && `with the ids ${ids.join(", ")}`];
  return parts.filter(Boolean).join(", ") || undefined;
}
