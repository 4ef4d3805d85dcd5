import { expect, test } from "vitest";
import { Drafts, typedOn } from "./draft";

function storage(): Storage {
  const kept: Record<string, unknown> = {};
  const define = (name: string, value: unknown) => Object.defineProperty(kept, name, { value, enumerable: false });
  define("getItem", (name: string) => kept[name] ?? null);
  define("setItem", (name: string, value: string) => {
    kept[name] = value;
  });
  define("removeItem", (name: string) => delete kept[name]);
  return kept as unknown as Storage;
}

const opened = { base: { name: "a", text: "" }, version: '"1"' };

test("a draft begins with the first change and ends when the form is as it was", () => {
  const first = typedOn(undefined, opened, { text: "typed" });
  expect(first).toMatchObject({ value: { name: "a", text: "typed" }, base: opened.base, version: '"1"' });
  expect(typedOn(first, opened, { text: "" })).toBeUndefined();
});

test("a draft keeps the version on which it was begun", () => {
  const first = typedOn(undefined, opened, { text: "mine" });
  const second = typedOn(first, { base: { name: "theirs", text: "" }, version: '"2"' }, { text: "mine too" });
  expect(second).toMatchObject({ value: { name: "a", text: "mine too" }, base: opened.base, version: '"1"' });
});

test("drafts are kept by their place until they are removed", () => {
  const drafts = new Drafts(storage());
  const draft = { value: { a: 1 }, base: { a: 0 }, version: "v", at: 5 };
  drafts.write("job:one", draft);
  drafts.write("job:two", draft);
  expect(drafts.read("job:one")).toEqual(draft);
  drafts.write("job:one", undefined);
  expect(drafts.read("job:one")).toBeUndefined();
  drafts.clear();
  expect(drafts.read("job:two")).toBeUndefined();
});

const refuse = () => {
  throw new Error("full");
};

test.each([
  ["absent", undefined],
  ["full and broken", { getItem: () => "{", setItem: refuse, removeItem: refuse } as unknown as Storage],
])("a storage that is %s does not stop the form", (_, storage) => {
  const drafts = new Drafts(storage);
  drafts.write("job:one", { value: {}, base: {}, version: "", at: 0 });
  expect(drafts.read("job:one")).toBeUndefined();
});
