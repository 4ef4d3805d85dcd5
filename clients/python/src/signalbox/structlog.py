"""Lets Signalbox set the levels of structlog's loggers:

    structlog.configure(processors=[...])
    signalbox.structlog.install(box)
    log = structlog.get_logger("shop.payments")

A logger has the name that get_logger is called with; one without a name is "structlog". A suppressed call costs one
comparison. Loggers of structlog.stdlib write to those of the standard library: for them, use signalbox.logging.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import structlog

from ._levels import Level

if TYPE_CHECKING:
    from collections.abc import Callable

    from ._box import Box

__all__ = ["install"]

#: structlog's own logger of all levels. Its a… methods log on another thread.
_EVERYTHING: Any = structlog.make_filtering_bound_logger(0)

#: The frame that structlog begins with when it looks for the caller of a record, in versions that have this variable.
_CALLER: Any = getattr(structlog.contextvars, "_ASYNC_CALLING_STACK", None)

#: The names of levels, the most severe first.
_NAMES = {50: "critical", 40: "error", 30: "warning", 20: "info", 10: "debug"}


class _Named:
    """A logger of structlog with the level of its name."""

    __slots__ = ("inner", "level")

    def __init__(self, inner: Any, level: _Current) -> None:
        self.inner = inner
        self.level = level

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle look for methods of this object
            raise AttributeError(name)
        return getattr(self.inner, name)


class _Current:
    __slots__ = ("number",)

    def __init__(self, number: int) -> None:
        self.number = number

    def __deepcopy__(self, _: Any) -> _Current:
        return self


def _text(event: Any, args: Any) -> Any:
    """Fills the placeholders of an event, by name if the only argument is a mapping."""
    if not args or event is None:
        return event
    by_name = len(args) == 1 and isinstance(args[0], Mapping) and args[0]
    return event % (by_name or args)


def _write(logger: Any, name: str, event: Any, values: Any, caller: Any) -> Any:
    """Writes a record. structlog then names the caller's frame, not one of this module."""
    if _CALLER is None:
        return logger._proxy_to_logger(name, event, **values)
    token = _CALLER.set(caller)
    try:
        return logger._proxy_to_logger(name, event, **values)
    finally:
        _CALLER.reset(token)


def _method(name: str, number: int) -> Callable[..., Any]:
    def log(self: Any, event: Any = None, *args: Any, **values: Any) -> Any:
        if self._logger.level.number > number:
            return None
        return _write(self, name, _text(event, args), values, sys._getframe(1))

    log.__name__ = name
    return log


async def _nothing() -> None:
    """Stands for a suppressed call of an a… method."""


def _async_method(name: str, number: int) -> Callable[..., Any]:
    def log(self: Any, event: Any = None, *args: Any, **values: Any) -> Any:
        if self._logger.level.number > number:
            return _nothing()
        # The service awaits structlog's own coroutine, which takes the awaiting frame as the caller.
        return getattr(_EVERYTHING, name)(self, event, *args, **values)

    log.__name__ = name
    return log


def _name_of(level: int) -> str:
    """Returns the name of a level of the standard library's numbers. A number between two has the name of the lower one."""
    return next((name for number, name in _NAMES.items() if number <= level), "debug")


class FollowingLogger(structlog.BoundLoggerBase):
    """A bound logger that compares with the level of Signalbox. It has the methods of structlog's filtering loggers."""

    debug = _method("debug", 10)
    info = _method("info", 20)
    msg = info
    warning = _method("warning", 30)
    warn = warning
    error = _method("error", 40)
    critical = _method("critical", 50)
    fatal = critical
    adebug = _async_method("adebug", 10)
    ainfo = _async_method("ainfo", 20)
    amsg = ainfo
    awarning = _async_method("awarning", 30)
    awarn = awarning
    aerror = _async_method("aerror", 40)
    acritical = _async_method("acritical", 50)
    afatal = acritical

    def exception(self, event: Any = None, *args: Any, **values: Any) -> Any:
        """Logs an error with the current exception."""
        if self.is_enabled_for(40):
            values.setdefault("exc_info", True)
            return _write(self, "error", _text(event, args), values, sys._getframe(1))
        return None

    def aexception(self, event: Any = None, *args: Any, **values: Any) -> Any:
        """Logs an error with the current exception, on another thread."""
        if values.get("exc_info", True) is True:
            values["exc_info"] = sys.exc_info()  # the other thread has none
        return self.aerror(event, *args, **values)

    def log(self, level: int, event: Any = None, *args: Any, **values: Any) -> Any:
        """Logs at a level of the standard library's numbers."""
        if self.is_enabled_for(level):
            return _write(self, _name_of(level), _text(event, args), values, sys._getframe(1))
        return None

    def alog(self, level: int, event: Any = None, *args: Any, **values: Any) -> Any:
        """Logs at a level of the standard library's numbers, on another thread."""
        if self.is_enabled_for(level):
            return getattr(_EVERYTHING, f"a{_name_of(level)}")(self, event, *args, **values)
        return _nothing()

    def is_enabled_for(self, level: int) -> bool:
        """Reports whether records of a level are logged."""
        return bool(level >= self._logger.level.number)

    def get_effective_level(self) -> int:
        """Returns the least severe level that is logged."""
        return int(self._logger.level.number)

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
