import { expect, test } from "vitest";
import { choiceOf, isChosen } from "./chosen";

const columns = [
  { key: "name" },
  { key: "type", option: { label: "Type" } },
  { key: "changed", option: { label: "Changed", isHidden: true } },
];

const shown = (chosen?: string) => columns.filter((column) => isChosen(column, chosen)).map(({ key }) => key);

test("a list shows the usual columns until somebody chooses others", () => {
  expect(shown()).toEqual(["name", "type"]);
  expect(shown("changed")).toEqual(["name", "changed"]);
});

test.each([{ keys: [] }, { keys: ["type"] }, { keys: ["changed"] }, { keys: ["type", "changed"] }])(
  "the choice of optional columns survives the address: $keys",
  ({ keys }: { keys: string[] }) => {
    expect(shown(choiceOf(columns, new Set(keys)))).toEqual(["name", ...keys]);
  },
);

test("the usual choice is not in the address", () => {
  expect(choiceOf(columns, new Set(["type"]))).toBeUndefined();
});
