import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { type ReactElement, useMemo } from "react";
import type { Resource } from "../api/kinds";
import { Columns } from "../ui/Columns";
import { Filter } from "../ui/Filter";
import type { Column } from "../ui/Grid";
import { NewButton } from "../ui/NewButton";
import { PagedGrid, Total } from "../ui/PagedGrid";
import { RelativeTime } from "../ui/RelativeTime";
import { SearchBox } from "../ui/SearchBox";
import { EmptyState } from "../ui/states";
import { useChosen } from "../ui/useChosen";
import { usePages } from "../ui/usePages";
import { Views } from "../ui/Views";
import { EnabledSwitch } from "./EnabledSwitch";
import { FireTime } from "./FireTime";
import { HealthPill } from "./HealthPill";
import styles from "./jobs.module.css";
import { healthStates } from "./policies";
import { lastOutcome, pollingFor } from "./runs";
import { Sparkline } from "./Sparkline";
import { Status } from "./Status";
import { kindOf } from "./schedule";
import { useInWords } from "./useInWords";
import { usePolling } from "./usePolling";

type Job = Resource<"job">;

/** JobList is the screen of scheduled jobs: when each fires next, and its last runs. */
export default function JobList() {
  const { q, status, enabled, health, sort } = useSearch({ from: "/frame/jobs" });
  const jobs = usePages("job", {
    "filter[search]": q,
    "filter[last_status]": status,
    "filter[enabled]": enabled,
    "filter[health]": health,
    sort,
  });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const loaded = useMemo(
    () => Array.from({ length: jobs.total }, (_, index) => jobs.at(index)?.attributes).filter((job) => job !== undefined),
    [jobs.total, jobs.at],
  );
  usePolling(pollingFor(loaded), () => void queries.invalidateQueries({ queryKey: ["job", "list"] }));
  const isFiltered = Boolean(q || status || enabled || health);
  return (
    <main className="screen">
      <Filters count={<Total of={jobs} />} />
      <PagedGrid
        label="Jobs"
        pages={jobs}
        empty={isFiltered ? <EmptyState title="No job passes the filter" /> : <NoJobs />}
        columns={useChosen(columns)}
        keyOf={(job) => job.id}
        onOpen={(job) => navigate({ to: "/jobs/$id", params: { id: job.id } })}
        dimmed={(job) => !job.attributes.enabled}
        card={(job) => <Card job={job} />}
        cardHeight={128}
      />
    </main>
  );
}

const columns: Column<Job>[] = [
  { key: "name", header: "Job", width: "minmax(160px, 1.6fr)", sort: "name", cell: (job) => <Name job={job} /> },
  {
    key: "health",
    header: "Health",
    width: "78px",
    option: { label: "Health" },
    cell: (job) => <HealthPill health={job.attributes.health} />,
  },
  {
    key: "schedule",
    header: "Schedule",
    width: "minmax(140px, 1.3fr)",
    option: { label: "Schedule" },
    cell: (job) => <Schedule job={job} />,
  },
  {
    key: "target",
    header: "Request",
    width: "minmax(200px, 1.4fr)",
    option: { label: "Request", isHidden: true },
    cell: (job) => <Target job={job} />,
  },
  {
    key: "next",
    header: "Next fire",
    width: "minmax(232px, 1fr)",
    sort: "next_run_at",
    option: { label: "Next fire" },
    cell: (job) => <Next job={job} />,
  },
  { key: "last", header: "Last run", width: "minmax(190px, 1fr)", option: { label: "Last run" }, cell: (job) => <Last job={job} /> },
  {
    key: "recent",
    header: "Last 30 runs",
    width: "166px",
    option: { label: "Last 30 runs" },
    cell: (job) => <Sparkline id={job.id} last={job.attributes.last_run} />,
  },
  {
    key: "changed",
    header: "Changed",
    width: "110px",
    sort: "-updated_at",
    option: { label: "Changed", isHidden: true },
    cell: (job) => <RelativeTime at={job.attributes.updated_at} />,
  },
  {
    key: "created",
    header: "Created",
    width: "110px",
    sort: "-created_at",
    isUsualOrder: true,
    option: { label: "Created", isHidden: true },
    cell: (job) => <RelativeTime at={job.attributes.created_at} />,
  },
  { key: "enabled", header: "Enabled", width: "74px", cell: (job) => <EnabledSwitch job={job} inGrid /> },
];

