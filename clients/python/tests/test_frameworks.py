"""Real services follow a flag and a level: FastAPI and Django under gunicorn, whose workers are forked, and Celery."""

from __future__ import annotations

import contextlib
import json
import logging
import os
import signal
import socket
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from support import PATIENCE, ROOT, Server, eventually

APPS = Path(__file__).parent / "apps"
PRO = [{"logic": {"==": [{"var": "user.plan"}, "pro"]}, "value": True}]


def settings(server: Server, **more: str) -> dict[str, str]:
    """Returns the environment of a service."""
    return {
        **os.environ,
        "SIGNALBOX_URL": server.url,
        "SIGNALBOX_API_KEY": server.admin.key()[1],
        "SIGNALBOX_ENVIRONMENT": "production",
        "SIGNALBOX_SERVICE": "frameworks",
        "PYTHONPATH": f"{APPS}{os.pathsep}{ROOT / 'examples' / 'python-fastapi'}",
        **more,
    }


@contextlib.contextmanager
def running(command: list[str], environment: dict[str, str], folder: Path) -> Iterator[None]:
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=folder)
        try:
            yield
        except BaseException:
            sys.stderr.write((folder / "log").read_text())
            raise
        finally:
            process.terminate()
            assert process.wait(PATIENCE) in {0, -15}


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def asked(port: int, plan: str) -> Any:
    """Asks the service on a new connection; None while nobody answers."""
    headers = {"X-User": "alice", "X-Plan": plan, "X-Name": "Zoë"}  # which is not sent in UTF-8
    request = urllib.request.Request(f"http://127.0.0.1:{port}/checkout", headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:  # noqa: S310
            return json.load(answer)
    except OSError:
        return None


def follows(server: Server, ask: Callable[[str], Any], workers: int, flag: str, logger: str) -> None:
    """Changes a flag and a level, and waits until every worker has both."""
    server.admin.flag(flag, "BOOLEAN", default=False, rules=PRO)
    server.admin.level(logger, "DEBUG")
    following: dict[int, bool] = {}

    def all_follow() -> bool:
        answer = ask("pro")
        if answer:
            following[answer["worker"]] = answer["new"] is True and answer["level"] == logging.DEBUG
        return len(following) >= workers and all(following.values())

    eventually(all_follow, f"{workers} workers: {following}", 2 * PATIENCE)
    assert ask("free")["new"] is False
    server.admin.level(logger, None)
    released: dict[int, bool] = {}

    def all_released() -> bool:
        answer = ask("pro")
        released[answer["worker"]] = answer["level"] != logging.DEBUG
        return len(released) >= workers and all(released.values())

    eventually(all_released, f"the release: {released}")


@pytest.mark.parametrize("preload", [pytest.param([], marks=pytest.mark.soak), ["--preload"]], ids=["", "preload"])
def test_fastapi_under_gunicorn(server: Server, tmp_path: Path, preload: list[str]) -> None:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "4", *preload]
    command += ["--worker-class", "uvicorn_worker.UvicornWorker", "shop:app"]
    environment = settings(server, XDG_CACHE_HOME=str(tmp_path))
    with running(command, environment, tmp_path):
        eventually(lambda: asked(port, "free"), "the service")
        follows(server, lambda plan: asked(port, plan), 4, "checkout-v2", "shop.payments")


@pytest.mark.soak
def test_fastapi_is_reloaded(server: Server, tmp_path: Path) -> None:
    """uvicorn ends the process of the service and starts another one when a file changes."""
    file = tmp_path / "shop.py"
    code = (ROOT / "examples" / "python-fastapi" / "shop.py").read_text()
    file.write_text(code)
    port = free_port()
    command = [sys.executable, "-m", "uvicorn", "--port", str(port), "--reload", "shop:app"]
    with running(command, settings(server, XDG_CACHE_HOME=str(tmp_path), PYTHONPATH=""), tmp_path):
        first = eventually(lambda: asked(port, "free"), "the service")
        file.write_text(code + "\n# edited\n")
        eventually(lambda: (asked(port, "free") or first)["worker"] != first["worker"], "another process")
        follows(server, lambda plan: asked(port, plan), 1, "checkout-v2", "shop.payments")


def test_django_under_gunicorn(server: Server, tmp_path: Path) -> None:
    port = free_port()
    command = [sys.executable, "-m", "gunicorn", "--bind", f"127.0.0.1:{port}", "--workers", "2", "--preload", "django_shop:app"]
    with running(command, settings(server), tmp_path):
        eventually(lambda: asked(port, "free"), "the service")
        follows(server, lambda plan: asked(port, plan), 2, "frameworks.flag", "frameworks.shop")


ASK_CELERY = """
import json, sys
from celery_shop import checkout
for line in sys.stdin:
    print(json.dumps(checkout.delay(line.strip()).get(timeout=30, interval=0.01)), flush=True)
"""


def test_celery(server: Server, tmp_path: Path) -> None:
    for name in ("queue", "control", "results"):
        (tmp_path / name).mkdir()
    environment = settings(server, CELERY_FOLDER=str(tmp_path))
    command = [sys.executable, "-m", "celery", "-A", "celery_shop", "worker", "--concurrency", "2", "--pool", "prefork"]
    command += ["--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel", "INFO", "-Ofair"]
    with (
        running(command, environment, tmp_path),
        subprocess.Popen(
            [sys.executable, "-c", ASK_CELERY], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        ) as caller,
    ):
        questions, answers = caller.stdin, caller.stdout
        assert questions is not None
        assert answers is not None

        def ask(plan: str) -> Any:
            questions.write(plan + "\n")
            questions.flush()
            return json.loads(answers.readline())

        follows(server, ask, 1, "frameworks.flag", "frameworks.shop")
        questions.close()


def test_the_service_of_the_demo(server: Server) -> None:
    server.admin.level("recommendations", "DEBUG")
    environment = settings(server, SIGNALBOX_SERVICE="recommendations")
    process = subprocess.Popen(
        [sys.executable, "-u", ROOT / "clients" / "python" / "demo.py"], env=environment, stdout=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    try:
        assert next(line for line in process.stdout if "DEBUG" in line)
    finally:
        process.send_signal(signal.SIGINT)
    process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert server.admin.source_levels("recommendations") == {"DEBUG"}
