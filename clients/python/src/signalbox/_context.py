"""Contexts: the things that the rules of flags read, such as the user of a request."""

from __future__ import annotations

from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import TYPE_CHECKING, Any

from ._values import normalize, weight_of

if TYPE_CHECKING:
    from ._box import Box


class Contexts:
    """The contexts of a request, by their types. They are prepared once for all flags of a box."""

    __slots__ = ("box", "data", "types", "weight")

    def __init__(self, types: dict[str, Any]) -> None:
        self.types = types
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

    Rules read `user.key` and `user.plan`. Contexts of other types that apply already stay.
    """

    __slots__ = ("_given", "_token")

    def __init__(self, **contexts: Mapping[str, Any] | str) -> None:
        self._given = contexts
        self._token: Token[Contexts | None] | None = None

    def __enter__(self) -> None:
        self._token = _current.set(prepared(self._given))

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _current.reset(self._token)
            self._token = None


def set_context(**contexts: Mapping[str, Any] | str) -> None:
    """Evaluates flags for contexts from here to the end of the thread or task. Use it where `with` cannot be written, such
    as in a handler that a framework calls at the start of a task."""
    _current.set(prepared(contexts))
