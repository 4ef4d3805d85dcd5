// Evaluates targeting rules with flagd's own library. Each input line is {"key", "variants", "rule", "data"}. Each output
// line is the name of the variant that the rule chose, or null.
"use strict";
const readline = require("node:readline");
const { FeatureFlag } = require("@openfeature/flagd-core");

const silent = { error() {}, warn() {}, info() {}, debug() {} };
const none = "(none)";

function run(line) {
  const { key, variants, rule, data } = JSON.parse(line);
  const named = Object.fromEntries([none, ...variants].map((name) => [name, name]));
  const definition = { state: "ENABLED", defaultVariant: none, variants: named, targeting: rule };
  const result = new FeatureFlag(key, definition, silent).evaluate(data);
  return result.value === none || result.value === undefined ? null : result.value;
}

const lines = [];
readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => lines.push(JSON.stringify(run(line))))
  .on("close", () => console.log(lines.join("\n")));
