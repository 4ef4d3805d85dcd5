"""Keeps a box in sync with the server, on one thread that never keeps the process alive.

The thread waits for the event socket, for the next timer and for a wake-up, whichever comes first, and does one thing at a
time: loads never overlap, so an older answer cannot replace a newer one.
"""

from __future__ import annotations

import contextlib
import os
import random
import selectors
import socket
import threading
import time
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from ._contents import ALL, CONFIGS, FLAGS, LEVELS, Contents, Snapshot, read_document
from ._http import USER_AGENT, Transport, segment
from ._listeners import OwnThread
from ._socket import EventSocket
from ._state import Status
from .errors import (
    APIError,
    ConnectionFailed,
    ForbiddenError,
    NotFollowedError,
    NotFoundError,
    ServerStaleError,
    SignalboxError,
    UnauthorizedError,
)

if TYPE_CHECKING:
    from ._box import Box


class Timing(NamedTuple):
    """The waiting times of a box, in seconds. Tests shorten them."""

    min_backoff: float = 1.0  # the longest first pause before another attempt to reach the server
    max_backoff: float = 60.0
    poll: float = 30.0  # between snapshots while no socket can be opened
    settle: float = 0.01  # how long changes are collected before a snapshot is loaded
    report: float = 60.0  # between two reports of everything
    applied: float = 0.5  # from a level's change to its report
    save: float = 5.0  # between two writes of the cache
    silence: float = 90.0  # a connection is given up after this time without any frame
    stable: float = 10.0  # a connection that lasts this long resets the backoff
    request: float = 10.0  # how long the server may take until the first, and between two parts of an answer
    slow: float = 1.0  # how long a listener may run before a warning is logged
    overdue: float = 5.0  # how long the server may take to end an expired level before the box asks


#: Up to this many changes are read one by one; more are loaded as one snapshot.
MAX_SINGLE: Final = 8
#: The longest pause that the server can ask for, in seconds.
MAX_RETRY_AFTER: Final = 60.0
#: A close code: the key was revoked or has expired.
POLICY_VIOLATION: Final = 1008

_SINGLE: Final = {
    "flag_changed": "flags",
    "flag_deleted": "flags",
    "logger_changed": "loggers",
    "logger_deleted": "loggers",
    "group_changed": "groups",
    "group_deleted": "groups",
}
_WHOLE: Final = {
    "flags_changed": FLAGS,
    "loggers_changed": LEVELS,
    # Configs that inherit from a changed one change too.
    "config_changed": CONFIGS,
    "config_deleted": CONFIGS,
    "configs_changed": CONFIGS,
}
_PATHS: Final = {"flags": "flags", "loggers": "loggers", "groups": "log_groups"}


