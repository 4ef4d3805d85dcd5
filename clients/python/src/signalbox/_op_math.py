"""Operators of numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._evaluation import (
    TYPE,
    State,
    coerced,
    source,
    sources,
)
from ._values import (
    UNDEFINED,
    parse_float,
    to_number,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node


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
