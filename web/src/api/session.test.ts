import { expect, test } from "vitest";
import { columnsOf, type Environment, inOrder, refusalFor } from "./session";

const environment = (id: string, more: Partial<Environment> = {}): Environment => ({
  id,
  name: id,
  color: null,
  managed: true,
  classification: "STANDARD",
  ...more,
});
const ids = (list: { id: string }[]) => list.map(({ id }) => id);

test("environments follow the order, then their names", () => {
  const list = ["production", "b", "staging", "a"].map((id) => environment(id));
  expect(ids(inOrder(list, ["staging", "production", "gone"]))).toEqual(["staging", "production", "a", "b"]);
});

test("columns leave out what was only discovered, unless it is in focus", () => {
  const list = [
    environment("production"),
    environment("staging", { managed: false }),
    environment("ci-7", { managed: false, classification: "AD_HOC" }),
  ];
  expect(ids(columnsOf(list))).toEqual(["production", "staging"]);
  expect(ids(columnsOf(list, ["ci-7"]))).toEqual(["ci-7"]);
  expect(ids(columnsOf(list, ["ci-7", "production"]))).toEqual(["production", "ci-7"]);
  expect(ids(columnsOf(list, ["unknown"]))).toEqual(["production", "staging"]);
});

test("a refusal says which role or scope is missing", () => {
  const session = { role: "VIEWER", scopes: {} } as Parameters<typeof refusalFor>[0];
  expect(refusalFor(session, "MEMBER")).toBe("Requires the role Member.");
  const scoped = { role: "MEMBER", scopes: { environments: ["staging"] } } as Parameters<typeof refusalFor>[0];
  expect(refusalFor(scoped, "MEMBER", "staging")).toBeUndefined();
  expect(refusalFor(scoped, "MEMBER", "production")).toBe("Your key may not write values of production.");
  expect(refusalFor(scoped, "MEMBER")).toBe("Your key may only write values of staging.");
});
