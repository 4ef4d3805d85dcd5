// The errors of this package. Reading a flag, a level or a config never throws one.

/** The base of all errors of this package. */
export class SignalboxError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A setting is missing or invalid. */
export class SettingsError extends SignalboxError {}

/** The server has not answered in time. */
export class NotReadyError extends SignalboxError {}

/** The box is closed. */
export class ClosedError extends SignalboxError {}

/** The server could not be reached. */
export class ConnectionError extends SignalboxError {}

/** The server cannot reach its database. */
export class ServerStaleError extends SignalboxError {}

/** One error of an answer, as JSON:API has it. */
export interface ErrorObject {
  readonly status?: string;
  readonly code?: string;
  readonly title?: string;
  readonly detail?: string;
  readonly source?: { readonly pointer?: string; readonly parameter?: string; readonly header?: string };
  readonly meta?: Readonly<Record<string, unknown>>;
}

/** The server's answer to a request that it refused. Its message has the server's own sentences. */
export class APIError extends SignalboxError {
  /** The code of the first error, such as "not_found"; empty if the answer has none. */
  readonly code: string;

  constructor(
    /** The method and path of the request. */
    readonly request: string,
    readonly status: number,
    /** The errors of the answer, one for each problem. */
    readonly errors: readonly ErrorObject[],
    /** How many seconds to wait before another attempt, if the server says so; else 0. */
    readonly retryAfter = 0,
  ) {
    super(`${request}: ${status}: ${errors.map(sentence).join("; ") || "no explanation"}`);
    this.code = String(errors[0]?.code ?? "");
  }
}

/** 400: the request breaks a rule; `errors` has one entry for each problem, with its pointer or parameter. */
export class InvalidError extends APIError {}
/** 401: the key is missing, unknown, revoked or expired. */
export class UnauthorizedError extends APIError {}
/** 402: a limit of the account's plan is reached. */
export class LimitError extends APIError {}
/** 403: the role or the scope of the key does not allow the request. */
export class ForbiddenError extends APIError {}
/** 404: there is no such resource. */
export class NotFoundError extends APIError {}
/** 409: the resource exists, or its state does not allow the request. */
export class ConflictError extends APIError {}
/** 429: too many requests. */
export class RateLimitedError extends APIError {}

function sentence(error: ErrorObject): string {
  const text = error.detail || error.title || error.code || "unknown";
  const where = error.source?.pointer ?? error.source?.parameter ?? error.source?.header;
  return where ? `${text} (${where})` : text;
}
