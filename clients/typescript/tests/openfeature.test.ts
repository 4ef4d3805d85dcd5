// The providers, by the SDKs of OpenFeature.

import { OpenFeature, ProviderEvents } from "@openfeature/server-sdk";
import { startSync, withContext } from "@signalbox/client";
import { SignalboxProvider } from "@signalbox/client/openfeature";
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

test("a provider without a server and without values is not ready", async () => {
  const box = startSync({ url: "http://127.0.0.1:9", key: "k", environment: "e", cache: false });
  await expect(OpenFeature.setProviderAndWait("away", new SignalboxProvider(box, 50))).rejects.toThrow();
  expect(await OpenFeature.getClient("away").getBooleanValue("f", true)).toBe(true);
  await box.close();
  const refused = startSync({ url: "", key: "", environment: "", cache: false });
  await expect(OpenFeature.setProviderAndWait("refused", new SignalboxProvider(refused))).rejects.toThrow("no server");
});
