"""The loggers of a service, whose levels the box sets."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, Final, Protocol

from ._levels import Level, Tree, key_of
from ._listeners import raise_for_caller

#: How many loggers a box controls, the maximum of an account.
MAX_LOGGERS: Final = 10_000


class Adapter(Protocol):
    """Connects a logging framework; `signalbox.logging` has the one for the standard library. Pass it to `Box.adapt`, and
    call `Box.add_logger` with every logger, before its first record. If it has a method levels_set, that is called after
    set_level was called for all loggers of a change."""

    def set_level(self, name: str, level: Level | None) -> None:
        """Sets the level of a logger. None restores the level that the code has set."""

    def levels(self, name: str) -> tuple[Level | None, Level]:
        """Returns the level that the code has set for this logger (None when it inherits), and the level that it uses now."""
        ...


class Controlled:
    """A logger of an adapter."""

    __slots__ = ("adapter", "applied", "key", "name", "reported")

    def __init__(self, adapter: Adapter, name: str) -> None:
        self.adapter = adapter
        self.name = name
        self.key = key_of(name)
        self.applied: Level | None = None  # None while the level of the code applies
        self.reported: tuple[Level | None, Level] | None = None  # the levels that the server knows


class LoggerTable:
    """Sets the levels of all loggers. No lock is held while an adapter is called: a framework may hold its own lock when it
    makes a logger, and take it when a level is set."""

    def __init__(self, environment: str, failed: Callable[[str, BaseException], None]) -> None:
        self._failed = failed
        self._lock = threading.Lock()
        self._loggers: dict[tuple[int, str], Controlled] = {}
        self._tree = Tree(environment, {}, {})

    def add(self, adapter: Adapter, name: str) -> bool:
        """Sets the level of a new logger. It returns False for a known logger."""
        identity = (id(adapter), name)
        if identity in self._loggers:
            return False
        with self._lock:
            if identity in self._loggers or len(self._loggers) >= MAX_LOGGERS:
                return False
            added = self._loggers[identity] = Controlled(adapter, name)
        if self._settle(added):
            self._finish([added])
        return True

    def replace(self, tree: Tree) -> None:
        """Applies the levels of a tree."""
        self._tree = tree
        self._finish([each for each in self.all() if self._settle(each)])

    def _settle(self, logger: Controlled) -> bool:
        """Sets the level of a logger. It repeats that if another thread has replaced the tree meanwhile."""
        changed = False
        while True:
            tree = self._tree
            level = tree.applied(logger.key)
            if level is not logger.applied:
                logger.applied = level
                self._set(logger)
                changed = True
            if tree is self._tree:
                return changed

    def _set(self, logger: Controlled) -> None:
        try:
            logger.adapter.set_level(logger.name, logger.applied)
        except BaseException as error:  # noqa: BLE001, the adapter may be the service's code
            raise_for_caller(error)
            self._failed(logger.name, error)

    def _finish(self, changed: list[Controlled]) -> None:
        """Calls levels_set of the adapters that have it, because all of their levels have been set."""
        for each in {id(each.adapter): each for each in changed}.values():
            levels_set = getattr(each.adapter, "levels_set", None)
            if levels_set is None:
                continue
            try:
                levels_set()
            except BaseException as error:  # noqa: BLE001, the adapter may be the service's code
                raise_for_caller(error)
                self._failed(each.name, error)

    def applied(self, adapter: Adapter, name: str) -> Level | None:
        """Returns the level that the box has set; None if the level of the code applies."""
        found = self._loggers.get((id(adapter), name))
        return found.applied if found is not None else None

    def all(self) -> list[Controlled]:
        return list(self._loggers.values())

    def news(self, *, everything: bool) -> list[tuple[Controlled, tuple[Level | None, Level]]]:
        """Returns the loggers whose levels the server does not know yet, or all of them."""
        found = [(each, each.adapter.levels(each.name)) for each in self.all()]
        return [(each, levels) for each, levels in found if everything or levels != each.reported]

    def release(self) -> None:
        """Restores the levels of the code for all loggers."""
        self.replace(Tree("", {}, {}))

    def after_fork(self) -> None:
        """Prepares the table in a child, which may have been forked in the middle of a change: a level may be recorded
        as applied without being set."""
        self._lock = threading.Lock()
        for each in self.all():
            each.reported = None
            if not self._settle(each):
                self._set(each)
        self._finish(self.all())


def reported(logger: Controlled, levels: tuple[Level | None, Level], service: str, environment: str) -> dict[str, Any]:
    """Returns a logger as the server reads it."""
    own, uses = levels
    item: dict[str, Any] = {"id": logger.name, "resolved_level": uses.name, "environment": environment}
    if own is not None:
        item["level"] = own.name
    if service:
        item["service"] = service
    return item
