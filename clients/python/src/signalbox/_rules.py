"""JSON Logic with flagd's operators, compiled to functions. It means the same as the Go package client/jsonlogic.

Compiling checks the limits, splits paths and prepares literals. A compiled node is a function of a state and the data of its
scope. A rule of which no operator can fail, loop, build large values or split runs without a state.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from . import _evaluation as evaluation
from ._operators import OPERATORS
from ._values import normalize, truthy

#: The limits of a rule. Depth counts nested operations, lists and objects; nodes are operations, lists, objects and scalars.
MAX_DEPTH: Final = 64
MAX_NODES: Final = 2000

LITERAL: Final = 0
ARRAY: Final = 1
OPERATION: Final = 2

Evaluate = Callable[["evaluation.State | None", Any], Any]
Test = Callable[["evaluation.State | None", Any], bool]


class RuleError(ValueError):
    """Why and where a rule was rejected."""

    def __init__(self, code: str, pointer: str, detail: str) -> None:
        super().__init__(f"{detail} (at {pointer})" if pointer else detail)
        self.code = code
        self.pointer = pointer


class Decision(NamedTuple):
    """The result of a rule for one context."""

    matched: bool
    #: A `fractional` was evaluated: the result depends on a bucket.
    split: bool
    #: "limit" or "type"; matched is then False.
    error: str | None


class Node:
    """One operation, list or literal of a rule."""

    __slots__ = ("args", "kind", "op", "pointer", "size", "value")

    def __init__(self, value: Any, pointer: str) -> None:
        self.value = value
        self.pointer = pointer
        self.kind = LITERAL
        self.op = ""
        self.args: list[Node] = []
        self.size = 1

    def is_scalar_list(self) -> bool:
        """Reports whether the node is a list of scalar literals."""
        return self.kind == ARRAY and all(
            each.kind == LITERAL and type(each.value) is not list and type(each.value) is not dict for each in self.args
        )


class _Builder:
    """Converts JSON to nodes and counts them."""

    def __init__(self) -> None:
        self.nodes = 0

    def build(self, value: Any, pointer: str, depth: int) -> Node:
        node = Node(value, pointer)
        before = self.nodes
        kind = type(value)
        if kind is list or (kind is dict and len(value) == 1):
            self.admit(value, pointer, depth)
            if kind is list:
                node.kind = ARRAY
                self.arguments(node, value, pointer, depth)
            else:
                self.operation(node, depth)
        else:
            self.data(value, pointer, depth)
        node.size = self.nodes - before
        return node

    def admit(self, value: Any, pointer: str, depth: int) -> None:
        """Counts a node and checks the limits."""
        self.nodes += 1
        if self.nodes > MAX_NODES:
            raise RuleError("too_many_nodes", pointer, f"a rule may have at most {MAX_NODES} nodes")
        if depth >= MAX_DEPTH and (type(value) is list or type(value) is dict):
            raise RuleError("too_deep", pointer, f"a rule may be at most {MAX_DEPTH} levels deep")

    def operation(self, node: Node, depth: int) -> None:
        """Converts an object with one key. A single argument need not be in a list."""
        ((node.op, argument),) = node.value.items()
        node.kind = OPERATION
        pointer = f"{node.pointer}/{escape(node.op)}"
        if node.op not in OPERATORS:
            raise RuleError("unknown_operator", pointer, f'unknown operator "{node.op}"')
        if type(argument) is list:
            self.arguments(node, argument, pointer, depth)
        else:
            node.args = [self.build(argument, pointer, depth + 1)]

    def arguments(self, node: Node, items: Sequence[Any], pointer: str, depth: int) -> None:
        node.args = [self.build(each, f"{pointer}/{i}", depth + 1) for i, each in enumerate(items)]

    def data(self, value: Any, pointer: str, depth: int) -> None:
        """Counts the nodes of a literal."""
        self.admit(value, pointer, depth)
        if type(value) is list:
            for i, each in enumerate(value):
                self.data(each, f"{pointer}/{i}", depth + 1)
        elif type(value) is dict:
            for key, each in value.items():
                self.data(each, f"{pointer}/{escape(key)}", depth + 1)


def escape(key: str) -> str:
    """Escapes a key for a JSON pointer (RFC 6901)."""
    return key.replace("~", "~0").replace("/", "~1")


class Compiler:
    """Turns nodes into functions."""

    def __init__(self, flag_key: str) -> None:
        self.flag_key = flag_key
        self.scoped = False  # inside a loop's body, where data is an element
        self.stateful = False  # an operator needs a state

    def value(self, node: Node) -> Evaluate:
        """Compiles a node."""
        if node.kind == LITERAL:
            return evaluation.constant(node.value)
        if node.kind == ARRAY:
            self.stateful = True
            return evaluation.new_list([self.value(each) for each in node.args])
        op = OPERATORS[node.op]
        self.stateful = self.stateful or op.stateful
        function = op.value(self, node) if op.value else op.test(self, node)  # type: ignore[misc]
        if not op.surplus(node):
            return function
        # The reference evaluates the arguments that the operator ignores, and one of them may fail.
        return evaluation.after([self.value(each) for each in node.args[op.arity :]], function)

    def test(self, node: Node) -> Test:
        """Compiles a node whose caller only needs its truthiness."""
        if node.kind == OPERATION:
            op = OPERATORS[node.op]
            if op.test and not op.surplus(node):
                self.stateful = self.stateful or op.stateful
                return op.test(self, node)
        value = self.value(node)
        return lambda st, data: truthy(value(st, data))


class Rule:
    """A compiled rule. It is immutable and safe for concurrent use."""

    __slots__ = ("_stateful", "_test", "_value", "constant", "match", "root", "size")

    def __init__(self, logic: Any, flag_key: str = "") -> None:
        self.root = _build(logic)
        self.size = self.root.size
        compiler = Compiler(flag_key)
        self._value = compiler.value(self.root)
        self._test = compiler.test(self.root)
        self._stateful = compiler.stateful
        self.constant = self.root.kind == LITERAL
        #: Reports whether the rule matches data that is light enough: see plain_weight.
        self.match: Callable[[None, Any], bool] = self._match_with_state if self._stateful else self._test

    @property
    def plain_weight(self) -> int:
        """The weight of data up to which match cannot exceed the limits, or needs no state to notice."""
        return evaluation.MAX_FUEL // self.size

    def _match_with_state(self, _: None, data: Any) -> bool:
        st = evaluation.State(data)
        matched = self._test(st, data)
        return matched and st.error is None

    def decide(self, data: Any, weight: int) -> Decision:
        """Applies the rule to data of a weight."""
        if not self._stateful and weight <= self.plain_weight:
            return Decision(self._test(None, data), split=False, error=None)
        st = evaluation.State(data)
        matched = self._test(st, data)
        return Decision(matched and st.error is None, st.split, st.error)

    def evaluate(self, data: Any) -> tuple[Any, str | None]:
        """Returns the rule's result for data, and the error."""
        st = evaluation.State(data)
        value = self._value(st, data)
        return (None, st.error) if st.error else (value, None)


def _build(logic: Any) -> Node:
    try:
        return _Builder().build(normalize(logic), "", 0)
    except RecursionError:
        raise RuleError("too_deep", "", f"a rule may be at most {MAX_DEPTH} levels deep") from None
