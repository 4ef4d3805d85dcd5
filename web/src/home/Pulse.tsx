import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, Suspense, useMemo } from "react";
import { send } from "../api/client";
import type { Resource } from "../api/kinds";
import { evaluationsOptions } from "../api/metrics";
import { useCursorList } from "../api/queries";
import type { components } from "../api/schema";
import { useEnvironments } from "../api/session";
import { useFocus } from "../app/focus";
import { byService } from "../services/connected";
import { useConnections } from "../services/useReports";
import type { Mark } from "../ui/Chart";
import { isWorth, nameOf, sentencesOf } from "../ui/changes";
import { later } from "../ui/later";
import { hueOf, tones } from "../ui/palette";
import { useNow } from "../ui/RelativeTime";
import { compact, grouped, periodOf, startOf, timesOf } from "../ui/series";
import { Loading } from "../ui/states";
import styles from "./Home.module.css";

const Chart = later(() => import("../ui/Chart"));

/** Pulse shows the current usage: the evaluations of the last hour with changes as marks, and the connected services. */
export function Pulse() {
  const hour = periodOf("1h");
  const start = startOf(hour, useNow(30));
  const times = useMemo(() => timesOf(hour, start), [hour, start]);
  const focus = useFocus();
  const environments = useEnvironments();
  const { data } = useQuery(evaluationsOptions({ from: start, step: hour.step, by: ["environment"], environment: focus }));
  const series = useMemo(
    () =>
      grouped(data ?? [], times, ({ environment }) => String(environment ?? "unknown")).map(({ name, values }, place) => {
        const known = environments.find(({ id }) => id === name);
        const color = known?.color;
        return { label: known?.name ?? name, color: color ? ([color, color] as [string, string]) : hueOf(name, place), values };
      }),
    [data, times, environments],
  );
  const changes = useRecent(start);
  const total = series.reduce((sum, { values }) => sum + values.reduce((all, value) => all + value, 0), 0);
  return (
    <section className={`panel ${styles.pulse}`} aria-label="Use">
      <div className={styles.tiles}>
        <Tile label="Evaluations a minute" value={data ? compact(total > 600 ? Math.round(total / 60) : total / 60) : "–"} />
        <Connected focus={focus} />
        <Tile label="Changes in the last hour" value={String(changes.length)} to="/history" />
      </div>
      {data && (total > 0 || changes.length > 0) && (
        <Suspense fallback={<Loading rows={5} />}>
          <Chart label="Evaluations of the last hour by environment" times={times} series={series} marks={changes} height={150} />
        </Suspense>
      )}
    </section>
  );
}

type Hours = components["schemas"]["RunStatsDocument"]["data"]["attributes"];

/** RunsByHour shows the outcomes of the runs of all jobs in the last day; nothing if there were none. */
export function RunsByHour() {
  const { data } = useQuery({
    queryKey: ["run", "stats"],
    refetchInterval: 60_000,
    queryFn: async ({ signal }): Promise<Hours> =>
      (await send<components["schemas"]["RunStatsDocument"]>("GET", "/api/v1/runs/stats", { signal })).document.data.attributes,
  });
  const picture = useMemo(() => runsPicture(data?.hours ?? []), [data]);
  if (!data || picture.total === 0) return null;
  return (
    <section className={`panel ${styles.pulse}`} aria-label="Runs">
      <div className={styles.tiles}>
        <Tile label="Runs in 24 hours" value={compact(picture.total)} to="/jobs" more={data.complete ? undefined : "the newest 50,000"} />
        <Tile label="Failed" value={compact(picture.failed)} />
      </div>
      <Suspense fallback={<Loading rows={5} />}>
        <Chart label="Runs of each hour by outcome" times={picture.times} series={picture.series} height={150} />
      </Suspense>
    </section>
  );
}

function runsPicture(hours: Hours["hours"]) {
  const sum = (values: number[]) => values.reduce((all, value) => all + value, 0);
  const of = (name: "succeeded" | "failed" | "canceled") => hours.map((hour) => hour[name]);
  const failed = sum(of("failed"));
  return {
    times: hours.map(({ at }) => Date.parse(at) / 1000),
    series: [
      { label: "Canceled", color: tones.quiet, values: of("canceled") },
      { label: "Failed", color: tones.bad, values: of("failed") },
      { label: "Succeeded", color: tones.good, values: of("succeeded") },
    ],
    failed,
    total: failed + sum(of("succeeded")) + sum(of("canceled")),
  };
}

function Tile({ label, value, to, more }: { label: string; value: string; to?: string; more?: ReactNode }) {
  return (
    <div className={styles.tile}>
      <span className="muted">{label}</span>
      <b>{to ? <Link to={to}>{value}</Link> : value}</b>
      {more && <span className="muted">{more}</span>}
    </div>
  );
}

function Connected({ focus }: { focus?: string }) {
  const { data } = useConnections();
  const own = (data ?? []).filter(({ attributes }) => !focus || attributes.environment === focus);
  const services = byService(own);
  return (
    <Tile
      label="Connected services"
      value={data ? String(services.size) : "–"}
      to="/services"
      more={services.size > 0 ? [...services.keys()].toSorted().slice(0, 4).join(", ") : undefined}
    />
  );
}

// useRecent returns the changes since an instant as marks.
function useRecent(start: number): Mark[] {
  const { data } = useCursorList("change", { "page[size]": 100 });
  const changes = data?.pages[0]?.data;
  return useMemo(
    () =>
      (changes ?? [])
        .filter((change) => isWorth(change) && secondsOf(change) >= start)
        .map((change) => ({ at: secondsOf(change), text: textOf(change) })),
    [changes, start],
  );
}

const secondsOf = ({ attributes }: Resource<"change">) => Date.parse(attributes.created_at) / 1000;

function textOf({ attributes }: Resource<"change">): string {
  const [first] = sentencesOf(attributes.summary);
  return `${attributes.actor.name}, ${nameOf(attributes)}: ${first ?? attributes.action.replaceAll("_", " ")}`;
}
