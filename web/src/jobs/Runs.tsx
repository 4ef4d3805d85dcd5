import { Button, Group, NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useStream } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { type Column, Grid } from "../ui/Grid";
import { RelativeTime } from "../ui/RelativeTime";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import type { Job } from "./draft";
import styles from "./jobs.module.css";
import { isInFlight, milliseconds, outcome, type Run } from "./runs";
import { Status } from "./Status";
import { rangeOf } from "./stats";
import { useLook } from "./useLook";

/** Runs is the table of a job's runs, the newest first. It is read again while one of them is in flight. */
export function Runs({ id, job }: { id: string; job: Job }) {
  const { status, trigger, day } = useSearch({ from: "/frame/jobs/$id" });
  const runs = useStream("run", {
    "filter[job]": id,
    "filter[status]": status,
    "filter[trigger]": trigger,
    "filter[created_at]": rangeOf(day),
    "page[size]": 50,
  });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const all = runs.data?.pages.flatMap((page) => page.data) ?? [];
  const inFlight = isInFlight(job.last_run?.status) || all.some(({ attributes }) => isInFlight(attributes.status));
  useLook({ inFlight, soonest: job.next_run_at ? new Date(job.next_run_at).getTime() : undefined }, () => {
    void runs.refetch();
    void queries.invalidateQueries({ queryKey: ["job", "one", id] });
  });
  return (
    <>
      <Filters />
      {runs.isPending && <Loading rows={6} />}
      {runs.error && !runs.data && <ErrorState error={runs.error} retry={() => runs.refetch()} />}
      {runs.data && all.length === 0 && (
        <EmptyState title={status || trigger || day ? "No run passes the filter" : "It has not run yet"}>
          {!status && !trigger && !day && "Run now sends the request at once, whatever the schedule, and shows the response."}
        </EmptyState>
      )}
      {all.length > 0 && (
        <div className={styles.runs}>
          <Grid
            label="Runs"
            columns={columns}
            count={all.length}
            at={(index) => all[index]}
            keyOf={(run) => run.id}
            onOpen={(run) => navigate({ to: "/jobs/$id/runs/$run", params: { id, run: run.id } })}
            onRange={(_, to) => {
              if (to >= all.length - 5 && runs.hasNextPage && !runs.isFetching) void runs.fetchNextPage();
            }}
            card={(run) => <Card run={run} />}
            cardHeight={66}
          />
        </div>
      )}
    </>
  );
}

const triggers = { SCHEDULE: "schedule", MANUAL: "by hand", RERUN: "run again" };

const columns: Column<Run>[] = [
  { key: "status", header: "Result", width: "minmax(200px, 1.4fr)", cell: (run) => <Result run={run} /> },
  { key: "created", header: "Queued", width: "minmax(110px, 1fr)", cell: (run) => <RelativeTime at={run.attributes.created_at} /> },
  { key: "trigger", header: "Trigger", width: "minmax(90px, 1fr)", cell: (run) => triggers[run.attributes.trigger] },
  { key: "pending", header: "Waited", width: "minmax(80px, 1fr)", cell: (run) => milliseconds(run.attributes.pending_duration_ms) },
  { key: "duration", header: "Took", width: "minmax(80px, 1fr)", cell: (run) => milliseconds(run.attributes.run_duration_ms) },
  { key: "version", header: "Version", width: "minmax(70px, 90px)", cell: (run) => run.attributes.job_version ?? "–" },
];

function Result({ run }: { run: Run }) {
  return (
    <Link to="/jobs/$id/runs/$run" params={{ id: run.attributes.job, run: run.id }} tabIndex={-1} className={styles.name}>
      <Status status={run.attributes.status} more={outcome(run.attributes)} />
    </Link>
  );
}

function Card({ run }: { run: Run }) {
  return (
    <>
      <Result run={run} />
      <div className={styles.cardline}>
        <RelativeTime at={run.attributes.created_at} />
        <span className="muted">{triggers[run.attributes.trigger]}</span>
        <span className="muted">took {milliseconds(run.attributes.run_duration_ms)}</span>
      </div>
    </>
  );
}

function Filters() {
  const { status, trigger, day } = useSearch({ from: "/frame/jobs/$id" });
  const setSearch = useSetSearch();
  return (
    <Group gap="xs" mb="xs">
      <NativeSelect
        size="xs"
        aria-label="Result"
        value={status ?? ""}
        onChange={(event) => setSearch({ status: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "Any result" },
          { value: "FAILED", label: "Failed" },
          { value: "SUCCEEDED", label: "Succeeded" },
          { value: "CANCELED", label: "Canceled" },
          { value: "RUNNING", label: "Running" },
          { value: "PENDING", label: "Pending" },
        ]}
      />
      <NativeSelect
        size="xs"
        aria-label="Trigger"
        value={trigger ?? ""}
        onChange={(event) => setSearch({ trigger: event.currentTarget.value || undefined })}
        data={[
          { value: "", label: "Any trigger" },
          { value: "SCHEDULE", label: "Schedule" },
          { value: "MANUAL", label: "By hand" },
          { value: "RERUN", label: "Run again" },
        ]}
      />
      {rangeOf(day) && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => setSearch({ day: undefined })}
          aria-label={`Show the runs of all days, not only of ${day}`}
        >
          {day} (UTC) ×
        </Button>
      )}
    </Group>
  );
}
