// The client's side of a WebSocket (RFC 6455), over a connection of node:http.
//
// The WebSocket of Node.js 22 keeps the process alive until it is closed, does not show the answer that refuses a connection,
// and takes no certificates. Node.js 20 has no WebSocket.

import { createHash, randomBytes } from "node:crypto";
import http from "node:http";
import type { Socket } from "node:net";
import type { Address } from "./address.js";
import { ConnectionError } from "./errors.js";
import { errorOf } from "./failures.js";
import { messageOf, readBody } from "./http.js";

const MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const PING = 9;
const PONG = 10;

interface Frame {
  final: boolean;
  opcode: number;
  payload: Buffer;
}

/** Cuts received bytes into frames. */
export class FrameReader {
  private buffered: Buffer = Buffer.alloc(0);

  /** maxSize is the longest payload of a frame that is accepted. */
  constructor(private readonly maxSize: number) {}

  /** Returns the frames that are complete with these bytes. It throws an error for bytes that a server must not send. */
  push(bytes: Buffer): Frame[] {
    this.buffered = this.buffered.length > 0 ? Buffer.concat([this.buffered, bytes]) : bytes;
    const frames: Frame[] = [];
    for (let frame = this.next(); frame; frame = this.next()) {
      frames.push(frame);
    }
    return frames;
  }

  private next(): Frame | undefined {
    const bytes = this.buffered;
    if (bytes.length < 2) {
      return undefined;
    }
    const first = bytes.readUInt8(0);
    const second = bytes.readUInt8(1);
    if ((first & 0x70) !== 0 || (second & 0x80) !== 0) {
      throw new Error("a frame of the server has reserved bits or a mask");
    }
    const extended = second === 126 ? 2 : second === 127 ? 8 : 0;
    if (bytes.length < 2 + extended) {
      return undefined;
    }
    const size = extended === 0 ? second : extended === 2 ? bytes.readUInt16BE(2) : Number(bytes.readBigUInt64BE(2));
    if (size > this.maxSize) {
      throw new Error(`a frame of ${size} bytes is too long`);
    }
    const start = 2 + extended;
    if (bytes.length < start + size) {
      return undefined;
    }
    this.buffered = bytes.subarray(start + size);
    return { final: (first & 0x80) !== 0, opcode: first & 0x0f, payload: bytes.subarray(start, start + size) };
  }
}

/** Returns a whole message in a frame, masked as every frame of a client. */
export function frameOf(opcode: number, payload: Buffer): Buffer {
  const mask = randomBytes(4);
  const size = payload.length;
  const head = size < 126 ? Buffer.from([0x80 | opcode, 0x80 | size]) : Buffer.from([0x80 | opcode, 0xfe, size >> 8, size & 0xff]);
  const masked = payload.map((byte, i) => byte ^ (mask[i & 3] as number));
  return Buffer.concat([head, mask, masked]);
}

/** The callbacks of a connection. ended is called once, as the last one. */
export interface WebSocketEvents {
  opened(connection: WebSocketConnection): void;
  text(message: string): void;
  ended(code: number | undefined, why: ConnectionError): void;
}

/** An open connection. */
export class WebSocketConnection {
  private readonly reader: FrameReader;
  private fragments: Buffer[] = [];
  private isEnded = false;

  constructor(
    private readonly socket: Socket,
    private readonly name: string,
    private readonly maxSize: number,
    private readonly events: WebSocketEvents,
  ) {
    this.reader = new FrameReader(maxSize);
    socket.setNoDelay(true);
    socket.setTimeout(0);
    socket.unref();
    socket.on("data", (bytes) => this.receive(bytes));
    socket.on("error", (error) => this.end(undefined, messageOf(error)));
    socket.on("close", () => this.end(undefined, "the connection ended"));
  }

