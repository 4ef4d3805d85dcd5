import type { Kinds } from "../api/kinds";
import type { Tone } from "../ui/Tag";

type Job = Kinds["job"];
export type Health = Job["health"];
export type HealthState = Health["state"];
export type Retry = NonNullable<Job["retry"]>;
export type Alerts = NonNullable<Job["alerts"]>;
export type Overlap = Job["overlap"];
export type RetryReason = Retry["on"][number];

/** healthStates are the states of health with their words, the urgent ones first. */
export const healthStates: { value: HealthState; label: string; tone: Tone }[] = [
  { value: "failing", label: "Failing", tone: "bad" },
  { value: "late", label: "Late", tone: "warning" },
  { value: "ok", label: "OK", tone: "good" },
  { value: "new", label: "New", tone: "plain" },
  { value: "paused", label: "Paused", tone: "plain" },
];

/** healthDetail returns a detail to show beside the state: the failures in a row, or why there is no state yet. */
export function healthDetail({ state, failures }: Health): string {
  if (state === "new" && failures === 0) return "no run has ended yet";
  if (failures === 0) return "";
  return failures === 1 ? "1 failure" : `${failures} failures in a row`;
}

/** overlaps are the policies for a due time at which an earlier run has not ended. */
export const overlaps: { value: Overlap; label: string }[] = [
  { value: "allow", label: "Allow: runs may overlap" },
  { value: "skip", label: "Skip: make no new run" },
  { value: "wait", label: "Wait: run afterward; only the newest waits" },
];

/** retryReasons are the failures that can be attempted again. */
export const retryReasons: { value: RetryReason; label: string }[] = [
  { value: "TIMEOUT", label: "Timeout" },
  { value: "CONNECTION_ERROR", label: "No connection" },
  { value: "NON_SUCCESS_STATUS", label: "HTTP status" },
  { value: "WORKER_LOST", label: "Server node lost (the request may be sent twice)" },
];

const units: [number, string][] = [
  [86_400, "d"],
  [3600, "h"],
  [60, "min"],
  [1, "s"],
];

/** span returns a number of seconds as people read it: 90 is "1 min 30 s". */
export function span(seconds: number): string {
  const words: string[] = [];
  let rest = seconds;
  for (const [size, unit] of units) {
    if (rest >= size) words.push(`${Math.floor(rest / size)} ${unit}`);
    rest %= size;
  }
  return words.join(" ") || "0 s";
}

/** retryWords says how failed runs are attempted again. */
export function retryWords(retry: Retry | null): string {
  if (!retry) return "at most one attempt";
  const { max_attempts, delay_seconds, max_delay_seconds, backoff } = retry;
  const grows = backoff === "exponential" && max_attempts > 2 && max_delay_seconds > delay_seconds;
  const longest = Math.min(max_delay_seconds, delay_seconds * 2 ** (max_attempts - 2));
  return `up to ${max_attempts} attempts, ${span(delay_seconds)}${grows ? ` to ${span(longest)}` : ""} apart`;
}

/** overlapWords says what happens while an earlier run has not ended. */
export const overlapWords = (overlap: Overlap): string =>
  ({ allow: "runs may overlap", skip: "a due time is skipped while a run has not ended", wait: "a run waits for the one before" })[overlap];

/** alertWords says when a job is failing or late. */
export function alertWords(alerts: Alerts | null): string {
  if (!alerts) return "none";
  const { after_failures, recover_after, late_after_seconds, no_success_for_seconds } = alerts;
  const words = [after_failures === 1 ? "after a failure" : `after ${after_failures} failures in a row`];
  if (late_after_seconds !== null) words.push(`when ${span(late_after_seconds)} late`);
  if (no_success_for_seconds !== null) words.push(`without a success for ${span(no_success_for_seconds)}`);
  if (recover_after > 1) words.push(`recovered after ${recover_after} successes`);
  return words.join(", ");
}
