"""Reports of a box to a server that refuses or goes away."""

from __future__ import annotations

from typing import Any

import pytest

import signalbox
from signalbox import Box
from signalbox._http import Response
from signalbox._reports import CHUNK
from signalbox.errors import APIError, ConnectionFailed
from signalbox.testing import FakeBox


class Wire:
    """Takes requests, and fails as often as a test wants."""

    def __init__(self, *failures: BaseException | None) -> None:
        self.failures = list(failures)
        self.sent: list[Any] = []

    def request(self, _method: str, path: str, body: Any = None) -> Response:
        failure = self.failures.pop(0) if self.failures and path.endswith("/bulk") else None
        if failure is not None:
            raise failure
        self.sent.append(body)
        return Response(200, {}, b"")


def report(box: Box, wire: Any) -> None:
    box.reports.send(wire, everything=True, pause=lambda: None)


def counted(wire: Wire) -> int:
    return sum(each["attributes"]["value"] for body in wire.sent if body and "data" in body for each in body["data"])


def evaluated(count: int) -> Box:
    """Returns a box with flags that have been evaluated, and without contexts to report."""
    box = FakeBox()
    for i in range(count):
        box.boolean(f"f{i}", default=False)()
    box.reports._contexts = []
    return box


@pytest.mark.parametrize(
    ("failure", "lost"),
    [(APIError("POST", 429, []), 0), (RuntimeError("oops"), 0), (ConnectionFailed("the connection ended"), CHUNK)],
    ids=["refused", "bug", "cut"],
)
def test_counts_after_a_failure(failure: Exception, lost: int) -> None:
    """Only the request that may have arrived is not sent again."""
    box = evaluated(3 * CHUNK)
    wire = Wire(None, None, None, None, failure)  # three requests with flags, and the first with counts, succeed
    with pytest.raises(type(failure)):
        report(box, wire)
    report(box, wire)
    assert counted(wire) == 3 * CHUNK - lost


@pytest.mark.parametrize("failure", [APIError("POST", 500, []), RuntimeError("oops"), SystemExit()], ids=repr)
def test_contexts_after_a_failure(failure: BaseException) -> None:
    box = signalbox.Box(FakeBox().settings._replace(report_contexts=True))
    box.boolean("f", default=False).get(user="alice")
    wire = Wire(failure)
    with pytest.raises(type(failure)):
        report(box, wire)
    report(box, wire)
    assert {"type": "user", "key": "alice", "attributes": {}} in next(
        each["contexts"] for each in wire.sent if each and "contexts" in each
    )


def test_one_report_of_a_key() -> None:
    """The server takes a key once; the first declaration counts."""
    box = FakeBox()
    box.string("f", default="a"), box.number("f", default=1), box.string("f", default="b")
    box.flags.declare("unfinished", "STRING")  # another thread has no flag yet
    wire = Wire()
    report(box, wire)
    (flags,) = [body["flags"] for body in wire.sent if body and "flags" in body]
    assert flags == [{"id": "f", "type": "STRING", "default": "a", "environment": "test"}]
