// The client's side of the WebSocket protocol, against bytes that a server may send.

import { createHash } from "node:crypto";
import { once } from "node:events";
import net from "node:net";
import { Address } from "@signalbox/client/address";
import { openEventSocket } from "@signalbox/client/socket";
import { FrameReader, frameOf, openWebSocket, type WebSocketConnection } from "@signalbox/client/websocket";
import { expect, onTestFinished, test } from "vitest";
import { eventually } from "./support.js";

/** Returns a frame of a server. */
function frame(opcode: number, payload: string | Buffer, final = true): Buffer {
  const bytes = Buffer.from(payload);
  const size =
    bytes.length < 126
      ? Buffer.from([bytes.length])
      : bytes.length < 65_536
        ? Buffer.from([126, bytes.length >> 8, bytes.length & 255])
        : Buffer.concat([
            Buffer.from([127, 0, 0, 0, 0]),
            Buffer.from([0, bytes.length >> 16, (bytes.length >> 8) & 255, bytes.length & 255]).subarray(1),
          ]);
  return Buffer.concat([Buffer.from([(final ? 0x80 : 0) | opcode]), size, bytes]);
}

const sent = Buffer.concat([frame(1, "a"), frame(1, "b".repeat(300)), frame(9, ""), frame(1, "ü".repeat(100), false)]);

test.each([1, 2, 7, 150, sent.length])("frames are found in pieces of %i bytes", (size) => {
  const reader = new FrameReader(1000);
  const found = [];
  for (let i = 0; i < sent.length; i += size) {
    found.push(...reader.push(sent.subarray(i, i + size)));
  }
  expect(found.map(({ opcode, final, payload }) => [opcode, final, payload.toString()])).toEqual([
    [1, true, "a"],
    [1, true, "b".repeat(300)],
    [9, true, ""],
    [1, false, "ü".repeat(100)],
  ]);
});

test.each([
  ["a mask", frameOf(1, Buffer.from("a")), "reserved bits or a mask"],
  ["reserved bits", Buffer.from([0xc1, 0]), "reserved bits or a mask"],
  ["1,001 bytes", frame(1, "a".repeat(1001)), "a frame of 1001 bytes is too long"],
  ["more bytes than there are", Buffer.from([0x81, 127, 255, 255, 255, 255, 255, 255, 255, 255]), "is too long"],
])("a frame with %s is refused", (_, bytes, message) => {
  expect(() => new FrameReader(1000).push(bytes)).toThrow(message);
});

test.each([0, 5, 125, 126, 1000])("frames of the client with %i bytes are masked", (size) => {
  const bytes = frameOf(1, Buffer.alloc(size, "x"));
  const start = size < 126 ? 2 : 4;
  expect([bytes[0], (bytes[1] as number) & 0x80, bytes.length]).toEqual([0x81, 0x80, start + 4 + size]);
  const mask = bytes.subarray(start, start + 4);
  const payload = bytes.subarray(start + 4).map((byte, i) => byte ^ (mask[i % 4] as number));
  expect(Buffer.from(payload).toString()).toBe("x".repeat(size));
});

/** Starts a server that answers with a function's text to the key of a handshake, and returns its URL. */
async function listen(
  answer: (accept: string) => string | Buffer,
  { sent = [], closed }: { sent?: Buffer[]; closed?: () => void },
): Promise<string> {
  const server = net.createServer((socket) => {
    socket.once("data", (head) => {
      const key = /sec-websocket-key: (.*)\r\n/i.exec(String(head))?.[1];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      socket.on("data", (data) => sent.push(data));
      socket.write(answer(accept));
    });
    socket.on("error", () => undefined);
    socket.on("close", () => closed?.());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as net.AddressInfo).port}`;
}

/** Opens a connection to a server that answers with a function's text to the key of a handshake. */
async function open(answer: (accept: string) => string | Buffer) {
  const received: string[] = [];
  let end: { code: number | undefined; why: string } | undefined;
  const sent: Buffer[] = [];
  let connection: WebSocketConnection | undefined;
  const address = new Address(await listen(answer, { sent }));
  await openWebSocket(
    { address, path: "/events", query: {}, headers: {}, timeout: 5000, maxSize: 1000 },
    {
      opened: (made) => (connection = made),
      text: (message) => received.push(message),
      ended: (code, why) => (end = { code, why: why.message }),
    },
  );
  return { connection, received, sent, ended: () => end };
}

const accepted = (accept: string) =>
  `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`;

test("messages, pings and a close come with the handshake", async () => {
  const close = frame(8, Buffer.concat([Buffer.from([0x03, 0xf0]), Buffer.from("revoked")]));
  const frames = [frame(1, "one"), frame(9, "ping"), frame(1, "tw", false), frame(0, "o"), close, frame(1, "after the close")];
  const { received, ended, sent } = await open((accept) => Buffer.concat([Buffer.from(accepted(accept)), ...frames]));
  await eventually(ended, "the end");
  expect(received).toEqual(["one", "two"]);
  expect(ended()).toEqual({ code: 1008, why: "GET /events: closed with 1008 revoked" });
  await eventually(() => sent[0]?.[0] === 0x8a, "the pong");
});

test("a message in too many pieces is refused", async () => {
  const pieces = Array.from({ length: 11 }, (_, i) => frame(i ? 0 : 1, "x".repeat(100), false));
  const { ended } = await open((accept) => Buffer.concat([Buffer.from(accepted(accept)), ...pieces]));
  await eventually(ended, "the end");
  expect(ended()?.why).toBe("GET /events: a message is too long");
});

test.each([
  ["a wrong key", () => accepted("wrong"), "GET /events: the answer is not of a WebSocket"],
  ["a refusal", () => 'HTTP/1.1 401 No\r\nContent-Length: 40\r\n\r\n{"errors":[{"detail":"The key is bad"}]}', "GET /events: 401: "],
  ["no HTTP", () => "nonsense\r\n\r\n", "GET /events: Parse Error"],
])("an answer with %s fails", async (_, answer, message) => {
  await expect(open(answer)).rejects.toThrow(message);
});

/** An address whose connections begin when the test says so. */
class SlowAddress extends Address {
  begin: () => void = () => undefined;

  override connect(...given: Parameters<Address["connect"]>): void {
    this.begin = () => super.connect(...given);
  }
}

test("an event socket that opens after its time limit is closed", async () => {
  let isClosed = false;
  const hello = frame(1, '{"event":"hello","seq":1}');
  const url = await listen((accept) => Buffer.concat([Buffer.from(accepted(accept)), hello]), { closed: () => (isClosed = true) });
  const address = new SlowAddress(url);
  const calls: string[] = [];
  const events = { heard: () => calls.push("heard"), event: () => calls.push("event"), lost: () => calls.push("lost") };
  const opening = openEventSocket(address, {}, {}, 100, new AbortController().signal, events);
  await expect(opening).rejects.toThrow("no first message within");
  address.begin();
  await eventually(() => isClosed, "the end of the connection");
  expect(calls).toEqual([]);
});
