"""Semantic versions as flagd compares them: a leading v is allowed, and 1 and 1.2 mean 1.0.0 and 1.2.0."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_IDENTIFIERS: Final = r"[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*"
_VERSION: Final = re.compile(
    r"[vV]?(?P<major>0|[1-9][0-9]*)(?:\.(?P<minor>0|[1-9][0-9]*)(?:\.(?P<patch>0|[1-9][0-9]*))?)?"
    rf"(?:-(?P<prerelease>{_IDENTIFIERS}))?(?P<build>\+{_IDENTIFIERS})?"
)
_LEADING_ZERO: Final = re.compile(r"(?:^|\.)0[0-9]+(?:\.|$)")


class Version(NamedTuple):
    """A parsed version. A release has no prerelease."""

    major: int
    minor: int
    patch: int
    prerelease: str


def parse(text: str) -> Version | None:
    """Parses a version of Semantic Versioning 2.0; None for anything else."""
    found = _VERSION.fullmatch(text)
    if not found or len(text) > 4000:  # Python refuses to parse longer numbers
        return None
    prerelease = found["prerelease"] or ""
    if (prerelease or found["build"]) and found["patch"] is None:
        return None
    if _LEADING_ZERO.search(prerelease):
        return None
    return Version(int(found["major"]), int(found["minor"] or 0), int(found["patch"] or 0), prerelease)


def compare(a: Version, b: Version, operator: str) -> bool | None:  # noqa: PLR0911, one line for each operator
    """Compares two versions by an operator; None for an unknown one."""
    if operator == "^":
        return a.major == b.major
    if operator == "~":
        return a[:2] == b[:2]
    order = _order(a, b)
    if operator == "=":
        return order == 0
    if operator == "!=":
        return order != 0
    if operator == "<":
        return order < 0
    if operator == "<=":
        return order <= 0
    if operator == ">":
        return order > 0
    return order >= 0 if operator == ">=" else None


def _order(a: Version, b: Version) -> int:
    first, second = a[:3], b[:3]
    if first != second:
        return -1 if first < second else 1
    return _compare_keys(_key(a.prerelease), _key(b.prerelease))


def _key(prerelease: str) -> tuple[tuple[int, int, str], ...]:
    """Orders the parts of a prerelease: numbers before words, and a release after its prereleases."""
    if not prerelease:
        return ((2, 0, ""),)
    return tuple((0, int(each), "") if each.isdigit() else (1, 0, each) for each in prerelease.split("."))


def _compare_keys(a: tuple[tuple[int, int, str], ...], b: tuple[tuple[int, int, str], ...]) -> int:
    return (a > b) - (a < b)
