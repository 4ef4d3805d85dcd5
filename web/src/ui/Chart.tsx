import { Table, Text, useComputedColorScheme } from "@mantine/core";
import { type RefObject, useEffect, useMemo, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import styles from "./Chart.module.css";
import { compact, stack } from "./series";
import { instant } from "./time";

/** ChartSeries is one row of numbers: bars, which are stacked, or a line with a scale of its own. */
export interface ChartSeries {
  label: string;
  /** color is for the light and the dark theme. */
  color: [light: string, dark: string];
  values: (number | null)[];
  shape?: "bar" | "line";
  dashed?: boolean;
}

/** Mark is an event on the time axis, such as a change. */
export interface Mark {
  /** at is in seconds. */
  at: number;
  text: string;
}

export interface ChartProps {
  label: string;
  /** times are the beginnings of the steps, in seconds. */
  times: number[];
  series: ChartSeries[];
  marks?: Mark[];
  height?: number;
  /** lines writes the numbers of lines. */
  lines?: (value: number) => string;
  /** onPick is called with the index of the step that is clicked. */
  onPick?: (index: number) => void;
}

const chrome = {
  light: { axis: "#59616a", grid: "#eef0f1", mark: "#8a5a00" },
  dark: { axis: "#a3abb5", grid: "#272c31", mark: "#e0b35c" },
};

/** Chart draws numbers over time. The pointer shows the numbers of a step, the legend hides a series, and a table has all of them. */
export default function Chart(props: ChartProps) {
  const { label, times, series, marks = [], height = 200, lines = compact, onPick } = props;
  const scheme = useComputedColorScheme("light");
  const host = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const [hovered, setHovered] = useState<Hovered>();
  const shown = useMemo(() => series.filter((each) => !hidden.has(each.label)), [series, hidden]);
  useDrawing(host, { times, shown, marks, height, lines, scheme, onPick }, setHovered);
  const toggle = (name: string) => setHidden((old) => new Set(old.has(name) ? [...old].filter((each) => each !== name) : [...old, name]));
  return (
    <figure className={styles.figure} aria-label={label}>
      <div className={styles.plot}>
        <div ref={host} style={{ minHeight: height }} data-pick={onPick ? true : undefined} className={styles.host} />
        {hovered && <Tip {...props} {...hovered} series={shown} lines={lines} />}
      </div>
      <figcaption className={styles.legend}>
        {series.map((each) => (
          <button
            key={each.label}
            type="button"
            className={styles.key}
            aria-pressed={!hidden.has(each.label)}
            onClick={() => toggle(each.label)}
          >
            <Swatch of={each} /> {each.label}
          </button>
        ))}
        <span className="muted">Times in UTC</span>
        {marks.length > 0 && <span className={styles.marked}>{marks.length === 1 ? "1 change" : `${marks.length} changes`}</span>}
      </figcaption>
      <Numbers {...props} lines={lines} />
    </figure>
  );
}

interface Hovered {
  index: number;
  left: number;
  near: Mark[];
}

function Swatch({ of: { color, shape, dashed } }: { of: ChartSeries }) {
  const style = { "--swatch": `light-dark(${color[0]}, ${color[1]})` } as React.CSSProperties;
  return <span className={styles.swatch} data-shape={shape} data-dashed={dashed || undefined} style={style} aria-hidden="true" />;
}

function Tip({ times, series, index, left, near, lines = compact }: ChartProps & Hovered) {
  const at = times[index];
  if (at === undefined) return null;
  const step = stepOf(times);
  return (
    <div className={styles.tip} data-side={left > 0.6 ? "left" : "right"} style={{ left: `${left * 100}%` }} aria-hidden="true">
      <div className={styles.when}>{timeOf(at, step)}</div>
      {series.map((each) => (
        <div key={each.label} className={styles.line}>
          <Swatch of={each} />
          <span>{each.label}</span>
          <b>{written(each, index, lines)}</b>
        </div>
      ))}
      {near.map((mark) => (
        <div key={`${mark.at}${mark.text}`} className={styles.mark}>
          {mark.text}
        </div>
      ))}
    </div>
  );
}

function written({ values, shape }: ChartSeries, index: number, lines: (value: number) => string): string {
  const value = values[index] ?? null;
  if (value === null) return "–";
  return shape === "line" ? lines(value) : value.toLocaleString();
}

/** timeOf writes the time of a step: a day, or a time of day with its date. */
function timeOf(seconds: number, step: number): string {
  const { utc } = instant(new Date(seconds * 1000).toISOString());
  return step >= 86_400 ? `${utc.slice(0, 10)} UTC` : utc;
}

/** tickOf writes a time on the axis: a time of day, and the date at midnight. */
function tickOf(seconds: number, step: number): string {
  const date = new Date(seconds * 1000);
  const time = date.toISOString().slice(11, 16);
  return step >= 86_400 || time === "00:00" ? date.toLocaleDateString("en-GB", { day: "numeric", month: "short", timeZone: "UTC" }) : time;
}

/** Numbers is the chart as a table, for screen readers and for copying. Its rows are made when it is opened. */
function Numbers({ label, times, series, marks = [], lines = compact }: ChartProps) {
  const [isOpen, setOpen] = useState(false);
  const step = stepOf(times);
  const rows = isOpen ? times.map((at, index) => ({ at, index })).filter(({ index }) => series.some(({ values }) => values[index])) : [];
  return (
    <details className={styles.table} onToggle={(event) => setOpen(event.currentTarget.open)}>
      <Text component="summary" size="xs">
        As a table
      </Text>
      {isOpen && (
        <Table.ScrollContainer minWidth={320} mah={260}>
          <Table verticalSpacing={3} fz="xs" aria-label={label}>
            <Table.Thead>
              <Table.Tr>
                {["Time", ...series.map((each) => each.label)].map((title) => (
                  <Table.Th key={title}>{title}</Table.Th>
                ))}
              </Table.Tr>
            </Table.Thead>
            <Table.Tbody>
              {rows.toReversed().map(({ at, index }) => (
                <Table.Tr key={at}>
                  <Table.Td>{timeOf(at, step)}</Table.Td>
                  {series.map((each) => (
                    <Table.Td key={each.label}>{written(each, index, lines)}</Table.Td>
                  ))}
                </Table.Tr>
              ))}
            </Table.Tbody>
          </Table>
        </Table.ScrollContainer>
      )}
      {isOpen && marks.length > 0 && (
        <ul className={styles.list}>
          {marks.map((mark) => (
            <li key={`${mark.at}${mark.text}`}>
              {timeOf(mark.at, 60)}: {mark.text}
            </li>
          ))}
        </ul>
      )}
    </details>
  );
}

interface Drawing {
  times: number[];
  shown: ChartSeries[];
  marks: Mark[];
  height: number;
  lines: (value: number) => string;
  scheme: "light" | "dark";
  onPick?: (index: number) => void;
}

// useDrawing draws the chart again whenever its data, its theme or its width changes.
function useDrawing(host: RefObject<HTMLDivElement | null>, drawing: Drawing, hover: (hovered: Hovered | undefined) => void): void {
  const latest = useRef(drawing);
  latest.current = drawing;
  const { times, shown, marks, height, scheme } = drawing;
  // biome-ignore lint/correctness/useExhaustiveDependencies: these change the drawing; its functions are read when called
  useEffect(() => {
    const element = host.current as HTMLDivElement;
    const begun = performance.now();
    const chart = new uPlot(optionsOf(latest, element.clientWidth, hover), dataOf(latest.current), element);
    performance.measure("chart", { start: begun, end: performance.now() });
    const observer = new ResizeObserver(() => chart.setSize({ width: element.clientWidth, height }));
    observer.observe(element);
    return () => {
      observer.disconnect();
      chart.destroy();
      hover(undefined);
    };
  }, [times, shown, marks, height, scheme]);
}

const stepOf = (times: number[]) => (times[1] ?? 0) - (times[0] ?? 0);

const isLine = ({ shape }: ChartSeries) => shape === "line";

// Bars and points stand in the middle of their steps.
function dataOf({ times, shown }: Drawing): uPlot.AlignedData {
  const bars = shown.filter((each) => !isLine(each)).map(({ values }) => values);
  const half = stepOf(times) / 2;
  return [times.map((at) => at + half), ...stack(bars), ...shown.filter(isLine).map(({ values }) => values)];
}

function optionsOf(latest: RefObject<Drawing>, width: number, hover: (hovered: Hovered | undefined) => void): uPlot.Options {
  const { times, shown, height, scheme } = latest.current;
  const colors = chrome[scheme];
  const colorOf = (each: ChartSeries) => each.color[scheme === "dark" ? 1 : 0];
  const step = stepOf(times);
  const paths = uPlot.paths.bars?.({ size: [0.8, 26], radius: 0.12 });
  const axis = { stroke: colors.axis, ticks: { show: false }, font: "11px system-ui" };
  const lines = shown.filter(isLine);
  return {
    width,
    height,
    tzDate: (at) => uPlot.tzDate(new Date(at * 1000), "Etc/UTC"),
    legend: { show: false },
    cursor: { y: false, points: { show: false }, drag: { x: false, y: false } },
    scales: {
      x: { range: () => [times[0] ?? 0, (times.at(-1) ?? 1) + step] },
      count: { range: (_, __, max) => [0, Math.max(4, (max || 0) * 1.1)] },
      line: { range: (_, __, max) => [0, Math.max(1, (max || 0) * 1.15)] },
    },
    axes: [
      { ...axis, grid: { show: false }, size: 28, space: 70, values: (_, at) => at.map((seconds) => tickOf(seconds, step)) },
      {
        ...axis,
        scale: "count",
        size: 48,
        grid: { stroke: colors.grid, width: 1 },
        incrs: [1, 2, 5].flatMap((one) => [0, 1, 2, 3, 4, 5, 6, 7, 8].map((power) => one * 10 ** power)).toSorted((a, b) => a - b),
        values: (_, values) => values.map(compact),
      },
      ...(lines.length > 0
        ? [
            {
              ...axis,
              scale: "line",
              side: 1 as const,
              size: 60,
              grid: { show: false },
              values: (_: uPlot, values: number[]) => values.map((value) => latest.current.lines(value)),
            },
          ]
        : []),
    ],
    series: [
      {},
      ...shown
        .filter((each) => !isLine(each))
        .map((each) => ({
          label: each.label,
          fill: colorOf(each),
          stroke: colorOf(each),
          width: 0,
          paths,
          points: { show: false },
          scale: "count",
        })),
      ...lines.map((each) => ({
        label: each.label,
        stroke: colorOf(each),
        width: 1.75,
        dash: each.dashed ? [5, 4] : undefined,
        scale: "line",
        spanGaps: true,
        points: { size: 4 },
      })),
    ],
    hooks: {
      draw: [(chart) => drawMarks(chart, latest.current.marks, colors.mark)],
      setCursor: [(chart) => hover(hoveredOf(chart, latest.current, step))],
      ready: [(chart) => chart.over.addEventListener("click", () => pick(chart, latest.current))],
    },
  };
}

function pick({ cursor: { idx } }: uPlot, { onPick }: Drawing): void {
  if (typeof idx === "number") onPick?.(idx);
}

function hoveredOf(chart: uPlot, { times, marks }: Drawing, step: number): Hovered | undefined {
  const { left } = chart.cursor;
  if (left === undefined || left < 0) return undefined;
  const at = chart.posToVal(left, "x");
  const index = Math.min(times.length - 1, Math.max(0, Math.floor((at - (times[0] ?? 0)) / step)));
  const begin = times[index] ?? 0;
  const box = chart.root.getBoundingClientRect();
  const inset = chart.over.getBoundingClientRect().left - box.left;
  return { index, left: (inset + left) / box.width, near: marks.filter((mark) => mark.at >= begin && mark.at < begin + step).slice(0, 5) };
}

/** drawMarks draws a line with a head for each mark, over the bars. */
function drawMarks({ ctx, bbox, valToPos }: uPlot, marks: Mark[], color: string): void {
  const ratio = window.devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = color;
  ctx.fillStyle = color;
  ctx.lineWidth = ratio;
  ctx.setLineDash([3 * ratio, 3 * ratio]);
  for (const { at } of marks) {
    const x = valToPos(at, "x", true);
    if (x < bbox.left || x > bbox.left + bbox.width) continue;
    ctx.beginPath();
    ctx.moveTo(x, bbox.top + 6 * ratio);
    ctx.lineTo(x, bbox.top + bbox.height);
    ctx.stroke();
    ctx.beginPath();
    ctx.arc(x, bbox.top + 4 * ratio, 3.5 * ratio, 0, 2 * Math.PI);
    ctx.fill();
  }
  ctx.restore();
}
