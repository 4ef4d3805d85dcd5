import { parse, stringify } from "../api/json";
import type { Kinds, Resource } from "../api/kinds";

export type Run = Resource<"run">;
export type RunAttributes = Kinds["run"];
export type LastRun = NonNullable<Kinds["job"]["last_run"]>;
export type Status = RunAttributes["status"];

/** isInFlight reports whether a run has not ended. */
export const isInFlight = (status: Status | undefined) => status === "PENDING" || status === "RUNNING";

/** isRetried reports whether a run failed and another attempt follows it. */
export const isRetried = ({ status, final }: Pick<RunAttributes, "status" | "final">) => status === "FAILED" && !final;

const words: Record<Status, string> = {
  PENDING: "Pending",
  RUNNING: "Running",
  SUCCEEDED: "Succeeded",
  FAILED: "Failed",
  CANCELED: "Canceled",
};

/** statusWord returns the word for a status. */
export const statusWord = (status: Status) => words[status];

const reasons: Record<NonNullable<RunAttributes["failure_reason"]>, string> = {
  TIMEOUT: "timeout",
  CONNECTION_ERROR: "no connection",
  NON_SUCCESS_STATUS: "HTTP error",
  SSRF_BLOCKED: "address not allowed",
  QUOTA_EXCEEDED: "no runs left",
  WORKER_LOST: "server node lost",
};

/** outcome returns the outcome of a run in a few words: "HTTP 503", "timeout". */
export function outcome({ failure_reason: reason, result }: Pick<RunAttributes, "failure_reason" | "result">): string {
  if (result && (reason === null || reason === "NON_SUCCESS_STATUS")) return `HTTP ${result.status}`;
  return reason ? reasons[reason] : "";
}

/** lastOutcome returns why the newest run of a job failed, in a few words. */
export function lastOutcome({ failure_reason: reason, failure_status }: Pick<LastRun, "failure_reason" | "failure_status">): string {
  if (failure_status !== null) return `HTTP ${failure_status}`;
  return reason ? reasons[reason] : "";
}

/** Phase is a part of a run's time. */
export interface Phase {
  key: "pending" | "dns" | "connect" | "tls" | "wait" | "body" | "run";
  label: string;
  ms: number;
}

/**
 * phasesOf returns the phases of a run with their times; a run without an answer has one phase for its whole execution. The last
 * phase of a run that has not ended goes on until now.
 */
export function phasesOf(run: Timed, now: number): Phase[] {
  const phases: Phase[] = [];
  const add = (key: Phase["key"], label: string, ms: number | null | undefined) => {
    if (ms !== null && ms !== undefined) phases.push({ key, label, ms: Math.max(0, ms) });
  };
  const until = (from: string, to: string | null) => (to ? Date.parse(to) : now) - Date.parse(from);
  add("pending", "Pending", isInFlight(run.status) ? until(run.created_at, run.started_at) : run.pending_duration_ms);
  const timings = run.result?.timings;
  if (!timings) {
    add("run", "Running", run.status === "RUNNING" && run.started_at ? until(run.started_at, null) : run.run_duration_ms);
    return phases;
  }
  const { dns_ms, connect_ms, tls_ms, first_byte_ms, total_ms } = timings;
  add("dns", "Look up the name", dns_ms);
  add("connect", "Connect", connect_ms);
  add("tls", "TLS", tls_ms);
  add("wait", "Wait for the answer", first_byte_ms);
  add("body", "Read the body", total_ms - dns_ms - connect_ms - tls_ms - first_byte_ms);
  return phases;
}

/** Timed are the members of a run that its phases follow from. */
type Timed = Pick<RunAttributes, "status" | "created_at" | "started_at" | "pending_duration_ms" | "run_duration_ms" | "result">;

export interface Explanation {
  what: string;
  todo: string;
}

/** explain says why a run did not succeed, and what to do about it. */
export function explain(run: RunAttributes, wanted = "2xx"): Explanation | undefined {
  if (run.status === "CANCELED") {
    return {
      what: run.error ?? "Somebody canceled it.",
      todo: run.started_at ? "The receiver may have got the request." : "Nothing was sent.",
    };
  }
  switch (run.failure_reason) {
    case "TIMEOUT":
      return {
        what: "The job timed out before the answer was complete.",
        todo: "Raise the timeout, or let the receiver answer at once and do its work afterward.",
      };
    case "CONNECTION_ERROR":
      return {
        what: `No answer came: ${run.error ?? "the connection failed"}.`.replace(/\.\.$/, "."),
        todo: connectionAdvice(run.error ?? ""),
      };
    case "NON_SUCCESS_STATUS":
      return {
        what: `The receiver answered ${run.result?.status}; the job counts ${wanted} as a success.`,
        todo: statusAdvice(run.result?.status ?? 0),
      };
    case "SSRF_BLOCKED":
      return {
        what: "The host resolves to an address that is not public, so nothing was sent.",
        todo: "Use a public address, or ask the operator of this server to allow the network (SIGNALBOX_ALLOW_NETWORKS).",
      };
    case "QUOTA_EXCEEDED":
      return {
        what: "The plan's runs of this month are used up, so nothing was sent.",
        todo: "Run it again next month, or choose a larger plan; pause jobs that you do not need.",
      };
    case "WORKER_LOST":
      return {
        what: "The server node that executed the run stopped before the end.",
        todo: "The receiver may have got the request: check it, then run the job again if that is safe.",
      };
    default:
      return undefined;
  }
}

function connectionAdvice(error: string): string {
  if (/certificate|x509|tls|handshake/i.test(error))
    return "Check the receiver's certificate; if your own authority issued it, add the authority to the job as CA certificate.";
  if (/refused/i.test(error)) return "Nothing listens at this address: check the host and port, and that the receiver runs.";
  if (/no such host|lookup|dns/i.test(error)) return "The host name is unknown: check its spelling.";
  return "Check that the receiver runs and that this server can reach it, then run it again.";
}

function statusAdvice(status: number): string {
  if (status >= 300 && status < 400) return "Redirects are not followed: use the target address, or count 3xx as a success.";
  if (status === 401 || status === 403) return "Check the credential in the job's headers.";
  if (status === 404 || status === 410) return "Check the path of the URL.";
  if (status === 405) return "Check the method.";
  if (status === 429) return "The receiver limits requests: run the job less often.";
  if (status >= 500) return "Look into the receiver's log; the header X-Signalbox-Run of the request has this run's id.";
  if (status >= 400) return "Compare the request below with the receiver's documentation.";
  return "If this answer is fine, change the status that the job counts as a success.";
}

/** pretty returns a body for display: JSON is indented, everything else is unchanged. */
export function pretty(body: string): string {
  try {
    const value = parse(body);
    return typeof value === "object" && value !== null ? stringify(value, 2) : body;
  } catch {
    return body;
  }
}

/** Polling tells when to read a list of jobs again, because runs send no events. */
export interface Polling {
  inFlight: boolean;
  /** soonest is the next instant that a job fires for, in milliseconds. */
  soonest: number | undefined;
}

/** pollingFor returns whether a run is in flight, and when the next job fires. */
export function pollingFor(jobs: Pick<Kinds["job"], "next_run_at" | "last_run">[]): Polling {
  const instants = jobs.flatMap(({ next_run_at: at }) => (at ? [new Date(at).getTime()] : []));
  return {
    inFlight: jobs.some(({ last_run }) => isInFlight(last_run?.status)),
    soonest: instants.length === 0 ? undefined : Math.min(...instants),
  };
}
