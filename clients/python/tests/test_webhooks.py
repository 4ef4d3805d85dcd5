"""Messages of webhooks, as the library of Standard Webhooks checks them."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from standardwebhooks import Webhook, WebhookVerificationError

from support import Server, eventually


class Receiver(http.server.ThreadingHTTPServer):
    """A target of webhooks that keeps what it receives."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.received: list[tuple[dict[str, str], bytes]] = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/"


class Handler(http.server.BaseHTTPRequestHandler):
    """Keeps a request."""

    server: Receiver

    def do_POST(self) -> None:  # the name is that of the library
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        self.server.received.append(({name.lower(): value for name, value in self.headers.items()}, body))

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def receiver() -> Iterator[Receiver]:
    made = Receiver()
    yield made
    made.shutdown()
    made.server_close()


def test_signatures(tmp_path: Path, receiver: Receiver) -> None:
    server = Server(tmp_path / "data", SIGNALBOX_ALLOW_NETWORKS="127.0.0.0/8")
    admin = server.admin
    attributes = {"name": "w", "url": receiver.url, "events": ["change.flag"]}
    made = admin.request("POST", "/api/v1/webhooks", {"data": {"type": "webhook", "attributes": attributes}})["data"]
    secret, path = made["attributes"]["secret"], f"/api/v1/webhooks/{made['id']}/actions"
    admin.request("POST", f"{path}/test")
    headers, body = next_message(receiver, 1)
    assert Webhook(secret).verify(body, headers)["type"] == "webhook.test"
    for changed in (body + b" ", body.replace(b"test", b"fake")):
        with pytest.raises(WebhookVerificationError):
            Webhook(secret).verify(changed, headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(secret).verify(body, {**headers, "webhook-id": "another"})
    rotated = admin.request("POST", f"{path}/rotate_secret")["data"]["attributes"]["secret"]
    admin.flag("f", "STRING", "żółw 🚦 <&>\u2028")
    headers, body = next_message(receiver, 2)
    for each in (secret, rotated):  # both sign for a day
        assert Webhook(each).verify(body, headers)["data"]["key"] == "f"
    server.stop()


def next_message(receiver: Receiver, count: int) -> tuple[dict[str, str], bytes]:
    """Waits for the message with a number."""
    eventually(lambda: len(receiver.received) >= count, f"message {count}")
    return receiver.received[count - 1]
