"""The box: the flags, levels and configs of a running service."""

from __future__ import annotations

import atexit
import contextlib
import json
import logging
import os
import threading
import time
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, overload

from . import _cache, _config, _state
from ._contents import ALL, Contents, Snapshot, changed_keys
from ._context import Contexts
from ._decode import decode
from ._flags import Flag, FlagTable
from ._http import Address, Transport
from ._levels import Tree
from ._listeners import Dispatcher, Listeners, Problems
from ._loggers import Adapter, LoggerTable
from ._reports import Reports
from ._settings import Settings, read
from ._state import State, Status
from ._sync import Sync, Timing
from ._values import weight_of
from .errors import ClosedError, NotFollowedError, NotReadyError, SettingsError

if TYPE_CHECKING:
    import ssl

    from ._config import Config

T = TypeVar("T")
J = TypeVar("J")

# Without logging configuration, Python prints warnings. A library must not print.
logging.getLogger("signalbox").addHandler(logging.NullHandler())

#: How long closing takes at most, in seconds, unless the caller says otherwise.
CLOSE_TIMEOUT: Final = 5.0


class Box:
    """The flags, levels and configs of a running service. It is safe for use by many threads and tasks, and continues
    in a child after a fork. `signalbox.start` creates one."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.problems = Problems(settings.log)
        self._sync: Sync | None = None
        self._address: Address | None = None  # None for a box without a server
        self.dispatcher = self._new_dispatcher()
        self.service_context: dict[str, Any] = {"service": {"key": settings.service}} if settings.service else {}
        self.no_contexts = Contexts({})
        self.no_contexts.data = self.service_context
        self.no_contexts.weight = weight_of(self.service_context)
        self.no_contexts.box = self
        self.flags = FlagTable(settings.environment, self._flags_full)
        self.loggers = LoggerTable(settings.environment, self._adapter_failed)
        self.configs = _config.ConfigTable(self._config_failed)
        self.reports = Reports(self)
        self.contents = Contents()
        self._applying = threading.RLock()
        self._moved = threading.Condition(threading.Lock())
        self._expired = False  # this box has ended levels that the server may not have ended yet
        self._state = State(Status.STARTING, _state.now())
        self._was_live = False
        self._states = Listeners()
        self._wakes: set[Callable[[], None]] = set()  # of tasks that wait for another state
        self._cache: _cache.Cache | None = None
        self._closed = False

    # Flags.

    def boolean(self, key: str, default: bool) -> Flag[bool]:
        """Declares a BOOLEAN flag. It has the default while the account has no flag with this key and type."""
        return self._declare(key, "BOOLEAN", default, _boolean)

    def string(self, key: str, default: str) -> Flag[str]:
        """Declares a STRING flag."""
        return self._declare(key, "STRING", default, _string)

    def number(self, key: str, default: float) -> Flag[float]:
        """Declares a NUMERIC flag."""
        return self._declare(key, "NUMERIC", default, _number)

    def integer(self, key: str, default: int) -> Flag[int]:
        """Declares a NUMERIC flag whose values are whole numbers. A value with a fraction is replaced by the default."""
        return self._declare(key, "NUMERIC", default, _integer)

    @overload
    def json(self, key: str, default: T) -> Flag[T]: ...
    @overload
    def json(self, key: str, default: T, kind: type[T]) -> Flag[T]: ...
    def json(self, key: str, default: Any, kind: Any = None) -> Flag[Any]:
        """Declares a JSON flag. With a kind (a dataclass, a TypedDict, a pydantic model), its values are decoded, once when
        they arrive; a value that does not decode is replaced by the default. Do not change the values."""
        reader = _whole if kind is None else lambda value: decode(kind, value)
        return self._declare(key, "JSON", default, reader, kind)

    def _declare(self, key: str, declared_type: str, default: Any, reader: Callable[[Any], Any], kind: Any = None) -> Flag[Any]:
        declaration, is_new = self.flags.declare(key, declared_type)
        kind = kind or reader
        flag = declaration.flag((id(kind), repr(default)), lambda of: Flag(self, of, default, reader, kind))
        if is_new:
            self.reports.declared()
        return flag

    def _flags_full(self, count: int) -> None:
        self.problems.warn(
            "flags", "This service has declared %d flags. The values of further ones will not change while it runs.", count
        )

    def on_flag_change(self, listener: Callable[[list[str]], Any]) -> Callable[[], None]:
        """Calls a function with the keys of flags that were changed, created or deleted. The returned function ends the
        calls."""
        return self.flags.listeners.add(lambda: self.dispatcher, listener)

    # Configs.

    @overload
    def config(self, key: str) -> Config[dict[str, Any]]: ...
    @overload
    def config(self, key: str, kind: Mapping[str, Any]) -> Config[dict[str, Any]]: ...
    @overload
    def config(self, key: str, kind: type[T]) -> Config[T]: ...
    @overload
    def config(self, key: str, kind: type[T], *, default: T) -> Config[T]: ...
    @overload
    def config(self, key: str, *, default: T) -> Config[T]: ...
    def config(self, key: str, kind: Any = None, *, default: Any = None) -> Config[Any]:
        """Declares a config: `box.config("checkout", Checkout)`. kind is a dataclass, a TypedDict, a pydantic model, dict, or
        a dict with defaults. Values that the account's config does not have come from the defaults of the fields, or from
        default. If a value does not fit, the last good values stay."""
        kind, default = _config.default_of(kind, default)
        identity = (key, kind, repr(default))
        return self.configs.declare(identity, lambda: _config.Config(self, key, kind, default))

    def _config_failed(self, key: str, error: BaseException) -> None:
        self.problems.warn(f"config {key}", "Config %s cannot be used; the last good values stay: %s", key, error)

    # Levels.

    def adapt(self, adapter: Adapter, names: list[str]) -> None:
        """Lets the box set the levels of the adapter's loggers that Signalbox manages, and of their descendants."""
        for name in names:
            self.add_logger(adapter, name)

    def add_logger(self, adapter: Adapter, name: str) -> None:
        """Adds a logger of an adapter. Its level is set before this method returns."""
        if self.loggers.add(adapter, name):
            self.reports.declared()

    def _adapter_failed(self, name: str, error: BaseException) -> None:
        self.problems.warn("adapter", "Setting the level of logger %s failed: %s", name, error)

    # State.

    @property
    def environment(self) -> str:
        """The environment of the values."""
        return self.settings.environment

    @property
    def state(self) -> State:
        """How current the values are."""
        return self._state._replace(seq=self.contents.seq)

    def on_state(self, listener: Callable[[State], Any]) -> Callable[[], None]:
        """Calls a function with the new state after each change. The returned function ends the calls."""
        last = [self.state]

        def call() -> None:
            now = self.state
            if (now.status, now.polling) != (last[0].status, last[0].polling):
                last[0] = now
                listener(now)

        return self._states.add(lambda: self.dispatcher, call)

    def ready(self, timeout: float | None = None) -> None:
        """Waits until the box has the values of the server. It raises an error when the server refuses the key, or has not
        answered in time; the box keeps trying in both cases."""
        with self._moved:
            self._moved.wait_for(self._is_answered, timeout)
        self._check_ready()

    def _is_answered(self) -> bool:
        return self._was_live or self._state.status is Status.REFUSED or self._closed

    def _check_ready(self) -> None:
        """Raises the reason why the box does not have the values of the server yet, if it does not."""
        if self._was_live:
            return
        if self._is_answered() and self._state.why is not None:
            raise self._state.why
        raise NotReadyError(f"the server has not answered: {self.state}")

    async def wait_ready(self, timeout: float | None = None) -> None:
        """Like ready, for asyncio."""
        import asyncio  # noqa: PLC0415, services without asyncio need not import it

        loop, moved = asyncio.get_running_loop(), asyncio.Event()

        def wake() -> None:
            with contextlib.suppress(RuntimeError):  # the loop has been closed
                loop.call_soon_threadsafe(moved.set)

        async def answered() -> None:
            while not self._is_answered():
                await moved.wait()
                moved.clear()

        # Waiting in a thread of the loop's pool would keep the process alive when the task is canceled.
        self._wakes.add(wake)
        try:
            await asyncio.wait_for(answered(), timeout)
        except asyncio.TimeoutError:
            pass
        finally:
            self._wakes.discard(wake)
        self._check_ready()

    @property
    def closed(self) -> bool:
        """Whether the box was closed. Values then stay as they are."""
        return self._closed

    def close(self, timeout: float = CLOSE_TIMEOUT) -> None:
        """Ends the synchronization and sends the last report, within a time limit. Values can still be read. It is called at
        the exit of the interpreter, too."""
        if self._closed:
            return
        self._closed = True
        if self._sync is not None:
            self._sync.close(timeout)
        self.note(Status.STALE, ClosedError("the box is closed"), polling=False)
        atexit.unregister(self._at_exit)

    def _at_exit(self) -> None:
        self.close()

    def __enter__(self) -> Box:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<signalbox box of {self.settings.environment}: {self.state}>"

    def debug(self) -> dict[str, Any]:
        """Returns the state, the declared flags, the loggers and the configs (without values, which may be secret), for a page
        that only operators can reach."""
        return {
            "environment": self.settings.environment,
            "service": self.settings.service,
            "state": str(self.state),
            "flags": [each.summary() for each in self.flags.all()],
            "loggers": [
                {"name": each.name, "level": each.adapter.levels(each.name)[1].name, "managed": each.applied is not None}
                for each in self.loggers.all()
            ],
            "configs": [{"key": each.key, "error": str(each.error) if each.error else None} for each in self.configs.all()],
        }

    # The following methods are for this package only.

    def wait_until(self, holds: Callable[[State], bool], timeout: float | None) -> None:
        """Waits for a state, within a time limit."""
        with self._moved:
            self._moved.wait_for(lambda: holds(self.state), timeout)

    def wake(self, *, report: bool) -> None:
        if report and self._sync is not None:
            self._sync.wake("report")

    def _new_dispatcher(self) -> Dispatcher:
        return Dispatcher(self.problems, self.settings.timing.slow, self._listener_started)

    def _listener_started(self) -> None:
        if self._sync is not None:
            self._sync.wake("listener")

    def begin(self) -> Box:
        """Applies the first values, from the cache or else from the bootstrap file, and starts the thread."""
        settings = self.settings
        problem = settings.problem()
        if settings.url:
            try:
                self._address = Address(settings.url, settings.ssl_context)
            except SettingsError as error:
                problem = problem or error
        self._read_cache()
        if problem is not None or self._address is None:
            self._address = None
            self.reports.enabled = False
            self.problems.warn("settings", "Signalbox is not followed: %s", problem)
            self.note(Status.REFUSED, problem, polling=False)
            return self
        self._start_thread(self._address)
        atexit.register(self._at_exit)
        _follow_forks(self)
        return self

    def _start_thread(self, address: Address) -> None:
        sync = None
        try:
            transport = Transport(address, self.settings.key, self.settings.timing.request)
            self._sync = sync = Sync(self, transport, self.settings.timing)
            sync.thread.start()
        except (RuntimeError, OSError) as error:  # there are too many threads or descriptors, or threads are not allowed
            self._sync = None
            if sync is not None:
                sync.drop()
            self.problems.warn("thread", "Signalbox is not followed; restart the service: %s", error)
            self.note(Status.STALE, NotFollowedError(str(error)), polling=False)

    def _read_cache(self) -> None:
        settings = self.settings
        if settings.cache:
            folder = settings.cache_dir or _cache.default_folder()
            if folder is None:
                self.problems.warn(
                    "cache",
                    "There is no cache folder, so the service cannot start with its last values while the server is away. "
                    "Pass cache_dir=, or cache=False.",
                )
            else:
                self._cache = _cache.Cache(folder, settings.url, settings.key, settings.environment)
                if self._begin_with(self._cache.path, bootstrap=False):
                    return
        if settings.bootstrap is not None:
            self._begin_with(settings.bootstrap, bootstrap=True)

    def _begin_with(self, path: Path, *, bootstrap: bool) -> bool:
        try:
            snapshot, at = _cache.read_snapshot(path)
            known = Contents().with_snapshot(self.settings.environment, snapshot, ALL)
            self.apply(known._replace(confirmed=False, bootstrap=bootstrap))
        except FileNotFoundError as error:
            if bootstrap:
                self.problems.warn("bootstrap", "Reading the bootstrap file failed; the service starts without it: %s", error)
            return False
        except Exception as error:  # noqa: BLE001, a file may have anything in it
            self.problems.warn("cached", "Reading the last known values failed; the service starts without them: %r", error)
            self.apply(Contents())
            return False
        self._state = self._state._replace(since=_state.at(at))
        return True

    def apply(self, contents: Contents, changed: list[str] | None = None) -> None:
        """Makes contents the current ones. changed are the keys of flags that may differ; None compares all."""
        with self._applying:
            before, self.contents = self.contents, contents
            if changed is None:
                changed = changed_keys(before.flags, contents.flags)
            self.flags.replace(contents.flags, changed)
            self._apply_levels(contents if contents.confirmed else contents.unexpired(time.time())[0])
            self._expired = not contents.confirmed
            self.configs.replace(contents.configs)
        if self._sync is not None:
            self._sync.wake("save")
            self._sync.wake("levels")

    def move_to(self, seq: int) -> None:
        """Records that the contents are still current after a change."""
        with self._applying:
            self.contents = self.contents._replace(seq=seq)

    def _apply_levels(self, contents: Contents) -> None:
        self.loggers.replace(Tree(self.settings.environment, contents.loggers, contents.groups))

    def expire(self, now: float, overdue: float) -> tuple[float | None, bool]:
        """Applies the levels that have not expired. It returns when the next level expires, and whether the server is late."""
        with self._applying:
            if self._state.status is Status.LIVE:
                if self._expired:
                    self._apply_levels(self.contents)
                    self._expired = False
                first = self.contents.first_expiry()
                due = None if first is None else first + overdue
                return due, due is not None and due <= now
            left, due = self.contents.unexpired(now)
            self._apply_levels(left)
            self._expired = True
            return due, False

    def note(self, status: Status, why: Exception | None, *, polling: bool) -> None:
        """Sets the state. If the status or polling changed, listeners are called and the loss of the server is logged."""
        with self._moved:
            before = self._state
            since = before.since
            if before.status is not status and (before.status is not Status.STARTING or status is Status.LIVE):
                since = _state.now()
            self._state = State(status, since, why, polling)
            first = status is Status.LIVE and not self._was_live
            self._was_live = self._was_live or status is Status.LIVE
            moved = before.status is not status or before.polling is not polling
            self._moved.notify_all()
        for wake in list(self._wakes):
            wake()
        if not moved:
            return
        if self._sync is not None:
            if first:
                self._sync.first_live()
            self._sync.wake("levels")
        self._states.notify()
        if not isinstance(why, (ClosedError, NotFollowedError)) and before.status is not status:
            self._log_state(status, why)

    def _log_state(self, status: Status, why: Exception | None) -> None:
        if status is Status.STALE:
            self.problems.warn("state", "Signalbox cannot be reached; the last known values are served until it can: %s", why)
        elif status is Status.REFUSED and not isinstance(why, SettingsError):
            self.problems.warn(
                "state",
                "Signalbox refuses the service's API key; the last known values are served. Give the service another key: %s",
                why,
            )

    def save(self, contents: Contents) -> None:
        """Writes the cache."""
        if self._cache is None:
            return
        try:
            self._cache.write(contents.document(self.settings.environment))
        except (OSError, ValueError, TypeError) as error:
            self.problems.warn(
                "cache",
                "Keeping the last known values failed; the service would start with older ones while the server is away: %s",
                error,
            )

    def after_fork(self) -> None:
        """Continues in a child, with new locks, a thread and connections of its own."""
        self._applying = threading.RLock()
        self._moved = threading.Condition(threading.Lock())
        self._wakes = set()
        self.dispatcher = self._new_dispatcher()
        self.flags.after_fork()
        self.configs.after_fork()
        self.loggers.after_fork()
        self.reports.after_fork()
        self._states.after_fork()
        before, self._sync = self._sync, None
        if before is not None and not self._closed:
            before.drop()
        if self._address is None or self._closed:
            return
        self._was_live = False
        self._state = State(Status.STARTING, self._state.since)
        self._start_thread(Address(self.settings.url, self.settings.ssl_context))


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError
    return value


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError
    return value


