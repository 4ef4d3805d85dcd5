"""The operators of rules. Each compiles a node to a function; see _rules."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from . import _versions as versions
from ._values import (
    UNDEFINED,
    joined,
    murmur3,
    number_text,
    parse_float,
    strict_equal,
    text_less,
    text_weight,
    to_number,
    to_primitive,
    to_text,
    truthy,
    unit_slice,
    units,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node, Test

# The limits of one evaluation. Without them a short rule could run for hours or fill the memory.
MAX_FUEL: Final = 1 << 20  # nodes evaluated in loops, elements copied, bytes of text built or converted
MAX_BUILT_WEIGHT: Final = 1 << 26
MAX_BUILT_DEPTH: Final = 2000
MAX_EXTENT_WEIGHT: Final = 1 << 40
FREE_WEIGHT: Final = 64  # conversions of lighter values cost no fuel
MAX_INT32: Final = (1 << 31) - 1

LIMIT: Final = "limit"
TYPE: Final = "type"


class State:
    """The state of one evaluation."""

    __slots__ = ("_extents", "_kept", "error", "fuel", "root", "split")

    def __init__(self, root: Any) -> None:
        self.root = root  # the data of the whole rule; inside a loop, data is an element
        self.fuel = MAX_FUEL
        self.split = False
        self.error: str | None = None
        self._extents: dict[int, tuple[int, int]] | None = None  # most evaluations need none
        self._kept: list[Any]

    def fail(self, error: str) -> None:
        if self.error is None:
            self.error = error

    def spend(self, amount: int) -> bool:
        """Uses fuel and reports whether the evaluation may continue."""
        self.fuel -= amount
        if self.fuel < 0:
            self.fail(LIMIT)
        return self.error is None

    def built(self, value: Any) -> Any:
        """Checks the size of a value that the evaluation made."""
        depth, weight = self.extent(value)
        if depth > MAX_BUILT_DEPTH or weight > MAX_BUILT_WEIGHT:
            self.fail(LIMIT)
            return None
        return value

    def extent(self, value: Any) -> tuple[int, int]:
        """Returns the levels of nesting and the approximate size of the JSON of a value. The JSON can be far larger than the
        value: reduce can put one list a million times into another."""
        kind = type(value)
        if kind is str:
            return 0, text_weight(value)
        if kind is not list and kind is not dict:
            return 0, 8
        if self._extents is None:
            # The values of _extents are kept, so that their identities are not reused.
            self._extents, self._kept = {}, []
        known = self._extents.get(id(value))
        if known is None:
            depth, weight = 1, 1
            for each in value if kind is list else value.values():
                below, added = self.extent(each)
                depth = max(depth, below + 1)
                weight += added
            known = depth, min(weight, MAX_EXTENT_WEIGHT)
            self._extents[id(value)] = known
            self._kept.append(value)
        return known


def coerced(st: State | None, value: Any) -> Any:
    """Uses fuel for a value that is about to be converted. It returns None when there is no fuel left."""
    if st is None or (type(value) is not str and type(value) is not list):
        return value
    weight = st.extent(value)[1]
    return None if weight > FREE_WEIGHT and not st.spend(weight) else value


class Operator(NamedTuple):
    """How an operation compiles. It has value or test."""

    value: Callable[[Compiler, Node], Evaluate] | None = None
    test: Callable[[Compiler, Node], Test] | None = None
    arity: int = 0  # arguments that the operator reads; 0 is all
    stateful: bool = False  # the operator can fail, loop, build large values or split

    def surplus(self, node: Node) -> bool:
        """Reports whether there are more arguments than the operator reads."""
        return 0 < self.arity < len(node.args)


# Arguments.


def constant(value: Any) -> Evaluate:
    return lambda _st, _data: value


_undefined = constant(UNDEFINED)
_null = constant(None)


def new_list(elements: list[Evaluate]) -> Evaluate:
    """Every evaluation makes a new list, since lists compare by identity."""

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101, a list makes a rule stateful
        return st.built([each(st, data) for each in elements])

    return evaluate


def after(first: list[Evaluate], then: Evaluate) -> Evaluate:
    def evaluate(st: State | None, data: Any) -> Any:
        for each in first:
            each(st, data)
        return then(st, data)

    return evaluate


def argument(c: Compiler, node: Node, i: int) -> Evaluate:
    """Compiles the argument at i; a missing argument is undefined."""
    return c.value(node.args[i]) if i < len(node.args) else _undefined


def test_argument(c: Compiler, node: Node, i: int) -> Test:
    return c.test(node.args[i]) if i < len(node.args) else lambda _st, _data: False


def known(node: Node, i: int) -> tuple[Any, bool]:
    """Returns an argument that is the same at every evaluation: a literal, or a list of scalars. Callers must not pass the
    list on, since its identity would be visible."""
    if i < len(node.args):
        arg = node.args[i]
        if arg.kind == 0 or arg.is_scalar_list():
            return arg.value, True
    return None, False


def source(c: Compiler, node: Node, i: int) -> Evaluate:
    """Compiles the argument at i for an operator that reads the argument but does not return it."""
    value, fixed = known(node, i)
    if fixed:
        return constant(value)
    return argument(c, node, i)


def sources(c: Compiler, node: Node) -> list[Evaluate]:
    return [source(c, node, i) for i in range(len(node.args))]


def discard(c: Compiler, node: Node) -> Evaluate:
    """Compiles an operator with a wrong number of arguments: the arguments are evaluated, and the result is null."""
    return after([c.value(each) for each in node.args], _null)


# Reading data.


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
        return lambda _st, data: data
    if len(node.args) > 1:
        return lambda st, data: _or(at_path(data, path), fallback(st, data))
    if len(path) == 1:
        return _one_step(path)
    if len(path) == 2:
        return _two_steps(path)
    return lambda _st, data: _or(at_path(data, path), None)


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


# Logic.


def compile_if(c: Compiler, node: Node) -> Evaluate:
    """Conditions and results in turn, then an optional else."""
    args = node.args
    pairs = [(c.test(args[i]), c.value(args[i + 1])) for i in range(0, len(args) - 1, 2)]
    otherwise = c.value(args[-1]) if len(args) % 2 else _null

    def evaluate(st: State | None, data: Any) -> Any:
        for holds, result in pairs:
            if holds(st, data):
                return result(st, data)
        return otherwise(st, data)

    return evaluate


def compile_first(decisive: bool) -> Callable[[Compiler, Node], Evaluate]:
    """`and` (the first falsy argument, else the last) and `or` (the first truthy one, else the last)."""

    def compile_(c: Compiler, node: Node) -> Evaluate:
        args = [c.value(each) for each in node.args]

        def evaluate(st: State | None, data: Any) -> Any:
            last: Any = UNDEFINED
            for each in args:
                last = each(st, data)
                if truthy(last) is decisive:
                    break
            return last

        return evaluate

    return compile_


def compile_all_of(c: Compiler, node: Node) -> Test:
    """`and` for a caller that only needs the truthiness."""
    tests = [c.test(each) for each in node.args]
    if len(tests) == 2:
        first, second = tests
        return lambda st, data: first(st, data) and second(st, data)

    def test(st: State | None, data: Any) -> bool:
        for each in tests:
            if not each(st, data):
                return False
        return len(tests) > 0

    return test


def compile_any_of(c: Compiler, node: Node) -> Test:
    """`or` for a caller that only needs the truthiness."""
    tests = [c.test(each) for each in node.args]
    if len(tests) == 2:
        first, second = tests
        return lambda st, data: first(st, data) or second(st, data)

    def test(st: State | None, data: Any) -> bool:
        for each in tests:  # noqa: SIM110, a generator costs more
            if each(st, data):
                return True
        return False

    return test


def compile_truthy(c: Compiler, node: Node) -> Test:
    return test_argument(c, node, 0)


def negated(compile_: Callable[[Compiler, Node], Test]) -> Callable[[Compiler, Node], Test]:
    def compile_negated(c: Compiler, node: Node) -> Test:
        test = compile_(c, node)
        return lambda st, data: not test(st, data)

    return compile_negated


def loose_equal(st: State | None, a: Any, b: Any) -> bool:
    """JavaScript's ==."""
    if type(a) is type(b):
        return strict_equal(a, b)
    nothing = a is None or a is UNDEFINED
    if nothing or b is None or b is UNDEFINED:
        return nothing and (b is None or b is UNDEFINED)
    if (type(a) is list or type(a) is dict) and (type(b) is list or type(b) is dict):
        return False
    a, b = to_primitive(coerced(st, a)), to_primitive(coerced(st, b))
    if type(a) is str and type(b) is str:
        return a == b
    return to_number(a) == to_number(b)


