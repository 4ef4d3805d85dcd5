"""Contexts: the things that the rules of flags read, such as the user of a request."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from ._values import normalize, weight_of

if TYPE_CHECKING:
    from ._box import Box


class Contexts:
    """The contexts of a request, by their types. They are prepared once for all flags of a box."""

    __slots__ = ("before", "box", "data", "entered", "types", "weight")

    def __init__(self, types: dict[str, Any]) -> None:
        self.types = types
        self.entered: context | None = None  # the `with` statement that ends these contexts
        self.before: Contexts | None = None  # what applies again when they end
        self.box: Box | None = None
        self.data: dict[str, Any] = {}  # what rules read: the contexts and the service
        self.weight = 0

    def bound_to(self, box: Box) -> Contexts:
        """Returns the contexts for the rules of a box."""
        bound = self if self.box is None else Contexts(self.types)
        bound.data = {**box.service_context, **self.types}
        bound.weight = weight_of(bound.data)
        bound.box = box  # last: another thread may read these contexts
        box.reports.saw_contexts(self.types)
        return bound


_current: ContextVar[Contexts | None] = ContextVar("signalbox_contexts", default=None)
current = _current.get


def prepared(contexts: Mapping[str, Mapping[str, Any] | str]) -> Contexts:
    """Returns contexts over those that apply already. A text is the key of a context without attributes."""
    before = _current.get()
    types = dict(before.types) if before is not None else {}
    for name, each in contexts.items():
        types[name] = normalize({"key": each} if isinstance(each, str) else each)
    return Contexts(types)


class context:  # noqa: N801, it is used like a function
    """Evaluates flags for contexts inside of a `with` statement, in this thread or task:

        with signalbox.context(user={"key": "alice", "plan": "pro"}):
            if checkout(): ...

    Rules read `user.key` and `user.plan`. Contexts of other types that apply already stay. It can be entered several times, by
    several threads too.
    """

    __slots__ = ("_given",)

    def __init__(self, /, **contexts: Mapping[str, Any] | str) -> None:
        self._given = contexts

    def __enter__(self) -> None:
        made = prepared(self._given)
        made.entered, made.before = self, _current.get()
        _current.set(made)

    # A token of the ContextVar would be simpler. But FastAPI, for example, may leave a dependency in another thread or
    # task than the one in which it entered it, and there a token raises an error.
    def __exit__(self, *_: object) -> None:
        found = _current.get()
        while found is not None and found.entered is not self:
            found = found.before
        if found is not None:
            _current.set(found.before)


def set_context(**contexts: Mapping[str, Any] | str) -> None:
    """Evaluates flags for contexts from here to the end of the thread or task. Use it where `with` cannot be written, such
    as in a handler that a framework calls at the start of a task."""
    made, replaced = prepared(contexts), _current.get()
    if replaced is not None:  # the end of an enclosing `with` statement then restores the contexts from before
        made.entered, made.before = replaced.entered, replaced.before
    _current.set(made)
