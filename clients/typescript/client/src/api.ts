/**
 * Management calls: every request under /api/v1, as the server's OpenAPI document describes it.
 *
 *     const api = new API(); // SIGNALBOX_URL, SIGNALBOX_API_KEY
 *     const { data } = await api.listFlags({ query: { "filter[managed]": true } });
 *     await api.createFlag({ body: { data: { id: "checkout-v2", type: "flag", attributes: { type: "BOOLEAN", default: false } } } });
 *
 * A call resolves to the decoded document, or undefined for an answer without one. A request that the server refuses rejects
 * with an APIError that has the server's own sentences.
 */

import { randomUUID } from "node:crypto";
import type { SecureContextOptions } from "node:tls";
import { Address } from "./address.js";
import { SettingsError } from "./errors.js";
import { Transport } from "./http.js";
import { OPERATIONS } from "./operations.js";
import type { components, operations } from "./schema.js";

export * from "./errors.js";
export type { components, operations } from "./schema.js";

/** The name of a call. */
export type OperationName = keyof typeof OPERATIONS & keyof operations;

/** A resource or another schema of the server's OpenAPI document, such as `Schema<"Flag">`. */
export type Schema<K extends keyof components["schemas"]> = components["schemas"][K];

type Parameters<K extends OperationName> = operations[K]["parameters"];

type Path<K extends OperationName> = Parameters<K> extends { path: infer P } ? { path: P } : object;
type Query<K extends OperationName> =
  Parameters<K> extends { query: infer Q } ? { query: Q } : Parameters<K> extends { query?: infer Q } ? { query?: Q } : object;
type Headers<K extends OperationName> = Parameters<K> extends { header?: infer H } ? { headers?: H } : object;
type Content<R> = R extends { content: infer C } ? C[keyof C] : never;
type Body<K extends OperationName> = operations[K] extends { requestBody: infer R }
  ? { body: Content<R> }
  : operations[K] extends { requestBody?: infer R }
    ? [Content<NonNullable<R>>] extends [never]
      ? object
      : { body?: Content<NonNullable<R>> }
    : object;

/** The argument of a call: the path, query, headers and body that the request has. */
export type CallOf<K extends OperationName> = Path<K> & Query<K> & Headers<K> & Body<K>;

type Success = 200 | 201 | 202 | 204 | 207;
type Responses<K extends OperationName> = operations[K]["responses"];
type Documents<R> = R extends { content: infer C } ? C[keyof C] : undefined;

/** The result of a call. */
export type AnswerOf<K extends OperationName> = Documents<Responses<K>[keyof Responses<K> & Success]>;

/** Makes one call. The argument may be left out if nothing in it is required. */
export type Call<K extends OperationName> =
  object extends CallOf<K> ? (call?: CallOf<K>) => Promise<AnswerOf<K>> : (call: CallOf<K>) => Promise<AnswerOf<K>>;

/** Settings of the management calls. */
export interface APIOptions {
  /** The URL of the server, instead of SIGNALBOX_URL. */
  url?: string;
  /** The API key, instead of SIGNALBOX_API_KEY. */
  key?: string;
  /** How long the server may take until the first, and between two parts of an answer, in milliseconds. */
  timeout?: number;
  /** Certificates of your own, as for tls.createSecureContext. */
  tls?: SecureContextOptions;
}

/** The management calls of a server. */
export type API = { readonly [K in OperationName]: Call<K> } & { close(): void };

interface AnyCall {
  path?: Readonly<Record<string, string | number>>;
  query?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, unknown>>;
  body?: unknown;
}

/** Makes the calls. It throws a SettingsError if there is no server or no key, or if one of them is invalid. */
export const API = class {
  private readonly transport: Transport;

  constructor(options: APIOptions = {}) {
    const url = options.url ?? process.env.SIGNALBOX_URL;
    const key = (options.key ?? process.env.SIGNALBOX_API_KEY)?.trim();
    if (!url || !key) {
      throw new SettingsError("no server or no API key: set SIGNALBOX_URL and SIGNALBOX_API_KEY, or pass url and key");
    }
    this.transport = new Transport(new Address(url, options.tls), key, options.timeout ?? 30_000);
    this.transport.hold();
    const calls = Object.entries(OPERATIONS).map(([name, operation]) => [name, (call?: AnyCall) => this.call(operation, call ?? {})]);
    Object.assign(this, Object.fromEntries(calls));
  }

  /** Closes the connections. */
  close(): void {
    this.transport.close();
  }

  private async call(operation: string, { path = {}, query = {}, headers = {}, body }: AnyCall): Promise<unknown> {
    const [method = "", template = ""] = operation.split(" ");
    const response = await this.transport.request({
      method,
      path: template.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(path[name]))),
      query: Object.keys(query).length > 0 ? texts(query) : undefined,
      // The transport sends a request again if the connection was lost. The server then carries it out once.
      headers: { ...(method === "POST" ? { "Idempotency-Key": randomUUID() } : {}), ...texts(headers) },
      body,
    });
    return response.body ? response.json() : undefined;
  }
} as unknown as new (
  options?: APIOptions,
) => API;

function texts(members: Readonly<Record<string, unknown>>): Record<string, string> {
  const given = Object.entries(members).filter(([, value]) => value !== undefined && value !== null);
  return Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
}