def same_value(_st: State | None, a: Any, b: Any) -> bool:
    """strict_equal with the signature of loose_equal."""
    return strict_equal(a, b)


def compile_equality(equal: Callable[[State | None, Any, Any], bool]) -> Callable[[Compiler, Node], Test]:
    """== and ===. Most rules compare with a text, on which both agree."""

    def compile_(c: Compiler, node: Node) -> Test:
        left, right = source(c, node, 0), source(c, node, 1)
        for i, other in ((1, left), (0, right)):
            value, fixed = known(node, i)
            if fixed and type(value) is str:
                return _equals_text(value, other, equal)
            if fixed:
                break
        return lambda st, data: equal(st, left(st, data), right(st, data))

    return compile_


def _equals_text(text: str, other: Evaluate, equal: Callable[[State | None, Any, Any], bool]) -> Test:
    def test(st: State | None, data: Any) -> bool:
        value = other(st, data)
        if type(value) is str:
            return value == text
        return equal(st, value, text)

    return test


def less(st: State | None, a: Any, b: Any, or_equal: bool) -> bool:
    """JavaScript's a < b, or a <= b."""
    if type(a) is not float or type(b) is not float:
        a, b = to_primitive(coerced(st, a)), to_primitive(coerced(st, b))
        if type(a) is str and type(b) is str:
            return text_less(a, b, or_equal)
        a, b = to_number(a), to_number(b)
    return a < b or (or_equal and a == b)


