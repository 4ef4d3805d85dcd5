"""The code of the book's page and of the README runs, in the order of the page, against a server."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from support import OWNER_KEY, ROOT, Server

PAGES = [ROOT / "docs" / "python.md", ROOT / "clients" / "python" / "README.md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_code_runs(page: Path, server: Server, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    settings = {"URL": server.url, "API_KEY": OWNER_KEY, "ENVIRONMENT": "production", "SERVICE": "docs"}
    for name, value in settings.items():
        monkeypatch.setenv(f"SIGNALBOX_{name}", value)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    blocks = re.findall(r"(?ms)^```python\n(.*?)^```$", page.read_text())
    assert blocks
    names: dict[str, Any] = {"__name__": "page"}
    try:
        for block in blocks:
            exec(compile(block, str(page), "exec", dont_inherit=True), names)  # noqa: S102
    finally:
        names["box"].close()
        import structlog  # noqa: PLC0415

        structlog.reset_defaults()
