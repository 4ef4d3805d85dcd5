import { Button } from "@mantine/core";
import { useQueryClient } from "@tanstack/react-query";
import { useParams } from "@tanstack/react-router";

import type { Resource } from "../api/kinds";
import { type Loaded, useOne } from "../api/queries";
import { Detail } from "../ui/Detail";
import { DetailHead } from "../ui/DetailHead";
import { Fact, Facts } from "../ui/Fact";
import { IconPlayerPlay } from "../ui/icons";
import { LeaveButton } from "../ui/LeaveButton";
import { later } from "../ui/later";
import { RelativeTime } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { TabbedPanel } from "../ui/TabbedPanel";
import { milliseconds } from "../ui/time";
import { EnabledSwitch } from "./EnabledSwitch";
import { FireTime } from "./FireTime";
import { HealthPill } from "./HealthPill";
import styles from "./jobs.module.css";
import { alertWords, healthDetail, overlapWords, retryWords } from "./policies";
import { Runs } from "./Runs";
import { isInFlight, lastOutcome, pollingFor } from "./runs";
import { Sparkline } from "./Sparkline";
import { Status } from "./Status";
import { useInWords } from "./useInWords";
import { usePolling } from "./usePolling";
import { useRunActions } from "./useRunActions";

const EditJob = later(() => import("./EditJob"));
const Statistics = later(() => import("./Statistics"));
const History = later(() => import("../ui/History"));

const list = { to: "/jobs", label: "Jobs" };

/** JobDetail is the page of one job: its runs, its form, its statistics, its history. */
export default function JobDetail() {
  const { id } = useParams({ from: "/frame/jobs/$id" });
  return (
    <Detail query={useOne("job", id)} list={list} id={id}>
      {(loaded) => <Page key={id} loaded={loaded} />}
    </Detail>
  );
}

function Page({ loaded }: { loaded: Loaded<"job"> }) {
  const job = loaded.resource;
  const { attributes } = job;
  const queries = useQueryClient();
  usePolling(pollingFor([attributes]), () => void queries.invalidateQueries({ queryKey: ["job", "one", job.id] }));
  return (
    <main className="screen detail">
      <DetailHead list={list} title={job.id} subtitle={attributes.name === job.id ? undefined : attributes.name}>
        <EnabledSwitch job={job} label="Enabled" />
        <RunNow id={job.id} />
        <Delete job={job} />
      </DetailHead>
      <Summary job={job} />
      <TabbedPanel
        label="About this job"
        tabs={[
          { key: "runs", label: "Runs", body: () => <Runs id={job.id} job={attributes} /> },
          { key: "edit", label: "Edit", body: () => <EditJob loaded={loaded} /> },
          {
            key: "stats",
            label: "Statistics",
            body: () => <Statistics id={job.id} last={attributes.last_run?.finished_at ?? undefined} />,
          },
          { key: "history", label: "History", body: () => <History kind="job" id={job.id} /> },
        ]}
      />
    </main>
  );
}

function RunNow({ id }: { id: string }) {
  const { busy, runNow } = useRunActions();
  return (
    <RoleGate needs="MEMBER">
      {(disabled) => (
        <Button size="compact-sm" leftSection={<IconPlayerPlay size={14} />} disabled={disabled} loading={busy} onClick={() => runNow(id)}>
          Run now
        </Button>
      )}
    </RoleGate>
  );
}

function Delete({ job }: { job: Resource<"job"> }) {
  return (
    <LeaveButton
      to={list.to}
      write={{
        kind: "job",
        id: job.id,
        method: "DELETE",
        title: `Delete the job ${job.id}`,
        done: `Deleted ${job.id}.`,
        consequences: isInFlight(job.attributes.last_run?.status)
          ? "It never fires again. Its pending runs are canceled; a running one finishes. The history of its runs stays."
          : "It never fires again. The history of its runs stays, and the id may be used again.",
      }}
    >
      Delete…
    </LeaveButton>
  );
}

function Summary({ job }: { job: Resource<"job"> }) {
  const { schedule, timezone, next_run_at, last_run, configuration, description, overlap, skipped_at } = job.attributes;
  const inWords = useInWords();
  return (
    <Facts>
      <Fact label="Health">
        <Condition health={job.attributes.health} />
      </Fact>
      <Fact label="Schedule">
        {inWords(schedule, timezone)} <span className={`mono muted ${styles.cron}`}>{schedule}</span>
      </Fact>
      <Fact label="Next fire">
        <FireTime at={next_run_at} absent="none, the job is paused" zone={timezone} full />
      </Fact>
      <Fact label="Last run">
        {last_run ? (
          <span className={styles.wraps}>
            <Status status={last_run.status} more={lastOutcome(last_run)} />{" "}
            <span className="muted">
              {milliseconds(last_run.run_duration_ms)}, <RelativeTime at={last_run.finished_at ?? last_run.started_at} absent="waiting" />
            </span>
          </span>
        ) : (
          <span className="muted">never ran</span>
        )}
      </Fact>
      <Fact label="Last 30 runs">
        <Sparkline id={job.id} last={last_run} />
      </Fact>
      <Fact label="Request" wide>
        <span className="mono">
          {configuration.method} {configuration.url}
        </span>
      </Fact>
      <Policies job={job} />
      {description && (
        <Fact label="Description" wide>
          {description}
        </Fact>
      )}
      {skipped_at && (
        <Fact label="Skipped">
          {overlap === "skip" ? "An earlier run had not ended" : "The account had too many pending runs"} <RelativeTime at={skipped_at} />
        </Fact>
      )}
    </Facts>
  );
}

function Condition({ health }: { health: Resource<"job">["attributes"]["health"] }) {
  const detail = healthDetail(health);
  return (
    <>
      <HealthPill health={health} />{" "}
      <span className="muted">
        {detail && `${detail}, `}
        {health.last_success_at ? "last success " : "no success yet"}
        {health.last_success_at && <RelativeTime at={health.last_success_at} />}
      </span>
    </>
  );
}

/** Policies shows the policies of a job that differ from the defaults. */
function Policies({ job }: { job: Resource<"job"> }) {
  const { retry, overlap, alerts } = job.attributes;
  return (
    <>
      {retry && <Fact label="Retries">{retryWords(retry)}</Fact>}
      {overlap !== "allow" && <Fact label="Overlap">{overlapWords(overlap)}</Fact>}
      {alertWords(alerts) !== "after a failure" && <Fact label="Alerts">{alertWords(alerts)}</Fact>}
    </>
  );
}
