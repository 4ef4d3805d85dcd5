"""Sets the contexts of a request in ASGI applications, such as FastAPI and Starlette:

app.add_middleware(signalbox.asgi.ContextMiddleware, contexts=lambda scope: {"user": {"key": user_of(scope)}})
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from ._context import context

__all__ = ["ContextMiddleware"]

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]


class ContextMiddleware:
    """Evaluates flags for the contexts that a function returns for a request. The scope has the headers and the path,
    and values of other middleware such as `scope["user"]`. The function must not block."""

    def __init__(self, app: App, contexts: Callable[[Scope], Mapping[str, Mapping[str, Any] | str]]) -> None:
        self._app = app
        self._contexts = contexts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handles a request."""
        if scope["type"] not in {"http", "websocket"}:
            await self._app(scope, receive, send)
            return
        with context(**self._contexts(scope)):
            await self._app(scope, receive, send)
