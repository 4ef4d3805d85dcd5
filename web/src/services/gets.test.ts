import { expect, test } from "vitest";
import { contextOf, type Evaluated, narrowed, reasonOf } from "./gets";

const row = (id: string, ...values: [unknown, number | null][]) =>
  ({
    id,
    type: "evaluation",
    attributes: {
      environments: Object.fromEntries(values.map(([value, rule], index) => [`e${index}`, { value, rule, reason: "DEFAULT" }])),
    },
  }) as Evaluated;

test("a context is evaluated under its type", () => {
  expect(contextOf({ context_type: "user", key: "alice", attributes: { plan: "pro" } } as never)).toEqual({
    user: { key: "alice", plan: "pro" },
  });
});

test("reasons are words", () => {
  expect(reasonOf({ reason: "TARGETING_MATCH", rule: 1 })).toBe("rule 2");
  expect(reasonOf({ reason: "SPLIT", rule: 0 })).toBe("rule 1, percentage");
  expect(reasonOf({ reason: "DISABLED", rule: null })).toBe("off");
  expect(reasonOf({ reason: "DEFAULT", rule: null })).toBe("no rule matched");
  expect(reasonOf({ reason: "STATIC", rule: null })).toBe("no rules");
});

test("flags are narrowed by id, by rule and by difference", () => {
  const rows = [row("Same", [true, null], [true, null]), row("ruled", [true, 0], [true, null]), row("other", [1, null], [2, null])];
  const ids = (filters: object) => narrowed(rows, filters).map(({ id }) => id);
  expect(ids({})).toHaveLength(3);
  expect(ids({ q: "SAME" })).toEqual(["Same"]);
  expect(ids({ only: "targeted" })).toEqual(["ruled"]);
  expect(ids({ only: "differs" })).toEqual(["other"]);
});
