import type { QueryClient } from "@tanstack/react-query";
import { refresh } from "../api/below";
import { ApiError, asApiError, send } from "../api/client";
import type { Kind, Sentence } from "../api/kinds";
import { concerned } from "../api/live";
import type { Loaded } from "../api/queries";
import { same, written } from "./diff";
import { type Body, bodyOf, currentOf, dryRun, request, type Write } from "./requests";

/** most is the largest number of resources that are written together. */
export const most = 200;

/** Trial is a write of one of several resources, with the result of its dry run. */
export interface Trial {
  write: Write<Kind>;
  current?: Loaded<Kind>;
  body?: Body;
  summary: Sentence[];
  /** refusal is the server's error, if it would refuse the write. */
  refusal?: ApiError;
}

/** Outcome has the sequence numbers of the changes, and the refused writes. */
export interface Outcome {
  changes: string[];
  done: number;
  refused: { id: string; failure: ApiError }[];
}

const atOnce = 6;

/** each calls a function for all items, a few at once, and returns the results in their order. */
async function each<T, R>(items: T[], call: (item: T) => Promise<R>, workers = atOnce): Promise<R[]> {
  const results: R[] = [];
  const queue = items.entries();
  const work = async () => {
    for (const [index, item] of queue) results[index] = await call(item);
  };
  await Promise.all(Array.from({ length: workers }, work));
  return results;
}

/** tryAll makes a dry run of several writes. */
export function tryAll(writes: Write<Kind>[]): Promise<Trial[]> {
  return each(writes, async (write) => {
    try {
      const current = await currentOf(write);
      const body = bodyOf(write, current);
      const { document } = await dryRun(write, current, body);
      const summary = document?.meta?.summary ?? [];
      return { write, current, body, summary };
    } catch (problem) {
      const refusal = asApiError(problem);
      if (refusal.status === 0) throw refusal; // the server cannot be reached
      return { write, summary: [], refusal };
    }
  });
}

/**
 * isWork reports whether a write would change something. Other writes are not sent, so that there is
 * nothing to undo.
 */
export const isWork = ({ write, summary, refusal }: Trial) => !refusal && (write.method === "DELETE" || summary.length > 0);

/**
 * applyAll carries out the writes that change something. Each sends its ETag, so a resource that somebody
 * changed since the dry run is not overwritten.
 */
export async function applyAll(queries: QueryClient, trials: Trial[], note: string | undefined): Promise<Outcome> {
  const outcome: Outcome = { changes: [], done: 0, refused: [] };
  const inTurn = trials.some(({ write }) => write.kind === "logger"); // writing a logger changes the levels below it
  const apply = async (trial: Trial) => {
    const { write } = trial;
    try {
      const change = await carryOut({ ...trial, write: { ...write, note } });
      outcome.done++;
      if (change) outcome.changes.push(change);
    } catch (problem) {
      outcome.refused.push({ id: write.id, failure: asApiError(problem) });
    }
  };
  await each(trials.filter(isWork), apply, inTurn ? 1 : atOnce);
  refreshAll(queries, trials);
  return outcome;
}

/** attempts is how often a write is sent if inherited values change meanwhile. */
const attempts = 5;

/**
 * carryOut sends a write, and returns the number of the change that it made, or "". It sends the write again if only inherited
 * values of the resource have changed, as happens below a logger that was just written.
 */
async function carryOut({ write, current, body }: Trial): Promise<string> {
  let version = current;
  for (let attempt = 1; ; attempt++) {
    try {
      return (await request(write, version, body)).change;
    } catch (problem) {
      if (asApiError(problem).code !== "version_mismatch" || attempt === attempts) throw problem;
      version = await currentOf(write);
      if (!version || !same(written(version.resource.attributes), written(current?.resource.attributes))) throw problem;
    }
  }
}

/** revertAll undoes changes, the newest first. */
export async function revertAll(queries: QueryClient, trials: Trial[], changes: string[]): Promise<void> {
  const failures: ApiError[] = [];
  await each(
    changes.toSorted((one, other) => Number(other) - Number(one)),
    (change) => send("POST", `/api/v1/changes/${change}/actions/revert`).catch((problem) => failures.push(asApiError(problem))),
  );
  refreshAll(queries, trials);
  const [first] = failures;
  if (first) throw new ApiError(first.status, first.code, `${failures.length} of ${changes.length}: ${first.message}`, first.requestId);
}

function refreshAll(queries: QueryClient, trials: Trial[]): void {
  for (const kind of new Set(trials.map(({ write }) => write.kind))) refresh(queries, concerned(`${kind}_changed`));
}
