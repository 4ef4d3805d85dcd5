"""Lets Signalbox set the levels of structlog's loggers:

    structlog.configure(processors=[...])
    signalbox.structlog.install(box)
    log = structlog.get_logger("shop.payments")

A logger has the name that get_logger is called with; one without a name is "structlog". A suppressed call costs one
comparison. Loggers of structlog.stdlib write to those of the standard library: for them, use signalbox.logging.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import structlog

from ._levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._box import Box

__all__ = ["install"]


class _Named:
    """A logger of structlog with the level of its name."""

    __slots__ = ("inner", "level")

    def __init__(self, inner: Any, level: _Current) -> None:
        self.inner = inner
        self.level = level

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)


class _Current:
    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number


def _method(name: str, number: int) -> Callable[..., Any]:
    def log(self: Any, event: str | None = None, *args: Any, **values: Any) -> Any:
        if self._logger.level.number > number:
            return None
        if args and event is not None:
            event = event % args
        return self._proxy_to_logger(name, event, **values)

    log.__name__ = name
    return log


class FollowingLogger(structlog.BoundLoggerBase):
    """A bound logger that compares with the level of Signalbox."""

    debug = _method("debug", 10)
    info = _method("info", 20)
    msg = info
    warning = _method("warning", 30)
    warn = warning
    error = _method("error", 40)
    critical = _method("critical", 50)
    fatal = critical

    def exception(self, event: str | None = None, *args: Any, **values: Any) -> Any:
        """Logs an error with the current exception."""
        values.setdefault("exc_info", True)
        return self.error(event, *args, **values)

    def log(self, level: int, event: str | None = None, *args: Any, **values: Any) -> Any:
        """Logs at a level of the standard library's numbers."""
        method = {10: self.debug, 20: self.info, 30: self.warning, 40: self.error, 50: self.critical}.get(level, self.info)
        return method(event, *args, **values)

    def bind(self, **values: Any) -> Any:
        """Returns a logger with more values."""
        return super().bind(**values)

    def unbind(self, *keys: str) -> Any:
        """Returns a logger without some values."""
        return super().unbind(*keys)

    def new(self, **values: Any) -> Any:
        """Returns a logger with only these values."""
        return super().new(**values)


class Installed:
    """Makes named loggers, and lets a box set their levels."""

    def __init__(self, box: Box, inner: Callable[..., Any], level: Level) -> None:
        self._box = box
        self._inner = inner
        self._code = level
        self._levels: dict[str, _Current] = {}

    def __call__(self, *args: Any) -> _Named:
        name = args[0] if args and isinstance(args[0], str) else "structlog"
        level = self._levels.setdefault(name, _Current(int(self._code)))
        self._box.add_logger(self, name)
        return _Named(self._inner(*args), level)

    def set_level(self, name: str, level: Level | None) -> None:
        """Sets the level of a logger. None restores the level of the code."""
        self._levels[name].number = int(self._code if level is None else level)

    def levels(self, name: str) -> tuple[Level | None, Level]:
        """Returns the level of the code, which all loggers inherit, and the level that a logger uses."""
        return None, Level.of(self._levels[name].number)


def install(box: Box, level: Level = Level.INFO) -> None:
    """Lets a box set the levels of structlog's loggers. It keeps the existing configuration of structlog. level is the
    level of the code, which loggers have while Signalbox does not manage them. Call it after structlog.configure and
    before the first record: structlog may keep the loggers that exist already."""
    inner = structlog.get_config()["logger_factory"]
    structlog.configure(wrapper_class=FollowingLogger, logger_factory=Installed(box, inner, level))
