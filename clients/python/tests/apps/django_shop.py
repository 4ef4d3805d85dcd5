"""A Django project in one file."""

from __future__ import annotations

import logging
import os
from typing import Any

import django
from django.conf import settings
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, JsonResponse
from django.urls import path

import signalbox
import signalbox.django

settings.configure(
    ALLOWED_HOSTS=["*"],
    ROOT_URLCONF=__name__,
    MIDDLEWARE=[f"{__name__}.flags"],
    LOGGING={"version": 1, "disable_existing_loggers": False, "loggers": {"shop": {"level": "WARNING"}}},
)
django.setup()

box = signalbox.start(cache=False)
signalbox.logging.install(box)
new_checkout = box.boolean("frameworks.flag", default=False)
log = logging.getLogger("frameworks.shop")


def user_of(request: HttpRequest) -> dict[str, Any]:
    return {"user": {"key": request.headers.get("X-User", ""), "plan": request.headers.get("X-Plan", "")}}


flags = signalbox.django.context_middleware(user_of)


def checkout(_request: HttpRequest) -> JsonResponse:
    return JsonResponse({"new": new_checkout(), "level": log.getEffectiveLevel(), "worker": os.getpid()})


urlpatterns = [path("checkout", checkout)]
app = get_wsgi_application()
