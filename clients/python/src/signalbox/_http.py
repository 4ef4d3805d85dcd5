"""Requests to the server, by http.client: no dependency, and no connection pool that a fork would share."""

from __future__ import annotations

import base64
import contextlib
import encodings.idna  # noqa: F401, a lookup would import it on the thread, and a child forked meanwhile could never import it
import http.client
import json
import os
import socket
import ssl
import threading
import urllib.parse
import urllib.request
import zlib
from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from ._version import __version__
from .errors import APIError, ConnectionFailed, SettingsError

USER_AGENT: Final = f"signalbox-python/{__version__}"


class _Proxy(NamedTuple):
    host: str
    port: int
    headers: dict[str, str]


class Address:
    """The address of the server, and connections to it: with TLS, and through a proxy that the environment names."""

    def __init__(self, url: str, ssl_context: ssl.SSLContext | None = None) -> None:
        try:
            parts = urllib.parse.urlsplit(url.rstrip("/"))
            port = parts.port
        except ValueError as error:
            raise SettingsError(f"{url!r} is not the URL of a server: {error}") from None
        if parts.scheme not in {"http", "https"} or not parts.hostname:
            raise SettingsError(f"{url!r} is not the URL of a server, such as http://127.0.0.1:8080")
        self.secure = parts.scheme == "https"
        self.host = parts.hostname
        self.port = port or (443 if self.secure else 80)
        self.path = parts.path
        self.authority = parts.netloc.rpartition("@")[2]
        self._context = ssl_context

    def connect(self, timeout: float, *, tunnel: bool = True) -> socket.socket:
        """Opens a connection. Without a tunnel, the caller sends requests through the proxy: see forwarded."""
        proxy = self._proxy()
        sock = socket.create_connection((proxy.host, proxy.port) if proxy else (self.host, self.port), timeout)
        try:
            sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if proxy and (tunnel or self.secure):
                self._tunnel(sock, proxy)
            if self.secure:
                self._context = self._context or ssl.create_default_context()
                sock = self._context.wrap_socket(sock, server_hostname=self.host)
        except BaseException:
            sock.close()
            raise
        return sock

    def forwarded(self, target: str, headers: dict[str, str]) -> str:
        """Returns the target of a request without a tunnel. A proxy gets the whole URL, and its own credentials."""
        proxy = None if self.secure else self._proxy()
        if proxy is None:
            return target
        headers.update(proxy.headers)
        return f"http://{self.authority}{target}"

    def _proxy(self) -> _Proxy | None:
        """Returns the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name."""
        found = urllib.request.getproxies().get("https" if self.secure else "http")
        if not found or urllib.request.proxy_bypass(f"{self.host}:{self.port}"):
            return None
        parts = urllib.parse.urlsplit(found if "//" in found else "//" + found)
        user = urllib.parse.unquote(parts.netloc.rpartition("@")[0])
        headers = {"Proxy-Authorization": "Basic " + base64.b64encode(user.encode()).decode()} if user else {}
        return _Proxy(parts.hostname or "", parts.port or 80, headers)

    def _tunnel(self, sock: socket.socket, proxy: _Proxy) -> None:
        lines = [f"CONNECT {self.host}:{self.port} HTTP/1.1", f"Host: {self.host}:{self.port}"]
        lines += [f"{name}: {value}" for name, value in proxy.headers.items()]
        sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            received = sock.recv(1)  # byte by byte, because the bytes after the answer are the server's
            if not received or len(answer) > 16384:
                raise OSError("the proxy ended the connection")
            answer += received
        status = answer.split(b" ", 2)[1:2]
        if status != [b"200"]:
            raise OSError(f"the proxy refuses a tunnel: {answer.splitlines()[0].decode('latin-1')}")


class _Connection(http.client.HTTPConnection):
    debuglevel = 0  # a service that sets it for all connections would print the API key

    def __init__(self, address: Address, timeout: float) -> None:
        super().__init__(address.host, address.port, timeout=timeout)
        self._address = address

    def connect(self) -> None:
        self.sock = self._address.connect(self.timeout or 10, tunnel=False)


class Response:
    """An answer of the server."""

    __slots__ = ("body", "headers", "status")

    def __init__(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    def json(self) -> Any:
        return json.loads(self.body)


class Transport:
    """Sends requests, one at a time, over a connection that is kept open."""

    def __init__(self, address: Address, key: str, timeout: float = 10) -> None:
        self.address = address
        self.timeout = timeout
        self._headers = {
            "Authorization": f"Bearer {key}",
            "User-Agent": USER_AGENT,
            "Accept": "application/vnd.api+json",
            "Accept-Encoding": "gzip",
            "Prefer": "handling=strict",
            "Host": address.authority,
        }
        self._pid = os.getpid()
        self._lock = threading.Lock()
        self._connection: _Connection | None = None

    def request(  # noqa: PLR0913, most are optional
        self,
        method: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        accepted: tuple[int, ...] = (),
    ) -> Response:
        """Sends a request. It raises an APIError for a status that is neither a success nor accepted, and ConnectionFailed."""
        target = self.address.path + path + ("?" + urllib.parse.urlencode(query) if query else "")
        sent = dict(self._headers, **(headers or {}))
        text = None
        if body is not None:
            text = json.dumps(body, ensure_ascii=False, separators=(",", ":"), allow_nan=False).encode("utf-8", "replace")
            sent["Content-Type"] = "application/json"
        name = f"{method} {path}"
        target = self.address.forwarded(target, sent)
        if self._pid != os.getpid():
            self._after_fork()
        with self._lock:
            response = self._exchange(name, method, target, text, sent)
        if response.status >= 300 and response.status not in accepted:
            raise APIError.of(name, response.status, response.body, response.headers.get("Retry-After"))
        return response

    def _exchange(self, name: str, method: str, target: str, text: bytes | None, headers: dict[str, str]) -> Response:
        """Sends a request. If the server had closed the kept connection, it sends the request again over a new one."""
        while True:
            reused = self._connection is not None
            connection = self._connection or _Connection(self.address, self.timeout)
            self._connection = connection
            try:
                connection.timeout = self.timeout
                if connection.sock is not None:
                    connection.sock.settimeout(self.timeout)
                connection.request(method, target, text, headers)
                return self._read(connection)
            except (OSError, http.client.HTTPException) as error:
                self.close()
                if reused and isinstance(error, (ConnectionError, http.client.BadStatusLine)):
                    continue
                raise ConnectionFailed(f"{name}: {error or type(error).__name__}") from error
            except BaseException:
                self.close()
                raise

    def _read(self, connection: _Connection) -> Response:
        answer = connection.getresponse()
        body = answer.read()
        if answer.headers.get("Content-Encoding") == "gzip":
            try:
                body = zlib.decompress(body, wbits=31)
            except zlib.error as error:
                raise http.client.HTTPException(f"the answer is not compressed as it says: {error}") from error
        if answer.will_close:
            self.close()
        return Response(answer.status, answer.headers, body)  # type: ignore[arg-type]

    def _after_fork(self) -> None:
        """Drops the connection, which is the parent's, and the lock, which a thread of the parent may hold."""
        self._pid, self._lock = os.getpid(), threading.Lock()
        self.close()

    def abort(self) -> None:
        """Ends a request that another thread waits for."""
        connection = self._connection
        sock = connection.sock if connection is not None else None
        if sock is not None:
            with contextlib.suppress(OSError):
                sock.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with contextlib.suppress(OSError):
                connection.close()


def segment(text: str) -> str:
    """Returns a text as a segment of a path."""
    return urllib.parse.quote(text, safe="")
