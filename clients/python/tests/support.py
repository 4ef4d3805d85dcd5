"""A real server, a network that fails, and waiting for conditions."""

from __future__ import annotations

import contextlib
import json
import os
import re
import selectors
import signal
import socket
import ssl
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import signalbox
from signalbox._http import Address, Transport
from signalbox.errors import SignalboxError

ROOT = Path(__file__).parents[3]
BINARY = Path(os.environ.get("SIGNALBOX_BINARY", ROOT / "bin" / "signalbox"))
OWNER_KEY = "sk_api_owner-of-the-account-in-the-python-tests"
PATIENCE = 30.0

#: Waiting times for tests, short enough to see everything happen.
FAST = signalbox.Timing(
    min_backoff=0.05, max_backoff=0.2, poll=0.2, settle=0.005, report=0.3, applied=0.02, save=0.02, stable=0.2, request=5
)


def eventually(holds: Callable[[], Any], what: str = "", timeout: float = PATIENCE) -> Any:
    """Waits until a condition holds, and returns its value."""
    tick = threading.Event()
    end = time.monotonic() + timeout
    while True:
        found = holds()
        if found:
            return found
        assert time.monotonic() < end, f"it never came: {what or holds}"
        tick.wait(0.005)


class Server:
    """A Signalbox server on SQLite, or on PostgreSQL when a URL is given."""

    def __init__(self, folder: Path, database: str = "", **more: str) -> None:
        self._folder = folder
        self._database = database
        self._more = more
        self._process: subprocess.Popen[str] | None = None
        self.port = 0
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        settings = {
            "SIGNALBOX_LISTEN": f"127.0.0.1:{self.port}",
            "SIGNALBOX_DATA": str(self._folder),
            "SIGNALBOX_BOOTSTRAP_KEY": OWNER_KEY,
            "SIGNALBOX_LOG_FORMAT": "json",
            **({"SIGNALBOX_DATABASE": self._database} if self._database else {}),
            **self._more,
        }
        process = subprocess.Popen([BINARY, "serve"], env=settings, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
        self._process = process
        assert process.stderr is not None
        printed = []
        for line in process.stderr:
            printed.append(line)
            found = re.search(r'Signalbox is ready.*"address":"127\.0\.0\.1:(\d+)"', line)
            if found:
                self.port = int(found[1])
                break
        else:
            raise AssertionError("the server did not start:\n" + "".join(printed))
        threading.Thread(target=self._drain, args=(process.stderr,), daemon=True).start()
        self.admin = Admin(self.url, OWNER_KEY)

    def _drain(self, log: Any) -> None:
        for _ in log:
            pass

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        if self._process is not None:
            self._process.send_signal(how)
            self._process.wait(PATIENCE)
            assert self._process.stderr is not None
            self._process = None


class Admin:
    """Changes things on the server."""

    def __init__(self, url: str, key: str, ssl_context: ssl.SSLContext | None = None) -> None:
        self._transport = Transport(Address(url, ssl_context), key, timeout=PATIENCE)

    def request(self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None) -> Any:
        response = self._transport.request(method, path, body=body, headers=headers)
        return response.json() if response.body else None

    def flag(
        self, key: str, kind: str, default: Any, *, rules: list[Any] | None = None, here: dict[str, Any] | None = None
    ) -> None:
        """Creates or replaces a flag."""
        environments = {"production": {"enabled": True, "rules": rules or [], **(here or {})}} if rules or here else {}
        attributes = {"name": key, "type": kind, "default": default, "environments": environments, "managed": True}
        if kind == "BOOLEAN":
            attributes["values"] = [{"name": "On", "value": True}, {"name": "Off", "value": False}]
        self._put("flags", "flag", key, attributes)

    def level(self, key: str, level: str | None, **more: Any) -> None:
        self.request(
            "PUT", f"/api/v1/loggers/{key}", _document("logger", key, {"level": level, "managed": level is not None, **more})
        )

    def config(self, key: str, **items: Any) -> None:
        self._put("configs", "config", key, {"name": key, "items": {name: {"value": each} for name, each in items.items()}})

    def _put(self, path: str, kind: str, key: str, attributes: dict[str, Any]) -> None:
        try:
            self.request("PUT", f"/api/v1/{path}/{key}", _document(kind, key, attributes))
        except signalbox.errors.NotFoundError:
            try:
                self.request("POST", f"/api/v1/{path}", _document(kind, key, attributes))
            except signalbox.errors.ConflictError:  # a box has reported it in the meantime
                self.request("PUT", f"/api/v1/{path}/{key}", _document(kind, key, attributes))

    def key(self, role: str = "VIEWER") -> tuple[str, str]:
        """Creates an API key; it returns its id and the key."""
        made = self.request(
            "POST", "/api/v1/api_keys", {"data": {"type": "api_key", "attributes": {"name": uuid.uuid4().hex, "role": role}}}
        )
        return made["data"]["id"], made["data"]["attributes"]["key"]

    def source_levels(self, logger: str) -> set[str]:
        """Returns the levels that services have reported for a logger."""
        try:
            found = self.request("GET", f"/api/v1/loggers/{logger}/sources")
        except SignalboxError:
            return set()
        return {each["attributes"]["resolved_level"] for each in found["data"]}


def _document(kind: str, key: str, attributes: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"id": key, "type": kind, "attributes": attributes}}