class Sync:
    """The background thread of a box."""

    def __init__(self, box: Box, transport: Transport, timing: Timing) -> None:
        self._box = box
        self._transport = transport
        self._timing = timing
        self._etag = ""  # the ETag of the last snapshot; empty once a single resource was applied after it
        self._since: int | None = None  # the number of the last event; None before the first snapshot
        self._parts: set[str] = set()  # parts to load
        self._single: dict[str, set[str]] = {"flags": set(), "loggers": set(), "groups": set()}  # resources to load
        self._socket: EventSocket | None = None
        self._heard = 0.0  # when the socket's last frame arrived
        self._opened = 0.0
        self._attempt = 0
        self._load_attempt = 0
        now = time.monotonic()
        self._connect_at = now
        self._load_at: float | None = None
        self._expire_at: float | None = None
        self._asked = -1e9  # when the server was last asked about an overdue level
        self._report_at: float | None = None  # when to report everything
        self._news_at: float | None = None  # when to report new items
        self._save_at: float | None = None
        self._saved: Contents | None = None
        self._check_at: float | None = None
        self._closing: float | None = None  # the deadline of a close
        self._stop = threading.Event()  # is set by a close
        self._flags_lock = threading.Lock()
        self._wanted: set[str] = set()  # the requests of other threads
        self.thread = OwnThread(self._run, "signalbox")
        self._open_bell()

    # Other threads call these methods.

    def wake(self, what: str) -> None:
        """Asks the thread for something: "report", "levels", "save", "listener" or "close"."""
        with self._flags_lock:
            known = what in self._wanted
            self._wanted.add(what)
        if not known:
            with contextlib.suppress(OSError):
                self._bell.send(b"!")

    def close(self, timeout: float) -> None:
        """Ends the thread after the last report. A request that hangs is given up after half of the time."""
        deadline = time.monotonic() + timeout
        self._closing = deadline
        self._stop.set()
        self.wake("close")
        self.thread.join(timeout / 2)
        if self.thread.is_alive():
            self._transport.abort()
            self.thread.join(max(deadline - time.monotonic(), 0))

    def drop(self) -> None:
        """Forgets the connections after a fork: they are the parent's."""
        if self._socket is not None:
            self._socket.drop()
        self._transport.close()
        self._close_bell()

    # The following methods run on the thread.

    def _run(self) -> None:
        pid = os.getpid()
        try:
            self._follow(pid)
        except BaseException as error:  # noqa: BLE001, there is nobody to raise it to
            self._ended(error)
        finally:
            if self._socket is not None:
                self._socket.close()
            self._transport.close()
            self._close_bell()

    def _follow(self, pid: int) -> None:
        """Follows the server until the box is closed."""
        while self._closing is None:
            try:
                self._work()
                self._wait()
            except BaseException:  # noqa: BLE001, a bug must not end the service's updates
                if os.getpid() != pid:
                    return  # an adapter has forked: the child has a thread of its own
                self._start_over()
        self._finish()

    def _ended(self, error: BaseException) -> None:
        """Shows that nothing follows the server any more."""
        why = NotFollowedError(f"following Signalbox ended unexpectedly: {error!r}")
        self._box.problems.warn("thread", "Signalbox is not followed; restart the service: %s", why, exc_info=True)
        self._box.note(Status.STALE, why, polling=False)

    def _start_over(self) -> None:
        """Plans a new connection and a load of everything after an unexpected error, such as one of an adapter."""
        self._box.problems.warn("bug", "Following Signalbox failed; it is tried again.", exc_info=True)
        self._parts |= ALL
        self._load_at = self._expire_at = None
        error = SignalboxError("following Signalbox failed")
        if self._socket is not None:
            self._lost(error)
        else:
            self._retry(self._timing.max_backoff, error)
            self._box.note(Status.STALE, error, polling=False)
        # The service may have closed all descriptors, as a program that becomes a daemon does. Everything is closed
        # before anything is opened, because a new connection may get the number of a descriptor that only seems to be
        # open.
        self._transport.close()
        self._close_bell()
        pause = self._connect_at - time.monotonic()
        while not self._stop.wait(pause):
            try:
                self._open_bell()
            except OSError:  # all descriptors are in use
                pause = self._timing.min_backoff
            else:
                self._answer()  # the requests from the time without a bell
                return

    def _open_bell(self) -> None:
        self._ears, self._bell = socket.socketpair()
        self._ears.setblocking(False)
        self._bell.setblocking(False)
        self._selector = selectors.DefaultSelector()
        self._selector.register(self._ears, selectors.EVENT_READ)

    def _close_bell(self) -> None:
        for each in (self._selector, self._ears, self._bell):
            with contextlib.suppress(OSError):
                each.close()

    def _work(self) -> None:
        """Does everything that is due."""
        now = time.monotonic()
        if self._socket is None and now >= self._connect_at:
            self._connect()
        elif self._socket is not None and now - self._heard > self._timing.silence:
            self._lost(ConnectionFailed("the server has been silent for too long"))
        if self._load_at is not None and now >= self._load_at:
            self._load()
        if self._expire_at is not None and now >= self._expire_at:
            self._expire()
        if (self._report_at is not None and now >= self._report_at) or (self._news_at is not None and now >= self._news_at):
            self._report()
        if self._save_at is not None and now >= self._save_at:
            self._save()
        if self._check_at is not None and now >= self._check_at:
            self._check_at = self._box.dispatcher.check(now)

    def _wait(self) -> None:
        """Waits for the socket, a timer or a wake-up."""
        due = [self._load_at, self._expire_at, self._report_at, self._news_at, self._save_at, self._check_at]
        due.append(self._connect_at if self._socket is None else self._heard + self._timing.silence)
        now = time.monotonic()
        pause = min(each for each in due if each is not None) - now
        for key, _ in self._selector.select(max(pause, 0)):
            if key.fileobj is self._ears:
                self._answer()
            elif self._socket is not None:
                self._read()

    def _answer(self) -> None:
        """Carries out the requests of other threads."""
        with contextlib.suppress(BlockingIOError):
            self._ears.recv(4096)
        with self._flags_lock:
            wanted, self._wanted = self._wanted, set()
        now = time.monotonic()
        if "report" in wanted:
            self._news_at = now
        if "levels" in wanted:
            self._news_soon()
            self._expire_at = now
        if "save" in wanted and self._save_at is None:
            self._save_at = now
        if "listener" in wanted:
            self._check_at = now + self._timing.slow

    def _news_soon(self) -> None:
        """Reports soon, so that people see that new levels are applied."""
        soon = time.monotonic() + self._timing.applied
        self._news_at = soon if self._news_at is None else min(soon, self._news_at)

    # The socket.

    def _connect(self) -> None:
        """Opens the socket. Before the first snapshot it loads one, and without a socket it polls."""
        if self._since is None:
            failed = self._poll(None)
            if failed is not None:
                self._retry(self._timing.max_backoff, failed)
                return
        settings = self._box.settings
        query = {"service": settings.service, "environment": settings.environment}
        if self._since is not None:
            query["since"] = str(self._since)
        headers = {"Authorization": f"Bearer {settings.key}", "User-Agent": USER_AGENT}
        try:
            opened = EventSocket(self._transport.address, headers, {k: v for k, v in query.items() if v}, self._transport.timeout)
        except SignalboxError as error:
            failed = self._poll(error)
            if failed is None:
                self._retry(self._timing.poll, error, polling=True)
            else:
                self._retry(self._timing.max_backoff, failed)
            return
        self._linked(opened)

    def _linked(self, opened: EventSocket) -> None:
        """Records that the socket is open. If events were missed, everything is loaded before the box is live."""
        self._socket = opened
        self._selector.register(opened, selectors.EVENT_READ)
        self._heard = self._opened = time.monotonic()
        resumed = self._since is not None and self._since == opened.connected
        self._since = opened.connected
        if not resumed:
            self._parts |= ALL
        self._handle(opened.take())
        if self._parts or self._pending():
            self._load_at = time.monotonic()
        else:
            self._box.note(Status.LIVE, None, polling=False)

    def _read(self) -> None:
        assert self._socket is not None  # noqa: S101
        try:
            events = self._socket.read()
        except SignalboxError as error:
            self._lost(error)
            return
        self._heard = time.monotonic()
        self._handle(events)

    def _handle(self, events: list[dict[str, Any]]) -> None:
        """Notes the resources of events as work."""
        for event in events:
            name, key, seq = event.get("event"), event.get("id"), event.get("seq")
            if isinstance(seq, int):
                self._since = seq
            if name in _SINGLE and isinstance(key, str):
                self._single[_SINGLE[name]].add(key)
            elif name in _WHOLE:
                self._parts.add(_WHOLE[name])
            else:
                continue  # of a newer server
            soon = time.monotonic() + (self._timing.settle if self._parts else 0)
            self._load_at = soon if self._load_at is None else min(soon, self._load_at)

    def _lost(self, error: SignalboxError) -> None:
        lost, self._socket = self._socket, None
        assert lost is not None  # noqa: S101
        with contextlib.suppress(KeyError, ValueError):
            self._selector.unregister(lost)
        refused = lost.close_code == POLICY_VIOLATION
        lost.close()
        if time.monotonic() - self._opened > self._timing.stable:
            self._attempt = 0
        self._box.note(Status.STALE, error, polling=False)
        self._retry(self._timing.max_backoff, error)
        if refused:  # the next attempt gets the reason
            self._connect_at = time.monotonic()

    def _retry(self, longest: float, error: SignalboxError | None = None, *, polling: bool = False) -> None:
        """Plans the next attempt to open the socket."""
        self._attempt += 1
        pause = backoff(self._attempt, self._timing.min_backoff, longest)
        if polling:  # it is also the pause between two snapshots
            pause = max(pause, min(self._timing.min_backoff * 2 ** (self._attempt - 1), longest) / 2)
        self._connect_at = time.monotonic() + pause + asked_for(error)

    # Loading.

    def _pending(self) -> int:
        return sum(len(each) for each in self._single.values())

    def _load(self) -> None:
        """Loads the resources that events have named. After a failure, the next attempt loads everything."""
        self._load_at = None
        parts, single = set(self._parts), self._single
        self._parts = set()
        self._single = {name: set() for name in single}
        if sum(len(each) for each in single.values()) > MAX_SINGLE:
            parts |= {FLAGS} if single["flags"] else set()
            parts |= {LEVELS} if single["loggers"] or single["groups"] else set()
        try:
            if parts:
                self._fetch_snapshot(frozenset(parts))
            self._fetch_single(
                set() if FLAGS in parts else single["flags"],
                set() if LEVELS in parts else single["loggers"],
                set() if LEVELS in parts else single["groups"],
            )
        except SignalboxError as error:
            self._parts |= ALL
            self._load_attempt += 1
            pause = backoff(self._load_attempt, self._timing.min_backoff, self._timing.max_backoff)
            self._load_at = time.monotonic() + pause + asked_for(error)
            self._box.note(failure(error), error, polling=False)
            return
        self._load_attempt = 0
        if self._socket is not None and self._load_at is None:
            self._box.note(Status.LIVE, None, polling=False)

    def _poll(self, reason: SignalboxError | None) -> SignalboxError | None:
        """Loads the snapshot because there is no socket; reason is why. It returns the error if that failed."""
        try:
            self._fetch_snapshot(ALL)
        except SignalboxError as error:
            self._box.note(failure(error), error, polling=False)
            return error
        self._box.note(Status.LIVE, reason, polling=reason is not None)
        return None

    def _fetch_snapshot(self, parts: frozenset[str]) -> None:
        """Loads parts of the snapshot and applies them. A request for all parts has the ETag, so that an unchanged snapshot
        is not sent again."""
        path = f"/api/v1/snapshots/{segment(self._box.settings.environment)}"
        whole = parts == ALL
        headers = {"If-None-Match": self._etag} if whole and self._etag else {}
        query = None if whole else {"include": ",".join(sorted(parts))}
        response = self._transport.request("GET", path, headers=headers, query=query, accepted=(304,))
        if response.status == 304:
            snapshot = Snapshot(_number(response.headers.get("Signalbox-Seq")), response.headers.get("Age"), {})
        else:
            try:
                snapshot = read_document(response.json())
            except (ValueError, KeyError, TypeError, RecursionError) as error:
                raise ConnectionFailed(f"GET {path}: the answer is not a snapshot: {error!r}") from error
        known = self._box.contents
        if known.outranks(snapshot):
            pass  # the contents are newer than the server's memory from before it lost its database
        elif response.status == 304:
            self._move_on(snapshot)
        elif not whole and snapshot.seq < known.seq:
            self._fetch_snapshot(ALL)  # the database was restored: the other parts have gone back too
            return
        else:
            self._apply(snapshot, parts, response.headers.get("ETag") or "")
        if snapshot.stale_since is not None:
            raise ServerStaleError(
                f"the server cannot reach its database (since {snapshot.stale_since}); these are the last values that it knows"
            )

    def _apply(self, snapshot: Snapshot, parts: frozenset[str], etag: str) -> None:
        self._etag = ""
        if parts == ALL:
            self._begin(snapshot.seq)
            self._etag = etag if snapshot.stale_since is None else ""
        self._box.apply(self._box.contents.with_snapshot(self._box.settings.environment, snapshot, parts))

    def _move_on(self, confirmed: Snapshot) -> None:
        """Records the account's last change after an unmodified snapshot."""
        if confirmed.seq > 0 and confirmed.stale_since is None:
            self._begin(confirmed.seq)
            self._box.move_to(confirmed.seq)

    def _begin(self, seq: int) -> None:
        """Sets the change after which the socket resumes. An open socket has a newer one already."""
        if self._since is None or self._socket is None:
            self._since = seq

    def _fetch_single(self, flags: set[str], loggers: set[str], groups: set[str]) -> None:
        """Reads resources one by one and applies them together."""
        if not (flags or loggers or groups):
            return
        self._etag = ""
        seq = self._since or 0
        contents = self._box.contents
        for kind, keys in (("flags", flags), ("loggers", loggers), ("groups", groups)):
            if keys:
                found = {key: self._get(kind, key) for key in keys}
                contents = contents.with_resources(seq, kind, found, self._box.settings.environment)
        self._box.apply(contents, changed=sorted(flags))

    def _get(self, kind: str, key: str) -> Any:
        """Returns the attributes of a resource; None if there is no such resource."""
        path = f"/api/v1/{_PATHS[kind]}/{segment(key)}"
        try:
            return self._transport.request("GET", path).json()["data"]["attributes"]
        except NotFoundError:
            return None
        except (ValueError, KeyError, TypeError) as error:
            raise ConnectionFailed(f"GET {path}: the answer is not a resource: {error!r}") from error

    # Timers.

    def _expire(self) -> None:
        """Ends temporary levels on time while the server is away. While the box is live the server ends them, because the
        clock of this machine may be wrong; if the server seems late, the box asks it. That also detects a connection
        that hangs."""
        now, wall = time.monotonic(), time.time()
        due, late = self._box.expire(wall, self._timing.overdue)
        self._expire_at = None if due is None else now + max(due - wall, 0.001)
        if not late:
            return
        if now < self._asked + self._timing.poll:
            self._expire_at = self._asked + self._timing.poll
            return
        self._asked = now
        self._expire_at = now
        self._parts.add(LEVELS)
        self._load()

    def _report(self) -> None:
        everything = self._report_at is not None and time.monotonic() >= self._report_at
        if everything:
            self._report_at = time.monotonic() + self._timing.report * random.uniform(0.75, 1)
        self._news_at = None
        if self._box.state.status is Status.LIVE:
            self._send(everything=everything)

    def _send(self, *, everything: bool) -> None:
        try:
            self._box.reports.send(self._transport, everything=everything, pause=self._between)
        except UnauthorizedError:
            pass  # the state shows it
        except SignalboxError as error:
            self._box.problems.warn("report", "Reporting to Signalbox failed; it is tried again within a minute: %s", error)
        except BaseException:  # noqa: BLE001, an adapter is asked for its levels
            self._box.problems.warn("report", "Reporting to Signalbox failed; it is tried again within a minute.", exc_info=True)

    def _between(self) -> None:
        """Applies changes that arrived during a report."""
        if self._closing is None and self._socket is not None:
            self._read()
            if self._load_at is not None and not self._parts:
                self._load()

    def _save(self) -> None:
        contents = self._box.contents
        self._save_at = None
        if contents is not self._saved:
            self._saved = contents
            self._box.save(contents)
            self._save_at = time.monotonic() + self._timing.save

    def first_live(self) -> None:
        """Starts the reports. The thread itself calls it, when it has heard from the server for the first time."""
        self._report_at = time.monotonic() + self._timing.applied

    def _finish(self) -> None:
        """Sends the last report and writes the cache."""
        if self._box.state.status is Status.LIVE and self._closing is not None:
            self._transport.timeout = max((self._closing - time.monotonic()) / 3, 0.1)
            self._send(everything=True)
        if self._saved is not self._box.contents:
            self._box.save(self._box.contents)


def failure(error: SignalboxError) -> Status:
    """Returns the status after an error."""
    return Status.REFUSED if isinstance(error, (UnauthorizedError, ForbiddenError)) else Status.STALE


def backoff(attempt: int, shortest: float, longest: float) -> float:
    """Returns the pause before an attempt. All of it is random, so that a fleet does not reconnect at once."""
    return random.uniform(0, min(shortest * 2 ** min(attempt - 1, 30), longest))


def asked_for(error: SignalboxError | None) -> float:
    """Returns the pause that the server asks for with an error, in seconds. It is limited: a proxy may ask for days."""
    return min(error.retry_after, MAX_RETRY_AFTER) if isinstance(error, APIError) else 0


def _number(text: str | None) -> int:
    return int(text) if text and text.isdecimal() else 0
