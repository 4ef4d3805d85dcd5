"""Operators of text and versions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from . import _versions as versions
from ._evaluation import (
    LIMIT,
    MAX_FUEL,
    State,
    coerced,
    discard,
    known,
    source,
    sources,
)
from ._op_logic import less
from ._values import (
    UNDEFINED,
    joined,
    number_text,
    strict_equal,
    text_weight,
    to_number,
    to_text,
    unit_slice,
    units,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node, Test


def compile_in(c: Compiler, node: Node) -> Test:
    """A substring of a text, or an element of a list by ===."""
    needle, haystack = source(c, node, 0), source(c, node, 1)
    items, fixed = known(node, 1)
    if fixed and type(items) is list:
        return _in_literals(needle, items)
    return lambda st, data: contains(st, haystack(st, data), needle(st, data))


def _in_literals(needle: Evaluate, items: list[Any]) -> Test:
    texts = frozenset(each for each in items if type(each) is str)
    numbers = frozenset(each for each in items if type(each) is float)
    others = [each for each in items if each is None or type(each) is bool]

    def test(st: State | None, data: Any) -> bool:
        value = needle(st, data)
        if type(value) is str:
            return value in texts
        if type(value) is float:
            return value in numbers
        return any(value is each for each in others)

    return test


def contains(st: State | None, haystack: Any, needle: Any) -> bool:
    if type(haystack) is str:
        if st is not None:
            st.spend(text_weight(haystack) - 2)
        return haystack != "" and to_text(coerced(st, needle)) in haystack
    if type(haystack) is list:
        if st is not None:
            st.spend(len(haystack))
        return any(strict_equal(each, needle) for each in haystack)
    return False


def compile_cat(c: Compiler, node: Node) -> Evaluate:
    """The texts of all arguments joined; null is empty."""
    args = sources(c, node)

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        parts: list[str] = []
        for each in args:
            value = each(st, data)
            if type(value) is list and st.extent(value)[1] > MAX_FUEL:
                st.fail(LIMIT)
                return None
            parts.append(joined(value))
            if not st.spend(text_weight(parts[-1]) - 2):
                return None
        return "".join(parts)

    return evaluate


def compile_substr(c: Compiler, node: Node) -> Evaluate:
    """Start and length as in JavaScript; a negative length counts from the end, as in PHP."""
    text_of, start, length = source(c, node, 0), source(c, node, 1), source(c, node, 2)

    def evaluate(st: State | None, data: Any) -> Any:
        text = to_text(coerced(st, text_of(st, data)))
        begin, count = coerced(st, start(st, data)), coerced(st, length(st, data))
        if not less(st, count, 0.0, or_equal=False):
            return substring(text, begin, count)
        rest = substring(text, begin, UNDEFINED)
        if type(count) is not float:
            return ""  # the reference adds the length to a text here
        return substring(rest, 0.0, units(rest) + count)

    return evaluate


def substring(text: str, start: Any, length: Any) -> str:
    """JavaScript's text.substr(start, length); an undefined length means to the end."""
    size = units(text)
    begin = _integer(start)
    if begin < 0:
        begin = max(size + begin, 0.0)
    begin = min(begin, float(size))
    count = float(size) if length is UNDEFINED else _integer(length)
    return unit_slice(text, int(begin), int(min(begin + max(count, 0.0), float(size))))


def _integer(value: Any) -> float:
    """JavaScript's ToIntegerOrInfinity(value)."""
    number = to_number(value)
    if number != number:
        return 0.0
    return number if number in (math.inf, -math.inf) else float(math.trunc(number))


def compile_affix(matches: Callable[[str, str], bool]) -> Callable[[Compiler, Node], Evaluate]:
    """`starts_with` and `ends_with` of exactly two texts; anything else is null, as in flagd."""

    def compile_(c: Compiler, node: Node) -> Evaluate:
        if len(node.args) != 2:
            return discard(c, node)
        text, part = source(c, node, 0), source(c, node, 1)

        def evaluate(st: State | None, data: Any) -> Any:
            value, affix = text(st, data), part(st, data)
            return matches(value, affix) if type(value) is str and type(affix) is str else None

        return evaluate

    return compile_


def compile_sem_ver(c: Compiler, node: Node) -> Evaluate:
    """A version, an operator and a version; other arguments give null."""
    if len(node.args) != 3:
        return discard(c, node)
    actual, operator, target = _version(c, node, 0), source(c, node, 1), _version(c, node, 2)

    def evaluate(st: State | None, data: Any) -> Any:
        a, b, by = actual(st, data), target(st, data), operator(st, data)
        return versions.compare(a, b, by) if a and b and type(by) is str else None

    return evaluate


def _version(c: Compiler, node: Node, i: int) -> Callable[[State | None, Any], versions.Version | None]:
    """Compiles an argument that is a version; a literal is parsed once."""
    value, fixed = known(node, i)
    if fixed:
        parsed = _parse_version(value)
        return lambda _st, _data: parsed
    arg = source(c, node, i)
    return lambda st, data: _parse_version(coerced(st, arg(st, data)))


def _parse_version(value: Any) -> versions.Version | None:
    if type(value) is float:
        return versions.parse(number_text(value))
    return versions.parse(value) if type(value) is str else None
