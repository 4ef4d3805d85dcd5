import type { components } from "./schema";

type Problem = components["schemas"]["Error"];

/** ApiError is a refusal by the server, or code "offline" when it cannot be reached. */
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
}

export interface Answer<T> {
  document: T;
  etag: string;
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

/** send makes one request and returns its document, or throws an ApiError. */
export async function send<T>(method: Method, path: string, { query, body, ifMatch, signal }: Sending = {}): Promise<Answer<T>> {
  const headers: Record<string, string> = { Accept: "application/vnd.api+json", Prefer: "handling=strict" };
  if (body !== undefined) headers["Content-Type"] = "application/vnd.api+json";
  if (ifMatch) headers["If-Match"] = ifMatch;
  const response = await reach(address(path, query), {
    method,
    headers,
    signal,
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const requestId = response.headers.get("X-Request-Id") ?? "";
  if (!response.ok) throw await refusal(response, requestId);
  const document = response.status === 204 || response.status === 202 ? undefined : await response.json();
  return { document: document as T, etag: response.headers.get("ETag") ?? "", requestId };
}

async function reach(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, credentials: "same-origin", cache: "no-cache" });
  } catch (failure) {
    if (init.signal?.aborted) throw failure;
    throw new ApiError(0, "offline", "The server cannot be reached. Nothing was changed.", "");
  }
}

async function refusal(response: Response, requestId: string): Promise<ApiError> {
  const problems = await response.json().then(
    (body) => (body.errors ?? []) as Problem[],
    () => [],
  );
  const first = problems[0];
  const detail = problems.map((problem) => problem.detail ?? problem.title).join(" ") || `The server answered ${response.status}.`;
  return new ApiError(response.status, first?.code ?? "unreadable", detail, requestId, problems);
}
