// A box without a server.

import { type Flag, setContext, startSync, staticBox, withContext } from "@signalbox/client";
import { valueText } from "@signalbox/client/flags";
import { FakeBox, rules } from "@signalbox/client/testing";
import { expect, test, vi } from "vitest";
import { eventually } from "./support.js";

const PRO = { "==": [{ var: "user.plan" }, "pro"] };

test("flags of all types", () => {
  const box = new FakeBox({ flags: { on: true, text: "a", count: 3, ratio: 0.5, theme: { color: "red" } } });
  expect([box.boolean("on", false)(), box.string("text", "")(), box.number("count", 0)(), box.integer("count", 0)()]).toEqual([
    true,
    "a",
    3,
    3,
  ]);
  expect(box.json("theme", { color: "blue" })()).toEqual({ color: "red" });
  expect(box.integer("ratio", 7).detail()).toEqual({ value: 7, reason: "ERROR", rule: -1, variant: "", code: "TYPE_MISMATCH" });
  expect(box.string("on", "code").detail().code).toBe("TYPE_MISMATCH");
  expect(box.boolean("gone", true).detail()).toEqual({ value: true, reason: "ERROR", rule: -1, variant: "", code: "FLAG_NOT_FOUND" });
});

test("a parser checks the values of a JSON flag", () => {
  const box = new FakeBox({ flags: { theme: { color: 7 } } });
  const parse = (value: unknown) => {
    if (typeof (value as { color: unknown }).color !== "string") {
      throw new TypeError("no color");
    }
    return value as { color: string };
  };
  const flag = box.json("theme", { color: "blue" }, parse);
  expect(flag().color).toBe("blue");
  box.set({ flags: { theme: { color: "red" } } });
  expect(flag().color).toBe("red");
  expect(box.json("theme", { color: "blue" }, parse)).toBe(flag);
});

test("contexts apply to what a function calls, awaits and starts", async () => {
  const box = new FakeBox({ flags: { f: rules(false, [PRO, true]) } });
  const flag = box.boolean("f", false);
  expect(flag()).toBe(false);
  const inside = await withContext({ user: { key: "alice", plan: "pro" }, account: "acme" }, async () => {
    await null;
    return [flag(), flag.get({ user: { plan: "free" } }), flag.get({ account: "other" })];
  });
  expect(inside).toEqual([true, false, true]);
  expect([flag(), flag.get({ user: { plan: "pro" } })]).toEqual([false, true]);
  await (async () => {
    await null;
    setContext({ user: { plan: "pro" } });
    expect(flag()).toBe(true);
  })();
});

test("contexts are values of the moment", () => {
  const flag = new FakeBox({ flags: { f: rules(false, [PRO, true]) } }).boolean("f", false);
  const user = { key: "alice", plan: "pro" };
  withContext({ user }, () => {
    user.plan = "free";
    expect(flag()).toBe(true);
  });
});

test.each([
  ["a date", { at: new Date(0) }, { "==": [{ var: "user.at" }, "1970-01-01T00:00:00.000Z"] }],
  ["a map", { map: new Map([["a", 1]]) }, { "==": [{ var: "user.map.a" }, 1] }],
  ["a set", { set: new Set(["a"]) }, { in: ["a", { var: "user.set" }] }],
  ["a big integer", { id: 5n }, { "==": [{ var: "user.id" }, 5] }],
  ["a member of a name that objects inherit", { constructor: "x" }, { "==": [{ var: "user.constructor" }, "x"] }],
  ["no inherited member", {}, { "==": [{ var: "user.constructor" }, null] }],
  ["half of a surrogate pair", { text: "\ud800" }, { "==": [{ var: "user.text" }, "\ufffd"] }],
])("a context may have %s", (_, user, logic) => {
  const flag = new FakeBox({ flags: { f: rules(false, [logic, true]) } }).boolean("f", false);
  expect(flag.get({ user })).toBe(true);
});

test("a context that cannot be read throws nothing", () => {
  const flag = new FakeBox({ flags: { f: rules(false, [PRO, true]) } }).boolean("f", false);
  const loop: { self?: unknown; plan: string } = { plan: "pro" };
  loop.self = loop;
  const user = {
    get plan() {
      throw new Error("no plan");
    },
  };
  expect([flag.get({ user: loop }), flag.get({ user })]).toEqual([false, false]);
});

test("declaring a flag again returns the same flag", () => {
  const box = new FakeBox({ flags: { f: true } });
  expect(box.boolean("f", false)).toBe(box.boolean("f", false));
  expect(box.boolean("f", true)).not.toBe(box.boolean("f", false));
  const settings = box.config("c", { a: 1 });
  expect(box.config("c", { a: 1 })).toBe(settings);
});

