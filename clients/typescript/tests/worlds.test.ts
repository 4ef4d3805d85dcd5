// Random flags and contexts: the client's value, reason and variant are those of the server.

import type { Flag } from "@signalbox/client";
import { expect, test } from "vitest";
import { declareFlag, eventually, Server, SOAK, startBox } from "./support.js";

/** A generator of the same numbers in every run (mulberry32). */
function generator(seed: number) {
  let state = seed;
  const next = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (n: number) => Math.floor(next() * n);
  const choice = <T>(of: readonly T[]): T => of[below(of.length)] as T;
  return { next, below, choice };
}

type Random = ReturnType<typeof generator>;

const LEAVES = [
  { var: "user.plan" },
  { var: "user.age" },
  { var: "user.key" },
  { var: "user.tags" },
  { var: "account.key" },
  1,
  0,
  "pro",
  "18",
  true,
  null,
  ["pro", "a"],
  2.5,
];
const OPERATORS = "== === != < >= and or ! in + cat if some starts_with ends_with sem_ver fractional max".split(" ");

function randomLogic(r: Random, depth: number): unknown {
  if (depth === 0 || r.next() < 0.3) {
    return r.choice(LEAVES);
  }
  const op = r.choice(OPERATORS);
  if (op === "fractional") {
    return {
      fractional: [
        [true, 1 + r.below(50)],
        [false, 1 + r.below(50)],
      ],
    };
  }
  if (op === "sem_ver") {
    return { sem_ver: [{ var: "user.version" }, r.choice(["=", "<", ">=", "^", "~"]), "1.2.0"] };
  }
  const count = { "!": 1, if: 3 }[op] ?? 2;
  return { [op]: Array.from({ length: count }, () => randomLogic(r, depth - 1)) };
}

function randomContexts(r: Random): Record<string, object> {
  const user = {
    plan: r.choice(["pro", "free", "", null]),
    age: r.choice([0, 17, 18, "18", 99.5]),
    tags: r.choice([[], ["a"], ["pro", 1]]),
    version: r.choice(["1.2.3", "2.0.0-rc.1", "x", "1.1"]),
  };
  const some = Object.entries(user).filter(() => r.next() < 0.8);
  return { user: { key: `user-${r.below(500)}`, ...Object.fromEntries(some) }, account: { key: r.choice(["acme", "globex"]) } };
}

const VALUES: Record<string, unknown[]> = {
  BOOLEAN: [true, false],
  STRING: ["a", "b", ""],
  NUMERIC: [0, 1, 2.5],
  JSON: [{ a: 1 }, [1], { b: [true] }],
};

test("random worlds equal the server's", async () => {
  const r = generator(34);
  const server = await Server.start();
  const box = startBox(server.url);
  const flags = new Map<string, Flag<unknown>>();
  for (let i = 0; i < 50; i++) {
    const type = r.choice(Object.keys(VALUES));
    const values = VALUES[type] as unknown[];
    const rules = Array.from({ length: r.below(5) }, () => ({
      logic: { and: [true, randomLogic(r, 3)] },
      value: r.choice(values),
      description: "",
    }));
    await server.admin.flag(`world-${i}`, type, values[0], { rules, default: r.choice([null, ...values]), enabled: r.next() < 0.9 });
    flags.set(`world-${i}`, declareFlag(box, type, `world-${i}`, values[0]));
  }
  await eventually(() => [...flags.values()].every((flag) => flag.detail().code === ""), "the last flag");
  const reasons = new Set<string>();
  // 10,000 pairs of a flag and contexts, in the normal run 2,500.
  for (let i = 0; i < (SOAK ? 200 : 50); i++) {
    const contexts = randomContexts(r);
    const headers = { "X-Signalbox-Environment": "production" };
    const answer = await server.admin.request("POST", "/ofrep/v1/evaluate/flags", { context: contexts }, headers);
    expect(answer.flags).toHaveLength(flags.size);
    for (const { key, value, reason, variant } of answer.flags) {
      const found = flags.get(key)?.detail(contexts);
      const sent = found?.reason === "DISABLED" ? "STATIC" : found?.reason;
      expect([found?.value, sent, found?.variant], `${key} for ${JSON.stringify(contexts)}`).toEqual([value, reason, variant]);
      reasons.add(found?.reason ?? "");
    }
  }
  expect([...reasons].sort()).toEqual(["DEFAULT", "DISABLED", "SPLIT", "STATIC", "TARGETING_MATCH"]);
  await server.stop();
});
