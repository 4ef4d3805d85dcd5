import type { Resource } from "../api/kinds";
import { sentencesOf } from "../ui/changes";

type Change = Resource<"change">;

/** Fold is changes of the same kind that somebody made in a row, the newest first. */
export interface Fold {
  first: Change;
  changes: Change[];
}

const apart = 30 * 60_000;

/** folded joins changes that follow each other and differ only in their resource: same person, kind, action and sentences. */
export function folded(changes: Change[]): Fold[] {
  const folds: Fold[] = [];
  for (const change of changes) {
    const last = folds.at(-1);
    const before = last?.changes.at(-1);
    if (last && before && signOf(before) === signOf(change) && gap(before, change) < apart) last.changes.push(change);
    else folds.push({ first: change, changes: [change] });
  }
  return folds;
}

function signOf({ attributes: { actor, kind, action, summary } }: Change): string {
  return JSON.stringify([actor.type, actor.id, kind, action, sentencesOf(summary)]);
}

const gap = (newer: Change, older: Change) => Date.parse(newer.attributes.created_at) - Date.parse(older.attributes.created_at);
