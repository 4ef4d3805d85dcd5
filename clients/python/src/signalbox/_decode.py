"""Decodes JSON values into dataclasses, TypedDicts, pydantic models and plain types."""

from __future__ import annotations

import dataclasses
import enum
import math
import types
import typing
from collections.abc import Mapping
from typing import Any, Final, Literal, TypeVar, Union, get_args, get_origin

T = TypeVar("T")

#: The default of a value that must be there.
REQUIRED: Final = object()


class DecodeError(ValueError):
    """A value does not fit its type."""


def decode(kind: Any, value: Any, default: Any = REQUIRED, where: str = "") -> Any:
    """Returns a JSON value as an object of a type. Members that the value lacks come from default."""
    kind = _unwrapped(kind)
    if kind is Any or kind is object:
        return value
    origin = get_origin(kind)
    if origin is not None:
        return _decode_generic(kind, origin, value, where)
    if hasattr(kind, "model_validate"):
        return kind.model_validate(_over(default, value))
    if dataclasses.is_dataclass(kind):
        return _decode_dataclass(kind, value, default, where)
    if typing.is_typeddict(kind):
        return _decode_typed_dict(kind, value, default, where)
    return _decode_plain(kind, value, where)


def _unwrapped(kind: Any) -> Any:
    """Removes Annotated, Required, NotRequired and Final around a type."""
    while (name := getattr(get_origin(kind), "__name__", getattr(get_origin(kind), "_name", None))) in {
        "Annotated",
        "Required",
        "NotRequired",
        "ReadOnly",
        "Final",
    } or hasattr(kind, "__metadata__"):
        if name == "Final" and not get_args(kind):
            return Any
        kind = get_args(kind)[0]
    return kind


def _over(default: Any, value: Any) -> Any:
    """Merges the members of a value over those that a default model was made with. The model's own defaults and its computed
    fields are not passed, because a model may refuse them."""
    if default is REQUIRED or not isinstance(value, Mapping):
        return value
    fields = type(default).model_fields
    merged = dict(value)
    for field in default.model_fields_set:
        names = [*_aliases(fields[field]), field] if field in fields else [field]
        if not any(each in value for each in names):
            merged[names[0]] = getattr(default, field)
    return merged


def _aliases(field: Any) -> list[str]:
    """Returns the names under which pydantic reads a field, apart from its own."""
    alias = field.validation_alias
    return [each for each in getattr(alias, "choices", [alias]) if isinstance(each, str)]


def _decode_generic(kind: Any, origin: Any, value: Any, where: str) -> Any:
    args = get_args(kind)
    if origin is Literal:
        if not any(type(each) is type(value) and each == value for each in args):
            raise DecodeError(f"{where or 'the value'} must be one of {', '.join(map(repr, args))}, not {value!r}")
        return value
    if origin is Union or origin is types.UnionType:
        return _decode_union(args, value, where)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _expect(isinstance(value, Mapping), "an object", value, where)
        return {key: decode(args[1], each, where=f"{where}.{key}") for key, each in value.items()}
    _expect(isinstance(value, list), "a list", value, where)
    if origin is tuple and not (len(args) == 2 and args[1] is Ellipsis):
        _expect(len(args) == len(value), f"a list of {len(args)} values", value, where)
        return tuple(decode(kind, each, where=f"{where}[{i}]") for i, (kind, each) in enumerate(zip(args, value, strict=True)))
    items = [decode(args[0], each, where=f"{where}[{i}]") for i, each in enumerate(value)]
    return items if origin not in {tuple, set, frozenset} else origin(items)


def _decode_union(kinds: tuple[Any, ...], value: Any, where: str) -> Any:
    if value is None and type(None) in kinds:
        return None
    failed: DecodeError | None = None
    for each in kinds:
        if each is type(None):
            continue
        try:
            return decode(each, value, where=where)
        except (DecodeError, TypeError, ValueError) as error:
            failed = failed or DecodeError(str(error))
    raise failed or DecodeError(f"{where or 'the value'} fits no type")


def _decode_dataclass(kind: Any, value: Any, default: Any, where: str) -> Any:
    _expect(isinstance(value, Mapping), "an object", value, where)
    hints = typing.get_type_hints(kind, include_extras=True)
    given: dict[str, Any] = {}
    for field in dataclasses.fields(kind):
        if not field.init:
            continue
        before = getattr(default, field.name) if default is not REQUIRED else REQUIRED
        name = f"{where}.{field.name}" if where else field.name
        if field.name in value:
            nested = before if dataclasses.is_dataclass(_unwrapped(hints[field.name])) else REQUIRED
            given[field.name] = decode(hints[field.name], value[field.name], nested, name)
        elif before is not REQUIRED:
            given[field.name] = before
        elif field.default is dataclasses.MISSING and field.default_factory is dataclasses.MISSING:
            raise DecodeError(f"{name} is missing")
    return kind(**given)


def _decode_typed_dict(kind: Any, value: Any, default: Any, where: str) -> Any:
    _expect(isinstance(value, Mapping), "an object", value, where)
    merged = {**(default if default is not REQUIRED else {}), **value}
    hints = typing.get_type_hints(kind, include_extras=True)
    for name in kind.__required_keys__:
        if name not in merged:
            raise DecodeError(f"{where}.{name} is missing" if where else f"{name} is missing")
    return {
        name: decode(hints[name], each, where=f"{where}.{name}" if where else name) if name in hints and name in value else each
        for name, each in merged.items()
    }


def _decode_plain(kind: Any, value: Any, where: str) -> Any:  # noqa: PLR0911, one line for each type
    if kind is bool:
        return _expect(isinstance(value, bool), "true or false", value, where)
    if kind is str:
        return _expect(isinstance(value, str), "text", value, where)
    if kind is int:
        number = isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
        _expect(number and value == int(value), "a whole number", value, where)
        return int(value)
    if kind is float:
        _expect(isinstance(value, (int, float)) and not isinstance(value, bool), "a number", value, where)
        return float(value)
    if kind is type(None):
        return _expect(value is None, "null", value, where)
    if kind is dict:
        return dict(_expect(isinstance(value, Mapping), "an object", value, where))
    if kind in {list, tuple, set, frozenset}:
        return kind(_expect(isinstance(value, list), "a list", value, where))
    if isinstance(kind, type) and issubclass(kind, enum.Enum):
        return kind(value)
    return kind(value)  # such as Decimal or a function of the caller


def _expect(ok: bool, what: str, value: Any, where: str) -> Any:
    if not ok:
        raise DecodeError(f"{where or 'the value'} must be {what}, not {value!r}")
    return value
