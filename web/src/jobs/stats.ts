import type { components } from "../api/schema";

export type Day = components["schemas"]["JobStatsDocument"]["data"]["attributes"]["days"][number];

/** totals adds up days. The rate is of the runs that were not canceled. */
export function totals(days: Day[]) {
  const sum = (name: "succeeded" | "failed" | "canceled") => days.reduce((total, day) => total + day[name], 0);
  const [succeeded, failed, canceled] = [sum("succeeded"), sum("failed"), sum("canceled")];
  const attempted = succeeded + failed;
  return {
    runs: attempted + canceled,
    succeeded,
    failed,
    rate: attempted === 0 ? "–" : percent(succeeded / attempted),
    slowest: Math.max(0, ...days.map((day) => day.max_ms ?? 0)),
  };
}

// percent never rounds a failure away.
function percent(part: number): string {
  if (part === 1) return "100 %";
  return `${Math.min(99.9, Math.round(part * 1000) / 10)} %`;
}

/** stacked returns the heights of stacked bars for each day: all runs, succeeded and failed runs, succeeded runs. */
export function stacked(days: Day[]): [number[], number[], number[]] {
  return [
    days.map((day) => day.succeeded + day.failed + day.canceled),
    days.map((day) => day.succeeded + day.failed),
    days.map((day) => day.succeeded),
  ];
}
