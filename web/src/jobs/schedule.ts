import { span } from "./policies";

/** kindOf returns the kind of schedule that a text looks like; the server checks it. */
export function kindOf(schedule: string): "cron" | "datetime" | "now" {
  const text = schedule.trim();
  if (text.toLowerCase() === "now") return "now";
  return text.split(/\s+/).length === 5 ? "cron" : "datetime";
}

/** offsetTime returns an instant with an offset for people: "2030-03-31 03:00 +02:00". */
export function offsetTime(at: string): string {
  const [, day, minute, seconds = "", offset] = /^(.{10})T(.{5})(?::(\d\d)(?:\.\d+)?)?(.*)$/.exec(at) ?? [];
  if (!day) return at;
  return `${day} ${minute}${seconds === "" || seconds === "00" ? "" : `:${seconds}`} ${offset === "Z" ? "UTC" : offset}`;
}

/** zoned returns what the clock of a zone shows at an instant; undefined for a zone that the browser does not know. */
export function zoned(at: string, zone: string): string | undefined {
  try {
    const format = new Intl.DateTimeFormat("sv-SE", { timeZone: zone, dateStyle: "short", timeStyle: "short" });
    return `${format.format(new Date(at))} ${zone}`;
  } catch {
    return undefined;
  }
}

/** shiftInWords says how a clock is moved: "goes forward 1 h". */
export const shiftInWords = (seconds: number) => `goes ${seconds < 0 ? "back" : "forward"} ${span(Math.abs(seconds))}`;

/** zones returns the time zones that the browser knows, and a chosen one that it does not know. The server checks the choice. */
export function zones(chosen: string): string[] {
  const known = Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC");
  return chosen === "" || known.includes(chosen) || chosen === "UTC" ? ["UTC", ...known] : ["UTC", chosen, ...known];
}

/** examples are schedules to begin with. */
export const examples = [
  { value: "*/5 * * * *", label: "Every 5 minutes" },
  { value: "0 * * * *", label: "Every hour" },
  { value: "30 2 * * *", label: "Every night at 02:30" },
  { value: "0 7 * * MON-FRI", label: "On weekdays at 07:00" },
  { value: "0 6 1 * *", label: "On the first of the month" },
  { value: "now", label: "Once, right away" },
];
