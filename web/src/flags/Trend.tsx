import { useQueries } from "@tanstack/react-query";
import { createContext, type ReactNode, useContext, useMemo } from "react";
import { evaluationsOptions } from "../api/metrics";
import { useNow } from "../ui/RelativeTime";
import { compact, grouped, periodOf, polyline, startOf, timesOf } from "../ui/series";
import styles from "./FlagList.module.css";

const day = periodOf("24h");
const chunk = 50;
const [width, height] = [84, 18];

/** Trends has the evaluations of flags in the last 24 hours, hour by hour; it is undefined while they are loading. */
type Trends = ReadonlyMap<string, number[]> | undefined;

const Context = createContext<Trends>(undefined);

/** WithTrends reads the evaluations of the flags in view, 50 with each request, and gives them to the trends inside. */
export function WithTrends({ ids, environment, children }: { ids: string[]; environment?: string; children: ReactNode }) {
  const start = startOf(day, useNow(300));
  const times = useMemo(() => timesOf(day, start), [start]);
  const chunks = Array.from({ length: Math.ceil(ids.length / chunk) }, (_, index) => ids.slice(index * chunk, (index + 1) * chunk));
  const trends = useQueries({
    queries: chunks.map((flags) => ({
      ...evaluationsOptions({ from: start, step: day.step, by: ["flag"], flags, environment }),
      refetchInterval: 60_000,
    })),
    combine: (results): Trends => {
      const points = results.flatMap(({ data }) => data ?? []);
      if (results.some(({ data }) => !data)) return undefined;
      return new Map(grouped(points, times, ({ flag }) => String(flag), ids.length + 1).map(({ name, values }) => [name, values]));
    },
  });
  return <Context value={trends}>{children}</Context>;
}

/** Trend draws how often a flag was evaluated in the last 24 hours. */
export function Trend({ id }: { id: string }) {
  const trends = useContext(Context);
  const values = trends?.get(id);
  if (!values) return <span className={styles.flat} aria-hidden="true" />;
  const total = values.reduce((sum, value) => sum + value, 0);
  const text = `${compact(total)} evaluations in 24 h`;
  return (
    <svg className={styles.trend} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={text}>
      <title>{text}</title>
      <polygon points={`0,${height} ${polyline(values, width, height)} ${width},${height}`} />
      <polyline points={polyline(values, width, height)} />
    </svg>
  );
}
