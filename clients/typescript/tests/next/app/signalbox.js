import { pinoLevels, startSync } from "@signalbox/client";
import pino from "pino";

// One box for the process: Next.js may load this module once for each route.
globalThis.signalbox ??= startSync();

export const box = globalThis.signalbox;
export const checkout = box.boolean("next.flag", false);
globalThis.signalboxLog ??= pinoLevels(box, pino({ name: "next.app" }));
export const log = globalThis.signalboxLog;
