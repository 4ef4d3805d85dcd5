"""The errors of this package. Reading a flag, a level or a config never raises one."""

from __future__ import annotations

import json
from typing import Any


class SignalboxError(Exception):
    """The base of all errors of this package."""


class SettingsError(SignalboxError, ValueError):
    """A setting is missing or invalid."""


class NotReadyError(SignalboxError, TimeoutError):
    """The server has not answered in time."""


class ConnectionFailed(SignalboxError, ConnectionError):  # noqa: N818, named like those of the standard library
    """The server could not be reached."""


class ServerStaleError(SignalboxError):
    """The server cannot reach its database; these are the last values that it knows."""


class ClosedError(SignalboxError):
    """The box is closed."""


class NotFollowedError(SignalboxError):
    """The process has no thread or descriptor left for following the server."""


class APIError(SignalboxError):
    """The server's answer to a request that it refused. Its text has the server's own sentences."""

    def __init__(self, request: str, status: int, errors: list[dict[str, Any]], retry_after: float = 0) -> None:
        details = "; ".join(_sentence(each) for each in errors) or "no explanation"
        super().__init__(f"{request}: {status}: {details}")
        #: The method and path of the request.
        self.request = request
        self.status = status
        #: The errors of the answer, each with status, code, title, and, if they apply, detail, source and meta.
        self.errors = errors
        #: How many seconds to wait before another attempt, if the server says so.
        self.retry_after = retry_after

    def __reduce__(self) -> tuple[Any, ...]:
        # By default, pickle creates an exception from its text alone, which this class does not accept: a worker
        # process could not pass the error to its parent.
        return type(self), (self.request, self.status, self.errors, self.retry_after)

    @property
    def code(self) -> str:
        """The code of the first error, such as "not_found"; empty if the answer has none."""
        return str(self.errors[0].get("code", "")) if self.errors else ""

    @classmethod
    def of(cls, request: str, status: int, body: bytes, retry_after: str | None) -> APIError:
        """Returns the error for an answer; its class depends on the status."""
        try:
            document = json.loads(body)
            errors = [each for each in document["errors"] if isinstance(each, dict)]
        except (ValueError, TypeError, KeyError, RecursionError):
            errors = []
        seconds = float(retry_after) if retry_after and retry_after.isdecimal() else 0.0
        return _CLASSES.get(status, cls)(request, status, errors, seconds)


class UnauthorizedError(APIError):
    """401: the key is missing, unknown, revoked or expired."""


class ForbiddenError(APIError):
    """403: the role or the scope of the key does not allow the request."""


class NotFoundError(APIError):
    """404: there is no such resource."""


class ConflictError(APIError):
    """409: the resource exists, or its state does not allow the request."""


class InvalidError(APIError):
    """400: the request breaks a rule; `errors` has one entry for each problem, with its pointer or parameter."""


class LimitError(APIError):
    """402: a limit of the account's plan is reached."""


class RateLimitedError(APIError):
    """429: too many requests."""


_CLASSES: dict[int, type[APIError]] = {
    400: InvalidError,
    401: UnauthorizedError,
    402: LimitError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    429: RateLimitedError,
}


def _sentence(error: dict[str, Any]) -> str:
    text = str(error.get("detail") or error.get("title") or error.get("code") or "unknown")
    source = error.get("source")
    where = source.get("pointer") or source.get("parameter") or source.get("header") if isinstance(source, dict) else None
    return f"{text} ({where})" if where else text
