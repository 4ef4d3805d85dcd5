"""The resources of the account that a box has loaded for its environment."""

from __future__ import annotations

import datetime
import marshal
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

FLAGS: Final = "flags"
LEVELS: Final = "levels"
CONFIGS: Final = "configs"
ALL: Final = frozenset({FLAGS, LEVELS, CONFIGS})


class Snapshot(NamedTuple):
    """The server's answer to a request for a snapshot."""

    seq: int
    stale_since: str | None  # when the server lost its database; it then answers from memory
    attributes: Mapping[str, Any]


class Contents(NamedTuple):
    """Flags, levels and configs, by their keys. They are never changed, only replaced."""

    seq: int = 0
    #: Read from the bootstrap file, whose seq may be of another account.
    bootstrap: bool = False
    #: Sent by the server, so that levels apply even if this machine's clock says that they have expired.
    confirmed: bool = False
    flags: Mapping[str, Any] = {}
    loggers: Mapping[str, Any] = {}
    groups: Mapping[str, Any] = {}
    configs: Mapping[str, Any] = {}

    def with_snapshot(self, environment: str, snapshot: Snapshot, parts: frozenset[str]) -> Contents:
        """Returns the contents with some parts replaced by those of a snapshot."""
        sent = snapshot.attributes
        found = self._replace(seq=snapshot.seq, confirmed=snapshot.stale_since is None, bootstrap=False)
        if FLAGS in parts:
            found = found._replace(
                flags={each["id"]: trimmed(each["attributes"], environment) for each in sent.get("flags") or ()}
            )
        if LEVELS in parts:
            found = found._replace(
                loggers={each["id"]: leveled(each["attributes"], environment) for each in sent.get("loggers") or ()},
                groups={each["id"]: leveled(each["attributes"], environment) for each in sent.get("log_groups") or ()},
            )
        if CONFIGS in parts:
            found = found._replace(configs={key: each.get("values") or {} for key, each in (sent.get("configs") or {}).items()})
        return found

    def with_resources(self, seq: int, kind: str, changes: Mapping[str, Any], environment: str) -> Contents:
        """Returns the contents with single resources changed; None deletes one. An unmanaged flag is not kept: another
        service's declaration must not replace the default in this service's code."""
        before: Mapping[str, Any] = getattr(self, kind)
        after = dict(before)
        trim = trimmed if kind == "flags" else leveled
        for key, attributes in changes.items():
            if attributes is None or (kind == "flags" and not attributes.get("managed")):
                after.pop(key, None)
            else:
                after[key] = trim(attributes, environment)
        changed: dict[str, Any] = {kind: after, "seq": max(seq, self.seq), "confirmed": True}
        return self._replace(**changed)

    def outranks(self, snapshot: Snapshot) -> bool:
        """Reports whether a snapshot is older than the contents and must not replace them. A server that has lost its
        database answers from memory, which may be older than an earlier answer. A server with a database is always right:
        there a smaller seq means that the database was restored to an earlier state."""
        return snapshot.stale_since is not None and snapshot.seq < self.seq and not self.bootstrap

    def document(self, environment: str) -> dict[str, Any]:
        """Returns the contents as the document of a snapshot, for the cache."""

        def items(of: Mapping[str, Any], kind: str) -> list[dict[str, Any]]:
            return [{"id": key, "type": kind, "attributes": each} for key, each in of.items()]

        return {
            "data": {
                "id": environment,
                "type": "snapshot",
                "attributes": {
                    "seq": self.seq,
                    "flags": items(self.flags, "flag"),
                    "loggers": items(self.loggers, "logger"),
                    "log_groups": items(self.groups, "log_group"),
                    "configs": {key: {"values": each} for key, each in self.configs.items()},
                },
            }
        }

    def unexpired(self, at: float) -> tuple[Contents, float | None]:
        """Returns the contents without the levels that have ended at an instant, and when the next level ends."""
        due: list[float] = []
        loggers = {key: _without_ended(each, at, due, is_logger=True) for key, each in self.loggers.items()}
        groups = {key: _without_ended(each, at, due, is_logger=False) for key, each in self.groups.items()}
        return self._replace(loggers=loggers, groups=groups), min(due, default=None)

    def first_expiry(self) -> float | None:
        """Returns when the first temporary level ends."""
        found = [each for of in (self.loggers, self.groups) for attributes in of.values() for each in _expiries(attributes)]
        return min(found, default=None)


