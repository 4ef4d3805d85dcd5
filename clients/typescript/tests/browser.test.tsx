// @vitest-environment happy-dom
// Flags of a web page, with a key for browsers, from a real server.

import { OpenFeature, ProviderEvents, ProviderStatus } from "@openfeature/web-sdk";
import { type BrowserBox, type BrowserContext, type BrowserOptions, startBrowser, UnauthorizedError } from "@signalbox/client/browser";
import { SignalboxWebProvider } from "@signalbox/client/openfeature-web";
import { SignalboxProvider, useFlag, useSignalboxState } from "@signalbox/react";
import { act } from "react";
import { createRoot } from "react-dom/client";
import { renderToString } from "react-dom/server";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { eventually, Server } from "./support.js";

let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.start();
  await server.admin
    .request("POST", "/api/v1/environments", { data: { id: "production", type: "environment", attributes: { name: "Production" } } })
    .catch(() => null);
  ({ key } = await server.admin.key({ access: "evaluate", scopes: { environments: ["production"] } }));
});

afterAll(() => server.stop());

function start(options: Partial<BrowserOptions> = {}): BrowserBox {
  const box = startBrowser({ url: server.url, key, pollInterval: 30, ...options });
  onTestFinished(() => box.close());
  return box;
}

const PRO = { rules: [{ logic: { "==": [{ var: "user.plan" }, "pro"] }, value: true }] };

test("a page follows flags for its context", async () => {
  await server.admin.flag("web.flag", "BOOLEAN", false, PRO);
  const box = start({ context: { targetingKey: "alice", plan: "pro" } });
  const flag = box.boolean("web.flag", false);
  const limit = box.number("web.limit", 5);
  expect([flag(), limit(), box.state.status]).toEqual([false, 5, "STARTING"]);
  await box.ready();
  expect(flag.detail()).toEqual({ value: true, reason: "TARGETING_MATCH", variant: "On", code: "" });
  expect(limit.detail().code).toBe("FLAG_NOT_FOUND");
  expect(box.string("web.flag", "code").detail()).toMatchObject({ value: "code", code: "TYPE_MISMATCH" });
  const seen: number[] = [];
  limit.onChange(() => seen.push(limit()));
  await server.admin.flag("web.limit", "NUMERIC", 7);
  await eventually(() => seen.includes(7), "the change");
  await box.setContext({ targetingKey: "bob" });
  expect(flag()).toBe(false);
});

test("a value that did not change stays the same object, and closing is no failure", async () => {
  await server.admin.flag("web.object", "JSON", { color: "blue" });
  const logged: string[] = [];
  const box = start({ log: (line) => logged.push(line) });
  const theme = box.json("web.object", {});
  const other = box.boolean("web.object.other", false);
  await box.ready();
  const before = theme();
  expect(before).toEqual({ color: "blue" });
  await server.admin.flag("web.object.other", "BOOLEAN", true);
  await eventually(other, "the other flag");
  expect(theme()).toBe(before);
  const asking = box.refresh();
  box.close();
  await asking;
  expect(logged).toEqual([]);
  expect(box.state.why?.message).toBe("the box is closed");
});

test("a page without a server has the values of the last visit", async () => {
  await server.admin.flag("web.kept", "BOOLEAN", true);
  const kept = new Map<string, string>();
  const storage = { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, text: string) => void kept.set(name, text) };
  await start({ storage }).ready();
  const logged: string[] = [];
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
  const box = start({ storage, log: (line) => logged.push(line) });
  expect(box.boolean("web.kept", false)()).toBe(true);
  await eventually(() => box.state.status === "STALE", "STALE");
  vi.unstubAllGlobals();
  await box.ready();
  expect(logged).toHaveLength(1);
});

test("a page keeps one entry, without its key, for the context of the last visit", async () => {
  await server.admin.flag("web.entry", "BOOLEAN", true);
  const storage = window.localStorage;
  storage.clear();
  storage.setItem(`signalbox ${server.url} ${key} {"targetingKey":"alice"}`, "{}");
  storage.setItem("of the page", "kept");
  const box = start({ storage, context: { targetingKey: "alice" } });
  await box.ready();
  for (const targetingKey of ["bob", "carol", "dave"]) {
    await box.setContext({ targetingKey });
  }
  box.close();
  const names = Object.keys(storage).filter((name) => name !== "of the page");
  expect([names.length, storage.getItem("of the page")]).toEqual([1, "kept"]);
  expect(`${names[0]} ${storage.getItem(String(names[0]))}`).not.toMatch(/sk_api|alice|dave/);
  const again = (context: BrowserContext) => start({ storage, context }).boolean("web.entry", false)();
  expect([again({ targetingKey: "dave" }), again({ targetingKey: "alice" })]).toEqual([true, false]);
});

