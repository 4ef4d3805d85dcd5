from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import signalbox
from support import FAST, Proxy, Server, new_database


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "soak: takes long; it runs with SIGNALBOX_SOAK")


#: The files that take longest.
LONG = ("test_frameworks.py", "test_package.py", "test_docs.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    # Long tests begin first, so that the whole run does not wait for a long test at its end.
    items.sort(key=lambda each: each.path.name not in LONG)
    if not os.environ.get("SIGNALBOX_SOAK"):
        for each in items:
            if "soak" in each.keywords:
                each.add_marker(pytest.mark.skip(reason="it takes long; set SIGNALBOX_SOAK"))


DATABASES = ["sqlite", *(["postgres"] if os.environ.get("SIGNALBOX_TEST_POSTGRES") else [])]


@pytest.fixture(scope="session", params=DATABASES)
def shared_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for tests that use keys of their own. On PostgreSQL too, where scripts/with-postgres provides one."""
    database = next(new_database()) if request.param == "postgres" else ""
    server = Server(tmp_path_factory.mktemp("server"), database)
    yield server
    server.stop()


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    """A server that a test may stop."""
    made = Server(tmp_path / "data")
    yield made
    made.stop()


@pytest.fixture
def proxy(shared_server: Server) -> Iterator[Proxy]:
    made = Proxy(shared_server.port)
    yield made
    made.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Callable[..., signalbox.Box]]:
    """Starts boxes, which are closed at the end of the test."""
    boxes: list[signalbox.Box] = []

    def start_box(url: str, key: str = "", **settings: Any) -> signalbox.Box:
        from support import OWNER_KEY  # noqa: PLC0415

        settings = {"environment": "production", "service": "shop", "timing": FAST, "cache_dir": tmp_path / "cache", **settings}
        box = signalbox.start(url=url, key=key or OWNER_KEY, **settings)
        boxes.append(box)
        return box

    yield start_box
    for each in boxes:
        each.close(timeout=2)
