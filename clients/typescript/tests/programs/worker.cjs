// A worker thread that follows a flag until it is 7, and then ends by itself.

const { parentPort, workerData } = require("node:worker_threads");
const { startSync } = require("@signalbox/client");

const box = startSync({ ...workerData, environment: "production", service: "worker", cache: false });
const flag = box.number("worker", -1);

async function follow() {
  await box.ready(30_000);
  parentPort.postMessage(flag());
  flag.onChange(() => {
    if (flag() === 7) {
      parentPort.postMessage(7);
      clearTimeout(alive);
    }
  });
}

const alive = setTimeout(() => process.exit(1), 30_000); // the box does not keep the thread alive
follow();