def _number(value: Any) -> float:
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        raise TypeError
    return value


def _integer(value: Any) -> int:
    if _number(value) != int(value):
        raise TypeError
    return int(value)


def _whole(value: Any) -> Any:
    return value


_boxes: weakref.WeakSet[Box] = weakref.WeakSet()
_forks_followed = threading.Event()


def _follow_forks(box: Box) -> None:
    """Lets a box continue in the children of this process."""
    _boxes.add(box)
    if not _forks_followed.is_set() and hasattr(os, "register_at_fork"):
        _forks_followed.set()
        os.register_at_fork(after_in_child=_after_fork)


def _after_fork() -> None:
    for box in list(_boxes):
        box.after_fork()


def start(  # noqa: PLR0913, all are optional
    *,
    url: str | None = None,
    key: str | None = None,
    environment: str | None = None,
    service: str | None = None,
    cache: bool = True,
    cache_dir: str | os.PathLike[str] | None = None,
    bootstrap: str | os.PathLike[str] | None = None,
    report_contexts: bool = True,
    log: logging.Logger | None = None,
    ssl_context: ssl.SSLContext | None = None,
    timing: Timing | None = None,
) -> Box:
    """Returns a box that stays in sync with the server until the process ends or the box is closed. It does not wait for the
    server and never raises: until the server has answered, values come from the last run, else the bootstrap file, else the
    code. A missing setting is logged, and the state is then REFUSED.

    url, key, environment, service: instead of SIGNALBOX_URL, SIGNALBOX_API_KEY, SIGNALBOX_ENVIRONMENT, SIGNALBOX_SERVICE. For
        the key, the role VIEWER is enough. Rules read the service as service.key.
    cache, cache_dir: whether and where the last known values are kept; by default in the user's cache folder.
    bootstrap: a file with the snapshot to begin with when there is no cache.
    report_contexts: False never sends keys and attributes of users and other contexts to the server.
    log: the logger for the box's own records, instead of logging.getLogger("signalbox").
    ssl_context: for certificates of your own.
    timing: waiting times, for tests.
    """
    settings = Settings(
        url=read(url, "SIGNALBOX_URL"),
        key=read(key, "SIGNALBOX_API_KEY"),
        environment=read(environment, "SIGNALBOX_ENVIRONMENT"),
        service=read(service, "SIGNALBOX_SERVICE"),
        cache=cache,
        cache_dir=Path(cache_dir) if cache_dir is not None else None,
        bootstrap=Path(bootstrap) if bootstrap is not None else None,
        report_contexts=report_contexts,
        log=log or logging.getLogger("signalbox"),
        ssl_context=ssl_context,
        timing=timing or Timing(),
    )
    return Box(settings).begin()


def static(
    environment: str, document: Mapping[str, Any], *, service: str = ""
) -> tuple[Box, Callable[[Mapping[str, Any]], None]]:
    """Returns a box without a server, and the function that sets the document of another snapshot. `signalbox.testing` uses
    it, and so can programs that get their snapshots another way."""
    settings = Settings("", "", environment, service, False, None, None, False, logging.getLogger("signalbox"), None, Timing())
    box = Box(settings)
    box.reports.enabled = False

    def replace(document: Mapping[str, Any]) -> None:
        attributes = document["data"]["attributes"]
        snapshot = Snapshot(attributes.get("seq", 0), None, json.loads(json.dumps(attributes)))
        box.apply(Contents().with_snapshot(environment, snapshot, ALL))
        box.note(Status.LIVE, None, polling=False)

    replace(document)
    return box, replace
