import { Button, Group, NativeSelect } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { Link, useNavigate, useSearch } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { clock } from "../api/clock";
import { useCursorList } from "../api/queries";
import { useSetSearch } from "../app/focus";
import { type Column, Grid } from "../ui/Grid";
import { IconChevronDown, IconChevronRight } from "../ui/icons";
import { RelativeTime } from "../ui/RelativeTime";
import { EmptyState, ErrorState, Loading } from "../ui/states";
import { milliseconds } from "../ui/time";
import { type Row, rowsOf, waitingUntil } from "./chains";
import type { Job } from "./draft";
import { Elapsed } from "./Elapsed";
import styles from "./jobs.module.css";
import { isInFlight, outcome, type Polling, type Run } from "./runs";
import { Status } from "./Status";
import { rangeOf } from "./stats";
import { usePolling } from "./usePolling";

/** Runs is the table of a job's runs, the newest first. It is read again while one of them is in flight. */
export function Runs({ id, job }: { id: string; job: Job }) {
  const { status, trigger, day } = useSearch({ from: "/frame/jobs/$id" });
  const runs = useCursorList("run", {
    "filter[job]": id,
    "filter[status]": status,
    "filter[trigger]": trigger,
    "filter[created_at]": rangeOf(day),
    "page[size]": 50,
  });
  const queries = useQueryClient();
  const navigate = useNavigate();
  const all = useMemo(() => runs.data?.pages.flatMap((page) => page.data) ?? [], [runs.data]);
  const [open, setOpen] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => rowsOf(all, open), [all, open]);
  usePolling(pollingForRuns(all, job), () => {
    void runs.refetch();
    void queries.invalidateQueries({ queryKey: ["job", "one", id] });
  });
  const toggle = ({ chain, isOpen, first }: Row) => {
    setOpen((before) => new Set(isOpen ? [...before].filter((each) => each !== chain) : [...before, chain]));
    if (!isOpen && !first && runs.hasNextPage) void runs.fetchNextPage(); // the first attempts are on the next page
  };
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
            columns={columnsFor(
              all.some(({ attributes }) => attributes.attempt > 1),
              toggle,
            )}
            count={rows.length}
            at={(index) => rows[index]}
            keyOf={({ run }) => run.id}
            onOpen={({ run }) => navigate({ to: "/jobs/$id/runs/$run", params: { id, run: run.id } })}
            onRange={(_, to) => {
              if (to >= rows.length - 5 && runs.hasNextPage && !runs.isFetching) void runs.fetchNextPage();
            }}
            card={(row) => <Card row={row} toggle={toggle} />}
            cardHeight={66}
          />
        </div>
      )}
    </>
  );
}

// pollingForRuns returns when to read the runs again. An attempt that waits for its time is not in flight until
// then.
function pollingForRuns(all: Run[], job: Job): Polling {
  const now = clock.now();
  const waiting = new Map(all.flatMap((run) => (waitingUntil(run, now) === undefined ? [] : [[run.id, waitingUntil(run, now) as number]])));
  const isMoving = (id: string, status: Run["attributes"]["status"]) => isInFlight(status) && !waiting.has(id);
  const soonest = Math.min(...waiting.values(), job.next_run_at ? Date.parse(job.next_run_at) : Number.POSITIVE_INFINITY);
  return {
    inFlight:
      (job.last_run !== null && isMoving(job.last_run.id, job.last_run.status)) ||
      all.some(({ id, attributes }) => isMoving(id, attributes.status)),
    soonest: Number.isFinite(soonest) ? soonest : undefined,
  };
}

const triggers = { SCHEDULE: "schedule", MANUAL: "by hand", RERUN: "run again" };

/** triggerOf returns why a run was made; the row of a chain has the trigger of its first attempt. */
function triggerOf({ run, first, isNested }: Row): string {
  if (run.attributes.attempt > 1 && (isNested || !first)) return "retry";
  return triggers[(first ?? run).attributes.trigger];
}

type Toggle = (row: Row) => void;

function columnsFor(hasAttempts: boolean, toggle: Toggle): Column<Row>[] {
  const attempts: Column<Row> = {
    key: "attempts",
    header: "Attempts",
    width: "minmax(100px, 1fr)",
    cell: (row) => <Attempts row={row} toggle={toggle} />,
  };
  return [
    { key: "status", header: "Result", width: "minmax(200px, 1.4fr)", cell: (row) => <Result row={row} /> },
    ...(hasAttempts ? [attempts] : []),
    { key: "created", header: "Queued", width: "minmax(110px, 1fr)", cell: ({ run }) => <RelativeTime at={run.attributes.created_at} /> },
    { key: "trigger", header: "Trigger", width: "minmax(90px, 1fr)", cell: triggerOf },
    { key: "pending", header: "Waited", width: "minmax(80px, 1fr)", cell: ({ run }) => milliseconds(run.attributes.pending_duration_ms) },
    { key: "duration", header: "Took", width: "minmax(80px, 1fr)", cell: ({ run }) => <Took run={run} /> },
    { key: "version", header: "Version", width: "minmax(70px, 90px)", cell: ({ run }) => run.attributes.job_version ?? "–" },
  ];
}

/** Took shows how long a run took or, while it is running, for how long. */
function Took({ run: { attributes } }: { run: Run }) {
  const { status, started_at, run_duration_ms } = attributes;
  return status === "RUNNING" && started_at ? <Elapsed since={started_at} /> : milliseconds(run_duration_ms);
}

/** Attempts unfolds the earlier attempts of a chain. */
function Attempts({ row, toggle }: { row: Row; toggle: Toggle }) {
  const { attempt } = row.run.attributes;
  if (row.earlier === 0) return row.isNested || attempt > 1 ? <span className="muted">attempt {attempt}</span> : null;
  return (
    <button type="button" tabIndex={-1} className={styles.fold} aria-expanded={row.isOpen} onClick={() => toggle(row)}>
      {row.isOpen ? <IconChevronDown size={14} /> : <IconChevronRight size={14} />}
      {attempt} attempts
    </button>
  );
}

function Result({ row: { run, isNested } }: { row: Row }) {
  const waits = waitingUntil(run, clock.now()) !== undefined;
  return (
    <span className={isNested ? styles.nested : undefined}>
      <Link to="/jobs/$id/runs/$run" params={{ id: run.attributes.job, run: run.id }} tabIndex={-1} className={styles.name}>
        <Status status={run.attributes.status} more={outcome(run.attributes)} />
      </Link>{" "}
      {waits && (
        <span className="muted">
          starts <RelativeTime at={run.attributes.not_before} />
        </span>
      )}
    </span>
  );
}

function Card({ row, toggle }: { row: Row; toggle: Toggle }) {
  const { created_at } = row.run.attributes;
  return (
    <>
      <div className={styles.cardhead}>
        <Result row={row} />
        <Attempts row={row} toggle={toggle} />
      </div>
      <div className={styles.cardline}>
        <RelativeTime at={created_at} />
        <span className="muted">{triggerOf(row)}</span>
        <span className="muted">
          took <Took run={row.run} />
        </span>
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
