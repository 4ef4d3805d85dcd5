import { SegmentedControl } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearch } from "@tanstack/react-router";
import { Suspense, useMemo } from "react";
import type { Resource } from "../api/kinds";
import { evaluationsOptions } from "../api/metrics";
import { useCursorList } from "../api/queries";
import { type Environment, useEnvironments } from "../api/session";
import { useFocus, useSetSearch } from "../app/focus";
import type { Mark } from "../ui/Chart";
import { later } from "../ui/later";
import { hueOf } from "../ui/palette";
import { useNow } from "../ui/RelativeTime";
import { compact, grouped, periodOf, periods, startOf, timesOf } from "../ui/series";
import { ErrorState, Loading } from "../ui/states";
import styles from "./Evaluations.module.css";

const Chart = later(() => import("../ui/Chart"));

/** Evaluations shows how often a flag was evaluated and with which value, with its changes on the time axis. */
export default function Evaluations({ id }: { id: string }) {
  const { period: chosen, in: within } = useSearch({ from: "/frame/flags/$id" });
  const focus = useFocus();
  const setSearch = useSetSearch();
  const environments = useEnvironments();
  const period = periodOf(chosen);
  const start = startOf(period, useNow(30));
  const times = useMemo(() => timesOf(period, start), [period, start]);
  const environment = focus ?? within;
  const { data, error, refetch } = useQuery(
    evaluationsOptions({ from: start, step: period.step, by: ["value", "environment"], flags: [id], environment }),
  );
  const groups = useMemo(() => grouped(data ?? [], times, ({ value }) => String(value ?? "unknown")), [data, times]);
  const series = useMemo(() => groups.map(({ name, values }, place) => ({ label: name, color: hueOf(name, place), values })), [groups]);
  const marks = useMarks(id, start, environment);
  const total = groups.reduce((sum, group) => sum + group.total, 0);
  const where = environments.find((each) => each.id === environment)?.name;
  const label = `Evaluations by value${where ? ` in ${where}` : ""}, ${period.label}`;
  return (
    <section className={`panel ${styles.panel}`} aria-label="Evaluations">
      <header className={styles.head}>
        <h2>Evaluations</h2>
        <span className="muted tabular">{data ? `${compact(total)} in ${period.label}` : ""}</span>
        <span className="spring" />
        {!focus && <Within environments={environments} value={within} onChange={(value) => setSearch({ in: value })} />}
        <SegmentedControl
          size="xs"
          aria-label="Period"
          value={period.key}
          onChange={(key) => setSearch({ period: key === "24h" ? undefined : key })}
          data={periods.map(({ key, label }) => ({ value: key, label }))}
        />
      </header>
      {error && !data && <ErrorState error={error} retry={refetch} />}
      {!data && !error && <Loading rows={5} />}
      {data && total === 0 && marks.length === 0 && (
        <p className="muted">No service reported an evaluation in this time{where ? ` in ${where}` : ""}.</p>
      )}
      {data && (total > 0 || marks.length > 0) && (
        <Suspense fallback={<Loading rows={5} />}>
          <Chart label={label} times={times} series={series} marks={marks} height={180} />
        </Suspense>
      )}
    </section>
  );
}

interface WithinProps {
  environments: Environment[];
  value: string | undefined;
  onChange: (value: string | undefined) => void;
}

function Within({ environments, value, onChange }: WithinProps) {
  return (
    <select
      className="choice"
      aria-label="Environment of the evaluations"
      value={value ?? ""}
      onChange={(event) => onChange(event.currentTarget.value || undefined)}
    >
      <option value="">All environments</option>
      {environments.map(({ id, name }) => (
        <option key={id} value={id}>
          {name}
        </option>
      ))}
    </select>
  );
}

// useMarks returns the changes of a flag since an instant; with an environment, only those that concern it or the flag itself.
function useMarks(id: string, start: number, environment: string | undefined): Mark[] {
  const { data } = useCursorList("change", { "filter[resource]": `flag:${id}`, "page[size]": 100 });
  const changes = data?.pages[0]?.data;
  return useMemo(() => (changes ?? []).flatMap((change) => markOf(change, start, environment)), [changes, start, environment]);
}

type Sentence = { text: string; environment?: string | null };

function markOf({ attributes }: Resource<"change">, start: number, environment: string | undefined): Mark[] {
  const { created_at, actor, action } = attributes;
  const at = Date.parse(created_at) / 1000;
  const all = ((attributes as { summary?: Sentence[] }).summary ?? []) as Sentence[];
  const said = all.filter((each) => !environment || !each.environment || each.environment === environment);
  if (at < start || (all.length > 0 && said.length === 0)) return [];
  const text = said
    .slice(0, 3)
    .map((each) => (each.environment && !environment ? `${each.environment}: ${each.text}` : each.text))
    .join("; ");
  return [{ at, text: `${actor.name}: ${text || action.replaceAll("_", " ")}` }];
}
