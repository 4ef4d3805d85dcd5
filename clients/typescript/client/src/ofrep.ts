// The OpenFeature Remote Evaluation Protocol, by which web pages read flags with a key that is not a secret.

import { ConnectionError } from "./errors.js";
import { asError, errorOf } from "./failures.js";
import { isObject, type Members } from "./values.js";

/** A flag that the server has evaluated. */
export interface Evaluated {
  readonly value?: unknown;
  readonly reason?: string;
  readonly variant?: string;
  readonly errorCode?: string;
}

/** A stream that announces changes. */
export interface EventStream {
  readonly url: string;
  /** After how many seconds to close the stream of a page that nobody sees. */
  readonly inactivityDelaySec: number;
}

/** The server's answer. */
export interface Evaluation {
  readonly flags: ReadonlyMap<string, Evaluated>;
  readonly etag: string;
  readonly streams: readonly EventStream[];
  /** When the server lost its database; it then answers from memory. */
  readonly staleSince?: string | undefined;
}

const PATH = "/ofrep/v1/evaluate/flags";

const INACTIVITY = 120;

/** Asks the server for all flags. It resolves to undefined if nothing has changed since an answer with this ETag. `cause` is the
 * etag of the event that causes the request, which the answer then includes. */
export async function evaluateAll(
  url: string,
  headers: Readonly<Record<string, string>>,
  context: Readonly<Members>,
  etag: string,
  signal: AbortSignal,
  cause = "",
): Promise<Evaluation | undefined> {
  const name = `POST ${PATH}`;
  let response: globalThis.Response;
  let body: string;
  try {
    const query = cause && `?${new URLSearchParams({ flagConfigEtag: cause })}`;
    response = await fetch(url.replace(/\/+$/, "") + PATH + query, {
      method: "POST",
      headers: { ...headers, "Content-Type": "application/json", ...(etag && { "If-None-Match": etag }) },
      body: JSON.stringify({ context }),
      cache: "no-store",
      signal,
    });
    body = await response.text();
  } catch (error) {
    throw new ConnectionError(`${name}: ${asError(error).message}`, { cause: error });
  }
  if (response.status === 304) {
    return undefined;
  }
  if (!response.ok) {
    throw errorOf(name, response.status, body, response.headers.get("retry-after"));
  }
  return read(name, body, response.headers.get("etag") ?? "", url);
}

function read(name: string, body: string, etag: string, base: string): Evaluation {
  let document: unknown;
  try {
    document = JSON.parse(body);
  } catch (error) {
    throw new ConnectionError(`${name}: the answer is not JSON`, { cause: error });
  }
  if (!isObject(document) || !Array.isArray(document.flags)) {
    throw new ConnectionError(`${name}: the answer has no flags`);
  }
  const flags = new Map<string, Evaluated>();
  for (const each of document.flags) {
    if (isObject(each) && typeof each.key === "string") {
      flags.set(each.key, each as Evaluated);
    }
  }
  const stale = isObject(document.metadata) ? document.metadata.stale_since : undefined;
  return { flags, etag, streams: streamsIn(document.eventStreams, base), staleSince: typeof stale === "string" ? stale : undefined };
}

/** Returns the streams that this client can read: Server-Sent Events. */
function streamsIn(streams: unknown, base: string): EventStream[] {
  return (Array.isArray(streams) ? streams : []).flatMap((each) => {
    if (!isObject(each) || each.type !== "sse") {
      return [];
    }
    const { url, endpoint } = each;
    const path = isObject(endpoint) ? endpoint.requestUri : undefined;
    const origin = isObject(endpoint) && typeof endpoint.origin === "string" ? endpoint.origin : base;
    try {
      const inactivityDelaySec = Number(each.inactivityDelaySec) > 0 ? Number(each.inactivityDelaySec) : INACTIVITY;
      return [{ url: new URL(String(url ?? path), origin).href, inactivityDelaySec }];
    } catch {
      return [];
    }
  });
}
