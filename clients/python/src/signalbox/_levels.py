"""Log levels: names of loggers, and the five steps that decide a logger's level. It means the same as client/loglevel."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple


class Level(enum.IntEnum):
    """The least severe level that is logged. The numbers are those of Python's logging, where it has the level."""

    TRACE = 5
    DEBUG = 10
    INFO = 20
    WARN = 30
    ERROR = 40
    FATAL = 50
    SILENT = 100  # nothing is logged

    @classmethod
    def parse(cls, text: object) -> Level | None:
        """Parses the name of a level, ignoring case; None for anything else."""
        return cls.__members__.get(text.upper()) if isinstance(text, str) else None

    @classmethod
    def of(cls, number: int) -> Level:
        """Returns the least severe level that suppresses everything that a level of Python's logging suppresses."""
        return next((each for each in cls if number <= each), cls.SILENT)


DEFAULT: Final = Level.INFO

_SEPARATORS: Final = str.maketrans("/:", "..")


def key_of(name: str) -> str:
    """Returns a logger's name in lower case with its segments separated by dots."""
    name = name.translate(_SEPARATORS)
    if name.isascii():
        return name.lower()
    # Go lowers each character by itself; Python knows a final sigma, and a dotted I that becomes two characters.
    return "".join([each.lower()[0] for each in name])


def parent_of(key: str) -> str | None:
    """Returns the key without its last segment; None for a single segment."""
    parent, dot, _ = key.rpartition(".")
    return parent if dot else None


class Resolution(NamedTuple):
    """An effective level and where it comes from."""

    level: Level
    origin: str  # environment, base, group, ancestor or default
    of: str  # the key of the logger or group that has the level; empty for the default


class _Node(NamedTuple):
    own: Resolution | None  # the level of the logger itself or its group
    managed: bool


class Tree:
    """Resolves the levels of loggers in one environment. It is immutable."""

    __slots__ = ("_nodes",)

    def __init__(self, environment: str, loggers: Mapping[str, Any], groups: Mapping[str, Any]) -> None:
        """loggers and groups are attributes of resources by their keys."""
        self._nodes: dict[str, _Node] = {}
        for key, each in loggers.items():
            own = _own(key, each, environment)
            group = each.get("group")
            if own is None and isinstance(group, str) and group in groups:
                found = _own(group, groups[group], environment)
                own = found and Resolution(found.level, "group", group)
            self._nodes[key] = _Node(own, bool(each.get("managed")))

    def resolve(self, key: str) -> Resolution:
        """Returns the effective level of a normalized name. The tree need not have the name."""
        for each, node in self._chain(key):
            if node.own:
                return node.own if each == key else Resolution(node.own.level, "ancestor", each)
        return Resolution(DEFAULT, "default", "")

    def controls(self, key: str) -> bool:
        """Reports whether clients apply the effective level of a name: the logger or an ancestor is managed."""
        return any(node.managed for _, node in self._chain(key))

    def applied(self, key: str) -> Level | None:
        """Returns the level that a logger gets; None for the level of the code."""
        return self.resolve(key).level if self._nodes and self.controls(key) else None

    def _chain(self, key: str) -> Iterable[tuple[str, _Node]]:
        """Yields the logger, if it exists, and its existing ancestors, nearest first."""
        each: str | None = key
        while each is not None:
            node = self._nodes.get(each)
            if node is not None:
                yield each, node
            each = parent_of(each)


def _own(key: str, attributes: Mapping[str, Any], environment: str) -> Resolution | None:
    """Returns the level of a logger or group itself: its override for the environment, else its base level."""
    override = (attributes.get("environments") or {}).get(environment)
    level = Level.parse(override.get("level") if isinstance(override, Mapping) else override)
    if level:
        return Resolution(level, "environment", key)
    level = Level.parse(attributes.get("level"))
    return Resolution(level, "base", key) if level else None
