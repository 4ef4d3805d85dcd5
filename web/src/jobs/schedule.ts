import cronstrue from "cronstrue";

/** kindOf returns the kind of schedule that a text looks like; the server checks it. */
export function kindOf(schedule: string): "cron" | "datetime" | "now" {
  const text = schedule.trim();
  if (text.toLowerCase() === "now") return "now";
  return text.split(/\s+/).length === 5 ? "cron" : "datetime";
}

/** inWords returns a schedule as people say it: "At 02:30, UTC". A schedule without words is returned unchanged. */
export function inWords(schedule: string): string {
  switch (kindOf(schedule)) {
    case "now":
      return "Once, right away";
    case "datetime":
      return Number.isNaN(Date.parse(schedule)) ? schedule : `Once, at ${instant(schedule).utc}`;
    default:
      return cronInWords(schedule);
  }
}

function cronInWords(schedule: string): string {
  try {
    const words = cronstrue.toString(schedule.trim(), { use24HourTimeFormat: true });
    return /\d\d:\d\d/.test(words) ? `${words}, UTC` : words;
  } catch {
    return schedule;
  }
}

const two = (value: number) => String(value).padStart(2, "0");

/** instant returns a time in UTC and in the reader's time zone. */
export function instant(at: string): { utc: string; local: string } {
  const date = new Date(at);
  const utc = `${date.toISOString().slice(0, 10)} ${date.toISOString().slice(11, date.getUTCSeconds() === 0 ? 16 : 19)} UTC`;
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return { utc, local: `${day} ${two(date.getHours())}:${two(date.getMinutes())}` };
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
