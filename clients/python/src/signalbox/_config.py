"""Configs that a service declares."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, TypeVar

from ._contents import same
from ._decode import REQUIRED, decode
from ._listeners import Listeners, raise_for_caller

if TYPE_CHECKING:
    from ._box import Box

T = TypeVar("T")


class Config(Generic[T]):
    """A declared config. `value` has all current values, of one moment; `config.timeout_ms` and `config["timeout_ms"]` read
    one of them. Reading takes no lock and no request."""

    __slots__ = ("_box", "_default", "_error", "_kind", "_listeners", "_value", "key")

    def __init__(self, box: Box, key: str, kind: Any, default: T) -> None:
        self.key = key
        self._box = box
        self._kind = kind
        self._default: Final = default
        self._value: T = copy.deepcopy(default)
        self._error: BaseException | None = None
        self._listeners = Listeners()

    @property
    def value(self) -> T:
        """The current values. Do not change them."""
        return self._value

    @property
    def error(self) -> BaseException | None:
        """Why the newest values are not used; None when they are. With an error, value has the last good values."""
        return self._error

    def on_change(self, listener: Callable[[T, T], Any]) -> Callable[[], None]:
        """Calls a function with the values before and after a change. Calls come one after the other, on a thread of their
        own. The returned function ends the calls."""
        last = [self._value]

        def call() -> None:
            before, after = last[0], self._value
            last[0] = after
            if before is not after:
                listener(before, after)

        return self._listeners.add(lambda: self._box.dispatcher, call)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # copy and pickle look for such names
            raise AttributeError(name)
        return getattr(self._value, name)

    def __getitem__(self, name: str) -> Any:
        return self._value[name]  # type: ignore[index]

    def __repr__(self) -> str:
        return f"<signalbox config {self.key!r}: {self._value!r}>"

    # The box calls the following methods.

    def update(self, values: Mapping[str, Any] | None) -> BaseException | None:
        """Decodes values. If that fails, the last good values stay, and it returns the error. A config that does not exist
        has the defaults."""
        try:
            if isinstance(self._default, dict) and self._kind is dict:
                value: Any = {**copy.deepcopy(self._default), **copy.deepcopy(values or {})}
            else:
                value = decode(self._kind, dict(values or {}), self._default)
        except BaseException as error:  # noqa: BLE001, decoding may run the user's code
            raise_for_caller(error)
            self._error = error
            return error
        self._error = None
        if not _equal(value, self._value):
            self._value = value
            self._listeners.notify()
        return None

    def after_fork(self) -> None:
        self._listeners.after_fork()


def _equal(a: Any, b: Any) -> bool:
    try:
        return bool(a == b) and repr(a) == repr(b)
    except BaseException as error:  # noqa: BLE001, a comparison of the user's types
        raise_for_caller(error)
        return False


class ConfigTable:
    """The declared configs, and the values of all configs."""

    def __init__(self, warn: Callable[[str, BaseException], None]) -> None:
        self._warn = warn
        self._lock = threading.Lock()
        self._declared: dict[tuple[str, Any, str], Config[Any]] = {}
        self._values: Mapping[str, Mapping[str, Any]] = {}
        self._loaded = False

    def declare(self, identity: tuple[str, Any, str], make: Callable[[], Config[Any]]) -> Config[Any]:
        """Returns the config of the first declaration like this one."""
        made = make()
        with self._lock:
            kept = self._declared.setdefault(identity, made)
        if kept is made and self._loaded:
            self._update(made)
        return kept

    def _update(self, config: Config[Any]) -> None:
        """Gives a config its values. It repeats that if another thread has replaced them meanwhile."""
        while True:
            values = self._values
            error = config.update(values.get(config.key))
            if values is self._values:
                break
        if error is not None:
            self._warn(config.key, error)

    def replace(self, values: Mapping[str, Mapping[str, Any]]) -> None:
        before, self._values = self._values, values
        first, self._loaded = not self._loaded, True
        for each in self.all():
            if first or not same(before.get(each.key), values.get(each.key)):
                self._update(each)

    def all(self) -> list[Config[Any]]:
        return list(self._declared.values())

    def after_fork(self) -> None:
        """Prepares the table in a child, which may have been forked in the middle of a change."""
        self._lock = threading.Lock()
        for each in self.all():
            each.after_fork()
            if self._loaded:
                self._update(each)


def default_of(kind: Any, default: Any) -> tuple[Any, Any]:
    """Returns the type and the default of a declaration, of which either may be left out."""
    if kind is None and default is None:
        return dict, {}
    if isinstance(kind, Mapping):  # box.config("checkout", {"timeout_ms": 1500})
        return dict, dict(kind)
    if default is None:
        return kind, {} if kind is dict else _default(kind)
    if isinstance(default, Mapping) and kind is None:
        return dict, dict(default)
    if kind is None:
        return type(default), default
    return kind, decode(kind, dict(default)) if isinstance(default, Mapping) and kind is not dict else default


def _default(kind: Any) -> Any:
    try:
        return decode(kind, {}, REQUIRED)
    except Exception as error:
        name = getattr(kind, "__name__", repr(kind))
        raise TypeError(f"{name} has no default: {error}. Give every field a default, or pass default=…") from error
