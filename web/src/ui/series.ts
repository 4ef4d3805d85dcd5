/** Point is a sum of a metric in one step, as the server returns it. */
export interface Point {
  at: string;
  dimensions: Record<string, unknown>;
  sum: number;
}

/** Period is a length of time that charts offer, and the step of its sums. */
export interface Period {
  key: string;
  label: string;
  /** seconds is the length, step the length of a bar. */
  seconds: number;
  step: 60 | 3600 | 86400;
}

export const periods: Period[] = [
  { key: "1h", label: "1 h", seconds: 3600, step: 60 },
  { key: "24h", label: "24 h", seconds: 86_400, step: 3600 },
  { key: "7d", label: "7 d", seconds: 7 * 86_400, step: 3600 },
  { key: "90d", label: "90 d", seconds: 90 * 86_400, step: 86_400 },
];

/** periodOf returns the period with a key, or the one of a day. */
export const periodOf = (key: string | undefined): Period => periods.find((each) => each.key === key) ?? (periods[1] as Period);

/** startOf returns the instant in seconds at which a period that ends now begins: a whole step, so that queries are repeated. */
export function startOf({ seconds, step }: Period, now: number): number {
  return Math.ceil(now / 1000 / step) * step - seconds;
}

/** timesOf returns the steps of a period in seconds. */
export function timesOf(period: Period, start: number): number[] {
  return Array.from({ length: period.seconds / period.step }, (_, index) => start + index * period.step);
}

/** Group is the sums of points with the same text, one for each time. */
export interface Group {
  name: string;
  values: number[];
  total: number;
}

/** grouped sums points by the text that nameOf returns, the largest group first. At most `most` groups are returned; the last has the others. */
export function grouped(points: Point[], times: number[], nameOf: (dimensions: Point["dimensions"]) => string, most = 6): Group[] {
  const step = (times[1] ?? 0) - (times[0] ?? 0);
  const groups = new Map<string, Group>();
  for (const { at, dimensions, sum } of points) {
    const index = Math.floor((Date.parse(at) / 1000 - (times[0] ?? 0)) / step);
    if (index < 0 || index >= times.length) continue;
    const name = nameOf(dimensions);
    const group = groups.get(name) ?? { name, values: times.map(() => 0), total: 0 };
    groups.set(name, group);
    group.values[index] = (group.values[index] as number) + sum;
    group.total += sum;
  }
  const all = [...groups.values()].toSorted((one, other) => other.total - one.total || one.name.localeCompare(other.name));
  return all.length <= most ? all : [...all.slice(0, most - 1), others(all.slice(most - 1), times)];
}

function others(groups: Group[], times: number[]): Group {
  return {
    name: `${groups.length} others`,
    values: times.map((_, index) => groups.reduce((sum, { values }) => sum + (values[index] as number), 0)),
    total: groups.reduce((sum, { total }) => sum + total, 0),
  };
}

/** stack returns the tops of stacked bars, the last series at the bottom: each is drawn over the one before it. */
export function stack(series: (number | null)[][]): number[][] {
  const tops: number[][] = [];
  let below: number[] = [];
  for (const values of series.toReversed()) {
    below = values.map((value, index) => (value ?? 0) + (below[index] ?? 0));
    tops.unshift(below);
  }
  return tops;
}

/** compact writes a number in few characters: 950, 1.2 k, 34 M. */
export function compact(value: number): string {
  const units: [number, string][] = [
    [1e9, "G"],
    [1e6, "M"],
    [1e3, "k"],
  ];
  const [size, unit] = units.find(([size]) => Math.abs(value) >= size) ?? [1, ""];
  const scaled = value / size;
  const digits = unit !== "" && Math.abs(scaled) < 10 ? 1 : 0;
  return `${Number(scaled.toFixed(Number.isInteger(scaled) ? 0 : Math.max(digits, unit === "" ? 2 : digits)))}${unit && ` ${unit}`}`;
}

/** polyline returns the points of a small line in a box of `width` by `height`. */
export function polyline(values: number[], width: number, height: number): string {
  const highest = Math.max(...values, 1);
  const step = width / Math.max(1, values.length - 1);
  return values
    .map((value, index) => `${(index * step).toFixed(1)},${(height - 1 - (value / highest) * (height - 2)).toFixed(1)}`)
    .join(" ");
}
