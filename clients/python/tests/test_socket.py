"""The event socket, and a server that sends what a test wants."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import socket
import threading
from collections.abc import Iterator

import pytest

from signalbox._http import Address
from signalbox._socket import MAX_EVENT, EventSocket
from signalbox.errors import ConnectionFailed
from support import PATIENCE, eventually

TEXT, BINARY, CONT, PING = 1, 2, 0, 9


def frame(opcode: int, data: bytes, *, fin: bool = True, reserved: int = 0, mask: bool = False) -> bytes:
    first, second = (0x80 if fin else 0) | reserved | opcode, 0x80 if mask else 0
    size = bytes([second | len(data)]) if len(data) < 126 else bytes([second | 127]) + len(data).to_bytes(8, "big")
    return bytes([first]) + size + (bytes(4) if mask else b"") + data


def event(seq: int) -> bytes:
    return json.dumps({"event": "flag_changed", "id": "f", "seq": seq}).encode()


class Pair:
    """A socket, and the server's end of it."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
            self.socket = self.opened(listener, port)

    def opened(self, listener: socket.socket, port: int) -> EventSocket:
        serving = threading.Thread(target=self.accept, args=(listener,), daemon=True)
        serving.start()
        opened = EventSocket(Address(f"http://127.0.0.1:{port}"), {}, {}, PATIENCE)
        serving.join()
        return opened

    def accept(self, listener: socket.socket) -> None:
        self.server, _ = listener.accept()
        found = re.search(rb"Sec-WebSocket-Key: (\S+)", self.server.recv(65536))
        assert found
        accepted = base64.b64encode(hashlib.sha1(found[1] + b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11").digest())  # noqa: S324
        head = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
        self.server.sendall(head + accepted + b"\r\n\r\n" + frame(TEXT, b'{"seq": 1}'))

    def read(self, *frames: bytes) -> list[int]:
        """Sends frames and returns the numbers of the events that come out of the socket."""
        self.server.sendall(b"".join(frames))
        found: list[int] = []

        def has_read() -> bool:
            found.extend(each["seq"] for each in self.socket.read())
            return bool(found)

        eventually(has_read, "an event")
        return found


@pytest.fixture
def pair() -> Iterator[Pair]:
    made = Pair()
    yield made
    made.socket.close()
    made.server.close()


def test_fragments(pair: Pair) -> None:
    """A proxy may split a text. Other frames may come in between, and parts of binary messages are not text."""
    text = event(2)
    parts = [frame(TEXT, text[:5], fin=False), frame(PING, b""), frame(CONT, text[5:9], fin=False), frame(CONT, text[9:])]
    binary = [frame(BINARY, b"x", fin=False), frame(CONT, b"y")]
    assert pair.read(*parts, *binary, frame(TEXT, event(3))) == [2, 3]


@pytest.mark.parametrize(
    ("broken", "why"),
    [
        (frame(TEXT, b"x" * (MAX_EVENT + 1)), "1009"),
        (frame(TEXT, b"x" * MAX_EVENT, fin=False) + frame(CONT, b"x"), "1009"),
        (frame(TEXT, event(2), mask=True), "1002"),
        (frame(TEXT, event(2), reserved=0x40), "1002"),
        (frame(CONT, event(2)), "1002"),
    ],
    ids=["too long", "too long in parts", "masked", "reserved", "no start"],
)
def test_frame_that_breaks_the_protocol(pair: Pair, broken: bytes, why: str) -> None:
    """The connection is over, even while the server keeps it open."""
    with pytest.raises(ConnectionFailed, match=f"the server broke the protocol: {why}"):
        pair.read(broken)
