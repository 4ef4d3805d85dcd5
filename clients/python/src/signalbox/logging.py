"""Lets Signalbox set the levels of the standard library's loggers:

    signalbox.logging.install(box)

Every logger of logging.getLogger, existing or future, has the level of Signalbox while Signalbox manages it or an
ancestor. Other loggers, handlers and propagation are not changed. A logger that Signalbox releases gets the level of
the code again, even if the code has set it meanwhile. When the box is closed, levels stay, and the code can set them again;
`install(box).uninstall()` restores the levels of the code. A record costs the same as without this module, because levels
are only written when they change.
"""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from ._levels import Level

if TYPE_CHECKING:
    from ._box import Box

__all__ = ["Level", "install"]


class Installed:
    """The connection between a box and the loggers of a manager. `uninstall` ends it."""

    def __init__(self, box: Box, manager: logging.Manager) -> None:
        self._box = box
        self._manager = manager
        self._code: dict[str, int] = {}  # for loggers with a level of Signalbox: the level that the code has set
        self._get_logger = manager.getLogger
        self._active = True
        self._any = logging.Logger("signalbox")  # is not in the manager
        self._any.manager = manager

    def begin(self) -> Installed:
        """Follows new loggers and levels that the code sets, and adapts the loggers that exist."""
        _hooks.append(self)
        if len(_hooks) == 1:
            logging.Logger.setLevel = _set_level  # type: ignore[method-assign]
        self._manager.getLogger = self._found  # type: ignore[method-assign]
        names = [name for name, each in list(self._manager.loggerDict.items()) if isinstance(each, logging.Logger)]
        self._box.adapt(self, ["root", *names])
        return self

    def uninstall(self) -> None:
        """Restores the levels of the code for all loggers, and stops following them."""
        if not self._active:
            return
        self._active = False
        if self._manager.__dict__.get("getLogger") == self._found:  # otherwise another box was installed later
            self._manager.__dict__.pop("getLogger")
            if getattr(self._get_logger, "__self__", None) is not self._manager:
                self._manager.getLogger = self._get_logger  # type: ignore[method-assign]
        _hooks.remove(self)
        if not _hooks:
            logging.Logger.setLevel = _original_set_level  # type: ignore[method-assign]
        for name in list(self._code):
            self.set_level(name, None)
        self.levels_set()

    def _found(self, name: str) -> logging.Logger:
        logger = self._get_logger(name)
        if self._active:
            self._box.add_logger(self, name)
        return logger

    def _logger(self, name: str) -> logging.Logger:
        if name == "root":
            return self._manager.root
        found = self._manager.loggerDict.get(name)
        return found if isinstance(found, logging.Logger) else self._get_logger(name)

    def set_level(self, name: str, level: Level | None) -> None:
        """Sets the level of a logger. None restores the level of the code. It takes effect with levels_set."""
        logger = self._logger(name)
        if level is not None and self._active and not self._box.closed:
            self._code.setdefault(name, logger.level)
            logger.level = int(level)
        elif name in self._code:
            logger.level = self._code[name]
            del self._code[name]  # last: after a fork in between, the child sets the level again

    def levels_set(self) -> None:
        """Clears the cached levels of the manager's loggers. Logger.setLevel would clear them for each logger, which
        took five seconds for 5,000 loggers."""
        _original_set_level(self._any, logging.NOTSET)

    def levels(self, name: str) -> tuple[Level | None, Level]:
        """Returns the level that the code has set for a logger, and the level that it uses."""
        logger = self._logger(name)
        own = self._code.get(name, logger.level)
        return Level.of(own) if own else None, Level.of(logger.getEffectiveLevel())

    def code_sets(self, logger: logging.Logger, level: int) -> bool:
        """Records a level that the code sets while Signalbox decides. It returns False for other loggers, and once the box is
        closed: the code then decides again."""
        if logger.name not in self._code or getattr(logger, "manager", None) is not self._manager:
            return False
        if self._box.closed:
            del self._code[logger.name]
            return False
        self._code[logger.name] = level
        return True


_hooks: list[Installed] = []
_original_set_level = logging.Logger.setLevel


def _set_level(self: logging.Logger, level: Any) -> None:
    """Replaces Logger.setLevel while something is installed: a managed logger keeps the level of Signalbox, and the level of
    the code is remembered for its release."""
    number = logging._checkLevel(level)  # type: ignore[attr-defined]
    if not any(each.code_sets(self, number) for each in list(_hooks)):
        _original_set_level(self, level)


def install(box: Box, manager: logging.Manager | None = None) -> Installed:
    """Lets a box set the levels of all loggers. The result's `uninstall` ends it."""
    return Installed(box, manager or logging.Logger.manager).begin()