function Target({ job }: { job: Job }) {
  const { method, url } = job.attributes.configuration;
  return (
    <span className="mono muted ellipsis" title={url}>
      {method} {url}
    </span>
  );
}

function Name({ job }: { job: Job }) {
  return (
    <>
      <Link to="/jobs/$id" params={{ id: job.id }} tabIndex={-1} className={`${styles.name} ellipsis`}>
        {job.attributes.name}
      </Link>
      {job.attributes.name !== job.id && " "}
      {job.attributes.name !== job.id && <span className="mono muted ellipsis">{job.id}</span>}
    </>
  );
}

function Schedule({ job }: { job: Job }) {
  const { schedule, timezone } = job.attributes;
  const inWords = useInWords();
  return (
    <span className="ellipsis" title={timezone ? `${schedule} ${timezone}` : schedule}>
      {inWords(schedule, timezone)}
    </span>
  );
}

function Next({ job }: { job: Job }) {
  const { next_run_at: at, enabled, schedule, timezone } = job.attributes;
  const absent = enabled || kindOf(schedule) === "cron" ? "paused" : "done";
  return <FireTime at={at} absent={absent} zone={timezone} />;
}

function Last({ job }: { job: Job }) {
  const run = job.attributes.last_run;
  if (!run) return <span className="muted">never ran</span>;
  return (
    <Link to="/jobs/$id/runs/$run" params={{ id: job.id, run: run.id }} tabIndex={-1} className={styles.name}>
      <span className="visually-hidden">Last run of {job.id}: </span>
      <Status status={run.status} more={lastOutcome(run)} />{" "}
      <span className="muted">{(run.finished_at ?? run.started_at) && <RelativeTime at={run.finished_at ?? run.started_at} />}</span>
    </Link>
  );
}

function Card({ job }: { job: Job }) {
  return (
    <>
      <div className={styles.cardhead}>
        <span className="ellipsis">
          <Name job={job} />
        </span>
        <span className={styles.cardpill}>
          <HealthPill health={job.attributes.health} />
        </span>
        <EnabledSwitch job={job} inGrid />
      </div>
      <div className={styles.cardline}>
        <Schedule job={job} />
      </div>
      <div className={styles.cardline}>
        <Next job={job} />
      </div>
      <div className={styles.cardline}>
        <Last job={job} />
        <Sparkline id={job.id} last={job.attributes.last_run} />
      </div>
    </>
  );
}

function Filters({ count }: { count: ReactElement }) {
  const navigate = useNavigate();
  return (
    <header className="screen-head">
      <h1>Jobs</h1>
      {count}
      <SearchBox label="Search jobs" />
      <Filter
        name="status"
        label="Last run"
        any="Any last run"
        choices={[
          { value: "FAILED", label: "Last run failed" },
          { value: "SUCCEEDED", label: "Last run succeeded" },
          { value: "RUNNING", label: "Running now" },
          { value: "PENDING", label: "Pending" },
          { value: "CANCELED", label: "Last run canceled" },
        ]}
      />
      <Filter name="health" label="Health" any="Any health" choices={healthStates} />
      <Filter
        name="enabled"
        label="Enabled"
        any="Enabled and paused"
        choices={[
          { value: "true", label: "Enabled" },
          { value: "false", label: "Paused" },
        ]}
      />
      <Views />
      <Columns of={columns} />
      <span className="spring" />
      <NewButton onClick={() => navigate({ to: "/jobs/new" })}>New job</NewButton>
    </header>
  );
}

function NoJobs() {
  const navigate = useNavigate();
  const code = `signalbox jobs create nightly-report '30 2 * * *' https://reports.example.com/build \\
  --header 'Authorization: env:TOKEN' --url ${window.location.origin}`;
  return (
    <EmptyState title="No jobs yet" code={code} action={<NewButton onClick={() => navigate({ to: "/jobs/new" })}>New job</NewButton>}>
      A job sends one HTTP request when it is due: by five cron fields in a time zone, once at an instant, or now. Every run is kept with
      its request, its response and its duration.
    </EmptyState>
  );
}
