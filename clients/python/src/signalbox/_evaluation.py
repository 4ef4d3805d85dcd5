"""One evaluation of a rule: its limits, its state, and the arguments of operators. See _rules."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ._values import (
    UNDEFINED,
    text_weight,
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


def constant(value: Any) -> Evaluate:
    return lambda _st, _data: value


undefined = constant(UNDEFINED)
null = constant(None)


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
    return c.value(node.args[i]) if i < len(node.args) else undefined


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
    return after([c.value(each) for each in node.args], null)
