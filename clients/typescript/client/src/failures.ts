// Converts answers and thrown values to errors.

import {
  APIError,
  ConflictError,
  type ErrorObject,
  ForbiddenError,
  InvalidError,
  LimitError,
  NotFoundError,
  RateLimitedError,
  UnauthorizedError,
} from "./errors.js";

const CLASSES: Readonly<Record<number, typeof APIError>> = {
  400: InvalidError,
  401: UnauthorizedError,
  402: LimitError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  429: RateLimitedError,
};

/** Returns the error for an answer; its class depends on the status. */
export function errorOf(request: string, status: number, body: string, retryAfter: string | null | undefined): APIError {
  const seconds = /^[0-9]+$/.test(retryAfter ?? "") ? Number(retryAfter) : 0;
  return new (CLASSES[status] ?? APIError)(request, status, errorsIn(body), seconds);
}

function errorsIn(body: string): ErrorObject[] {
  try {
    const { errors, errorCode, errorDetails } = JSON.parse(body);
    if (typeof errorDetails === "string") {
      return [{ code: String(errorCode ?? ""), detail: errorDetails }]; // of the OpenFeature Remote Evaluation Protocol
    }
    return Array.isArray(errors) ? errors.filter((each) => typeof each === "object" && each !== null) : [];
  } catch {
    return [];
  }
}

/** Returns anything that was thrown as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
