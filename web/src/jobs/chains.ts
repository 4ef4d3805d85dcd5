import type { Run } from "./runs";

/** Row is a row in a list of runs. The newest attempt of a chain stands for all of them; the earlier ones unfold below it. */
export interface Row {
  run: Run;
  /** chain identifies the chain by its oldest attempt, which stays the same when further attempts follow. */
  chain: string;
  /** first is the chain's first attempt, if it is loaded. */
  first?: Run;
  /** earlier counts the loaded attempts that fold into this row. */
  earlier: number;
  isOpen: boolean;
  isNested: boolean;
}

/** rowsOf returns runs, newest first, with each chain of attempts as one row, or as several if it is open. */
export function rowsOf(runs: Run[], open: ReadonlySet<string>): Row[] {
  const byId = new Map(runs.map((run) => [run.id, run]));
  const folded = new Set<string>();
  const rows: Row[] = [];
  for (const run of runs) {
    if (folded.has(run.id)) continue;
    const earlier = earlierOf(run, byId);
    for (const each of earlier) folded.add(each.id);
    const oldest = earlier.at(-1) ?? run;
    const known = { chain: oldest.id, first: oldest.attributes.attempt === 1 ? oldest : undefined };
    const isOpen = earlier.length > 0 && open.has(oldest.id);
    rows.push({ run, ...known, earlier: earlier.length, isOpen, isNested: false });
    if (isOpen) rows.push(...earlier.map((each) => ({ run: each, ...known, earlier: 0, isOpen: false, isNested: true })));
  }
  return rows;
}

// earlierOf returns the attempts before a run, newest first. A run that somebody started again begins a chain of its own.
function earlierOf(run: Run, byId: ReadonlyMap<string, Run>): Run[] {
  const chain: Run[] = [];
  for (let each: Run | undefined = run; each && each.attributes.attempt > 1; ) {
    each = byId.get(each.attributes.rerun_of ?? "");
    if (each) chain.push(each);
  }
  return chain;
}

/** waitingUntil returns when a further attempt may start, in milliseconds; undefined if it does not wait. */
export function waitingUntil({ attributes: { status, not_before } }: Run, now: number): number | undefined {
  const at = status === "PENDING" && not_before ? Date.parse(not_before) : 0;
  return at > now ? at : undefined;
}
