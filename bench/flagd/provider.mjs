// Runs Node.js's provider. It does the same as provider.go.
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

// The packages are in the folder in which the script was started, not beside this file.
const require = createRequire(`${process.cwd()}/`);
const { FlagdProvider } = require("@openfeature/flagd-provider");
const { OpenFeature } = require("@openfeature/server-sdk");

const [host, port, selector, cases] = process.argv.slice(2);
const quiet = { debug() {}, info() {}, warn() {}, error() {} };
OpenFeature.setLogger(quiet);
await OpenFeature.setProviderAndWait(
  new FlagdProvider({ resolverType: "in-process", host, port: Number(port), selector, deadlineMs: 30_000 }, quiet),
);
const client = OpenFeature.getClient();
const ask = {
  BOOLEAN: (key, at) => client.getBooleanValue(key, false, at),
  STRING: (key, at) => client.getStringValue(key, "?", at),
  NUMERIC: (key, at) => client.getNumberValue(key, -99, at),
  JSON: (key, at) => client.getObjectValue(key, {}, at),
};
const asked = JSON.parse(readFileSync(cases, "utf8"));
const found = [];
for (const at of asked.contexts) {
  const values = {};
  for (const [key, of] of Object.entries(asked.flags)) values[key] = await ask[of.split(" ")[0]](key, at);
  found.push(values);
}
console.log(JSON.stringify(found));
let last;
setInterval(async () => {
  const now = await client.getNumberValue("clock", -1);
  if (now !== last) console.log(String((last = now)));
}, 2);
