import cronstrue from "cronstrue";
import { instant } from "../ui/time";
import { kindOf } from "./schedule";

/** inWords returns a schedule as people say it: "At 02:30, UTC". A schedule without words is returned unchanged. */
export function inWords(schedule: string, zone?: string | null): string {
  switch (kindOf(schedule)) {
    case "now":
      return "Once, right away";
    case "datetime":
      return onceInWords(schedule.trim(), zone || "UTC");
    default:
      return cronInWords(schedule, zone || "UTC");
  }
}

// onceInWords leaves a local time as it is: only the server knows which instant it is.
function onceInWords(schedule: string, zone: string): string {
  if (Number.isNaN(Date.parse(schedule))) return schedule;
  const hasOffset = /(z|[+-]\d\d(:?\d\d)?)$/i.test(schedule.slice(10));
  return `Once, at ${hasOffset ? instant(schedule).utc : `${schedule.replace(/t/i, " ")} ${zone}`}`;
}

function cronInWords(schedule: string, zone: string): string {
  try {
    const words = cronstrue.toString(schedule.trim(), { use24HourTimeFormat: true });
    return zone !== "UTC" || /\d\d:\d\d/.test(words) ? `${words}, ${zone}` : words;
  } catch {
    return schedule;
  }
}
