// A service of `make demo`: it shows pages to imaginary customers, and logs at the levels that Signalbox sets.

import { pinoLevels, start, withContext } from "@signalbox/client";
import pino from "pino";

const PACE = 1100; // milliseconds between two customers
const CUSTOMERS = ["alice", "bob", "carol", "dave", "erin", "frank"];
const LOGGERS = ["storefront", "storefront.pages", "storefront.pages.product", "storefront.search"];

const box = await start({ cache: false });
const root = pinoLevels(box, pino());
const loggers = LOGGERS.map((name) => root.child({ name }));
const newCheckout = box.boolean("checkout-v2", false);
const color = box.string("checkout-button-color", "blue");

/** Returns one of several, at random. */
function pick(several) {
  return several[Math.floor(Math.random() * several.length)];
}

const serving = setInterval(() => {
  const user = { key: pick(CUSTOMERS), plan: pick(["free", "pro"]) };
  withContext({ user }, () => {
    const log = pick(loggers);
    log.debug("A page for %s: checkout-v2 %s, the button is %s.", user.key, newCheckout(), color());
    log.info("Showed a page to %s.", user.key);
  });
}, PACE);

process.on("SIGINT", async () => {
  clearInterval(serving);
  await box.close();
});