class Proxy:
    """A network between a box and the server that can be cut, go silent, delay, or block sockets."""

    def __init__(self, port: int) -> None:
        self._target = port
        self.silent = False
        self.blocked = False  # refuse WebSockets
        self.refused = False  # refuse connections
        self.delay = 0.0
        self._pairs: list[tuple[socket.socket, socket.socket]] = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            if self.refused:
                client.close()
                continue
            try:
                server = socket.create_connection(("127.0.0.1", self._target))
            except OSError:
                client.close()
                continue
            self._pairs.append((client, server))
            threading.Thread(target=self._copy, args=(client, server), daemon=True).start()

    def _copy(self, client: socket.socket, server: socket.socket) -> None:
        wait = selectors.DefaultSelector()
        wait.register(client, selectors.EVENT_READ, server)
        wait.register(server, selectors.EVENT_READ, client)
        try:
            while True:
                for ready, _ in wait.select():
                    source: Any = ready.fileobj
                    data = source.recv(65536)
                    if not data or (self.blocked and b"Upgrade: websocket" in data):
                        return
                    if self.delay:
                        threading.Event().wait(self.delay)
                    if not self.silent:
                        ready.data.sendall(data)
        except (OSError, ValueError):
            pass
        finally:
            client.close()
            server.close()

    def cut(self) -> None:
        """Ends all connections."""
        pairs, self._pairs = self._pairs, []
        for pair in pairs:
            for each in pair:
                with contextlib.suppress(OSError):
                    each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()
        self.cut()


class ForwardProxy:
    """An HTTP proxy: it forwards requests with a whole URL, and makes tunnels. It remembers the first lines."""

    def __init__(self) -> None:
        self.seen: list[str] = []
        self.authorized = True
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client: socket.socket) -> None:
        head = b""
        while b"\r\n\r\n" not in head:
            received = client.recv(65536)
            if not received:
                return
            head += received
        method, target, _ = head.split(b" ", 2)
        self.seen.append(head.splitlines()[0].decode())
        self.authorized = self.authorized and b"Proxy-Authorization: Basic dXNlcjpzZWNyZXQ=" in head
        address = target if method == b"CONNECT" else target.split(b"/")[2]
        host, port = address.decode().split(":")
        server = socket.create_connection((host, int(port)))
        if method == b"CONNECT":
            client.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        else:
            server.sendall(head)
        for source, target_ in ((client, server), (server, client)):
            threading.Thread(target=self._copy, args=(source, target_), daemon=True).start()

    def _copy(self, source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                target.sendall(data)
        for each in (source, target):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listener.close()


def new_database() -> Iterator[str]:
    """Creates a database on the PostgreSQL server of scripts/with-postgres."""
    server = os.environ["SIGNALBOX_TEST_POSTGRES"]
    psql = Path(os.environ.get("SIGNALBOX_TEST_POSTGRES_BIN", "")) / "psql"
    name = f"python_{uuid.uuid4().hex}"
    subprocess.run([str(psql), server, "-qc", f"CREATE DATABASE {name}"], check=True)
    yield re.sub(r"/postgres(\?|$)", rf"/{name}\1", server)


def printed(process: subprocess.Popen[str]) -> Any:
    """Returns the next line that a program prints, as JSON."""
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line, f"the program ended with {process.wait()}"
    return json.loads(line)
