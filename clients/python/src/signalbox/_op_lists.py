"""Operators of lists."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from ._evaluation import (
    State,
    argument,
    null,
    source,
    sources,
    test_argument,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node, Test


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
    initial = c.value(node.args[2]) if len(node.args) > 2 else null

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
