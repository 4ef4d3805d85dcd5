// A shop that follows Signalbox: a flag, a log level and a config, under Express.

import { contextMiddleware, pinoLevels, start } from "@signalbox/client";
import express, { type Request } from "express";
import pino from "pino";

const box = await start(); // SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT, SIGNALBOX_SERVICE
const log = pinoLevels(box, pino()).child({ name: "shop.payments" });
const newCheckout = box.boolean("checkout-v2", false);
const settings = box.config("checkout", { timeout_ms: 1500 });

/** Returns whom a request is evaluated for. A real shop asks its session. */
function contextsOf(request: Request) {
  return { user: { key: request.get("x-user") ?? "", plan: request.get("x-plan") ?? "free" } };
}

const app = express();
app.use(contextMiddleware(contextsOf));

app.get("/checkout", (_request, response) => {
  log.debug("Checking out within %d ms.", settings.value.timeout_ms);
  response.json({ new: newCheckout(), timeout_ms: settings.value.timeout_ms, level: log.level });
});

// The shop works with the last known values, so it is healthy in any case.
app.get("/health", (_request, response) => {
  response.json({ signalbox: String(box.state) });
});

const server = app.listen(Number(process.env.PORT ?? 3000), "127.0.0.1", () => log.info(server.address(), "Listening."));

process.once("SIGTERM", () => {
  server.close(() => box.close()); // sends the last report
});
