// A page with our own client.

import { startBrowser } from "@signalbox/client/browser";

export async function start(url: string, key: string, pollInterval = 30_000): Promise<void> {
  window.seen = [];
  const flags = startBrowser({ url, key, context: { targetingKey: "alice" }, pollInterval });
  const pushed = flags.number("pushed", -1);
  pushed.onChange(() => {
    window.seen.push({ value: pushed(), at: performance.timeOrigin + performance.now() });
  });
  await flags.ready();
}
