"""Operators that read data: `var`, `missing` and `missing_some`."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ._evaluation import (
    TYPE,
    State,
    after,
    argument,
    coerced,
    constant,
    source,
)
from ._values import (
    UNDEFINED,
    to_number,
    to_text,
    unit_slice,
    units,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node


def index_of(key: str) -> int:
    """Parses an index of a list, digits without a leading zero; anything else is -1."""
    if not key.isascii() or not key.isdigit() or len(key) > 9 or (key[0] == "0" and len(key) > 1):
        return -1
    return int(key)


def member(value: Any, key: str) -> Any:
    """JavaScript's value[key] without inherited members."""
    kind = type(value)
    if kind is dict:
        return value.get(key, UNDEFINED)
    if kind is list:
        i = index_of(key)
        if 0 <= i < len(value):
            return value[i]
        return float(len(value)) if key == "length" else UNDEFINED
    if kind is str:
        if key == "length":
            return float(units(value))
        i = index_of(key)
        return unit_slice(value, i, i + 1) if 0 <= i < units(value) else UNDEFINED
    return UNDEFINED


def at_path(data: Any, path: list[str]) -> Any:
    for key in path:
        data = member(data, key)
        if data is UNDEFINED:
            break
    return data


def static_path(node: Node) -> list[str] | None:
    """Returns the path of a `var` whose name is a literal."""
    if node.op != "var":
        return None
    if not node.args:
        return []
    name = node.args[0]
    if name.kind != 0:
        return None
    if name.value is None or name.value == "":
        return []
    return to_text(name.value).split(".")


def compile_var(c: Compiler, node: Node) -> Evaluate:  # noqa: PLR0911, one line for each form
    """The value at a path of the data, else the second argument, else null."""
    fallback = argument(c, node, 1)
    path = static_path(node)
    if path is None:
        name = argument(c, node, 0)
        return lambda st, data: variable(data, coerced(st, name(st, data)), fallback(st, data))
    if c.flag_key and not c.scoped and path == ["$flagd", "flagKey"]:
        return constant(c.flag_key)
    if not path:
        return _whole if len(node.args) < 2 else after([fallback], _whole)  # the fallback may fail
    if len(node.args) > 1:
        return lambda st, data: _or(at_path(data, path), fallback(st, data))
    if len(path) == 1:
        return _one_step(path)
    if len(path) == 2:
        return _two_steps(path)
    return lambda _st, data: _or(at_path(data, path), None)


def _whole(_st: State | None, data: Any) -> Any:
    return data


def _one_step(path: list[str]) -> Evaluate:
    (key,) = path

    def read(_st: State | None, data: Any) -> Any:
        if type(data) is dict:
            return data.get(key)
        return _or(member(data, key), None)

    return read


def _two_steps(path: list[str]) -> Evaluate:
    """The common case: an attribute of a context. Data that is not an object raises a TypeError or an AttributeError."""
    first, second = path

    def read(_st: State | None, data: Any) -> Any:
        try:
            return data[first].get(second)
        except (KeyError, TypeError, AttributeError):
            return _or(at_path(data, path), None)

    return read


def _or(value: Any, fallback: Any) -> Any:
    if value is not UNDEFINED:
        return value
    return None if fallback is UNDEFINED else fallback


def variable(data: Any, name: Any, fallback: Any) -> Any:
    """Evaluates `var` with a computed name."""
    if name is None or name is UNDEFINED or name == "":
        return data
    return _or(at_path(data, to_text(name).split(".")), fallback)


def compile_missing(c: Compiler, node: Node) -> Evaluate:
    """The given names that have no value. A first argument that is a list is the list of names."""
    names = [c.value(each) for each in node.args]

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        return st.built(_missing(st, data, [each(st, data) for each in names]))

    return evaluate


def _missing(st: State, data: Any, keys: list[Any]) -> list[Any]:
    if keys and type(keys[0]) is list:
        keys = keys[0]
    absent: list[Any] = []
    for key in keys:
        if not st.spend(1):
            break
        if _is_missing(st, data, key):
            absent.append(key)
    return absent


def _is_missing(st: State, data: Any, key: Any) -> bool:
    """Reports whether the value at key is null or "". A list as key is a name and a default, as for `var`."""
    fallback: Any = UNDEFINED
    if type(key) is list:
        fallback = key[1] if len(key) > 1 else UNDEFINED
        key = key[0] if key else UNDEFINED
    value = variable(data, coerced(st, key), fallback)
    return value is None or value == ""


def compile_missing_some(c: Compiler, node: Node) -> Evaluate:
    """An empty list when enough of the given names have values, else the names without."""
    need, options = source(c, node, 0), source(c, node, 1)

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        wanted, names = coerced(st, need(st, data)), options(st, data)
        if names is None or names is UNDEFINED:
            st.fail(TYPE)
            return None
        absent = _missing(st, data, names if type(names) is list else [names])
        length = member(names, "length")
        if (math.nan if length is UNDEFINED else to_number(length)) - len(absent) >= to_number(wanted):
            absent = []
        return st.built(absent)

    return evaluate
