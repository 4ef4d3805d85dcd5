// Evaluates rules with json-logic-js. Each input line is {"rule", "data"}. Each output line is the result or {"error"}.
"use strict";
const readline = require("node:readline");
const logic = require("json-logic-js");

const print = console.log;
console.log = () => {}; // the operator `log` must not mix with the results

// encode distinguishes values that JSON cannot: undefined, NaN, infinities, -0, functions.
function encode(v) {
  if (v === undefined) return ["undefined"];
  if (typeof v === "function") return ["function"];
  if (typeof v === "number" && (!Number.isFinite(v) || Object.is(v, -0))) {
    return ["number", Object.is(v, -0) ? "-0" : String(v)];
  }
  if (Array.isArray(v)) return ["array", ...v.map(encode)];
  if (v !== null && typeof v === "object") {
    return ["object", ...Object.keys(v).sort().map((k) => [k, encode(v[k])])];
  }
  return v;
}

function run(line) {
  const { rule, data } = JSON.parse(line);
  try {
    return encode(logic.apply(rule, data));
  } catch (e) {
    return { error: e.message };
  }
}

const lines = [];
readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => lines.push(JSON.stringify(run(line))))
  .on("close", () => print(lines.join("\n")));
