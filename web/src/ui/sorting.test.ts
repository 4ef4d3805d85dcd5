import { expect, test } from "vitest";
import { nextOrder, ordered } from "./sorting";

test("clicks on a column lead to its order, to the opposite and back to the usual one", () => {
  expect(nextOrder(undefined, "name")).toBe("name");
  expect(nextOrder("name", "name")).toBe("-name");
  expect(nextOrder("-name", "name")).toBeUndefined();
  expect(nextOrder("name", "-updated_at")).toBe("-updated_at");
  expect(nextOrder("-updated_at", "-updated_at")).toBe("updated_at");
});

test("rows without a value come last in both orders", () => {
  const rows = [{ at: null }, { at: "2030" }, { at: "2020" }];
  const at = { at: (row: { at: string | null }) => row.at };
  expect(ordered(rows, "at", at).map((row) => row.at)).toEqual(["2020", "2030", null]);
  expect(ordered(rows, "-at", at).map((row) => row.at)).toEqual(["2030", "2020", null]);
  expect(ordered(rows, "other", at)).toBe(rows);
});

test("numbers in texts are ordered as numbers", () => {
  const rows = ["shard-10", "shard-9"];
  expect(ordered(rows, "id", { id: (row) => row })).toEqual(["shard-9", "shard-10"]);
});
