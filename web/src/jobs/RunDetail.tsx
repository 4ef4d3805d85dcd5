import { Alert, Badge, Button, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { oneOf, useOne } from "../api/queries";
import { CopyText } from "../ui/CopyText";
import { Detail } from "../ui/Detail";
import { Fact, Facts } from "../ui/Fact";
import { RelativeTime, useNow } from "../ui/RelativeTime";
import { RoleGate } from "../ui/RoleGate";
import { instant, milliseconds } from "../ui/time";
import { Elapsed } from "./Elapsed";
import styles from "./jobs.module.css";
import { explain, isInFlight, isRetried, outcome, phasesOf, pretty, type Run, type RunAttributes } from "./runs";
import { Status } from "./Status";
import { useRunActions } from "./useRunActions";

/** RunDetail is the page of one run: its timing, request and response, and why it failed. */
export default function RunDetail() {
  const { id, run } = useParams({ from: "/frame/jobs/$id/runs/$run" });
  const query = useQuery({
    ...oneOf("run", run),
    refetchInterval: ({ state }) => (isInFlight(state.data?.resource.attributes.status) ? 2000 : false),
  });
  return (
    <Detail query={query} list={{ to: "/jobs", label: "Jobs" }} id={id} kind="run">
      {({ resource }) => <Page run={resource} />}
    </Detail>
  );
}

function Page({ run }: { run: Run }) {
  const { attributes } = run;
  const job = useOne("job", attributes.job);
  return (
    <main className="screen detail">
      <header className="screen-head">
        <Link to="/jobs">Jobs</Link>
        <span className="muted" aria-hidden="true">
          /
        </span>
        <Link to="/jobs/$id" params={{ id: attributes.job }} className="mono">
          {attributes.job}
        </Link>
        <span className="muted" aria-hidden="true">
          /
        </span>
        <h1>Run</h1>
        <Status status={attributes.status} more={outcome(attributes)} />
        <span className="spring" />
        <Actions run={run} />
      </header>
      <Failure run={attributes} wanted={job.data?.resource.attributes.configuration.success_status} />
      <About run={run} />
      <Phases run={attributes} />
      {(attributes.request || attributes.result) && (
        <div className={styles.exchange}>
          <Request request={attributes.request} />
          <Response result={attributes.result} isRunning={isInFlight(attributes.status)} />
        </div>
      )}
    </main>
  );
}

function Actions({ run }: { run: Run }) {
  const { busy, cancel, rerun } = useRunActions();
  const inFlight = isInFlight(run.attributes.status);
  return (
    <RoleGate needs="MEMBER">
      {(disabled) =>
        inFlight ? (
          <Button size="compact-sm" variant="default" disabled={disabled} loading={busy} onClick={() => cancel(run.id)}>
            Cancel
          </Button>
        ) : (
          <Button size="compact-sm" disabled={disabled} loading={busy} onClick={() => rerun(run.id)}>
            Run again
          </Button>
        )
      }
    </RoleGate>
  );
}

function Failure({ run, wanted }: { run: RunAttributes; wanted?: string }) {
  const found = explain(run, wanted);
  if (!found) return null;
  return (
    <Alert color={run.status === "FAILED" ? "red" : "gray"} variant="light" title={found.what}>
      <Text size="sm">{found.todo}</Text>
    </Alert>
  );
}

const triggers = { SCHEDULE: "by its schedule", MANUAL: "by hand", RERUN: "again" };

function About({ run }: { run: Run }) {
  const { trigger, scheduled_for, created_at, rerun_of, job, job_version, total_duration_ms, attempt, not_before, status, started_at } =
    run.attributes;
  return (
    <Facts>
      <Fact label="Started">
        {attempt > 1 ? "by the job's retries" : triggers[trigger]}
        {rerun_of && (
          <>
            {", after "}
            <Link to="/jobs/$id/runs/$run" params={{ id: job, run: rerun_of }}>
              this run
            </Link>
          </>
        )}
      </Fact>
      {(attempt > 1 || isRetried(run.attributes)) && (
        <Fact label="Attempt">
          {attempt}
          {isRetried(run.attributes) && <span className="muted">, another one follows</span>}
        </Fact>
      )}
      {not_before && <Fact label="Not before">{instant(not_before).utc}</Fact>}
      {scheduled_for && <Fact label="Was due">{instant(scheduled_for).utc}</Fact>}
      <Fact label="Queued">
        <RelativeTime at={created_at} /> <span className="muted tabular">{instant(created_at).utc}</span>
      </Fact>
      {status === "RUNNING" && started_at ? (
        <Fact label="Running for">
          <Elapsed since={started_at} />
        </Fact>
      ) : (
        <Fact label="From queue to end">{milliseconds(total_duration_ms)}</Fact>
      )}
      <Fact label="Version of the job">{job_version ?? "–"}</Fact>
      <Fact label="Id" wide>
        <span className="mono">{run.id}</span>
      </Fact>
    </Facts>
  );
}

/** soFar writes the time of a phase that goes on, in whole seconds. */
const soFar = (ms: number) => (ms < 60_000 ? `${Math.floor(ms / 1000)} s so far` : `${milliseconds(ms)} so far`);

function Phases({ run }: { run: RunAttributes }) {
  const now = useNow();
  const phases = phasesOf(run, now);
  const isLive = isInFlight(run.status);
  if (phases.length === 0) return null;
  const total = Math.max(
    1,
    phases.reduce((sum, { ms }) => sum + ms, 0),
  );
  let before = 0;
  return (
    <section className="panel" aria-label="Timing">
      <dl className={styles.phases}>
        {phases.map(({ key, label, ms }, index) => {
          const goesOn = isLive && index === phases.length - 1;
          const left = (before / total) * 100;
          before += ms;
          return (
            <div key={key} style={{ display: "contents" }}>
              <dt>{label}</dt>
              <dd className={styles.track} aria-hidden="true">
                {ms > 0 && (
                  <span
                    className={styles.segment}
                    data-phase={key}
                    data-live={goesOn || undefined}
                    style={{ left: `min(${left}%, 100% - 2px)`, width: `${(ms / total) * 100}%` }}
                  />
                )}
              </dd>
              <dd className="tabular">{goesOn ? soFar(ms) : milliseconds(ms)}</dd>
            </div>
          );
        })}
      </dl>
    </section>
  );
}

function Request({ request }: { request: RunAttributes["request"] }) {
  if (!request) return null;
  return (
    <section className="panel" aria-label="Request">
      <Text fw={600} size="sm" mb={6}>
        Request
      </Text>
      <Text className="mono" mb={8} style={{ overflowWrap: "anywhere" }}>
        {request.method} {request.url}
      </Text>
      <Headers entries={request.headers.map(({ name }) => [name, "hidden"])} />
      <Body text={request.body} absent="No body was sent." />
    </section>
  );
}

function Response({ result, isRunning }: { result: RunAttributes["result"]; isRunning: boolean }) {
  if (!result) {
    return (
      <section className="panel" aria-label="Response">
        <Text fw={600} size="sm" mb={6}>
          Response
        </Text>
        <Text size="sm" className="muted">
          {isRunning ? "Waiting for the answer." : "No answer came."}
        </Text>
      </section>
    );
  }
  return (
    <section className="panel" aria-label="Response">
      <Text fw={600} size="sm" mb={6}>
        Response
      </Text>
      <Text className="mono" mb={8}>
        HTTP {result.status}{" "}
        <span className="muted">
          {result.body_bytes} {result.body_bytes === 1 ? "byte" : "bytes"}
        </span>{" "}
        {result.body_truncated && (
          <Badge size="sm" variant="light" color="yellow" tt="none">
            only the first 64 KiB are kept
          </Badge>
        )}
      </Text>
      <Headers entries={Object.entries(result.headers)} />
      <Body text={result.body} absent="The body is empty." />
    </section>
  );
}

function Headers({ entries }: { entries: [string, string][] }) {
  if (entries.length === 0) return null;
  return (
    <table className={styles.headers}>
      <tbody>
        {entries.map(([name, value], index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: names may repeat, and nothing moves
          <tr key={`${name}-${index}`}>
            <th scope="row">{name}</th>
            <td className={value === "hidden" ? "muted" : undefined}>{value}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Body({ text, absent }: { text: string | null; absent: string }) {
  if (!text) {
    return (
      <Text size="sm" className="muted" mt={8}>
        {absent}
      </Text>
    );
  }
  return (
    <Stack gap={0} mt={8} className="code-block">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable with the keyboard */}
      <pre className={styles.body} tabIndex={0}>
        {pretty(text)}
      </pre>
      <CopyText text={text} />
    </Stack>
  );
}
