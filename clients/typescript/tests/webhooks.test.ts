// Messages of webhooks, as the library of Standard Webhooks checks them.

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { expect, onTestFinished, test } from "vitest";
import { eventually, Server } from "./support.js";

interface Message {
  headers: Record<string, string>;
  body: string;
}

/** Starts a target of webhooks, and returns its URL and what it receives. */
async function startReceiver(): Promise<{ url: string; received: Message[] }> {
  const received: Message[] = [];
  const receiver = createServer(async (request, response) => {
    received.push({ headers: plain(request.headers), body: await text(request) });
    response.end();
  });
  receiver.listen(0, "127.0.0.1");
  await once(receiver, "listening");
  onTestFinished(() => void receiver.close());
  return { url: `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, received };
}

function plain(headers: IncomingHttpHeaders): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
}

test("the library of Standard Webhooks accepts the server's signatures, and nothing else", async () => {
  const server = await Server.start("", { SIGNALBOX_ALLOW_NETWORKS: "127.0.0.0/8" });
  onTestFinished(() => server.stop());
  const { admin } = server;
  const { url, received } = await startReceiver();
  const next = async (count: number) => {
    await eventually(() => received.length >= count, `message ${count}`);
    return received[count - 1] as Message;
  };
  const attributes = { name: "w", url, events: ["change.flag"] };
  const { data } = await admin.request("POST", "/api/v1/webhooks", { data: { type: "webhook", attributes } });
  const { secret } = data.attributes;
  await admin.request("POST", `/api/v1/webhooks/${data.id}/actions/test`);
  const { headers, body } = await next(1);
  expect(new Webhook(secret).verify(body, headers)).toMatchObject({ type: "webhook.test" });
  expect(() => new Webhook(secret).verify(`${body} `, headers)).toThrow(WebhookVerificationError);
  expect(() => new Webhook(secret).verify(body, { ...headers, "webhook-id": "another" })).toThrow(WebhookVerificationError);
  const rotated = await admin.request("POST", `/api/v1/webhooks/${data.id}/actions/rotate_secret`);
  await admin.flag("f", "STRING", "żółw 🚦 <&>\u2028");
  const second = await next(2);
  for (const each of [secret, rotated.data.attributes.secret]) {
    // both sign for a day
    expect(new Webhook(each).verify(second.body, second.headers)).toMatchObject({ data: { key: "f" } });
  }
});