test("declarations with other defaults share a flag", () => {
  const box = new FakeBox();
  const flags = Array.from({ length: 12_000 }, (_, i) => box.string("greeting", `hello ${i}`));
  expect([flags[1]?.(), flags[1]?.detail(), flags[1]?.default]).toEqual([
    "hello 1",
    { value: "hello 1", reason: "ERROR", rule: -1, variant: "", code: "FLAG_NOT_FOUND" },
    "hello 1",
  ]);
  expect(box.debug()).toMatchObject({ flags: [{ id: "greeting", default: "hello 0" }] });
  const later = box.boolean("later", false);
  box.set({ flags: { later: true, greeting: "hi" } });
  expect([later(), flags[11_999]?.(), flags[0]?.get(), box.string("greeting", "hey").detail().value]).toEqual([true, "hi", "hi", "hi"]);
});

test("defaults that are nested into themselves", () => {
  const loop = () => {
    const made: { self?: unknown } = {};
    made.self = made;
    return made;
  };
  const box = new FakeBox();
  const [first, second] = [loop(), loop()];
  expect([box.json("loop", first)(), box.json("loop", second)()]).toEqual([first, second]);
  expect(box.config("loop", first).value.self).toBe(first);
  expect(box.config("loop", second).value.self).toBe(second);
});

test("more flags than an account can have are logged once", () => {
  const logged: string[] = [];
  const { box } = staticBox({ data: { type: "snapshot", attributes: { seq: 1 } } }, { log: (line) => logged.push(line) });
  for (let i = 0; i < 10_002; i++) {
    box.boolean(`f${i}`, false);
  }
  expect(logged).toHaveLength(1);
  expect(logged[0]).toContain("Flag f10000 and later ones do not follow Signalbox");
});

test("configs have defaults, and keep the last good values", async () => {
  const box = new FakeBox();
  const settings = box.config("checkout", { timeoutMs: 1500, hosts: ["a"] });
  const seen: unknown[] = [];
  settings.onChange((before, after) => seen.push([before.timeoutMs, after.timeoutMs]));
  expect(settings.value).toEqual({ timeoutMs: 1500, hosts: ["a"] });
  box.set({ configs: { checkout: { timeoutMs: 200 } } });
  expect(settings.value).toEqual({ timeoutMs: 200, hosts: ["a"] });
  box.set({ configs: { checkout: { timeoutMs: true } } });
  expect([settings.value.timeoutMs, settings.error?.message]).toEqual([200, "timeoutMs must be a number, not true"]);
  await eventually(() => seen.length > 0, "the listener");
  expect(seen).toEqual([[1500, 200]]);
});

test("nested values of a config are merged and checked", () => {
  const box = new FakeBox({ configs: { nested: { retry: { max: 5 } } } });
  const defaults = { retry: { max: 3, delay: 10, on: { status: [503] } }, tags: ["a"], any: [] as unknown[], nothing: null };
  const settings = box.config("nested", defaults);
  const good = { ...defaults, retry: { ...defaults.retry, max: 5 } };
  expect([settings.value, settings.error]).toEqual([good, undefined]);
  const wrong: [object, string][] = [
    [{ retry: { max: "five" } }, 'retry.max must be a number, not "five"'],
    [{ retry: [5] }, "retry must be an object, not [5]"],
    [{ retry: { on: { status: ["503"] } } }, 'retry.on.status[0] must be a number, not "503"'],
    [{ tags: ["b", 2] }, "tags[1] must be text, not 2"],
    [{ tags: { 0: "b" } }, 'tags must be a list, not {"0":"b"}'],
  ];
  for (const [values, message] of wrong) {
    box.set({ configs: { nested: values } });
    expect([settings.value, settings.error?.message]).toEqual([good, message]);
  }
  const accepted = { retry: { max: null, more: { a: 1 } }, tags: ["b", null], any: [1, "a"], nothing: { a: 1 } };
  box.set({ configs: { nested: accepted } });
  expect(settings.value).toEqual({ ...accepted, retry: { ...defaults.retry, ...accepted.retry } });
  expect([defaults.retry.max, settings.error]).toEqual([3, undefined]);
});

test("lists of several types, and members of classes, are replaced as a whole", () => {
  const box = new FakeBox({ configs: { c: { mixed: [true], nulls: [1], at: { a: 1 }, list: [{ b: 1 }] } } });
  const settings = box.config<object>("c", { mixed: ["a", 1], nulls: [null], at: new Date(0), list: [{ a: "x" }] });
  expect([settings.value, settings.error]).toEqual([{ mixed: [true], nulls: [1], at: { a: 1 }, list: [{ b: 1 }] }, undefined]);
});

test("a parser gets nested values over the defaults, and checks them", () => {
  const box = new FakeBox({ configs: { c: { retry: { max: "5" } } } });
  const parse = (values: unknown) => {
    const { retry } = values as { retry: { max: unknown; delay: number } };
    return { retry: { max: Number(retry.max), delay: retry.delay } };
  };
  expect(box.config("c", { retry: { max: 3, delay: 10 } }, parse).value).toEqual({ retry: { max: 5, delay: 10 } });
});

