// The four clients, each with a flag for every case and others up to a number. Each function returns one read per case.

import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

// The packages as they are built now.
const built = createRequire(new URL("../../clients/typescript/tests/programs/", import.meta.url));

export const signalbox = () => ({ ...built("@signalbox/client"), ...built("@signalbox/client/testing") });

export const PRO = { "==": [{ var: "user.plan" }, "pro"] };
const QUARTER = {
  fractional: [
    [true, 25],
    [false, 75],
  ],
};
const CASES = ["case-0", "case-1", "case-2"];

function check(holds, what) {
  if (!holds) {
    throw new Error(`wrong value: ${what}`);
  }
}

/** References to clients, so that they are not collected. */
export const keep = [];

async function signalboxReads(flags) {
  const { FakeBox, rules, setContext } = signalbox();
  const values = { "case-0": true, "case-1": rules(false, [PRO, true]), "case-2": rules(false, [QUARTER, true]) };
  for (let i = 3; i < flags; i++) {
    values[`flag-${i}`] = rules(false, [PRO, true]);
  }
  const box = new FakeBox({ flags: values });
  const declared = Object.keys(values).map((key) => box.boolean(key, false));
  setContext({ user: { key: "alice", plan: "pro" } });
  check(declared[0]() && declared[1](), "signalbox");
  keep.push(declared);
  return declared.slice(0, 3);
}

async function launchdarklyReads(flags) {
  const { init, integrations } = await import("@launchdarkly/node-server-sdk").then((module) => module.default ?? module);
  const { TestData } = integrations ?? (await import("@launchdarkly/node-server-sdk/integrations"));
  const data = new TestData();
  data.update(data.flag("case-0").booleanFlag().variationForAll(true));
  for (let i = 0; i < flags - 2; i++) {
    const flag = data
      .flag(i === 0 ? "case-1" : `flag-${i}`)
      .booleanFlag()
      .fallthroughVariation(false);
    data.update(flag.ifMatch("user", "plan", "pro").thenReturn(true));
  }
  // TestData cannot express percentages, so the flag has the form in which the service sends it.
  const rollout = {
    variations: [
      { variation: 0, weight: 25_000 },
      { variation: 1, weight: 75_000 },
    ],
  };
  data.usePreconfiguredFlag({
    key: "case-2",
    version: 1,
    on: true,
    salt: "salt",
    variations: [true, false],
    fallthrough: { rollout },
    offVariation: 1,
  });
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  const client = init("sdk-key", { updateProcessor: data.getFactory(), sendEvents: false, logger: silent, diagnosticOptOut: true });
  await client.waitForInitialization({ timeout: 10 });
  const alice = { kind: "user", key: "alice", plan: "pro" };
  check(await client.variation("case-0", alice, false), "launchdarkly");
  check(await client.variation("case-1", alice, false), "launchdarkly");
  let share = 0;
  for (let i = 0; i < 2000; i++) {
    share += (await client.variation("case-2", { kind: "user", key: `u${i}` }, false)) ? 1 : 0;
  }
  check(share > 400 && share < 600, `launchdarkly's rollout: ${share}`);
  keep.push(client);
  return CASES.map((key) => () => client.variation(key, alice, false));
}

async function unleashReads(flags) {
  const { Unleash, InMemStorageProvider } = await import("unleash-client").then((module) => module.default ?? module);
  const feature = (name, rollout, constraints) => ({
    name,
    type: "release",
    enabled: true,
    stale: false,
    impressionData: false,
    strategies: [{ name: "flexibleRollout", parameters: { stickiness: "userId", groupId: name, rollout }, constraints }],
  });
  const pro = [{ contextName: "plan", operator: "IN", values: ["pro"], inverted: false, caseInsensitive: false }];
  const data = [{ ...feature("case-0", "100", []), strategies: [] }, feature("case-1", "100", pro), feature("case-2", "25", [])];
  for (let i = 3; i < flags; i++) {
    data.push(feature(`flag-${i}`, "100", pro));
  }
  const client = new Unleash({
    appName: "bench",
    url: "http://127.0.0.1:9/api",
    disableMetrics: true,
    refreshInterval: 0,
    storageProvider: new InMemStorageProvider(),
    bootstrap: { data },
  });
  client.on("error", () => undefined);
  client.on("warn", () => undefined);
  await once(client, "ready");
  const alice = { userId: "alice", properties: { plan: "pro" } };
  check(client.isEnabled("case-0", alice) && client.isEnabled("case-1", alice), "unleash");
  keep.push(client);
  return CASES.map((key) => () => client.isEnabled(key, alice));
}

async function flagdReads(flags) {
  const { FlagdProvider } = await import("@openfeature/flagd-provider").then((module) => module.default ?? module);
  const flag = (targeting, defaultVariant = "off") => ({ state: "ENABLED", variants: { on: true, off: false }, defaultVariant, targeting });
  const pro = { if: [{ "==": [{ var: "plan" }, "pro"] }, "on", "off"] };
  const document = {
    flags: {
      "case-0": flag({}, "on"),
      "case-1": flag(pro),
      "case-2": flag({
        fractional: [
          ["on", 25],
          ["off", 75],
        ],
      }),
    },
  };
  for (let i = 3; i < flags; i++) {
    document.flags[`flag-${i}`] = flag(pro);
  }
  const file = join(mkdtempSync(join(tmpdir(), "bench-")), "flags.json");
  writeFileSync(file, JSON.stringify(document));
  const provider = new FlagdProvider({ resolverType: "in-process", offlineFlagSourcePath: file });
  await provider.initialize();
  const alice = { targetingKey: "alice", plan: "pro" };
  const silent = { debug() {}, info() {}, warn() {}, error() {} };
  // The provider itself, without the hooks of the OpenFeature SDK, which cost more than the evaluation.
  const read = (key) => provider.resolveBooleanEvaluation(key, false, alice, silent);
  check((await read("case-0")).value && (await read("case-1")).value, "flagd");
  keep.push(provider);
  return CASES.map((key) => () => read(key));
}

export const CLIENTS = { signalbox: signalboxReads, launchdarkly: launchdarklyReads, unleash: unleashReads, flagd: flagdReads };