  /** Takes bytes that came with the answer to the handshake. */
  receive(bytes: Buffer): void {
    try {
      for (const frame of this.reader.push(bytes)) {
        if (this.isEnded) {
          return;
        }
        this.take(frame);
      }
    } catch (error) {
      this.end(undefined, messageOf(error));
    }
  }

  private take({ final, opcode, payload }: Frame): void {
    switch (opcode) {
      case TEXT:
      case CONTINUATION:
        this.fragments.push(payload);
        if (this.fragments.reduce((size, each) => size + each.length, 0) > this.maxSize) {
          throw new Error("a message is too long");
        }
        if (final) {
          const message = Buffer.concat(this.fragments).toString("utf8");
          this.fragments = [];
          this.events.text(message);
        }
        break;
      case PING:
        this.write(PONG, payload);
        break;
      case CLOSE: {
        const code = payload.length >= 2 ? payload.readUInt16BE(0) : undefined;
        this.write(CLOSE, payload.subarray(0, 2));
        this.end(code, `closed with ${code ?? "no code"} ${payload.toString("utf8", 2)}`.trimEnd());
        break;
      }
      case PONG:
        break;
      default:
        throw new Error(`a frame has the unknown opcode ${opcode}`);
    }
  }

  send(text: string): void {
    this.write(TEXT, Buffer.from(text));
  }

  private write(opcode: number, payload: Buffer): void {
    if (!this.socket.destroyed) {
      this.socket.write(frameOf(opcode, payload));
    }
  }

  private end(code: number | undefined, why: string): void {
    if (!this.isEnded) {
      this.isEnded = true;
      this.socket.destroySoon();
      this.events.ended(code, new ConnectionError(`${this.name}: ${why}`));
    }
  }

  /** Ends the connection without a call of ended. */
  close(): void {
    if (!this.isEnded) {
      this.isEnded = true;
      this.write(CLOSE, Buffer.from([0x03, 0xe8])); // 1000: normal closure
      this.socket.destroySoon();
    }
  }
}

export interface Handshake {
  address: Address;
  path: string;
  query: Readonly<Record<string, string>>;
  headers: Readonly<Record<string, string>>;
  timeout: number;
  maxSize: number;
}

/** Opens a connection. It rejects with an APIError if the server refuses it, and with a ConnectionError. */
export function openWebSocket(shake: Handshake, events: WebSocketEvents): Promise<void> {
  const { address, path, timeout } = shake;
  const name = `GET ${path}`;
  const key = randomBytes(16).toString("base64");
  const accepted = createHash("sha1")
    .update(key + MAGIC)
    .digest("base64");
  return new Promise((resolve, reject) => {
    const failed = (error: unknown) => reject(new ConnectionError(`${name}: ${messageOf(error)}`, { cause: error }));
    address.connect(timeout, (error, socket) => {
      if (error || !socket) {
        failed(error);
        return;
      }
      const request = http.request({
        createConnection: () => socket,
        path: `${address.path}${path}?${new URLSearchParams(shake.query)}`,
        headers: {
          ...shake.headers,
          Host: address.authority,
          Connection: "Upgrade",
          Upgrade: "websocket",
          "Sec-WebSocket-Version": "13",
          "Sec-WebSocket-Key": key,
        },
      });
      request.setTimeout(timeout, () => request.destroy(new Error(`no answer within ${timeout} ms`)));
      request.on("error", failed);
      request.on("response", (message) =>
        readBody(message).then((answer) => reject(errorOf(name, answer.status, answer.body, answer.header("retry-after"))), failed),
      );
      request.on("upgrade", (message, upgraded, first) => {
        if (message.headers["sec-websocket-accept"] !== accepted) {
          upgraded.destroy();
          failed(new Error("the answer is not of a WebSocket"));
          return;
        }
        const opened = new WebSocketConnection(upgraded as Socket, name, shake.maxSize, events);
        events.opened(opened);
        resolve();
        opened.receive(first);
      });
      request.end();
    });
  });
}