test("a schema checks the values of a config", () => {
  const box = new FakeBox({ configs: { checkout: { timeoutMs: -1 } } });
  const schema = {
    "~standard": {
      validate: (value: unknown) =>
        (value as { timeoutMs: number }).timeoutMs > 0 ? { value } : { issues: [{ message: "must be positive", path: ["timeoutMs"] }] },
      types: undefined as unknown as { input: unknown; output: { timeoutMs: number } },
    },
  };
  const settings = box.config("checkout", { timeoutMs: 1500 }, schema);
  expect([settings.value.timeoutMs, settings.error?.message]).toEqual([1500, "timeoutMs: must be positive"]);
});

test("listeners run later, and one that fails is logged", async () => {
  const logged: string[] = [];
  const box = startSync({ url: "", cache: false, log: (line) => logged.push(line), timing: { slow: 10 } });
  const flag = box.number("f", 0);
  const seen: number[] = [];
  flag.onChange(() => {
    throw new Error("broken");
  });
  flag.onChange(() => new Promise(() => undefined));
  const stop = flag.onChange(() => seen.push(flag()));
  const document = (value: number) => ({
    seq: value,
    attributes: { flags: [{ id: "f", attributes: { type: "NUMERIC", default: value, managed: true } }] },
  });
  const set = (value: number) => (box as unknown as FakeBox).replace(document(value));
  set(1);
  set(2);
  expect(seen).toEqual([]);
  await eventually(() => seen.length > 0, "the listener");
  expect(seen).toEqual([2]);
  stop();
  set(3);
  await eventually(() => logged.some((line) => line.includes("pending for a second")), "the hanging listener");
  expect(logged.filter((line) => line.startsWith("A Signalbox listener failed"))).toHaveLength(1);
  expect(seen).toEqual([2]);
});

test("missing settings are refused, and nothing is thrown or printed", async () => {
  const print = vi.spyOn(process.stderr, "write");
  const box = startSync({ url: "", key: "", environment: "", cache: false });
  expect(box.boolean("f", true)()).toBe(true);
  expect(box.state.status).toBe("REFUSED");
  await expect(box.ready(10)).rejects.toThrow("no server: set SIGNALBOX_URL or pass url; no API key");
  const wrong = startSync({ url: "ftp://example", key: "k", environment: "e", cache: false });
  expect(wrong.state.why?.message).toBe('"ftp://example" is not the URL of a server, such as http://127.0.0.1:8080');
  await Promise.all([box.close(), wrong.close()]);
  expect(print).not.toHaveBeenCalled();
  print.mockRestore();
});

test("the key may have spaces and line breaks around it, but nothing else that no key has", async () => {
  const options = { url: "http://127.0.0.1:9", environment: "e", cache: false };
  const box = startSync({ ...options, key: " sk_api_1 \r\n" });
  expect([box.settings.key, box.state.status]).toEqual(["sk_api_1", "STARTING"]);
  const wrong = startSync({ ...options, key: "sk_api_1\nsk_api_2" });
  expect([wrong.state.status, wrong.state.why?.message]).toEqual([
    "REFUSED",
    "the API key has a space, a line break or another character that no key has: check SIGNALBOX_API_KEY or key",
  ]);
  await Promise.all([box.close(), wrong.close()]);
});

test("many boxes have one listener of the process", async () => {
  const before = process.listenerCount("beforeExit");
  const options = { url: "http://127.0.0.1:9", key: "k", environment: "e", cache: false };
  const boxes = Array.from({ length: 20 }, () => startSync(options));
  expect(process.listenerCount("beforeExit")).toBe(before + 1);
  await Promise.all(boxes.map((box) => box.close()));
  expect(process.listenerCount("beforeExit")).toBe(before);
});

test("the fake refuses values that no server has", () => {
  expect(() => new FakeBox({ flags: { f: rules(true, [{ nope: 1 }, false]) } })).toThrow("flag f: /environments/test/rules/0/logic/nope");
  expect(() => new FakeBox({ flags: { f: rules(true, [PRO, "text"]) } })).toThrow("the value does not fit a BOOLEAN flag");
  expect(() => new FakeBox({ levels: { shop: "LOUD" as "INFO" } })).toThrow('logger shop: "LOUD" is not a level');
});

test("names of counted values are short", () => {
  expect([valueText("a"), valueText(true), valueText({ a: [1] }), valueText(undefined)]).toEqual(["a", "true", '{"a":[1]}', "null"]);
  expect(valueText("é".repeat(60))).toBe(`${"é".repeat(50)}…`);
});

test("types", () => {
  const box = new FakeBox();
  const color: Flag<"red" | "blue"> = box.string<"red" | "blue">("color", "red");
  const limit: number = box.config("search", { limit: 20 }).value.limit;
  expect([color(), limit]).toEqual(["red", 20]);
});
