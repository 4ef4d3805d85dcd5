// A page with our client.

import { expect, test } from "vitest";
import { buffered, change, FLAG, open, proxy, serve, startServer, testPage } from "./push.js";
import { eventually, OWNER_KEY, type Server } from "./support.js";

serve("own-client");
testPage();

test.concurrent("a proxy that buffers everything leaves polling", async (context) => {
  const { server, key } = await startServer(context);
  const url = await proxy(context, server, buffered);
  await server.stop();
  server.setting("SIGNALBOX_PUBLIC_URL", url);
  await server.start();
  const { page } = await open(context, url, key, 100);
  await change(server, page, 1);
  await change(server, page, 2);
});

test.concurrent("a hidden page closes its stream, and opens it again", async (context) => {
  const { server, key } = await startServer(context);
  const { page, requests } = await open(context, server.url, key);
  await change(server, page, 1);
  const streams = () => requests.filter((each) => each === "GET /ofrep/v1/events").length;
  const show = (state: string) =>
    page.evaluate((visible) => {
      Object.defineProperty(document, "visibilityState", { value: visible, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await page.clock.install();
  await show("hidden");
  await page.clock.fastForward(100_000); // the page's clock also goes on by itself
  expect(await openStreams(server)).toBe(1);
  await page.clock.fastForward(21_000);
  await eventually(async () => (await openStreams(server)) === 0, "the stream is closed");
  await server.admin.flag(FLAG, "NUMERIC", 2);
  await show("visible");
  await eventually(() => page.evaluate(() => window.seen.some((each) => each.value === 2)), "the change");
  await eventually(() => streams() === 2, "another stream");
});

/** Returns how many streams are open, as the server says. */
async function openStreams(server: Server): Promise<number> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { Authorization: `Bearer ${OWNER_KEY}` } });
  return Number(/^signalbox_stream_sockets (\d+)$/m.exec(await answer.text())?.[1]);
}
