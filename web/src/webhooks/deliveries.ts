import type { components } from "../api/schema";
import { milliseconds } from "../ui/time";

export type Delivery = components["schemas"]["WebhookDelivery"];
export type DeliveryStatus = Delivery["attributes"]["status"];
export type Attempt = Delivery["attributes"]["attempts"][number];

/** statuses are the states of a delivery as people read them. */
export const statuses: { value: DeliveryStatus; label: string }[] = [
  { value: "delivered", label: "Delivered" },
  { value: "failed", label: "Failed" },
  { value: "pending", label: "Pending" },
  { value: "sending", label: "Sending" },
  { value: "canceled", label: "Canceled" },
];

/**
 * statusLabel returns the label of a delivery's state. A delivery that waits for another attempt has a
 * label of its own.
 */
export function statusLabel({ status, attempts }: Pick<Delivery["attributes"], "status" | "attempts">): string {
  if (status === "pending" && attempts.length > 0) return "Waiting to retry";
  return statuses.find(({ value }) => value === status)?.label ?? status;
}

/** isOver reports whether a delivery has ended, so that only a person sends it again. */
export const isOver = (status: DeliveryStatus) => status !== "pending" && status !== "sending";

/** canSendAgain reports whether a delivery can be sent again: it has ended, or waits for another attempt. */
export const canSendAgain = ({ status, attempts }: Pick<Delivery["attributes"], "status" | "attempts">) =>
  isOver(status) || (status === "pending" && attempts.length > 0);

/** outcomeOf returns the outcome of an attempt: the status of the answer, or why there was none. */
export function outcomeOf({ status, error }: Pick<Attempt, "status" | "error">): string {
  if (status !== null) return `HTTP ${status}`;
  return error ?? "No answer";
}

/** lastAttempt returns the outcome of the last attempt, and how long it took; undefined before the first. */
export function lastAttempt({ attempts }: Pick<Delivery["attributes"], "attempts">): { outcome: string; took: string } | undefined {
  const last = attempts.at(-1);
  return last && { outcome: outcomeOf(last), took: milliseconds(last.duration_ms) };
}

/** explain says what a failed attempt means, and what to do. */
export function explain({ status, error }: Pick<Attempt, "status" | "error">): string | undefined {
  if (status === null) return error ?? "There was no answer.";
  if (status < 300 && status >= 200) return undefined;
  if (status < 400 && status >= 300) return "Redirects are not followed. Enter the URL that it leads to.";
  if (status === 401 || status === 403) return "The target refused the message. Check the URL and the headers.";
  if (status === 404) return "The target does not know this URL.";
  if (status === 410) return "The target is gone, so the webhook was disabled. Enable it to start again.";
  if (status === 429) return "The target asks for fewer messages.";
  return "Only a status from 200 to 299 is a success.";
}
