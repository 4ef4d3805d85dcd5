"""The event socket: a WebSocket by the protocol implementation of websockets, without a thread of its own."""

from __future__ import annotations

import contextlib
import json
import logging
import socket
import ssl
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Final

from websockets.client import ClientProtocol
from websockets.uri import parse_uri

from .errors import APIError, ConnectionFailed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from ._http import Address

#: The longest frame that is read; it is larger than any event.
MAX_EVENT: Final = 64 << 10

PATH: Final = "/api/ws/v1/events"

# By default, websockets writes the headers of the handshake to the log at DEBUG, and with them the API key.
_silent: Final = logging.Logger("signalbox.websockets")
_silent.disabled = True
_silent.propagate = False


class EventSocket:
    """One open connection. The first frame has been read: `connected` has its seq."""

    def __init__(self, address: Address, headers: Mapping[str, str], query: Mapping[str, str], timeout: float) -> None:
        scheme = "wss" if address.secure else "ws"
        self.uri = f"{scheme}://{address.authority}{address.path}{PATH}?{urllib.parse.urlencode(query)}"
        self._protocol: Any = ClientProtocol(parse_uri(self.uri), max_size=MAX_EVENT, logger=_silent)
        self._events: list[dict[str, Any]] = []
        self._text: list[bytes] | None = None  # the parts of a text that is not complete
        try:
            self.sock = address.connect(timeout)
        except OSError as error:
            raise ConnectionFailed(f"GET {PATH}: {error}") from error
        try:
            self._shake_hands(headers, time.monotonic() + timeout)
        except OSError as error:
            self.sock.close()
            raise ConnectionFailed(f"GET {PATH}: {error or type(error).__name__}") from error
        except BaseException:
            self.sock.close()
            raise

    def fileno(self) -> int:
        return self.sock.fileno()

    def _shake_hands(self, headers: Mapping[str, str], deadline: float) -> None:
        request = self._protocol.connect()
        for name, value in headers.items():
            if name in request.headers:
                del request.headers[name]
            request.headers[name] = value
        self._protocol.send_request(request)
        self._flush()
        while not self._events:
            self._receive(max(deadline - time.monotonic(), 0.001))
        self.connected: int = self._events.pop(0).get("seq", 0)
        self.sock.setblocking(False)

    def _receive(self, timeout: float | None) -> None:
        """Reads what has arrived and collects its events."""
        if timeout is not None:
            self.sock.settimeout(timeout)
        data = self.sock.recv(65536)
        if data:
            self._protocol.receive_data(data)
        else:
            self._protocol.receive_eof()
        self._flush()
        if self._protocol.handshake_exc is not None:
            self._refused(self._protocol.handshake_exc)
        for event in self._protocol.events_received():
            self._collect(event)
        # After a frame that breaks the protocol, websockets discards everything until the server closes the connection.
        if not data or self._protocol.parser_exc is not None:
            raise ConnectionFailed(f"GET {PATH}: {self._reason()}")

    def _collect(self, event: Any) -> None:
        opcode = getattr(event, "opcode", None)
        if opcode is None:  # the answer to the handshake
            return
        if opcode == 8:
            raise ConnectionFailed(f"GET {PATH}: {self._reason()}")
        if opcode == 1:
            self._text = []
        if opcode > 2 or self._text is None:  # a ping, which websockets has answered, or binary
            return
        self._text.append(event.data)
        if event.fin:
            text, self._text = b"".join(self._text), None
            self._note(text)

    def _note(self, text: bytes) -> None:
        """Answers the server's ping, or keeps an event."""
        if text == b"ping":
            self._protocol.send_text(b"pong")
            self._flush()
            return
        try:
            found = json.loads(text)
        except ValueError as error:
            raise ConnectionFailed(f"GET {PATH}: a frame is not an event: {error}") from error
        if isinstance(found, dict):
            self._events.append(found)

    def _refused(self, error: Exception) -> None:
        response = getattr(error, "response", None)
        if response is not None:
            body = response.body or b""
            raise APIError.of(f"GET {PATH}", response.status_code, bytes(body), response.headers.get("Retry-After"))
        raise ConnectionFailed(f"GET {PATH}: {error}")

    def _reason(self) -> str:
        if self._protocol.close_rcvd is None and self._protocol.close_sent is not None:
            return f"the server broke the protocol: {self._protocol.close_sent}"
        code, reason = self._protocol.close_code, self._protocol.close_reason
        return f"closed with {code} {reason}" if code else "the connection ended"

    @property
    def close_code(self) -> int | None:
        code: int | None = self._protocol.close_code
        return code

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data:
                self.sock.settimeout(10)
                self.sock.sendall(data)
            else:
                with contextlib.suppress(OSError):
                    self.sock.shutdown(socket.SHUT_WR)

    def read(self) -> list[dict[str, Any]]:
        """Returns the events that have arrived. It raises ConnectionFailed when the connection has ended."""
        try:
            while True:
                self.sock.setblocking(False)
                self._receive(None)
        except (BlockingIOError, ssl.SSLWantReadError, ssl.SSLWantWriteError):
            pass
        except OSError as error:
            if isinstance(error, ConnectionFailed):
                raise
            raise ConnectionFailed(f"GET {PATH}: {error}") from error
        events, self._events = self._events, []
        return events

    def take(self) -> list[dict[str, Any]]:
        """Returns the events that came together with the first frame."""
        events, self._events = self._events, []
        return events

    def close(self) -> None:
        """Ends the connection, with a close frame if it can be sent without waiting."""
        with contextlib.suppress(Exception):  # the connection may be in any state
            self._protocol.send_close(1000)
            self.sock.setblocking(False)
            for data in self._protocol.data_to_send():
                if data:
                    self.sock.send(data)
        self.drop()

    def drop(self) -> None:
        """Closes the descriptor without sending anything: after a fork the connection is the parent's."""
        with contextlib.suppress(OSError):
            self.sock.close()
