// Answers lines of JSON: the first has the flags as Flipt's server sends them, each of the others a context.
import { createInterface } from "node:readline";
import { FliptClient } from "@flipt-io/flipt-client-js";

let client;
let flags;

for await (const line of createInterface({ input: process.stdin })) {
  const question = JSON.parse(line);
  if (!client) {
    flags = question.flags;
    const fetcher = async () => new Response(line, { status: 200 });
    client = await FliptClient.init({ namespace: "default", url: "http://flipt.invalid", updateInterval: 0, fetcher });
    console.log("{}");
    continue;
  }
  console.log(JSON.stringify(Object.fromEntries(flags.flatMap((flag) => answer(flag, question)))));
}
process.exit(0);

// answer returns the flag's key and value, or nothing if the evaluation fails.
function answer(flag, question) {
  try {
    const request = { ...question, flagKey: flag.key };
    if (flag.type === "BOOLEAN_FLAG_TYPE") {
      return [[flag.key, client.evaluateBoolean(request).enabled]];
    }
    return [[flag.key, client.evaluateVariant(request).variantKey]];
  } catch {
    return [];
  }
}