def read_document(document: Any) -> Snapshot:
    """Returns the snapshot in a document. It raises an error for anything else."""
    data = document["data"]
    if data["type"] != "snapshot" or not isinstance(data["attributes"]["seq"], int):
        raise ValueError("not a snapshot")
    stale = (document.get("meta") or {}).get("stale_since")
    return Snapshot(data["attributes"]["seq"], stale, data["attributes"])


def trimmed(flag: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """Returns a flag with only the members that evaluation in the environment needs."""
    kept = {name: flag[name] for name in ("type", "default", "values", "managed") if name in flag}
    kept["environments"] = _only(environment, flag)
    return kept


def leveled(logger: Mapping[str, Any], environment: str) -> dict[str, Any]:
    """Returns a logger or group with only the members that decide levels in the environment."""
    kept = {name: logger[name] for name in ("level", "level_expires_at", "group", "managed") if logger.get(name) is not None}
    kept["environments"] = _only(environment, logger)
    return kept


def _only(environment: str, resource: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the settings of a resource in one environment, by its name."""
    found = resource.get("environments")
    here = found.get(environment) if isinstance(found, Mapping) else None
    return {} if here is None else {environment: here}


def instant(text: object) -> float | None:
    """Returns an RFC 3339 time in seconds; None if there is none."""
    if not isinstance(text, str):
        return None
    try:
        return datetime.datetime.fromisoformat(_padded(text)).timestamp()
    except (ValueError, OverflowError):
        return None


def _padded(text: str) -> str:
    """Returns a time in a form that Python 3.10 parses: six digits of a second, and no Z."""
    text = text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text
    start, dot, rest = text.partition(".")
    if not dot:
        return text
    digits = len(rest) - len(rest.lstrip("0123456789"))
    return f"{start}.{rest[:digits][:6].ljust(6, '0')}{rest[digits:]}"


def _expiries(attributes: Mapping[str, Any]) -> Iterator[float]:
    overrides = [each for each in (attributes.get("environments") or {}).values() if isinstance(each, Mapping)]
    for text in (attributes.get("level_expires_at"), *(each.get("expires_at") for each in overrides)):
        found = instant(text)
        if found is not None:
            yield found


def _without_ended(attributes: Mapping[str, Any], at: float, due: list[float], *, is_logger: bool) -> Mapping[str, Any]:
    """Returns a logger or group without the levels that have ended, and notes when the others end. As on the server, a logger
    that loses its last setting becomes unmanaged."""
    expiries = list(_expiries(attributes))
    due.extend(each for each in expiries if each > at)
    if all(each > at for each in expiries):
        return attributes
    left = dict(attributes)
    if (instant(attributes.get("level_expires_at")) or at + 1) <= at:
        left["level"] = None
    left["environments"] = {name: each for name, each in attributes["environments"].items() if not _has_ended(each, at)}
    if is_logger:
        left["managed"] = bool(left.get("level") or left["environments"] or left.get("group"))
    return left


def _has_ended(override: Any, at: float) -> bool:
    """Reports whether the level of an environment has ended. A level alone, without a time, never does."""
    return isinstance(override, Mapping) and (instant(override.get("expires_at")) or at + 1) <= at


def same(a: Any, b: Any) -> bool:
    """Reports whether two JSON values are the same. Unlike ==, it tells 1 from True."""
    return bool(a == b) and marshal.dumps(a, 2) == marshal.dumps(b, 2)


def changed_keys(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    """Returns the keys of resources that were added, removed or changed."""
    if before is after:
        return []
    changed = [key for key, each in after.items() if key not in before or not same(before[key], each)]
    return changed + [key for key in before if key not in after]
