import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import styles from "./jobs.module.css";
import { milliseconds } from "./runs";
import { type Day, stacked } from "./stats";

const colors = {
  light: { succeeded: "#57a773", failed: "#c23b30", canceled: "#b3b9c0", line: "#2f6f6a", axis: "#59616a", grid: "#eef0f1" },
  dark: { succeeded: "#3f8a58", failed: "#ef7b72", canceled: "#59616a", line: "#90c5bf", axis: "#a3abb5", grid: "#272c31" },
};

/** DaysChart draws the runs of each day as bars, and the median and 95 % of their durations as lines. */
export default function DaysChart({ days, dark }: { days: Day[]; dark: boolean }) {
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = host.current as HTMLElement;
    const chart = new uPlot(options(dark, element.clientWidth), data(days), element);
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height: 220 }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
    };
  }, [days, dark]);
  const c = dark ? colors.dark : colors.light;
  return (
    <>
      <div
        ref={host}
        className={styles.chart}
        role="img"
        aria-label="Runs of each day and their durations; the table below has the numbers"
      />
      <p className={styles.legend}>
        <Swatch color={c.succeeded} label="succeeded" />
        <Swatch color={c.failed} label="failed" />
        <Swatch color={c.canceled} label="canceled" />
        <span>line: median duration, dashed: 95th percentile</span>
      </p>
    </>
  );
}

const Swatch = ({ color, label }: { color: string; label: string }) => (
  <span>
    <span className="dot" style={{ background: color }} aria-hidden="true" /> {label}
  </span>
);

function data(days: Day[]): uPlot.AlignedData {
  const [all, attempted, succeeded] = stacked(days);
  return [
    days.map(({ date }) => Date.parse(`${date}T00:00:00Z`) / 1000),
    all,
    attempted,
    succeeded,
    days.map((day) => day.p50_ms),
    days.map((day) => day.p95_ms),
  ];
}

function options(dark: boolean, width: number): uPlot.Options {
  const c = dark ? colors.dark : colors.light;
  const bars = uPlot.paths.bars?.({ size: [0.7, 24] });
  const bar = (label: string, fill: string) => ({
    label,
    fill,
    stroke: fill,
    width: 0,
    paths: bars,
    points: { show: false },
    scale: "runs",
  });
  const axis = { stroke: c.axis, grid: { stroke: c.grid, width: 1 }, ticks: { show: false }, font: "11px system-ui" };
  const duration = (values: number[]) => values.map((value) => milliseconds(value));
  return {
    width,
    height: 220,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { show: false },
    scales: {
      x: { range: (_, min, max) => [min - 43_200, max + 43_200] },
      runs: { range: (_, __, max) => [0, Math.max(4, max * 1.1)] },
      ms: { range: (_, __, max) => [0, Math.max(1, (max ?? 1) * 1.15)] },
    },
    axes: [
      { ...axis, grid: { show: false }, values: "{D} {MMM}" },
      { ...axis, scale: "runs", size: 44, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000] },
      { ...axis, scale: "ms", side: 1, size: 64, grid: { show: false }, values: (_, values) => duration(values) },
    ],
    series: [
      {},
      bar("Canceled", c.canceled),
      bar("Failed", c.failed),
      bar("Succeeded", c.succeeded),
      { label: "Median", stroke: c.line, width: 2, scale: "ms", spanGaps: true, points: { size: 5 } },
      { label: "95 %", stroke: c.line, width: 1.5, dash: [4, 4], scale: "ms", spanGaps: true, points: { size: 4 } },
    ],
  };
}
