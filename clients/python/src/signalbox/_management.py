"""The base of the generated management calls."""

from __future__ import annotations

import ssl
import uuid
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from ._http import Address, Transport, segment
from ._settings import key_problem, read
from .errors import SettingsError


class Management:
    """Sends management requests, one at a time. It is safe for use by many threads."""

    def __init__(
        self, url: str | None = None, key: str | None = None, *, timeout: float = 30, ssl_context: ssl.SSLContext | None = None
    ) -> None:
        """url and key: instead of SIGNALBOX_URL and SIGNALBOX_API_KEY. timeout: in seconds, of each part of an answer."""
        url, key = read(url, "SIGNALBOX_URL"), read(key, "SIGNALBOX_API_KEY")
        if not url or not key:
            raise SettingsError("no server or no API key: set SIGNALBOX_URL and SIGNALBOX_API_KEY, or pass url= and key=")
        problem = key_problem(key)
        if problem is not None:
            raise problem
        self._transport = Transport(Address(url, ssl_context), key, timeout)

    def __enter__(self) -> Any:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connection."""
        self._transport.close()

    def _call(
        self, method: str, path: str, body: Mapping[str, Any] | None, query: Mapping[str, Any], headers: Mapping[str, str | None]
    ) -> Any:
        sent = {name: each for name, each in headers.items() if each is not None}
        if method == "POST":
            # The transport sends a request again if the connection was lost. The server then carries it out once.
            sent.setdefault("Idempotency-Key", uuid.uuid4().hex)
        if "Signalbox-Note" in sent:
            sent["Signalbox-Note"] = segment(sent["Signalbox-Note"])
        response = self._transport.request(
            method,
            path,
            body=body,
            query={name: _text(each) for name, each in query.items() if each is not None},
            headers=sent,
        )
        return response.json() if response.body else None

    def _segment(self, text: str) -> str:
        return segment(text)


def _text(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
