import { expect, test } from "vitest";
import type { Resource } from "../api/kinds";
import { sentencesOf } from "../ui/changes";
import { folded } from "./folded";

const change = (id: number, attributes: object = {}) =>
  ({
    id: String(id),
    type: "change",
    attributes: {
      kind: "flag",
      key: `f${id}`,
      action: "updated",
      actor: { type: "user", id: "ada", name: "Ada" },
      summary: [{ text: "Switched off", environment: "production" }],
      created_at: new Date(Date.UTC(2030, 0, 1, 12, 0, id)).toISOString(),
      ...attributes,
    },
  }) as unknown as Resource<"change">;

test("equal changes in a row are one line", () => {
  const other = { actor: { type: "user", id: "bo", name: "Bo" } };
  const folds = folded([change(9), change(8), change(7, other), change(6), change(5, { summary: [{ text: "Renamed" }] })]);
  expect(folds.map(({ changes }) => changes.map(({ id }) => id).join(" "))).toEqual(["9 8", "7", "6", "5"]);
});

test("changes of different hours stay apart", () => {
  expect(folded([change(9), change(8, { created_at: "2030-01-01T10:00:00Z" })])).toHaveLength(2);
});

test("sentences name their environment", () => {
  expect(sentencesOf(change(1).attributes.summary)).toEqual(["production: Switched off"]);
  expect(sentencesOf(undefined)).toEqual([]);
});
