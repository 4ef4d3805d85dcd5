import { expect, test } from "vitest";
import { rowsOf, waitingUntil } from "./chains";
import type { Run } from "./runs";

const run = (id: string, attempt = 1, rerun_of: string | null = null, more: object = {}) =>
  ({ id, type: "run", attributes: { attempt, rerun_of, ...more } }) as Run;

const shown = (runs: Run[], ...open: string[]) =>
  rowsOf(runs, new Set(open)).map(({ run, earlier, isNested, first }) => [run.id, earlier, isNested, first?.id]);

test("a chain of attempts is one row, at the place of its newest", () => {
  const runs = [run("d"), run("c3", 3, "c2"), run("b"), run("c2", 2, "c1"), run("c1"), run("a")];
  expect(shown(runs)).toEqual([
    ["d", 0, false, "d"],
    ["c3", 2, false, "c1"],
    ["b", 0, false, "b"],
    ["a", 0, false, "a"],
  ]);
});

test("an open chain shows its attempts below the newest, and stays open when another follows", () => {
  const runs = [run("c2", 2, "c1"), run("b"), run("c1")];
  expect(shown(runs, "c1")).toEqual([
    ["c2", 1, false, "c1"],
    ["c1", 0, true, "c1"],
    ["b", 0, false, "b"],
  ]);
  expect(shown([run("c3", 3, "c2"), ...runs], "c1").map(([id]) => id)).toEqual(["c3", "c2", "c1", "b"]);
});

test("a run that somebody started again is a row of its own", () => {
  expect(shown([run("again", 1, "a"), run("a")])).toHaveLength(2);
});

test("attempts that are not loaded are not counted", () => {
  expect(shown([run("c3", 3, "c2"), run("c2", 2, "c1")])).toEqual([["c3", 1, false, undefined]]);
});

test("an attempt waits until its time", () => {
  const now = Date.parse("2030-01-01T00:00:00Z");
  const waits = run("a", 2, "b", { status: "PENDING", not_before: "2030-01-01T00:01:00Z" });
  expect(waitingUntil(waits, now)).toBe(now + 60_000);
  expect(waitingUntil(waits, now + 60_000)).toBeUndefined();
  expect(waitingUntil(run("a", 2, "b", { status: "RUNNING", not_before: "2030-01-01T00:01:00Z" }), now)).toBeUndefined();
  expect(waitingUntil(run("a", 1, null, { status: "PENDING", not_before: null }), now)).toBeUndefined();
});
