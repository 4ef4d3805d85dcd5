import { clock } from "./clock";
import { parse, stringify } from "./json";
import { Keys } from "./keys";
import type { components } from "./schema";

type Problem = components["schemas"]["Error"];

/**
 * ApiError is a refusal by the server. Its code is "offline" when a read did not reach the server, and "unknown" when the
 * answer to a write did not arrive.
 */
export class ApiError extends Error {
  override name = "ApiError";
  readonly status: number;
  readonly code: string;
  readonly problems: Problem[];
  readonly requestId: string;

  constructor(status: number, code: string, detail: string, requestId: string, problems: Problem[] = []) {
    super(detail);
    this.status = status;
    this.code = code;
    this.requestId = requestId;
    this.problems = problems;
  }

  /** meta returns the `meta` of the first problem. */
  get meta(): Record<string, unknown> {
    return (this.problems[0]?.meta ?? {}) as Record<string, unknown>;
  }

  /** at returns the message about a member of the body, found by its pointer. */
  at(pointer: string): string | undefined {
    const found = this.problems.find((problem) => problem.source?.pointer === pointer);
    return found && sentence(found);
  }

  /** within returns the first message about a part of the value at a JSON pointer, such as an entry of a list. */
  within(pointer: string): string | undefined {
    const found = this.problems.find((problem) => problem.source?.pointer?.startsWith(`${pointer}/`));
    return found && (found.detail ?? found.title);
  }
}

/** sentence returns the message of a problem without the name of its member, beside which it is shown. */
export function sentence({ detail, title, source }: Problem): string {
  const member = `${source?.pointer?.replace(/^\/data\/(attributes\/)?/, "") ?? ""} `;
  const text = detail ?? title;
  return text.startsWith(member) ? text.slice(member.length) : text;
}

/** asApiError returns any failure as an ApiError, so that one component can show all failures. */
export function asApiError(failure: unknown): ApiError {
  if (failure instanceof ApiError) return failure;
  return new ApiError(0, "console_error", failure instanceof Error ? failure.message : String(failure), "");
}

export type Method = "GET" | "POST" | "PUT" | "DELETE";
export type Query = Record<string, string | number | boolean | undefined>;

export interface Sending {
  query?: Query;
  body?: unknown;
  ifMatch?: string;
  signal?: AbortSignal;
  /** anonymous requests do not ask for a new sign-in when nobody is signed in. */
  anonymous?: boolean;
  /** note is the reason for the write, for the history. */
  note?: string;
}

/** around holds the functions of the surrounding page that the client calls; the frame sets them. */
export const around: {
  /** signIn asks to sign in again after the session has ended. It returns true if the same person signed in. */
  signIn?: () => Promise<boolean>;
  /** doubt is called when the server does not answer. */
  doubt?: () => void;
} = {};

export interface Answer<T> {
  document: T;
  etag: string;
  /** change is the number of the change that a write has made; "" if it made none, or the answer is a repetition. */
  change: string;
  requestId: string;
}

/** address returns a path with its query; parameters that are undefined or empty are left out. */
export function address(path: string, query: Query = {}): string {
  const parameters = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== "") parameters.set(name, String(value));
  }
  const text = parameters.toString();
  return text === "" ? path : `${path}?${text}`;
}

const keys = new Keys();

/**
 * send makes one request and returns its document, or throws an ApiError. When the session has ended, it asks to sign
 * in and sends the request again. A POST that writes has an idempotency key: the same action is carried out once,
 * however often it is sent.
 */
export async function send<T>(method: Method, path: string, sending: Sending = {}): Promise<Answer<T>> {
  const { query, body, signal, anonymous } = sending;
  const url = address(path, query);
  const text = body === undefined ? undefined : stringify(body);
  const isRead = method === "GET" || query?.dry_run === true || path.endsWith("/actions/evaluate");
  const action = method === "POST" && !isRead ? `${url} ${text}` : undefined;
  const headers = headersOf(sending, action && keys.of(action));
  for (let asked = anonymous; ; asked = true) {
    const { response, content } = await reach(url, { method, headers, signal, body: text }, isRead);
    const failure = response.ok ? undefined : refusal(response, content);
    if (failure?.status === 401 && !asked && (await around.signIn?.())) continue;
    if (failure?.code === "in_progress" && !asked) {
      await new Promise((resolve) => setTimeout(resolve, 1000 * Number(response.headers.get("Retry-After") ?? 1)));
      continue;
    }
    if (action) keys.settle(action);
    if (failure) throw failure;
    const header = (name: string) => response.headers.get(name) ?? "";
    return { document: content as T, etag: header("ETag"), change: header("Signalbox-Change"), requestId: header("X-Request-Id") };
  }
}

function headersOf({ body, ifMatch, note }: Sending, key: string | undefined): Record<string, string> {
  const headers: Record<string, string> = { Accept: "application/vnd.api+json", Prefer: "handling=strict" };
  if (body !== undefined) headers["Content-Type"] = "application/vnd.api+json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  if (key) headers["Idempotency-Key"] = key;
  if (note) headers["Signalbox-Note"] = encodeURIComponent(note);
  return headers;
}

/** patience is how long an answer may take, in milliseconds. */
const patience = 10_000;

/**
 * reach sends a request and returns the whole answer. Without an answer, nobody knows whether a write was
 * carried out.
 */
async function reach(url: string, { signal, ...init }: RequestInit, isRead: boolean): Promise<{ response: Response; content: unknown }> {
  const limit = new AbortController();
  const timer = setTimeout(() => limit.abort(), patience);
  const onAbort = () => limit.abort();
  signal?.addEventListener("abort", onAbort);
  try {
    const response = await fetch(url, { ...init, signal: limit.signal, credentials: "same-origin", cache: "no-cache" });
    clock.hear(response.headers.get("Date"));
    return { response, content: parsed(await response.text()) };
  } catch (failure) {
    if (signal?.aborted) throw failure;
    around.doubt?.();
    throw lost(isRead);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
  }
}

function lost(isRead: boolean): ApiError {
  if (isRead) return new ApiError(0, "offline", "The server cannot be reached.", "");
  return new ApiError(0, "unknown", "The server did not answer, so it is not known whether this was done.", "");
}

function parsed(text: string): unknown {
  try {
    return text === "" ? undefined : parse(text);
  } catch {
    return undefined; // a page of a proxy: only its status is used
  }
}

function refusal(response: Response, content: unknown): ApiError {
  const problems = (content as { errors?: Problem[] } | undefined)?.errors ?? [];
  const detail = problems.map((problem) => problem.detail ?? problem.title).join(" ") || `The server answered ${response.status}.`;
  const requestId = response.headers.get("X-Request-Id") ?? "";
  return new ApiError(response.status, problems[0]?.code ?? "unreadable", detail, requestId, problems);
}
