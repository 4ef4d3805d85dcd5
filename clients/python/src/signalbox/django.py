"""Sets the contexts of a request in Django, by a middleware of your own:

# shop/middleware.py
flags = signalbox.django.context_middleware(lambda request: {"user": {"key": str(request.user.pk or "")}})

# settings.py, after AuthenticationMiddleware
MIDDLEWARE = [..., "shop.middleware.flags"]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from inspect import iscoroutinefunction
from typing import Any

from ._context import context

__all__ = ["context_middleware"]

Contexts = Mapping[str, Mapping[str, Any] | str]


def context_middleware(contexts: Callable[[Any], Contexts]) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Returns a middleware that evaluates flags for the contexts that a function returns for a request. It works for
    synchronous and asynchronous views. In an asynchronous application, the function must not read from the database."""

    def middleware(get_response: Callable[[Any], Any]) -> Callable[[Any], Any]:
        if iscoroutinefunction(get_response):

            async def handle_async(request: Any) -> Any:
                with context(**contexts(request)):
                    return await get_response(request)

            return handle_async

        def handle(request: Any) -> Any:
            with context(**contexts(request)):
                return get_response(request)

        return handle

    # django.utils.decorators.sync_and_async_middleware sets the same attributes.
    middleware.sync_capable = True  # type: ignore[attr-defined]
    middleware.async_capable = True  # type: ignore[attr-defined]
    return middleware
