// Requests to the server.

import http, { type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import { gunzipSync } from "node:zlib";
import type { Address } from "./address.js";
import { ConnectionError, SettingsError } from "./errors.js";
import { asError, errorOf } from "./failures.js";
import { VERSION } from "./version.js";

export const USER_AGENT = `signalbox-typescript/${VERSION}`;

/** A request. */
export interface Request {
  method: string;
  path: string;
  query?: Readonly<Record<string, string>> | undefined;
  body?: unknown;
  headers?: Readonly<Record<string, string>>;
  /** Further statuses that are not errors. */
  accepted?: readonly number[];
}

/** An answer of the server. */
export class Response {
  constructor(
    readonly status: number,
    private readonly headers: http.IncomingHttpHeaders,
    readonly body: string,
  ) {}

  header(name: string): string | undefined {
    const found = this.headers[name];
    return Array.isArray(found) ? found[0] : found;
  }

  json(): unknown {
    return JSON.parse(this.body);
  }
}

/** Keeps connections to an address open. */
class AddressAgent extends http.Agent {
  constructor(
    private readonly address: Address,
    private readonly timeout: () => number,
  ) {
    super({ keepAlive: true, maxSockets: 4 });
  }

  // The types of Node.js 20 do not have the callback, which its documentation has.
  override createConnection(_options: object, done?: (error: Error | null, socket: Socket) => void): undefined {
    this.address.connect(this.timeout(), done as (error: Error | null, socket?: Socket) => void);
  }

  /** Closes the connections that wait for a request. */
  closeIdle(): void {
    for (const socket of Object.values(this.freeSockets).flatMap((sockets) => sockets ?? [])) {
      socket.destroy();
    }
  }
}

/** Sends requests. They do not keep the process alive unless `hold` was called. */
export class Transport {
  private readonly agent: AddressAgent;
  private readonly headers: Readonly<Record<string, string>>;
  private readonly open = new Set<http.ClientRequest>();
  private held = false;

  /** Throws a SettingsError. */
  constructor(
    readonly address: Address,
    key: string,
    public timeout: number,
  ) {
    if (!/^[\x21-\x7e]*$/.test(key)) {
      throw new SettingsError("the API key has a space, a line break or another character that no key has: check SIGNALBOX_API_KEY or key");
    }
    this.agent = new AddressAgent(address, () => this.timeout);
    this.headers = {
      Authorization: `Bearer ${key}`,
      "User-Agent": USER_AGENT,
      Accept: "application/vnd.api+json",
      "Accept-Encoding": "gzip",
      Prefer: "handling=strict",
      Host: address.authority,
    };
  }

  /** Sends a request. It rejects with an APIError for a status that is neither a success nor accepted, and with a
   * ConnectionError. */
  async request(request: Request): Promise<Response> {
    const name = `${request.method} ${request.path}`;
    const response = await this.exchange(name, request);
    if (response.status >= 300 && !request.accepted?.includes(response.status)) {
      throw errorOf(name, response.status, response.body, response.header("retry-after"));
    }
    return response;
  }

  /** Sends a request. If the server had closed the kept connection, it sends the request again over a new one. */
  private async exchange(name: string, request: Request): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await this.send(request);
      } catch (error) {
        if (attempt > 1 || !(error instanceof LostConnection)) {
          const cause = error instanceof LostConnection ? error.cause : error;
          throw new ConnectionError(`${name}: ${messageOf(cause)}`, { cause });
        }
        this.agent.closeIdle(); // they are probably closed too
      }
    }
  }

  private send(request: Request): Promise<Response> {
    const { path, query, body } = request;
    const text = body === undefined ? undefined : JSON.stringify(body);
    const type = text === undefined ? {} : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) };
    return new Promise((resolve, reject) => {
      const sent = http.request({
        agent: this.agent,
        method: request.method,
        path: this.address.path + path + (query ? `?${new URLSearchParams(query)}` : ""),
        headers: { ...this.headers, ...type, ...request.headers },
      });
      this.open.add(sent);
      sent.on("close", () => this.open.delete(sent));
      sent.on("socket", (socket) => (this.held ? socket.ref() : socket.unref()));
      sent.setTimeout(this.timeout, () => sent.destroy(new Error(`no answer within ${this.timeout} ms`)));
      sent.on("error", (error: NodeJS.ErrnoException) => {
        const lost = sent.reusedSocket && (error.code === "ECONNRESET" || error.code === "EPIPE");
        reject(lost ? new LostConnection(error) : error);
      });
      sent.on("response", (message) => readBody(message).then(resolve, reject));
      sent.end(text);
    });
  }

  /** Lets open and later requests keep the process alive, for the last report. */
  hold(): void {
    this.held = true;
    for (const each of this.open) {
      each.socket?.ref();
    }
  }

  /** Ends all requests that wait for an answer. */
  abort(): void {
    for (const each of this.open) {
      each.destroy(new Error("the box is closed"));
    }
  }

  close(): void {
    this.agent.destroy();
  }
}

class LostConnection {
  constructor(readonly cause: Error) {}
}

/** Reads the whole answer to a request. */
export async function readBody(message: IncomingMessage): Promise<Response> {
  const chunks: Buffer[] = [];
  for await (const chunk of message) {
    chunks.push(chunk);
  }
  const body = Buffer.concat(chunks);
  const text = message.headers["content-encoding"] === "gzip" ? gunzipSync(body) : body;
  return new Response(message.statusCode ?? 0, message.headers, text.toString("utf8"));
}

/** Returns the message of an error. An error for several attempts, such as over IPv4 and IPv6, has only the messages of its
 * parts. */
export function messageOf(thrown: unknown): string {
  const error = asError(thrown);
  if (error instanceof AggregateError && !error.message) {
    return error.errors.map((each) => asError(each).message).join("; ");
  }
  return error.message || error.name;
}
