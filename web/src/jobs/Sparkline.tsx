import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { send } from "../api/client";
import { type CursorList, type Kinds, pathOf } from "../api/kinds";
import { milliseconds } from "../ui/time";
import styles from "./jobs.module.css";
import type { Run } from "./runs";

const count = 30;
const [width, height, step] = [150, 22, 5];

/** Sparkline shows the last 30 runs of a job, the newest to the right: how long each took, colored by its outcome. */
export function Sparkline({ id, last }: { id: string; last: Kinds["job"]["last_run"] }) {
  const { data: runs = [] } = useQuery({
    queryKey: ["run", "recent", id, last?.id, last?.status],
    queryFn: async ({ signal }) =>
      (await send<CursorList<"run">>("GET", pathOf("run"), { query: { "filter[job]": id, "page[size]": count }, signal })).document.data,
    enabled: last !== null,
    placeholderData: keepPreviousData,
  });
  if (last === null) return <span className="muted">–</span>;
  return (
    <svg className={styles.bars} viewBox={`0 0 ${width} ${height}`} role="img" aria-label={summary(runs)}>
      <title>{summary(runs)}</title>
      {bars(runs).map(({ run, x, size }) => (
        <rect key={run.id} data-status={run.attributes.status} x={x} y={height - size} width={step - 1.5} height={size} rx={1} />
      ))}
    </svg>
  );
}

// A square root keeps a run of 20 ms visible beside one of 2 s.
function bars(runs: Run[]) {
  const of = ({ attributes }: Run) => Math.sqrt(attributes.run_duration_ms ?? 0);
  const longest = Math.max(1, ...runs.map(of));
  return runs.map((run, index) => ({ run, x: width - (index + 1) * step, size: Math.max(3, (of(run) / longest) * height) }));
}

function summary(runs: Run[]): string {
  if (runs.length === 0) return "Loading the last runs";
  const failed = runs.filter(({ attributes }) => attributes.status === "FAILED").length;
  const durations = runs.flatMap(({ attributes }) => attributes.run_duration_ms ?? []);
  const range = durations.length === 0 ? "" : `, ${milliseconds(Math.min(...durations))} to ${milliseconds(Math.max(...durations))}`;
  return `Last ${runs.length} ${runs.length === 1 ? "run" : "runs"}: ${failed} failed${range}`;
}
