// A program that reads a flag and ends: by itself, by process.exit after a close, or by SIGTERM.

const { startSync } = require("@signalbox/client");

const [url, key, service, how] = process.argv.slice(2);
const box = startSync({ url, key, environment: "production", service, cache: false });
const flag = box.boolean("exit", false);

async function end() {
  await box.close();
  process.exit(0);
}

box.ready(30_000).then(() => {
  flag();
  if (how === "exit") {
    return end();
  }
  if (how === "SIGTERM") {
    process.once("SIGTERM", end);
    setInterval(() => undefined, 1000);
    process.stdout.write("ready\n");
  }
  return undefined;
});
