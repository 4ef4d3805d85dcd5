// The event socket.

import type { Address } from "./address.js";
import { ConnectionError, type SignalboxError } from "./errors.js";
import { isObject, type Members } from "./values.js";
import { openWebSocket, type WebSocketConnection } from "./websocket.js";

/** The longest message that is read; it is larger than any event. */
const MAX_EVENT = 64 << 10;

const PATH = "/api/ws/v1/events";

/** The callbacks of a socket after its first message. */
export interface SocketEvents {
  /** Data arrived, with or without an event. */
  heard(): void;
  event(event: Members): void;
  /** The connection has ended. refused is true if the server ended it because of the key. */
  lost(error: SignalboxError, refused: boolean): void;
}

/** The close code when the key was revoked or has expired. */
const POLICY_VIOLATION = 1008;

/** Opens the event socket and waits for its first message. It returns the connection and the message's seq. */
export function openEventSocket(
  address: Address,
  headers: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>>,
  timeout: number,
  signal: AbortSignal,
  events: SocketEvents,
): Promise<{ connection: WebSocketConnection; seq: number }> {
  return new Promise((resolve, reject) => {
    let connection: WebSocketConnection | undefined;
    let first = true;
    let settled = false;
    const limit = 2 * timeout;
    const timer = setTimeout(() => fail(new ConnectionError(`GET ${PATH}: no first message within ${limit} ms`)), limit).unref();
    const settle = () => {
      settled = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", aborted);
    };
    const fail = (error: unknown) => {
      settle();
      connection?.close();
      reject(error);
    };
    const aborted = () => fail(new ConnectionError(`GET ${PATH}: the box is closed`));
    const opened = (made: WebSocketConnection) => {
      connection = made;
      if (settled || signal.aborted) {
        made.close(); // it took longer than the limit
      }
    };
    signal.addEventListener("abort", aborted);
    const text = (message: string) => {
      events.heard();
      if (message === "ping") {
        connection?.send("pong");
        return;
      }
      const event = eventIn(message);
      if (!event) {
        connection?.close();
        ended(undefined, new ConnectionError(`GET ${PATH}: a message is not an event`));
      } else if (!first) {
        events.event(event);
      } else if (connection) {
        first = false;
        settle();
        resolve({ connection, seq: typeof event.seq === "number" ? event.seq : 0 });
      }
    };
    const ended = (code: number | undefined, error: ConnectionError) => {
      if (first) {
        fail(error);
      } else {
        events.lost(error, code === POLICY_VIOLATION);
      }
    };
    const shake = { address, path: PATH, headers, query, timeout, maxSize: MAX_EVENT };
    openWebSocket(shake, { opened, text, ended }).catch(fail);
  });
}

function eventIn(message: string): Members | undefined {
  try {
    const event: unknown = JSON.parse(message);
    return isObject(event) ? event : undefined;
  } catch {
    return undefined;
  }
}
