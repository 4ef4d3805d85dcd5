// The providers, by the SDKs of OpenFeature.

import { OpenFeature, ProviderEvents, ProviderStatus } from "@openfeature/server-sdk";
import { startSync, withContext } from "@signalbox/client";
import { Box } from "@signalbox/client/box";
import { SignalboxProvider } from "@signalbox/client/openfeature";
import { settingsOf } from "@signalbox/client/settings";
import { FakeBox, rules } from "@signalbox/client/testing";
import { afterAll, expect, test } from "vitest";
import { eventually } from "./support.js";

afterAll(() => OpenFeature.close());

const PRO = { "==": [{ var: "user.plan" }, "pro"] };

test("the server's provider evaluates in the process", async () => {
  const box = new FakeBox({ flags: { f: rules(false, [PRO, true]), theme: { color: "red" }, n: 2, s: "x" } });
  await OpenFeature.setProviderAndWait(new SignalboxProvider(box));
  const client = OpenFeature.getClient();
  expect(await client.getBooleanValue("f", false, { targetingKey: "alice", plan: "pro" })).toBe(true);
  expect(await client.getBooleanValue("f", false, { targetingKey: "alice", plan: "pro", user: { plan: "free" } })).toBe(false);
  expect(await client.getBooleanDetails("f", false, { user: { plan: "pro" } })).toMatchObject({
    value: true,
    reason: "TARGETING_MATCH",
    variant: "rule-0",
  });
  expect(await withContext({ user: { plan: "pro" } }, () => client.getBooleanValue("f", false))).toBe(true);
  expect([await client.getObjectValue("theme", {}), await client.getNumberValue("n", 0), await client.getStringValue("s", "")]).toEqual([
    { color: "red" },
    2,
    "x",
  ]);
  expect(await client.getBooleanDetails("gone", true)).toMatchObject({ value: true, reason: "ERROR", errorCode: "FLAG_NOT_FOUND" });
  expect(await client.getStringDetails("f", "code")).toMatchObject({ value: "code", errorCode: "TYPE_MISMATCH" });
  const changed: unknown[] = [];
  client.addHandler(ProviderEvents.ConfigurationChanged, (event) => changed.push(event?.flagsChanged));
  box.set({ flags: { s: "y" } });
  await eventually(() => changed.length > 0, "the event");
  expect(changed).toEqual([["s"]]);
});

test("defaults that differ declare one flag", async () => {
  const box = new FakeBox();
  const provider = new SignalboxProvider(box);
  for (let i = 0; i < 200; i++) {
    expect(await provider.resolveStringEvaluation("greeting", `hello ${i}`, {})).toMatchObject({ value: `hello ${i}` });
    expect(await provider.resolveObjectEvaluation("theme", { i }, {})).toMatchObject({ value: { i } });
  }
  const { flags } = box.debug() as { flags: { id: string }[] };
  expect(flags.map(({ id }) => id)).toEqual(["greeting", "theme"]);
});

test("a provider without a server and without values is not ready", async () => {
  const box = startSync({ url: "http://127.0.0.1:9", key: "k", environment: "e", cache: false });
  await expect(OpenFeature.setProviderAndWait("away", new SignalboxProvider(box, 50))).rejects.toThrow();
  expect(await OpenFeature.getClient("away").getBooleanValue("f", true)).toBe(true);
  await box.close();
  const refused = startSync({ url: "", key: "", environment: "", cache: false });
  await expect(OpenFeature.setProviderAndWait("refused", new SignalboxProvider(refused))).rejects.toThrow("no server");
});

/** Returns a box that has not heard from a server, and does not ask one. */
function unstartedBox(): Box {
  return new Box(settingsOf({ url: "", key: "", environment: "test", cache: false }));
}

test("a provider does not wait for a server that failed if there are values, and is stale", async () => {
  const box = unstartedBox();
  box.apply(new FakeBox({ flags: { f: true } }).contents); // as from the cache
  box.note("STALE", new Error("no network"), false);
  await OpenFeature.setProviderAndWait("stale", new SignalboxProvider(box, 600_000));
  const client = OpenFeature.getClient("stale");
  expect(await client.getBooleanValue("f", false)).toBe(true);
  await eventually(() => client.providerStatus === ProviderStatus.STALE, "the event");
});

test("a provider whose start failed says when the server answers", async () => {
  const box = unstartedBox();
  await expect(OpenFeature.setProviderAndWait("late", new SignalboxProvider(box, 0))).rejects.toThrow("STARTING");
  const client = OpenFeature.getClient("late");
  const seen: string[] = [];
  client.addHandler(ProviderEvents.Ready, () => seen.push("ready"));
  client.addHandler(ProviderEvents.ConfigurationChanged, (event) => seen.push(...(event?.flagsChanged ?? [])));
  box.replace({ seq: 1, attributes: { flags: [{ id: "f", attributes: { type: "BOOLEAN", default: true, managed: true } }] } });
  await eventually(() => seen.length === 2, "the events");
  expect(seen.sort()).toEqual(["f", "ready"]);
  expect(client.providerStatus).toBe(ProviderStatus.READY);
});
