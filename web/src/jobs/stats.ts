import type { components } from "../api/schema";
import type { ChartSeries } from "../ui/Chart";
import { tones } from "../ui/palette";

export type Day = components["schemas"]["JobStatsDocument"]["data"]["attributes"]["days"][number];

/** totals adds up days. The rate is of the runs that were not canceled. */
export function totals(days: Day[]) {
  const sum = (name: "succeeded" | "failed" | "canceled" | "skipped") => days.reduce((total, day) => total + day[name], 0);
  const [succeeded, failed, canceled] = [sum("succeeded"), sum("failed"), sum("canceled")];
  const attempted = succeeded + failed;
  return {
    runs: attempted + canceled,
    succeeded,
    failed,
    skipped: sum("skipped"),
    rate: attempted === 0 ? "–" : percent(succeeded / attempted),
    slowest: Math.max(0, ...days.map((day) => day.max_ms ?? 0)),
  };
}

// percent never rounds a failure away.
function percent(part: number): string {
  if (part === 1) return "100 %";
  return `${Math.min(99.9, Math.round(part * 1000) / 10)} %`;
}

/** pictureOf returns days as a chart: the outcomes as bars, the durations as lines. */
export function pictureOf(days: Day[]): { times: number[]; series: ChartSeries[] } {
  const bar = (label: string, color: ChartSeries["color"], name: "succeeded" | "failed" | "canceled"): ChartSeries => ({
    label,
    color,
    values: days.map((day) => day[name]),
  });
  const line = (label: string, name: "p50_ms" | "p95_ms", dashed: boolean): ChartSeries => ({
    label,
    color: tones.line,
    values: days.map((day) => day[name]),
    shape: "line",
    dashed,
  });
  return {
    times: days.map(({ date }) => startOfDay(date)),
    series: [
      bar("Canceled", tones.quiet, "canceled"),
      bar("Failed", tones.bad, "failed"),
      bar("Succeeded", tones.good, "succeeded"),
      line("Median", "p50_ms", false),
      line("95th percentile", "p95_ms", true),
    ],
  };
}

const startOfDay = (date: string) => Date.parse(`${date}T00:00:00Z`) / 1000;

/** rangeOf returns the filter for the runs of a day in UTC, or undefined if the text is no day. */
export function rangeOf(date: string | undefined): string | undefined {
  if (!date || !/^\d{4}-\d{2}-\d{2}$/.test(date) || Number.isNaN(startOfDay(date))) return undefined;
  const instant = (seconds: number) => new Date(seconds * 1000).toISOString();
  return `[${instant(startOfDay(date))},${instant(startOfDay(date) + 86_400)})`;
}
