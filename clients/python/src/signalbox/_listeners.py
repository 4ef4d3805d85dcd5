"""Listeners, which run on a thread of their own, and problems, which are logged once a minute."""

from __future__ import annotations

import logging
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final


class OwnThread(threading.Thread):
    """A thread of this package. It never keeps the process alive, and the service's code cannot end it."""

    def __init__(self, target: Callable[[], None], name: str) -> None:
        super().__init__(target=target, name=name, daemon=True)


def raise_for_caller(error: BaseException) -> None:
    """Raises an error again that ends a thread of the service, such as SystemExit or the KeyboardInterrupt of Ctrl-C. Code of
    the service that runs on a thread of this package may raise one too, but must not end that thread."""
    if not isinstance(error, Exception) and not isinstance(threading.current_thread(), OwnThread):
        raise error


#: The shortest time between two log lines about the same kind of problem, in seconds.
QUIET: Final = 60.0


class Problems:
    """Logs problems, each kind at most once a minute."""

    def __init__(self, log: logging.Logger) -> None:
        self._log = log
        self._last: dict[str, float] = {}

    def warn(self, kind: str, message: str, *args: object, exc_info: bool = False) -> None:
        now = time.monotonic()
        if now - self._last.get(kind, -QUIET) < QUIET:
            return
        self._last[kind] = now
        try:
            self._log.warning(message, *args, exc_info=exc_info)
        except BaseException:  # a handler of the service
            if not isinstance(threading.current_thread(), OwnThread):
                raise


class Dispatcher:
    """Calls listeners one after the other, on a thread that runs while there are calls. A listener that is slow or raises
    delays only other listeners."""

    def __init__(self, problems: Problems, slow: float, started: Callable[[], Any]) -> None:
        self._problems = problems
        self._slow = slow
        self._started = started  # is called when the thread starts, so that `check` is called from then on
        self._lock = threading.Lock()
        self._queue: deque[Callable[[], None]] = deque()
        self._busy = False
        self._began: float | None = None  # when the running call began

    def push(self, call: Callable[[], None]) -> None:
        with self._lock:
            self._queue.append(call)
            if self._busy:
                return
            self._busy = True
        self._started()
        self._start_thread()

    def _start_thread(self) -> None:
        try:
            OwnThread(self._run, "signalbox-listeners").start()
        except RuntimeError:  # there are too many threads, or the interpreter is shutting down
            self._busy = False

    def _run(self) -> None:
        while True:
            with self._lock:
                if not self._queue:
                    self._busy = False
                    return
                call = self._queue.popleft()
            self._began = time.monotonic()
            try:
                call()
            except BaseException:  # noqa: BLE001, the listener is the service's code
                self._problems.warn(
                    "listener", "A Signalbox listener failed; it is called again at the next change.", exc_info=True
                )
            finally:
                self._began = None

    def check(self, now: float) -> float | None:
        """Warns about a listener that hangs, and starts a thread that could not be started. It returns when to check again."""
        began = self._began
        if began is None:
            with self._lock:
                if self._busy or not self._queue:
                    return None
                self._busy = True
            self._start_thread()
            return now + self._slow
        if now - began >= self._slow:
            self._problems.warn("slow", "A Signalbox listener has been running for a second; others wait for it.")
            return now + QUIET
        return began + self._slow


class Listener:
    """A function to call at changes. Several changes before its turn cause one call."""

    __slots__ = ("_call", "_dispatcher", "_pending", "_stopped")

    def __init__(self, dispatcher: Callable[[], Dispatcher], call: Callable[[], None]) -> None:
        self._dispatcher = dispatcher
        self._call = call
        self._pending = False
        self._stopped = False

    def notify(self) -> None:
        if not self._pending and not self._stopped:
            self._pending = True
            self._dispatcher().push(self._run)

    def _run(self) -> None:
        self._pending = False
        if not self._stopped:
            self._call()

    def stop(self) -> None:
        self._stopped = True


class Listeners:
    """The listeners of one flag, config or state."""

    __slots__ = ("_list",)

    def __init__(self) -> None:
        self._list: tuple[Listener, ...] = ()

    def add(self, dispatcher: Callable[[], Dispatcher], call: Callable[[], None]) -> Callable[[], None]:
        """Adds a listener and returns the function that removes it."""
        added = Listener(dispatcher, call)
        self._list = (*self._list, added)

        def stop() -> None:
            added.stop()
            self._list = tuple(each for each in self._list if each is not added)

        return stop

    def notify(self) -> None:
        for each in self._list:
            each.notify()

    def after_fork(self) -> None:
        """Forgets calls that were pending in the parent, whose thread does not exist here."""
        for each in self._list:
            each._pending = False


class KeyListeners:
    """Listeners that are called with the keys of flags that changed."""

    def __init__(self) -> None:
        self.all = Listeners()
        self._news: tuple[set[str], ...] = ()

    def add(self, dispatcher: Callable[[], Dispatcher], call: Callable[[list[str]], Any]) -> Callable[[], None]:
        own: set[str] = set()
        self._news = (*self._news, own)

        def run() -> None:
            keys: list[str] = []
            while own:
                keys.append(own.pop())
            call(sorted(keys))

        remove = self.all.add(dispatcher, run)

        def stop() -> None:
            remove()
            self._news = tuple(each for each in self._news if each is not own)

        return stop

    def notify(self, changed: list[str]) -> None:
        if changed:
            for each in self._news:
                each.update(changed)
            self.all.notify()
