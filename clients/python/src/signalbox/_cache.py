"""The last known values on disk, so that a service can start while the server is away."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from ._contents import Snapshot, read_document


def default_folder() -> Path | None:
    """Returns the user's cache folder for Signalbox; None if there is none."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA")
    elif sys.platform == "darwin":
        base = os.path.expanduser("~/Library/Caches") if os.environ.get("HOME") else None
    else:
        home = os.environ.get("HOME")
        base = os.environ.get("XDG_CACHE_HOME") or (os.path.join(home, ".cache") if home else None)
    return Path(base) / "signalbox-python" if base else None


class Cache:
    """One file for one account and environment: a key belongs to one account."""

    def __init__(self, folder: Path, url: str, key: str, environment: str) -> None:
        name = hashlib.sha256(f"{url}\n{key}\n{environment}".encode("utf-8", "replace")).hexdigest()[:24]
        self.path = folder / f"{name}.json"

    def write(self, document: dict[str, Any]) -> None:
        """Replaces the file as a whole: a reader finds the old or the new snapshot."""
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        text = json.dumps(document, separators=(",", ":")).encode()
        descriptor, name = tempfile.mkstemp(prefix=".signalbox-", dir=self.path.parent)  # 0600
        try:
            with open(descriptor, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            os.replace(name, self.path)
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(name)
            raise


def read_snapshot(path: Path) -> tuple[Snapshot, float]:
    """Returns the snapshot in a file, and when it was written. It raises an OSError or a ValueError."""
    text = path.read_bytes()
    try:
        snapshot = read_document(json.loads(text))
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"{path} is not a snapshot: {error!r}") from error
    return snapshot, path.stat().st_mtime
