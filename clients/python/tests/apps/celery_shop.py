"""A Celery worker, which forks its processes after the box was started."""

from __future__ import annotations

import logging
import os
from typing import Any

import celery
from celery.signals import worker_process_shutdown

import signalbox

folder = os.environ["CELERY_FOLDER"]
app = celery.Celery("shop", broker="filesystem://", backend=f"file://{folder}/results")
app.conf.broker_transport_options = {
    "data_folder_in": f"{folder}/queue",
    "data_folder_out": f"{folder}/queue",
    "control_folder": f"{folder}/control",
    "polling_interval": 0.02,
}

box = signalbox.start(cache=False)
signalbox.logging.install(box)
new_checkout = box.boolean("frameworks.flag", default=False)
log = logging.getLogger("frameworks.shop")


@worker_process_shutdown.connect  # type: ignore[untyped-decorator]
def report(**_: Any) -> None:
    box.close()


@app.task  # type: ignore[untyped-decorator]
def checkout(plan: str) -> dict[str, Any]:
    with signalbox.context(user={"key": "alice", "plan": plan}):
        return {"new": new_checkout(), "level": log.getEffectiveLevel(), "worker": os.getpid()}