def compile_less(or_equal: bool) -> Callable[[Compiler, Node], Test]:
    """a < b, or with three arguments a < b < c. An undefined third argument is ignored."""

    def compile_(c: Compiler, node: Node) -> Test:
        a, b = source(c, node, 0), source(c, node, 1)
        if len(node.args) < 3:
            return lambda st, data: less(st, a(st, data), b(st, data), or_equal)
        third = source(c, node, 2)

        def test(st: State | None, data: Any) -> bool:
            low, middle, high = a(st, data), b(st, data), third(st, data)
            return less(st, low, middle, or_equal) and (high is UNDEFINED or less(st, middle, high, or_equal))

        return test

    return compile_


def compile_greater(or_equal: bool) -> Callable[[Compiler, Node], Test]:
    def compile_(c: Compiler, node: Node) -> Test:
        a, b = source(c, node, 0), source(c, node, 1)

        def test(st: State | None, data: Any) -> bool:
            first, second = a(st, data), b(st, data)
            return less(st, second, first, or_equal)

        return test

    return compile_


# Numbers.


def compile_sum(c: Compiler, node: Node) -> Evaluate:
    args = sources(c, node)

    def evaluate(st: State | None, data: Any) -> Any:
        total = 0.0
        for each in args:
            total += parse_float(coerced(st, each(st, data)))
        return total

    return evaluate


def compile_product(c: Compiler, node: Node) -> Evaluate:
    """A single argument is returned unchanged, and a product without arguments is a TypeError."""
    args = [c.value(each) for each in node.args]

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        if not args:
            st.fail(TYPE)
            return None
        product = args[0](st, data)
        for each in args[1:]:
            product = parse_float(coerced(st, product)) * parse_float(coerced(st, each(st, data)))
        return product

    return evaluate


def compile_minus(c: Compiler, node: Node) -> Evaluate:
    """Without a second argument, or if it is undefined, the first is negated."""
    a, b = source(c, node, 0), source(c, node, 1)

    def evaluate(st: State | None, data: Any) -> Any:
        left, right = coerced(st, a(st, data)), coerced(st, b(st, data))
        return -to_number(left) if right is UNDEFINED else to_number(left) - to_number(right)

    return evaluate


def divide(a: float, b: float) -> float:
    if b != 0:
        return a / b
    if a == 0 or a != a:
        return math.nan
    return math.copysign(math.inf, a) * math.copysign(1, b)


def remainder(a: float, b: float) -> float:
    if b == 0 or a in (math.inf, -math.inf):
        return math.nan
    return math.fmod(a, b)


def compile_arithmetic(calculate: Callable[[float, float], float]) -> Callable[[Compiler, Node], Evaluate]:
    def compile_(c: Compiler, node: Node) -> Evaluate:
        a, b = source(c, node, 0), source(c, node, 1)

        def evaluate(st: State | None, data: Any) -> Any:
            left, right = coerced(st, a(st, data)), coerced(st, b(st, data))
            return calculate(to_number(left), to_number(right))

        return evaluate

    return compile_


