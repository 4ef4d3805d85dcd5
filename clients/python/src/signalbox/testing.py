"""A box for unit tests, without a server:

    box = signalbox.testing.FakeBox(flags={"checkout-v2": True}, levels={"shop": "DEBUG"}, configs={"checkout": {"limit": 5}})
    shop = Shop(box)
    ...
    box.set(flags={"checkout-v2": False})

Values are set and changed at once; only listeners run on another thread.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ._box import Box
from ._contents import ALL, Contents, Snapshot
from ._flags import Plan
from ._levels import Level, key_of
from ._settings import Settings
from ._state import Status
from ._sync import Timing

__all__ = ["FakeBox", "Rules"]


class Rules(NamedTuple):
    """A flag with rules: `Rules(default=False, rules=[({"==": [{"var": "user.plan"}, "pro"]}, True)])`."""

    default: Any
    #: Pairs of logic and value. The first that matches decides.
    rules: Sequence[tuple[Mapping[str, Any], Any]]
    enabled: bool = True


class FakeBox(Box):
    """A box whose values a test sets."""

    def __init__(
        self,
        flags: Mapping[str, Any] | None = None,
        levels: Mapping[str, str | Level | None] | None = None,
        configs: Mapping[str, Mapping[str, Any]] | None = None,
        *,
        environment: str = "test",
        service: str = "",
    ) -> None:
        log = logging.getLogger("signalbox")
        super().__init__(Settings("", "", environment, service, False, None, None, False, log, None, Timing()))
        self.reports.enabled = False
        self._flags: dict[str, Any] = {}
        self._levels: dict[str, Any] = {}
        self._configs: dict[str, Any] = {}
        self._seq = 0
        self.set(flags, levels, configs)

    def set(
        self,
        flags: Mapping[str, Any] | None = None,
        levels: Mapping[str, str | Level | None] | None = None,
        configs: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> None:
        """Changes values; those with other keys stay. A flag is a bool, a text, a number, Rules, or anything else for a JSON
        flag. None releases a logger."""
        for key, value in (flags or {}).items():
            self._flags[key] = self._flag(key, value)
        for name, level in (levels or {}).items():
            self._levels[key_of(name)] = _logger(name, level)
        self._configs.update({key: {"values": dict(values)} for key, values in (configs or {}).items()})
        self._seq += 1
        attributes = {
            "flags": [{"id": key, "attributes": each} for key, each in self._flags.items()],
            "loggers": [{"id": key, "attributes": each} for key, each in self._levels.items()],
            "configs": dict(self._configs),
        }
        self.apply(Contents().with_snapshot(self.environment, Snapshot(self._seq, None, attributes), ALL))
        self.note(Status.LIVE, None, polling=False)

    def forget(self, *flags: str) -> None:
        """Removes flags, as if nobody had created them: reading them returns the default of the code."""
        for key in flags:
            self._flags.pop(key, None)
        self.set()

    def _flag(self, key: str, value: Any) -> dict[str, Any]:
        given = value if isinstance(value, Rules) else Rules(value, [])
        rules = [{"logic": logic, "value": each} for logic, each in given.rules]
        here = {"enabled": given.enabled, "default": given.default, "rules": rules}
        flag = {
            "type": _type_of(given.default),
            "default": given.default,
            "managed": True,
            "environments": {self.environment: here},
        }
        problems = Plan(key, flag, self.environment).problems
        if problems:
            pointer, why = problems[0]
            raise ValueError(f"flag {key}: {pointer}: {why}")
        return flag


def _type_of(value: Any) -> str:
    if isinstance(value, bool):
        return "BOOLEAN"
    if isinstance(value, str):
        return "STRING"
    return "NUMERIC" if isinstance(value, (int, float)) else "JSON"


def _logger(name: str, level: str | Level | None) -> dict[str, Any]:
    parsed = level if isinstance(level, Level) else Level.parse(level)
    if level is not None and parsed is None:
        raise ValueError(f"logger {name}: {level!r} is not a level")
    return {"level": parsed.name if parsed else None, "managed": parsed is not None}
