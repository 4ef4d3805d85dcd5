"""A shop that follows Signalbox: a flag, a log level and a config, under FastAPI.

export SIGNALBOX_URL=http://127.0.0.1:8080 SIGNALBOX_API_KEY=… SIGNALBOX_ENVIRONMENT=production SIGNALBOX_SERVICE=shop
gunicorn --worker-class uvicorn_worker.UvicornWorker --workers 4 shop:app
"""

# pyright: strict
from __future__ import annotations

import logging
import os
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import fastapi

import signalbox
import signalbox.asgi


@dataclass(frozen=True)
class Checkout:
    """The config "checkout" of the account, with the defaults of the code."""

    timeout_ms: int = 1500


logging.basicConfig(format="%(levelname)s %(name)s: %(message)s")
log = logging.getLogger("shop.payments")

box = signalbox.start()
signalbox.logging.install(box)
new_checkout = box.boolean("checkout-v2", default=False)
settings = box.config("checkout", Checkout)


@asynccontextmanager
async def lifespan(_app: fastapi.FastAPI) -> AsyncGenerator[None, None]:
    """Sends the last report when a worker stops."""
    yield
    box.close()


def contexts_of(scope: Any) -> dict[str, Any]:
    """Returns whom a request is evaluated for. A real shop asks its session."""
    headers = {name.decode(): value.decode(errors="replace") for name, value in scope["headers"]}
    return {"user": {"key": headers.get("x-user", ""), "plan": headers.get("x-plan", "free")}}


app = fastapi.FastAPI(lifespan=lifespan)
app.add_middleware(signalbox.asgi.ContextMiddleware, contexts=contexts_of)


@app.get("/checkout")
async def checkout() -> dict[str, Any]:
    """Checks out, the new way for those who have the flag."""
    log.debug("Checking out within %s ms.", settings.value.timeout_ms)
    return {
        "new": new_checkout(),
        "timeout_ms": settings.value.timeout_ms,
        "level": log.getEffectiveLevel(),
        "worker": os.getpid(),
    }


@app.get("/health")
def health() -> dict[str, str]:
    """Shows how current the values are. The shop works with the last known ones, so it is healthy in any case."""
    return {"signalbox": str(box.state)}