def compile_extreme(sign: int) -> Callable[[Compiler, Node], Evaluate]:
    """max and min. Without arguments the result is the infinity that every number beats."""

    def compile_(c: Compiler, node: Node) -> Evaluate:
        args = sources(c, node)

        def evaluate(st: State | None, data: Any) -> Any:
            numbers = [to_number(coerced(st, each(st, data))) for each in args]
            if any(each != each for each in numbers):
                return math.nan
            return max(numbers, default=-math.inf) if sign > 0 else min(numbers, default=math.inf)

        return evaluate

    return compile_


# Text.


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


# Lists.


def _loop(c: Compiler, node: Node) -> tuple[Evaluate, int]:
    """Returns the list of a loop, and the fuel for one element."""
    return source(c, node, 0), 1 + (node.args[1].size if len(node.args) > 1 else 0)


def _body(c: Compiler, node: Node) -> Evaluate:
    outer, c.scoped = c.scoped, True
    body = argument(c, node, 1)
    c.scoped = outer
    return body


def _condition(c: Compiler, node: Node) -> Test:
    outer, c.scoped = c.scoped, True
    test = test_argument(c, node, 1)
    c.scoped = outer
    return test


def _items(value: Any) -> list[Any]:
    return value if type(value) is list else []


def compile_map(c: Compiler, node: Node) -> Evaluate:
    (items, cost), body = _loop(c, node), _body(c, node)

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        out: list[Any] = []
        for each in _items(items(st, data)):
            if not st.spend(cost):
                break
            out.append(body(st, each))
        return st.built(out)

    return evaluate


def compile_filter(c: Compiler, node: Node) -> Evaluate:
    (items, cost), test = _loop(c, node), _condition(c, node)

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        out: list[Any] = []
        for each in _items(items(st, data)):
            if not st.spend(cost):
                break
            if test(st, each):
                out.append(each)
        return st.built(out)

    return evaluate


def compile_reduce(c: Compiler, node: Node) -> Evaluate:
    """The body gets {current, accumulator} and returns the next accumulator."""
    (items, cost), body = _loop(c, node), _body(c, node)
    initial = c.value(node.args[2]) if len(node.args) > 2 else _null

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        elements, accumulator = items(st, data), initial(st, data)
        for each in _items(elements):
            if not st.spend(cost):
                break
            accumulator = body(st, st.built({"current": each, "accumulator": accumulator}))
        return accumulator

    return evaluate


def compile_quantifier(decisive: bool) -> Callable[[Compiler, Node], Test]:
    """`some` and `all`. It stops at the first element that decides; `all` of no elements is false."""

    def compile_(c: Compiler, node: Node) -> Test:
        (items, cost), test = _loop(c, node), _condition(c, node)

        def quantify(st: State | None, data: Any) -> bool:
            assert st is not None  # noqa: S101
            elements = _items(items(st, data))
            for each in elements:
                if not st.spend(cost):
                    return False
                if test(st, each) is decisive:
                    return decisive
            return not decisive and len(elements) > 0

        return quantify

    return compile_


def compile_merge(c: Compiler, node: Node) -> Evaluate:
    """One list of all arguments, in which the elements of a list replace that list."""
    args = sources(c, node)

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        out: list[Any] = []
        for each in args:
            value = each(st, data)
            if type(value) is not list:
                out.append(value)
                continue
            if not st.spend(len(value)):
                break
            out.extend(value)
        return st.built(out)

    return evaluate


# Splits.


class Split(NamedTuple):
    """A valid list of buckets: variants and where each ends."""

    variants: list[Any]
    ends: list[int]

    def pick(self, st: State, flag_key: str, by: Any) -> Any:
        """Chooses a variant by the hash of a text, or of the flag's key and the targeting key."""
        if type(by) is str:
            flag_key = ""
        else:
            by = targeting_key(st.root)
            if type(by) is not str or not by:
                return None
        st.split = True
        place = murmur3((flag_key + by).encode()) * self.ends[-1] >> 32
        for variant, end in zip(self.variants, self.ends, strict=True):
            if place < end:
                return variant
        return None


def targeting_key(data: Any) -> Any:
    """Returns `targetingKey` of the data, else `user.key`; a number as text."""
    key = data.get("targetingKey") if type(data) is dict else None
    if key is None:
        user = data.get("user") if type(data) is dict else None
        key = user.get("key") if type(user) is dict else None
    return number_text(key) if type(key) is float else key


