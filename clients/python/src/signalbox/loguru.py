"""Lets Signalbox set the levels of loguru's records, by the module that they come from:

    logger.remove()
    logger.add(sys.stderr, level=0, filter=signalbox.loguru.level_filter(box))

loguru decides at the sink: the filter lets a record through if its level is at least that of its module, which is the name
of the logger in Signalbox. Modules are known, and reported, from their first record on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._box import Box

__all__ = ["level_filter"]


class _Filter:
    """The levels of the modules of one sink."""

    def __init__(self, box: Box, level: Level) -> None:
        self._box = box
        self._code = int(level)
        self._levels: dict[str, int] = {}

    def __call__(self, record: Any) -> bool:
        name = record["name"] or "loguru"
        least = self._levels.get(name)
        if least is None:
            self._levels[name] = self._code
            self._box.add_logger(self, name)
            least = self._levels[name]
        return bool(record["level"].no >= least)

    def set_level(self, name: str, level: Level | None) -> None:
        self._levels[name] = self._code if level is None else int(level)

    def levels(self, name: str) -> tuple[Level | None, Level]:
        return None, Level.of(self._levels[name])


def level_filter(box: Box, level: Level = Level.INFO) -> Callable[[Any], bool]:
    """Returns a filter for `logger.add`. level is the level of the code, which modules have while Signalbox does not manage
    them."""
    return _Filter(box, level)
