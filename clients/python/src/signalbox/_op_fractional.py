"""`fractional`, which splits users."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from ._evaluation import (
    MAX_INT32,
    State,
    null,
)
from ._values import (
    UNDEFINED,
    murmur3,
    number_text,
)

if TYPE_CHECKING:
    from ._rules import Compiler, Evaluate, Node


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
        return _fixed_fractional(null, fixed, computed, flag_key)
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
