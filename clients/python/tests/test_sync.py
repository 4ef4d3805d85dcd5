"""A box and a server that answers what a test wants."""

from __future__ import annotations

import dataclasses
import gzip
import http.server
import json
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from signalbox import Box, Level, Status
from signalbox._contents import Contents, instant
from signalbox._sync import Sync, asked_for, backoff
from signalbox.errors import APIError, NotReadyError
from support import FAST, PATIENCE, eventually

Start = Callable[..., Box]


class Half(NamedTuple):
    """A snapshot of which half arrives."""

    document: dict[str, Any]
    sized: bool  # the answer says how long it is


class Stub:
    """A server without sockets."""

    def __init__(self) -> None:
        self.answers: list[dict[str, Any] | int | Half] = []
        self.answering = threading.Event()  # snapshots wait for it
        self.answering.set()
        self.asked = 0
        self.posted: list[str] = []
        stub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                if not self.path.startswith("/api/v1/snapshots/"):
                    self.answer(404, {"errors": []})
                    return
                stub.answering.wait(PATIENCE)
                stub.asked += 1
                found = stub.answers[min(stub.asked, len(stub.answers)) - 1]
                if isinstance(found, Half):
                    self.break_off(found)
                elif isinstance(found, int):
                    self.answer(found, {"errors": [{"status": str(found), "title": "oops"}]})
                else:
                    self.answer(200, found)

            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["Content-Length"]))
                stub.posted.append(self.path)
                self.answer(500, {"errors": [{"status": "500", "title": "oops"}]})

            def answer(self, status: int, document: Any) -> None:
                body = json.dumps(document).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def break_off(self, half: Half) -> None:
                """Sends the first half of an answer, as a server that is killed."""
                body = gzip.compress(json.dumps(half.document).encode())
                self.send_response(200)
                self.send_header("Content-Encoding", "gzip")
                if half.sized:
                    self.send_header("Content-Length", str(len(body)))
                else:
                    self.send_header("Connection", "close")
                self.end_headers()
                self.wfile.write(body[: len(body) // 2])
                self.close_connection = True

            def log_message(self, *_: Any) -> None: ...

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def stub() -> Iterator[Stub]:
    made = Stub()
    yield made
    made.close()


def snapshot(seq: int, value: float, stale: str | None = None, count: int = 1) -> dict[str, Any]:
    flags = [
        {"id": f"f{i}", "type": "flag", "attributes": {"type": "NUMERIC", "default": value, "managed": True}}
        for i in range(count)
    ]
    document: dict[str, Any] = {"data": {"id": "production", "type": "snapshot", "attributes": {"seq": seq, "flags": flags}}}
    return {**document, "meta": {"stale_since": stale}} if stale else document


def test_stale_snapshot_never_goes_back(stub: Stub, start: Start) -> None:
    stub.answers = [
        snapshot(10, 1),
        snapshot(9, 2, "2026-01-01T00:00:00Z"),
        snapshot(11, 3, "2026-01-01T00:00:00Z"),
        snapshot(5, 4),
    ]
    seen: list[tuple[float, int]] = []
    box = start(stub.url)
    flag = box.number("f0", default=0)

    def watch() -> bool:
        now = (flag(), box.state.seq)
        if now[1] and (not seen or seen[-1] != now):
            seen.append(now)
        return now == (4, 5)  # the server has its database again, and is always right

    eventually(watch, "the last snapshot")
    assert (2, 9) not in seen
    assert seen[0] == (1, 10)


def test_snapshot_of_10000_flags(stub: Stub, start: Start) -> None:
    stub.answers = [snapshot(1, 1, count=10_000), snapshot(2, 2, count=10_000)]
    box = start(stub.url)
    flags = [box.number(f"f{i}", default=0) for i in range(0, 10_000, 100)]
    eventually(lambda: all(flag() == 2 for flag in flags), "the second snapshot")


def test_refusing_server_costs_one_line(stub: Stub, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    stub.answers = [snapshot(1, 1)]
    box = start(stub.url)
    for i in range(200):
        box.boolean(f"b{i}", default=False)
    box.ready(PATIENCE)
    eventually(lambda: stub.posted.count("/api/v1/flags/bulk") > 3, "several reports")
    assert caplog.text.count("Reporting to Signalbox failed") == 1
    assert box.state.status is Status.LIVE


def test_answer_that_is_no_snapshot(stub: Stub, start: Start) -> None:
    stub.answers = [{"data": []}, {"data": {"type": "snapshot", "attributes": {"seq": "1"}}}, snapshot(1, 1)]
    box = start(stub.url)
    eventually(lambda: box.number("f0", default=0)() == 1, "the snapshot at last")


@pytest.mark.parametrize("sized", [True, False], ids=["with length", "to the end"])
def test_server_that_is_killed_during_a_snapshot(stub: Stub, start: Start, sized: bool) -> None:
    stub.answers = [snapshot(1, 1), Half(snapshot(2, 2, count=100), sized), snapshot(3, 3)]
    box = start(stub.url)
    flag = box.number("f0", default=0)
    seen: set[float] = set()

    def watch() -> bool:
        seen.add(flag())
        return flag() == 3

    eventually(watch, "the third snapshot")
    assert seen <= {0, 1, 3}


def test_refused_key_that_is_accepted_again(stub: Stub, start: Start) -> None:
    stub.answers = [snapshot(1, 1), 401, snapshot(2, 2)]
    box = start(stub.url)
    states: list[Status] = []
    box.on_state(lambda state: states.append(state.status))
    flag = box.number("f0", default=0)
    eventually(lambda: flag() == 2, "the value after the refusal")
    eventually(lambda: box.state.status is Status.LIVE, "LIVE")
    assert stub.asked >= 3


def test_unexpected_error_starts_over(
    stub: Stub, start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers = [snapshot(1, 1), snapshot(2, 2)]
    box = start(stub.url)
    flag = box.number("f0", default=0)
    box.ready(PATIENCE)
    apply, failed = Box.apply, threading.Event()

    def fail_once(self: Box, *args: Any, **more: Any) -> None:
        if not failed.is_set():
            failed.set()
            raise RuntimeError("oops")
        apply(self, *args, **more)

    monkeypatch.setattr(Box, "apply", fail_once)
    stub.answers = [snapshot(3, 3)]
    eventually(lambda: flag() == 3, "the value after the error")
    assert failed.is_set()
    assert "Following Signalbox failed; it is tried again." in caplog.text
    box.close()
    assert not any(each.name == "signalbox" and each.is_alive() for each in threading.enumerate())


class Broken:
    """A logging framework that fails."""

    def set_level(self, name: str, level: Level | None) -> None:  # noqa: ARG002
        raise RuntimeError("no such logger")

    def levels(self, name: str) -> tuple[Level | None, Level]:
        raise RuntimeError(f"no level of {name}")


def test_adapter_that_fails(stub: Stub, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    managed = {"id": "shop", "type": "logger", "attributes": {"level": "DEBUG", "managed": True}}
    stub.answers = [snapshot(i, i) for i in range(1, 6)]
    for each in stub.answers[1:]:
        assert isinstance(each, dict)
        each["data"]["attributes"]["loggers"] = [managed]
    box = start(stub.url)
    box.add_logger(Broken(), "shop")
    flag = box.number("f0", default=0)
    eventually(lambda: flag() == 5, "the last snapshot")
    eventually(lambda: "Reporting to Signalbox failed" in caplog.text, "the report")
    assert "Setting the level of logger shop failed: no such logger" in caplog.text
    assert box.state.status is Status.LIVE


class Exiting:
    """A logging framework whose code ends the thread that calls it."""

    def set_level(self, name: str, level: Level | None) -> None:  # noqa: ARG002
        if threading.current_thread().name == "signalbox":
            raise SystemExit

    def levels(self, name: str) -> tuple[Level | None, Level]:  # noqa: ARG002
        raise SystemExit

    levels_set = sys.exit


@dataclasses.dataclass
class Leaving:
    """A type that ends the thread that decodes a negative number."""

    most: int = 0

    def __post_init__(self) -> None:
        if self.most < 0:
            raise SystemExit("no negative number")


def test_code_of_the_service_that_exits(stub: Stub, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    stub.answers = [snapshot(i, i) for i in range(1, 6)]
    for i, each in enumerate(stub.answers):
        assert isinstance(each, dict)
        attributes = each["data"]["attributes"]
        attributes["configs"] = {"c": {"values": {"most": 1 if i == 0 else -1}}}
        attributes["flags"].append({"id": "j", "attributes": {"type": "JSON", "default": {"most": -1}, "managed": True}})
        attributes["loggers"] = [{"id": "shop", "attributes": {"level": "DEBUG" if i % 2 else "INFO", "managed": True}}]
    called = threading.Event()
    stub.answering.clear()  # a snapshot before the declarations would be decoded here, where SystemExit is raised
    box = start(stub.url)
    config, flag, decoded = box.config("c", Leaving), box.number("f0", default=0), box.json("j", Leaving(7), Leaving)
    box.add_logger(Exiting(), "shop")
    flag.on_change(sys.exit)
    flag.on_change(called.set)
    stub.answering.set()
    eventually(lambda: flag() == 5, "the last snapshot")
    assert called.wait(PATIENCE)
    assert (config.most, str(config.error), decoded()) == (1, "no negative number", Leaving(7))
    assert box.state.status is Status.LIVE
    eventually(lambda: "Reporting to Signalbox failed" in caplog.text, "the report")
    assert "A Signalbox listener failed" in caplog.text
    assert "Setting the level of logger shop failed" in caplog.text


def test_thread_that_ends_is_shown(
    stub: Stub, start: Start, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    stub.answers = [snapshot(1, 1)]
    box = start(stub.url)
    box.ready(PATIENCE)

    def fail(*_: Any) -> None:
        raise SystemExit("oops")

    monkeypatch.setattr(Sync, "_start_over", fail)
    monkeypatch.setattr(Sync, "_work", fail)
    eventually(lambda: box.state.status is Status.STALE, "STALE")
    assert "following Signalbox ended unexpectedly: SystemExit('oops')" in str(box.state.why)
    assert "Signalbox is not followed; restart the service" in caplog.text


def test_bootstrap_file(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "bootstrap.json"
    file.write_text(json.dumps(snapshot(1000, 5)))
    box = start("http://127.0.0.1:9", bootstrap=file, cache=False)
    assert box.number("f0", default=0)() == 5


ODD_FLAGS: list[dict[str, Any]] = [
    {"values": [True, False, None]},
    {"values": {"a": 1}},
    {"environments": {"production": {"rules": [None, 1, "x"]}}},
    {"environments": {"production": {"rules": {"a": 1}}}},
    {"environments": {"production": "x"}},
    {"environments": ["production"]},
]
ODD_LOGGERS: list[dict[str, Any]] = [
    {"group": ["x"]},
    {"level": ["x"], "group": {"x": 1}},
    {"environments": {"production": "DEBUG"}, "level": "INFO", "level_expires_at": "2020-01-01T00:00:00Z"},
    {"environments": "production", "level_expires_at": "0001-01-01T00:00:00+23:59"},
]


@pytest.mark.parametrize(
    ("flag", "logger"), [*((each, {}) for each in ODD_FLAGS), *(({}, each) for each in ODD_LOGGERS)], ids=repr
)
def test_bootstrap_file_with_odd_values(start: Start, tmp_path: Path, flag: dict[str, Any], logger: dict[str, Any]) -> None:
    """What is odd does not count, and everything else does."""
    document = snapshot(1, 5)
    attributes = document["data"]["attributes"]
    attributes["flags"].append({"id": "odd", "attributes": {"type": "NUMERIC", "default": 6, "managed": True, **flag}})
    attributes["loggers"] = [{"id": "shop", "attributes": {"managed": True, **logger}}]
    file = tmp_path / "bootstrap.json"
    file.write_text(json.dumps(document))
    box = start("http://127.0.0.1:9", bootstrap=file, cache=False)
    box.add_logger(Broken(), "shop")
    odd = box.number("odd", default=0)
    assert (box.number("f0", default=0)(), odd(), odd.get(user="alice")) == (5, 6, 6)
    assert odd.detail().variant == "default"


@pytest.mark.parametrize("flags", [[None], [{"id": ["x"], "attributes": {}}], [{"id": "x", "attributes": 1}], {"x": 1}], ids=repr)
def test_bootstrap_file_without_use(start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture, flags: Any) -> None:
    file = tmp_path / "bootstrap.json"
    document = snapshot(1, 5)
    document["data"]["attributes"]["flags"] = flags
    file.write_text(json.dumps(document))
    box = start("http://127.0.0.1:9", bootstrap=file, cache=False)
    assert box.number("f0", default=3)() == 3
    assert "Reading the last known values failed" in caplog.text


def test_number_beyond_the_floats(start: Start, tmp_path: Path) -> None:
    file = tmp_path / "bootstrap.json"
    file.write_text(json.dumps(snapshot(1, 10**400)))
    assert start("http://127.0.0.1:9", bootstrap=file, cache=False).number("f0", default=3).detail().code == "PARSE_ERROR"


def test_bootstrap_never_outranks(stub: Stub, start: Start, tmp_path: Path) -> None:
    """Its number may be of another account."""
    file = tmp_path / "bootstrap.json"
    file.write_text(json.dumps(snapshot(1000, 5)))
    stub.answers = [snapshot(3, 6, "2026-01-01T00:00:00Z")]
    box = start(stub.url, bootstrap=file, cache=False)
    eventually(lambda: box.number("f0", default=0)() == 6, "the server's value")


def test_untrusted_certificate(start: Start) -> None:
    box = start("https://127.0.0.1:9", cache=False, ssl_context=ssl.create_default_context())
    eventually(lambda: box.state.status is Status.STALE, "STALE")


def test_slow_listener_is_logged(stub: Stub, start: Start, caplog: pytest.LogCaptureFixture) -> None:
    stub.answers = [snapshot(1, 1), snapshot(2, 2)]
    box = start(stub.url, timing=FAST._replace(slow=0.05))
    let_go = threading.Event()
    box.number("f0", default=0).on_change(lambda: let_go.wait(PATIENCE))
    eventually(lambda: "A Signalbox listener has been running" in caplog.text, "the warning")
    let_go.set()


def test_listener_whose_thread_cannot_be_started(stub: Stub, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.answers = [snapshot(1, 1), snapshot(2, 2)]
    box = start(stub.url, timing=FAST._replace(slow=0.05))
    start_thread, failed, called = threading.Thread.start, threading.Event(), threading.Event()

    def fail_once(self: threading.Thread) -> None:
        if self.name == "signalbox-listeners" and not failed.is_set():
            failed.set()
            raise RuntimeError("can't start new thread")
        start_thread(self)

    monkeypatch.setattr(threading.Thread, "start", fail_once)
    box.number("f0", default=0).on_change(called.set)
    assert failed.wait(PATIENCE)
    assert called.wait(PATIENCE)


@pytest.mark.parametrize(
    "error", [RuntimeError("can't start new thread"), OSError(24, "Too many open files")], ids=["threads", "descriptors"]
)
def test_thread_cannot_be_started(
    stub: Stub, start: Start, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, error: Exception
) -> None:
    """A service near its limits starts all the same, with the values that it has."""

    def fail(*_: Any) -> None:
        raise error

    what = "threading.Thread.start" if isinstance(error, RuntimeError) else "socket.socketpair"
    with monkeypatch.context() as patch:
        patch.setattr(what, fail)
        box = start(stub.url)
        assert box.number("f0", default=7)() == 7
        assert box.state.status is Status.STALE
        with pytest.raises(NotReadyError):
            box.ready(0)
        box.after_fork()  # it fails in a child as well
    assert f"Signalbox is not followed; restart the service: {error}" in caplog.text
    stub.answers = [snapshot(1, 1)]
    box.after_fork()  # another child can follow
    eventually(lambda: box.number("f0", default=7)() == 1, "the value in a child")
    box.close()


def test_descriptors_run_out(stub: Stub, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    stub.answers = [snapshot(1, 1), snapshot(2, 2)]
    box = start(stub.url)
    flag = box.number("f0", default=0)
    box.ready(PATIENCE)
    open_bell = Sync._open_bell
    failures: list[int] = []

    def fail_thrice(self: Sync) -> None:
        if len(failures) < 3:
            failures.append(1)
            raise OSError(24, "Too many open files")
        open_bell(self)

    def fail(*_: Any, **__: Any) -> None:
        monkeypatch.setattr(Box, "apply", apply)
        raise OSError(24, "Too many open files")

    apply = Box.apply
    monkeypatch.setattr(Sync, "_open_bell", fail_thrice)
    monkeypatch.setattr(Box, "apply", fail)
    stub.answers = [snapshot(3, 3)]
    eventually(lambda: flag() == 3, "the value after descriptors were missing")
    assert len(failures) == 3


@pytest.mark.parametrize(("attempt", "most"), [(1, 1), (3, 4), (10, 60), (1000, 60)])
def test_backoff_has_full_jitter(attempt: int, most: int) -> None:
    pauses = [backoff(attempt, 1, 60) for _ in range(1000)]
    assert all(0 <= each <= most for each in pauses)
    assert min(pauses) < most * 0.1
    assert max(pauses) > most * 0.9


def test_pause_that_the_server_asks_for() -> None:
    answers = [APIError("GET", 429, [], seconds) for seconds in (7, 86400)]
    assert [asked_for(each) for each in (*answers, None)] == [7, 60, 0]


def test_expiry() -> None:
    at = instant("2026-01-01T00:00:00Z")
    assert at == 1767225600
    assert instant("2026-01-01T00:00:00.5Z") == at + 0.5
    assert instant("2026-01-01T01:00:00.1234567+01:00") == pytest.approx(at + 0.123456)
    assert instant("soon") is None
    override = {"production": {"level": "DEBUG", "expires_at": "2026-01-01T00:00:00Z"}}
    contents = Contents(
        loggers={
            "a": {"managed": True, "environments": override},
            "b": {"managed": True, "level": "ERROR", "environments": override},
            "c": {"managed": True, "level": "DEBUG", "level_expires_at": "2026-01-01T00:00:10Z", "environments": {}},
        }
    )
    left, due = contents.unexpired(at)
    assert due == at + 10
    assert (left.loggers["a"]["managed"], left.loggers["b"]["managed"]) == (False, True)
    assert left.loggers["b"]["environments"] == {}
    left, due = contents.unexpired(at + 10)
    assert (left.loggers["c"]["managed"], due) == (False, None)
    assert contents.first_expiry() == at


def test_close_gives_up_a_server_that_hangs(start: Start) -> None:
    import socket  # noqa: PLC0415

    with socket.create_server(("127.0.0.1", 0)) as silent:
        box = start(f"http://127.0.0.1:{silent.getsockname()[1]}", cache=False, timing=FAST._replace(request=60))
        silent.accept()
        began = time.monotonic()
        box.close(timeout=0.4)
        assert time.monotonic() - began < 5