def new_split(items: list[Any]) -> Split | None:
    """Checks buckets as flagd does: a scalar variant, an integer weight (default 1, negative is 0), a sum of 31 bits."""
    variants: list[Any] = []
    ends: list[int] = []
    total = 0
    for each in items:
        if type(each) is not list or not each or type(each[0]) is list or type(each[0]) is dict:
            return None
        weight = each[1] if len(each) > 1 else None
        if weight is None or weight is UNDEFINED:
            weight = 1.0
        if type(weight) is not float or not weight <= MAX_INT32 or (weight > 0 and weight != math.trunc(weight)):
            return None
        if weight < 0 and weight not in (-math.inf,) and weight != math.trunc(weight):
            return None
        total += max(int(weight), 0) if weight > 0 else 0
        variants.append(None if each[0] is UNDEFINED else each[0])
        ends.append(total)
    return Split(variants, ends) if 0 < total <= MAX_INT32 else None


def compile_fractional(c: Compiler, node: Node) -> Evaluate:
    """Picks a weighted variant by a hash: a key always gets the same variant."""
    args = [c.value(each) for each in node.args]
    flag_key = c.flag_key

    def computed(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        items = [each(st, data) for each in args]
        by: Any = UNDEFINED
        if items and (type(items[0]) is str or items[0] is None):
            by, items = items[0], items[1:]
        split = new_split(items)
        return split.pick(st, flag_key, by) if split else None

    fixed = _fixed_split(node.args)
    if fixed:
        return _fixed_fractional(_null, fixed, computed, flag_key)
    fixed = _fixed_split(node.args[1:]) if node.args else None
    return _fixed_fractional(args[0], fixed, computed, flag_key) if fixed else computed


def _fixed_split(args: list[Node]) -> Split | None:
    return new_split([each.value for each in args]) if all(each.is_scalar_list() for each in args) else None


def _fixed_fractional(by: Evaluate, fixed: Split, computed: Evaluate, flag_key: str) -> Evaluate:
    """The common case, where all arguments but the first are literal buckets. The first is the key to hash if it is a text or
    null; else it may be one more bucket."""

    def evaluate(st: State | None, data: Any) -> Any:
        assert st is not None  # noqa: S101
        key = by(st, data)
        if key is not None and type(key) is not str:
            return computed(st, data)
        return fixed.pick(st, flag_key, key)

    return evaluate


OPERATORS: Final[dict[str, Operator]] = {
    "var": Operator(compile_var, arity=2),
    "missing": Operator(compile_missing, stateful=True),
    "missing_some": Operator(compile_missing_some, arity=2, stateful=True),
    "log": Operator(lambda c, node: argument(c, node, 0), arity=1),  # it prints nothing
    "if": Operator(compile_if),
    "?:": Operator(compile_if),
    "and": Operator(compile_first(False), compile_all_of),
    "or": Operator(compile_first(True), compile_any_of),
    "!": Operator(test=negated(compile_truthy), arity=1),
    "!!": Operator(test=compile_truthy, arity=1),
    "==": Operator(test=compile_equality(loose_equal), arity=2),
    "===": Operator(test=compile_equality(same_value), arity=2),
    "!=": Operator(test=negated(compile_equality(loose_equal)), arity=2),
    "!==": Operator(test=negated(compile_equality(same_value)), arity=2),
    "<": Operator(test=compile_less(False), arity=3),
    "<=": Operator(test=compile_less(True), arity=3),
    ">": Operator(test=compile_greater(False), arity=2),
    ">=": Operator(test=compile_greater(True), arity=2),
    "+": Operator(compile_sum),
    "*": Operator(compile_product, stateful=True),
    "-": Operator(compile_minus, arity=2),
    "/": Operator(compile_arithmetic(divide), arity=2),
    "%": Operator(compile_arithmetic(remainder), arity=2),
    "max": Operator(compile_extreme(1)),
    "min": Operator(compile_extreme(-1)),
    "in": Operator(test=compile_in, arity=2),
    "cat": Operator(compile_cat, stateful=True),
    "substr": Operator(compile_substr, arity=3),
    "map": Operator(compile_map, stateful=True),
    "filter": Operator(compile_filter, stateful=True),
    "reduce": Operator(compile_reduce, stateful=True),
    "all": Operator(test=compile_quantifier(False), stateful=True),
    "some": Operator(test=compile_quantifier(True), stateful=True),
    "none": Operator(test=negated(compile_quantifier(True)), stateful=True),
    "merge": Operator(compile_merge, stateful=True),
    "fractional": Operator(compile_fractional, stateful=True),
    "starts_with": Operator(compile_affix(str.startswith)),
    "ends_with": Operator(compile_affix(str.endswith)),
    "sem_ver": Operator(compile_sem_ver),
}
