// The vectors that the Go packages wrote: every line must have the same answer here.

import { execFileSync } from "node:child_process";
import { createReadStream, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { type Adapter, type Flag, type Level, staticBox, withContext } from "@signalbox/client";
import { keyOf, parentOf, Tree } from "@signalbox/client/levels";
import { Plan } from "@signalbox/client/plan";
import { Rule, RuleError } from "@signalbox/client/rules";
import { same, weightOf } from "@signalbox/client/values";
import { expect, test } from "vitest";
import { declareFlag, SOAK, temporaryFolder } from "./support.js";

// biome-ignore lint/suspicious/noExplicitAny: a line of a file that a test of Go checks
type Line = any;

function lines(name: string): Line[] {
  const text = readFileSync(new URL(`../../vectors/${name}`, import.meta.url), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
}

/** Returns a value as JSON.stringify writes it. */
function plain(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value) ?? "null");
}

function runRule({ rule: logic, flag, data }: Line): unknown {
  let rule: Rule;
  try {
    rule = new Rule(logic, flag ?? "");
  } catch (error) {
    if (error instanceof RuleError) {
      return { refused: error.code, pointer: error.pointer };
    }
    throw error;
  }
  const { value, error } = rule.evaluate(data);
  if (error) {
    return { error };
  }
  const { matched, split } = rule.decide(data, weightOf(data));
  expect(rule.match(data)).toBe(matched);
  return { result: plain(value), matched, split };
}

function different(file: string, answer: (line: Line) => unknown, members: readonly string[]): string[] {
  const all = lines(file);
  expect(all.length).toBeGreaterThan(0);
  return all.flatMap((line) => {
    const want = Object.fromEntries(members.filter((name) => name in line).map((name) => [name, line[name]]));
    const got = answer(line);
    return same(plain(got), plain(want))
      ? []
      : [`${JSON.stringify(line).slice(0, 500)}: ${JSON.stringify(got)}, want ${JSON.stringify(want)}`];
  });
}

test("rules", () => {
  expect(different("rules.jsonl", runRule, ["result", "matched", "split", "error", "refused", "pointer"])).toEqual([]);
});

test("flags", () => {
  const answer = ({ flag, definition, environment, context }: Line) => {
    const { value, reason, rule, code } = new Plan(flag, definition, environment).evaluate(context, weightOf(context));
    return { value, reason, rule, code };
  };
  expect(different("flags.jsonl", answer, ["value", "reason", "rule", "code"])).toEqual([]);
});

test("names", () => {
  const answer = ({ name, key }: Line) => ({ key: keyOf(name), parent: parentOf(key) });
  expect(different("names.jsonl", answer, ["key", "parent"])).toEqual([]);
});

test("levels", () => {
  const byKey = (list: Line[]) => new Map(list.map((each) => [each.key, each]));
  const answer = ({ environment, loggers, groups, names }: Line) => {
    const tree = new Tree(environment, byKey(loggers), byKey(groups));
    const resolved = Object.keys(names).map((name) => [name, { ...tree.resolve(name), controlled: tree.controls(name) }]);
    return { names: Object.fromEntries(resolved) };
  };
  expect(different("levels.jsonl", answer, ["names"])).toEqual([]);
});

// The vectors are of a map in Go, whose members are replaced as a whole. Defaults in TypeScript have types as a struct in Go, of which
// nested structs are merged.
test("configs", () => {
  const isNested = ({ defaults, values }: Line) => Boolean(defaults.limits && values?.limits);
  const answer = ({ defaults, values }: Line) => {
    const configs = values === null ? {} : { checkout: { values } };
    const { box } = staticBox({ data: { type: "snapshot", attributes: { seq: 1, configs } } });
    const config = box.config("checkout", defaults);
    expect(config.error).toBeUndefined();
    if (isNested({ defaults, values })) {
      expect(config.value).toEqual({ ...defaults, ...values, limits: { ...defaults.limits, ...values.limits } });
      return { result: { ...defaults, ...values } };
    }
    return { result: config.value };
  };
  expect(different("configs.jsonl", answer, ["result"])).toEqual([]);
});

/** A logging framework that records levels. */
class Recorder implements Adapter {
  readonly recorded: Record<string, Level | null> = {};

  setLevel(name: string, level: Level | undefined): void {
    this.recorded[name] = level ?? null;
  }

  levels(): { uses: Level } {
    return { uses: "INFO" };
  }
}

/** Compares flags, levels and configs of a snapshot with those of the Go client. */
function checkWorld(line: Line): void {
  const { box } = staticBox(line.snapshot, { environment: "production", service: line.service });
  const flags = line.flags.map((each: Line) => declareFlag(box, each.type, each.key, each.default)) as Flag<unknown>[];
  line.contexts.forEach((contexts: Line, i: number) => {
    withContext(contexts, () => {
      flags.forEach((flag, j) => {
        const want = line.values[i][j];
        expect(plain(flag.detail()), flag.key).toEqual(want);
        expect(plain(flag())).toEqual(want.value);
        expect(plain(flag.get(contexts))).toEqual(want.value);
      });
    });
  });
  const recorder = new Recorder();
  for (const name of line.loggers) {
    recorder.recorded[name] = null;
    box.addLogger(recorder, name);
  }
  expect(recorder.recorded).toEqual(line.levels);
  for (const [key, values] of Object.entries(line.configs)) {
    expect(box.config(key, {}).value).toEqual(values);
  }
}

test.each(lines("worlds.jsonl").map((line) => [line.snapshot.data.attributes.seq, line]))("world %s", (_, line) => checkWorld(line));

test.runIf(SOAK)(
  "10,000 worlds",
  async () => {
    const file = join(temporaryFolder(), "worlds.jsonl");
    const make = ["test", "./clients/vectors", "-run", "TestWorlds_Many", "-count=1", "-worlds", file];
    execFileSync("go", make, { cwd: join(import.meta.dirname, "../../.."), stdio: "pipe" });
    let count = 0;
    for await (const line of createInterface({ input: createReadStream(file) })) {
      checkWorld(JSON.parse(line));
      count++;
    }
    rmSync(file);
    expect(count).toBe(10_000);
  },
  1_200_000,
);