test("a page that learns its context later has the values of the last visit", async () => {
  await server.admin.flag("web.later", "BOOLEAN", true);
  const kept = new Map<string, string>();
  const storage = { getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, text: string) => void kept.set(name, text) };
  await start({ storage }).setContext({ targetingKey: "alice" });
  vi.stubGlobal("fetch", () => Promise.reject(new TypeError("no network")));
  onTestFinished(() => void vi.unstubAllGlobals());
  const box = start({ storage });
  const flag = box.boolean("web.later", false);
  const changed: string[] = [];
  box.onChange((keys) => changed.push(...keys));
  expect([flag(), box.hasValues]).toEqual([false, false]);
  void box.setContext({ targetingKey: "alice" }).catch(() => undefined);
  expect(flag()).toBe(true);
  await eventually(() => changed.includes("web.later"), "the change");
  void box.setContext({ targetingKey: "bob" }).catch(() => undefined);
  expect(flag()).toBe(true);
  // The pattern of the provider.
  await OpenFeature.setContext("later", { targetingKey: "alice" });
  const began = performance.now();
  await OpenFeature.setProviderAndWait("later", new SignalboxWebProvider(start({ storage })));
  expect(performance.now() - began).toBeLessThan(5000); // it waits up to 10 s if there are no values
  const client = OpenFeature.getClient("later");
  expect(client.getBooleanValue("web.later", false)).toBe(true);
  await eventually(() => client.providerStatus === ProviderStatus.STALE, "STALE");
  await OpenFeature.clearProviders();
});

test("a page is STALE while the server answers from its memory", async () => {
  let away = true;
  const answers: number[] = [];
  const answer = async (_url: unknown, { headers }: { headers: Record<string, string> }) => {
    const etag = away ? '"stale"' : '"live"';
    const known = headers["If-None-Match"] === etag;
    answers.push(known ? 304 : 200);
    const metadata = away ? { stale_since: "2026-05-01T12:00:00Z" } : {};
    const body = JSON.stringify({ flags: [{ key: "f", value: away ? 1 : 2, variant: "default" }], metadata });
    const more = away ? { ETag: etag, Age: "9" } : { ETag: etag };
    return new Response(known ? null : body, { status: known ? 304 : 200, headers: more });
  };
  vi.stubGlobal("fetch", answer);
  onTestFinished(() => void vi.unstubAllGlobals());
  const box = start({ url: "http://flags.example", pollInterval: 1 });
  const seen: string[] = [];
  box.onState(({ status }) => seen.push(status));
  await box.setContext({ targetingKey: "alice" }); // there are values for it
  expect([box.number("f", 0)(), box.state.status]).toEqual([1, "STALE"]);
  await eventually(() => answers.length > 5, "more answers");
  expect([box.state.status, ...new Set(seen)]).toEqual(["STALE", "STALE"]);
  away = false;
  await eventually(() => box.number("f", 0)() === 2 && answers.includes(304), "the database");
  expect(box.state.status).toBe("LIVE");
});

test("OpenFeature in a page that started without a server", async () => {
  await server.admin.flag("web.recovers", "BOOLEAN", true);
  vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}", { status: 401 })));
  const box = start();
  await expect(OpenFeature.setProviderAndWait("recovers", new SignalboxWebProvider(box))).rejects.toThrow("REFUSED");
  const client = OpenFeature.getClient("recovers");
  const ready: unknown[] = [];
  client.addHandler(ProviderEvents.Ready, (event) => ready.push(event));
  vi.unstubAllGlobals();
  await eventually(() => ready.length > 0, "the event");
  expect(client.getBooleanValue("web.recovers", false)).toBe(true);
  await OpenFeature.clearProviders();
});

test("a wrong key is refused", async () => {
  await expect(start({ key: "sk_api_unknown-key-of-nobody" }).ready()).rejects.toThrow(UnauthorizedError);
});

