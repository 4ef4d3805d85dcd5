"""Values as rules see them, with JavaScript's conversions.

A value is None, a bool, a float, a str, a list, a dict, or UNDEFINED. Numbers are always float, so that the exact type of a
value decides its JavaScript type: a Python bool is an int, and 1 == True.
"""

from __future__ import annotations

import datetime
import enum
import math
import re
import struct
from collections.abc import Mapping, Sequence, Set
from typing import Any, Final

NAN: Final = math.nan


class Undefined:
    """The type of UNDEFINED."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "UNDEFINED"

    def __bool__(self) -> bool:
        return False


#: JavaScript's undefined, such as a missing argument or a missing member.
UNDEFINED: Final = Undefined()

#: How deeply data may be nested.
MAX_DATA_DEPTH: Final = 1000

# White space and line terminators of JavaScript.
_SPACES: Final = (
    "\t\n\v\f\r \u00a0\u1680"
    "\u2000\u2001\u2002\u2003\u2004\u2005"
    "\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_NUMBER: Final = re.compile(r"[+-]?(?:Infinity|(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?)")
_RADIX: Final = {"x": (16, re.compile(r"[0-9a-fA-F]+")), "o": (8, re.compile(r"[0-7]+")), "b": (2, re.compile(r"[01]+"))}
_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def normalize(value: Any) -> Any:
    """Returns a Python object as a value of rules. An object that has no JSON form becomes None."""
    try:
        return _normalize(value)
    except Exception:  # noqa: BLE001, it is nested too deeply or into itself, or code of the service failed
        return None


def _normalize(value: Any) -> Any:
    kind = type(value)
    if kind is str:
        return value if value.isascii() else _SURROGATE.sub("\ufffd", value)
    if value is None or kind is bool or kind is float:
        return value
    if kind is int:
        return as_float(value)
    if kind is dict:
        return {_normalize(key) if type(key) is str else str(key): _normalize(each) for key, each in value.items()}
    if kind is list or kind is tuple:
        return [_normalize(each) for each in value]
    return _normalize_other(value)


def _normalize_other(value: Any) -> Any:
    try:
        return _converted(value)
    except RecursionError:
        raise
    except Exception:  # noqa: BLE001, code of the service failed, and the other values are still good
        return None


def _converted(value: Any) -> Any:  # noqa: PLR0911, one line for each type
    """Converts subclasses, and objects that have an obvious JSON form."""
    if isinstance(value, enum.Enum):
        return _normalize(value.value)
    if isinstance(value, str):
        return _normalize(str(value))
    if isinstance(value, int):
        return as_float(int(value))
    if isinstance(value, (datetime.datetime, datetime.date, datetime.time)):
        text = value.isoformat()
        return text[:-6] + "Z" if text.endswith("+00:00") else text
    if isinstance(value, Mapping):
        return {str(key): _normalize(each) for key, each in value.items()}
    if isinstance(value, (Sequence, Set)) and not isinstance(value, (bytes, bytearray, memoryview)):
        return [_normalize(each) for each in value]
    return _normalize_named(value)


def _normalize_named(value: Any) -> Any:
    """Converts numbers such as Decimal, and UUIDs. It compares names of types, so that their modules need not be imported."""
    module = type(value).__module__
    if module in {"uuid", "ipaddress", "pathlib"}:
        return str(value)
    if hasattr(value, "__float__"):
        try:
            return float(value)
        except (TypeError, ValueError, OverflowError):
            return None
    return None


def finite(value: Any) -> Any:
    """Returns a JSON value with null for NaN and infinities, which JSON does not have."""
    try:
        return _finite(value)
    except RecursionError:
        return None


def _finite(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return value if math.isfinite(value) else None
    if kind is dict:
        return {name: _finite(each) for name, each in value.items()}
    return [_finite(each) for each in value] if kind is list else value


def as_float(value: float) -> float:
    """Converts a number. An integer that is too large becomes infinite, as in JavaScript."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def truthy(value: Any) -> bool:
    """Reports whether a value is truthy as in JavaScript, except that an empty list is not."""
    kind = type(value)
    if kind is bool:
        return value  # type: ignore[no-any-return]
    if kind is float:
        return value != 0 and value == value  # type: ignore[no-any-return]
    if kind is str or kind is list:
        return len(value) > 0
    return kind is dict


def to_number(value: Any) -> float:
    """JavaScript's Number(value)."""
    kind = type(value)
    if kind is float:
        return value  # type: ignore[no-any-return]
    if value is None:
        return 0.0
    if kind is bool:
        return 1.0 if value else 0.0
    if kind is str:
        return _text_to_number(value)
    if kind is list:
        return _text_to_number(to_text(value))
    return NAN


def to_text(value: Any) -> str:
    """JavaScript's String(value)."""
    kind = type(value)
    if kind is str:
        return value  # type: ignore[no-any-return]
    if value is None:
        return "null"
    if kind is bool:
        return "true" if value else "false"
    if kind is dict:
        return "[object Object]"
    if value is UNDEFINED:
        return "undefined"
    return joined(value)


