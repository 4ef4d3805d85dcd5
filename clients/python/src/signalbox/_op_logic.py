"""Operators of logic and comparison."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._evaluation import (
    State,
    coerced,
    known,
    null,
    source,
    test_argument,
)
from ._values import (
    UNDEFINED,
    strict_equal,
    text_less,
    to_number,
    to_primitive,
    truthy,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node, Test


def compile_if(c: Compiler, node: Node) -> Evaluate:
    """Conditions and results in turn, then an optional else."""
    args = node.args
    pairs = [(c.test(args[i]), c.value(args[i + 1])) for i in range(0, len(args) - 1, 2)]
    otherwise = c.value(args[-1]) if len(args) % 2 else null

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