test("a stream that the server announces replaces polling", async () => {
  const streams: { url: string; onmessage?: (event: { data: string }) => void }[] = [];
  vi.stubGlobal(
    "EventSource",
    class {
      static CLOSED = 2;
      onmessage?: (event: { data: string }) => void;
      constructor(readonly url: string) {
        streams.push(this);
      }
      close() {}
    },
  );
  let value = 1;
  const answer = () => ({
    flags: [{ key: "f", value, reason: "STATIC", variant: "default" }],
    eventStreams: [
      { type: "sse", endpoint: { requestUri: "/events?token=1" } },
      { type: "other", url: "ws://x" },
    ],
  });
  const fetched = vi.fn(async (_url: unknown) => new Response(JSON.stringify(answer())));
  vi.stubGlobal("fetch", fetched);
  const box = start({ url: "http://flags.example", pollInterval: 1 });
  await box.ready();
  expect(streams.map(({ url }) => url)).toEqual(["http://flags.example/events?token=1"]);
  await eventually(() => fetched.mock.calls.length > 2, "polls, because no event has come yet");
  value = 2;
  streams[0]?.onmessage?.({ data: "not for us" });
  streams[0]?.onmessage?.({ data: '{"type":"refetchEvaluation","etag":"42"}' });
  await eventually(() => box.number("f", 0)() === 2, "the change");
  await eventually(() => fetched.mock.calls.some(([url]) => String(url).endsWith("/flags?flagConfigEtag=42")), "the etag of the event");
  const calls = fetched.mock.calls.length;
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(fetched.mock.calls.length).toBeLessThanOrEqual(calls + 1);
  expect(streams).toHaveLength(1);
  vi.unstubAllGlobals();
});

test("OpenFeature in a page", async () => {
  await server.admin.flag("web.of", "BOOLEAN", false, PRO);
  await OpenFeature.setContext({ targetingKey: "alice", plan: "pro" });
  await OpenFeature.setProviderAndWait(new SignalboxWebProvider(start()));
  const client = OpenFeature.getClient();
  expect(client.getBooleanDetails("web.of", false)).toMatchObject({ value: true, reason: "TARGETING_MATCH", variant: "On" });
  expect(client.getNumberDetails("gone", 3)).toMatchObject({ value: 3, errorCode: "FLAG_NOT_FOUND" });
  await OpenFeature.setContext({ targetingKey: "bob" });
  expect(client.getBooleanValue("web.of", true)).toBe(false);
  const changed: string[] = [];
  client.addHandler(ProviderEvents.ConfigurationChanged, (event) => changed.push(...(event?.flagsChanged ?? [])));
  await server.admin.flag("web.of", "BOOLEAN", true);
  await eventually(() => changed.includes("web.of"), "the event");
  await OpenFeature.close();
});

function Shop({ rendered }: { rendered: () => void }) {
  const fresh = useFlag("web.react", false);
  const limit = useFlag("web.react.limit", 5);
  rendered();
  return (
    <p>
      {fresh ? "new" : "old"} {limit} {useSignalboxState()?.status ?? "none"}
    </p>
  );
}

test("React renders a component again when its flag changes", async () => {
  vi.stubGlobal("IS_REACT_ACT_ENVIRONMENT", true);
  await server.admin.flag("web.react", "BOOLEAN", true);
  const box = start();
  await box.ready();
  const element = document.createElement("div");
  const root = createRoot(element);
  const rendered = vi.fn();
  await act(() =>
    root.render(
      <SignalboxProvider box={box}>
        <Shop rendered={rendered} />
      </SignalboxProvider>,
    ),
  );
  expect(element.textContent).toBe("new 5 LIVE");
  const before = rendered.mock.calls.length;
  await server.admin.flag("web.unrelated", "BOOLEAN", true);
  await eventually(() => box.boolean("web.unrelated", false)(), "the other flag");
  expect(rendered).toHaveBeenCalledTimes(before);
  await server.admin.flag("web.react", "BOOLEAN", false);
  await act(() => eventually(() => element.textContent === "old 5 LIVE" || !box.boolean("web.react", true)(), "the change"));
  await act(() => new Promise((resolve) => setTimeout(resolve, 5)));
  expect(element.textContent).toBe("old 5 LIVE");
  await act(() => root.unmount());
  vi.unstubAllGlobals();
});

test("React on a server, and without a box, has the defaults", () => {
  expect(renderToString(<Shop rendered={() => undefined} />)).toContain("old");
});
