"""The settings of a box."""

from __future__ import annotations

import logging
import os
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ._sync import Timing
from .errors import SettingsError

if TYPE_CHECKING:
    import ssl


class Settings(NamedTuple):
    """The arguments of `start`, over the environment's variables."""

    url: str
    key: str
    environment: str
    service: str
    cache: bool
    cache_dir: Path | None
    bootstrap: Path | None
    report_contexts: bool
    log: logging.Logger
    ssl_context: ssl.SSLContext | None
    timing: Timing

    def __repr__(self) -> str:
        return f"<signalbox settings of {self.environment}>"  # without the key, which must not reach a log

    @property
    def named_service(self) -> dict[str, str]:
        return {"service": self.service} if self.service else {}

    def problem(self) -> SettingsError | None:
        """Returns an error with every setting that is missing, or else one for a key that cannot be sent."""
        missing = [
            f"no {what}: set {variable} or pass {argument}="
            for value, what, variable, argument in (
                (self.url, "server", "SIGNALBOX_URL", "url"),
                (self.key, "API key", "SIGNALBOX_API_KEY", "key"),
                (self.environment, "environment", "SIGNALBOX_ENVIRONMENT", "environment"),
            )
            if not value
        ]
        return SettingsError("; ".join(missing)) if missing else key_problem(self.key)


def key_problem(key: str) -> SettingsError | None:
    """Returns an error for a key that cannot be sent in a header. The error does not quote the key, because it is logged."""
    if all("!" <= each <= "~" for each in key):
        return None
    return SettingsError(
        "the API key has a character that no key has, such as a line break: copy the key again to SIGNALBOX_API_KEY or key="
    )


def read(argument: str | None, variable: str) -> str:
    """Returns a setting without surrounding white space: a file with a secret often ends with a line break."""
    return (argument if argument is not None else os.environ.get(variable, "")).strip()