def joined(value: Any) -> str:
    """Returns a value as an element of a joined list: null and undefined are empty, lists are joined with commas."""
    if value is None or value is UNDEFINED:
        return ""
    kind = type(value)
    if kind is float:
        return number_text(value)
    if kind is list:
        return ",".join([joined(each) for each in value])
    return to_text(value)


def to_primitive(value: Any) -> Any:
    """Converts lists and objects to text, as JavaScript does before it compares or calculates."""
    kind = type(value)
    return to_text(value) if kind is list or kind is dict else value


def number_text(number: float) -> str:
    """Returns a number as JavaScript writes it: plain digits from 1e-6 to 1e21, else an exponent."""
    if number != number:
        return "NaN"
    if number in (math.inf, -math.inf):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0:
        return "0"
    text = repr(number)
    if "e" not in text:
        return text[:-2] if text.endswith(".0") else text
    digits, exponent = text.split("e")
    if not 1e-6 <= abs(number) < 1e21:
        return f"{digits}e{exponent[0]}{exponent[1:].lstrip('0')}"
    return _plain(digits, int(exponent))


def _plain(digits: str, exponent: int) -> str:
    """Writes a number with an exponent without one."""
    sign = "-" if digits.startswith("-") else ""
    whole, _, fraction = digits.lstrip("-").partition(".")
    fraction = "" if fraction == "0" else fraction
    if exponent > 0:
        return sign + whole + fraction.ljust(exponent, "0")
    return sign + "0." + "0" * (-exponent - 1) + whole + fraction


def _text_to_number(text: str) -> float:
    """JavaScript's Number(text)."""
    text = text.strip(_SPACES)
    if not text:
        return 0.0
    if len(text) > 2 and text[0] == "0" and text[1] in "xXoObB":
        base, digits = _RADIX[text[1].lower()]
        return as_float(int(text[2:], base)) if digits.fullmatch(text, 2) else NAN
    found = _NUMBER.fullmatch(text)
    return float(text) if found else NAN


def parse_float(value: Any) -> float:
    """JavaScript's parseFloat(value): the number at the start of the text."""
    kind = type(value)
    if kind is float:
        return value or 0.0  # -0 loses its sign in text
    if kind is str or kind is list:
        found = _NUMBER.match(to_text(value).lstrip(_SPACES))
        return float(found.group()) if found else NAN
    return NAN


def strict_equal(a: Any, b: Any) -> bool:
    """JavaScript's ===. Lists and objects are equal only to themselves."""
    kind = type(a)
    if kind is not type(b):
        return False
    if kind is list or kind is dict:
        return a is b
    return a == b  # type: ignore[no-any-return]


def units(text: str) -> int:
    """JavaScript's text.length, which counts UTF-16 code units."""
    if text.isascii():
        return len(text)
    return len(text) + sum(each > "\uffff" for each in text)


def unit_slice(text: str, start: int, end: int) -> str:
    """Returns the code units from start to end. Half of a surrogate pair is U+FFFD."""
    if start >= end:
        return ""
    if text.isascii():
        return text[start:end]
    return text.encode("utf-16-le")[2 * start : 2 * end].decode("utf-16-le", "replace")


def text_less(a: str, b: str, or_equal: bool) -> bool:
    """Orders text by UTF-16 code units, as JavaScript does."""
    if not (a.isascii() and b.isascii()):
        first, second = a.encode("utf-16-be"), b.encode("utf-16-be")
        return first < second or (or_equal and first == second)
    return a < b or (or_equal and a == b)


def text_weight(text: str) -> int:
    """Returns the approximate size of a text in JSON, in bytes."""
    return 2 + (len(text) if text.isascii() else len(text.encode()))


def murmur3(data: bytes) -> int:
    """MurmurHash3's 32-bit variant for x86 with seed 0, the hash that flagd's clients agree on."""
    size = len(data)
    h = 0
    for k in struct.unpack_from(f"<{size >> 2}I", data):
        k = k * 0xCC9E2D51 & 0xFFFFFFFF  # noqa: PLW2901, this loop is most of the time of a split
        h ^= (k << 15 | k >> 17) * 0x1B873593 & 0xFFFFFFFF
        h = (h << 13 | h >> 19) * 5 + 0xE6546B64 & 0xFFFFFFFF
    if size & 3:
        k = int.from_bytes(data[size & ~3 :], "little") * 0xCC9E2D51 & 0xFFFFFFFF
        h ^= (k << 15 | k >> 17) * 0x1B873593 & 0xFFFFFFFF
    h ^= size
    h = (h ^ h >> 16) * 0x85EBCA6B & 0xFFFFFFFF
    h = (h ^ h >> 13) * 0xC2B2AE35 & 0xFFFFFFFF
    return h ^ h >> 16


def weight_of(value: Any) -> int:
    """Returns the approximate size of the JSON of data, in bytes. Data is a tree, unlike the values that rules build."""
    kind = type(value)
    if kind is str:
        return 2 + (len(value) if value.isascii() else len(value.encode()))
    if kind is dict:
        return sum(map(weight_of, value.values()), 1)
    return sum(map(weight_of, value), 1) if kind is list else 8
