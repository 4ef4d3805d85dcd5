"""A box and a real server, while things happen to them."""

from __future__ import annotations

import dataclasses
import functools
import http.client
import logging
import math
import os
import random
import signal
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import signalbox
import signalbox.api
from signalbox import Box, Flag, Status
from support import BINARY, FAST, OWNER_KEY, PATIENCE, Admin, ForwardProxy, Proxy, Server, eventually, printed

Start = Callable[..., Box]


def live(box: Box) -> bool:
    return box.state.status is Status.LIVE and not box.state.polling


def has(flag: Flag[float], value: float) -> bool:
    return flag() == value


@dataclasses.dataclass
class Checkout:
    timeout_ms: int = 1500
    hosts: list[str] = dataclasses.field(default_factory=list)


def test_follows_changes(shared_server: Server, start: Start) -> None:
    admin = shared_server.admin
    box = start(shared_server.url)
    flag = box.boolean("follow.flag", default=False)
    settings = box.config("follow.config", Checkout)
    log = logging.getLogger("follow.logger")
    installed = signalbox.logging.install(box)
    box.ready(PATIENCE)
    assert (flag(), settings.timeout_ms, log.level) == (False, 1500, logging.NOTSET)
    admin.flag("follow.flag", "BOOLEAN", default=False, rules=[{"logic": {"==": [{"var": "user.plan"}, "pro"]}, "value": True}])
    with signalbox.context(user={"key": "alice", "plan": "pro"}):
        eventually(flag, "the flag")
    assert not flag()
    admin.config("follow.config", timeout_ms=200, hosts=["a", "b"])
    eventually(lambda: settings.timeout_ms == 200, "the config")
    assert settings.value == Checkout(200, ["a", "b"])
    admin.level("follow.logger", "DEBUG")
    eventually(lambda: log.level == logging.DEBUG, "the level")
    eventually(lambda: "DEBUG" in admin.source_levels("follow.logger"), "the report of the level")
    later = logging.getLogger("follow.logger.later")
    assert later.level == logging.DEBUG
    admin.level("follow.logger", None)
    eventually(lambda: log.level == logging.NOTSET and later.level == logging.NOTSET, "the release")
    installed.uninstall()


def test_reports(shared_server: Server, start: Start) -> None:
    admin = shared_server.admin
    box = start(shared_server.url, service="reporter")
    flag = box.string("report.flag", default="none")
    box.ready(PATIENCE)
    with signalbox.context(user={"key": "reported-user", "plan": "pro"}):
        for _ in range(7):
            flag()
    box.close()
    found = admin.request("GET", "/api/v1/flags/report.flag/sources")["data"]
    assert [(each["attributes"]["service"], each["attributes"]["declared_default"]) for each in found] == [("reporter", "none")]
    user = admin.request("GET", "/api/v1/contexts/user%3Areported-user")["data"]["attributes"]
    assert user["attributes"] == {"plan": "pro"}
    assert admin.request("GET", "/api/v1/services/reporter")

    def counted() -> bool:
        points = admin.request("GET", "/api/v1/metrics?name=flags.evaluations&filter[flag]=report.flag&by=flag,value")["data"][
            "attributes"
        ]["points"]
        return bool(sum(each["sum"] for each in points) == 7)

    eventually(counted, "the counts")


def test_numbers_without_json_are_reported_as_null(shared_server: Server, start: Start) -> None:
    admin = shared_server.admin
    box = start(shared_server.url, service="not-finite")
    limit = box.json("finite.json", default={"a": [1, math.inf]})
    other = box.number("finite.nan", default=math.nan)
    odd = box.string("finite.odd", default=object())  # type: ignore[arg-type]
    box.ready(PATIENCE)
    with signalbox.context(user={"key": "finite-user", "score": math.nan, "deep": {"a": [-math.inf, 1]}}):
        limit(), other(), odd()
    box.close()
    (found,) = admin.request("GET", "/api/v1/flags/finite.json/sources")["data"]
    assert found["attributes"]["declared_default"] == {"a": [1, None]}
    user = admin.request("GET", "/api/v1/contexts/user%3Afinite-user")["data"]["attributes"]
    assert user["attributes"] == {"score": None, "deep": {"a": [None, 1]}}


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL], ids=["stop", "kill"])
def test_server_restarts(server: Server, start: Start, how: signal.Signals) -> None:
    server.admin.flag("restart", "NUMERIC", 1)
    box = start(server.url)
    flag = box.number("restart", default=0)
    box.ready(PATIENCE)
    eventually(lambda: live(box), "the socket")
    server.stop(how)
    eventually(lambda: box.state.status is Status.STALE, "STALE")
    assert flag() == 1
    server.start()
    server.admin.flag("restart", "NUMERIC", 2)
    eventually(lambda: flag() == 2, "the change after the restart")
    eventually(lambda: live(box), "LIVE")


def test_cut_network_resumes(shared_server: Server, proxy: Proxy, start: Start) -> None:
    admin = shared_server.admin
    admin.flag("cut", "NUMERIC", 0)
    box = start(proxy.url)
    flag = box.number("cut", default=-1)
    eventually(lambda: live(box), "the socket")
    for i in range(1, 6):
        proxy.cut()
        admin.flag("cut", "NUMERIC", i)
        eventually(functools.partial(has, flag, i), "a change that came during a cut")


def test_silent_network_is_noticed(shared_server: Server, proxy: Proxy, start: Start) -> None:
    admin = shared_server.admin
    admin.flag("silent", "NUMERIC", 0)
    box = start(proxy.url, timing=FAST._replace(silence=0.3, request=0.3))
    flag = box.number("silent", default=-1)
    eventually(lambda: live(box) and flag() == 0, "the socket")
    proxy.silent = True
    admin.flag("silent", "NUMERIC", 1)
    eventually(lambda: box.state.status is Status.STALE, "STALE")
    assert flag() == 0
    proxy.silent = False
    proxy.cut()
    eventually(lambda: flag() == 1, "the change")


def test_blocked_sockets_poll(shared_server: Server, proxy: Proxy, start: Start) -> None:
    admin = shared_server.admin
    admin.flag("blocked", "NUMERIC", 0)
    proxy.blocked = True
    box = start(proxy.url)
    flag = box.number("blocked", default=-1)
    eventually(lambda: box.state.polling and flag() == 0, "polling")
    admin.flag("blocked", "NUMERIC", 1)
    eventually(lambda: flag() == 1, "a change by polling")
    assert box.state.status is Status.LIVE
    proxy.blocked = False
    eventually(lambda: live(box), "the socket")


def test_revoked_key_is_refused(shared_server: Server, start: Start) -> None:
    admin = shared_server.admin
    admin.flag("revoked", "NUMERIC", 1)
    identity, key = admin.key()
    box = start(shared_server.url, key)
    flag = box.number("revoked", default=0)
    seen: list[Status] = []
    box.on_state(lambda state: seen.append(state.status))
    eventually(lambda: live(box), "the socket")
    admin.request("POST", f"/api/v1/api_keys/{identity}/actions/revoke")
    eventually(lambda: box.state.status is Status.REFUSED, "REFUSED")
    assert isinstance(box.state.why, signalbox.errors.UnauthorizedError)
    eventually(lambda: Status.REFUSED in seen, "the listener")
    assert flag() == 1


def test_key_stays_out_of_the_log(
    shared_server: Server,
    start: Start,
    caplog: pytest.LogCaptureFixture,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Neither websockets nor http.client shows the headers. The key of a mounted secret ends with a line break."""
    monkeypatch.setattr(http.client.HTTPConnection, "debuglevel", 1)
    caplog.set_level(logging.DEBUG)
    box = start(shared_server.url, f" {OWNER_KEY}\n")
    eventually(lambda: live(box), "the socket")
    box.close()
    shown = capsys.readouterr()
    assert OWNER_KEY not in caplog.text + shown.out + shown.err


def test_wrong_key(shared_server: Server, start: Start) -> None:
    box = start(shared_server.url, "sk_api_unknown-key-of-nobody")
    with pytest.raises(signalbox.errors.UnauthorizedError):
        box.ready(PATIENCE)
    assert box.boolean("anything", default=True)() is True


def test_no_server(start: Start) -> None:
    began = time.perf_counter()
    box = start("http://127.0.0.1:9", cache=False)
    flag = box.string("anything", default="code")
    assert flag() == "code"
    assert time.perf_counter() - began < 1
    with pytest.raises(signalbox.errors.NotReadyError):
        box.ready(0.05)
    eventually(lambda: box.state.status is Status.STALE, "STALE")


def test_slow_server(shared_server: Server, proxy: Proxy, start: Start) -> None:
    shared_server.admin.flag("slow", "NUMERIC", 1)
    proxy.delay = 0.1
    box = start(proxy.url)
    flag = box.number("slow", default=0)
    assert flag() == 0
    eventually(lambda: flag() == 1, "the value")
    proxy.delay = 0  # the box is closed


def test_starts_from_the_cache(server: Server, start: Start, tmp_path: Path) -> None:
    server.admin.flag("cached", "NUMERIC", 1)
    server.admin.level("cached", "ERROR")
    first = start(server.url)
    first.ready(PATIENCE)
    first.close()
    server.stop()
    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_mode & 0o777 == 0o600
    box = start(server.url)
    assert box.number("cached", default=0)() == 1
    installed = signalbox.logging.install(box)
    assert logging.getLogger("cached").level == logging.ERROR
    installed.uninstall()
    file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    assert start(server.url).number("cached", default=0)() == 0


def test_full_disk(shared_server: Server, start: Start, tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("no folder")
    shared_server.admin.flag("disk", "NUMERIC", 1)
    box = start(shared_server.url, cache_dir=tmp_path / "file")
    flag = box.number("disk", default=0)
    box.ready(PATIENCE)
    eventually(lambda: "Keeping the last known values failed" in caplog.text, "the warning")
    shared_server.admin.flag("disk", "NUMERIC", 2)
    eventually(lambda: flag() == 2, "the change")
    assert caplog.text.count("Keeping the last known values failed") == 1


def test_temporary_level_ends(server: Server, start: Start) -> None:
    log, longer = logging.getLogger("temporary"), logging.getLogger("longer")
    box = start(server.url)
    installed = signalbox.logging.install(box)
    eventually(lambda: live(box), "the socket")
    server.admin.level("temporary", "DEBUG", level_ttl_seconds=1)
    server.admin.level("longer", "DEBUG", level_ttl_seconds=2)
    eventually(lambda: log.level == longer.level == logging.DEBUG, "the levels")
    eventually(lambda: log.level == logging.NOTSET, "its end by the server")
    server.stop()
    eventually(lambda: longer.level == logging.NOTSET, "its end by the client's clock")
    assert box.state.status is not Status.LIVE
    installed.uninstall()


@pytest.fixture
def _eager_threads() -> Iterator[None]:
    """Threads change places often, so that two that evaluate all the time do not keep the others waiting for 5 ms each time."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(0.0002)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("_eager_threads")
def test_many_changes_never_go_back(shared_server: Server, start: Start) -> None:
    changes = 1000 if os.environ.get("SIGNALBOX_SOAK") else 100
    admin = shared_server.admin
    admin.flag("many", "NUMERIC", 0)
    box = start(shared_server.url)
    flag = box.number("many", default=-1)
    eventually(lambda: flag() == 0, "the flag")
    wrong: list[tuple[float, float]] = []
    stop = threading.Event()

    def evaluate() -> None:
        last = 0.0
        while not stop.is_set():
            now = flag()
            if now < last:
                wrong.append((last, now))
            last = now

    threads = [threading.Thread(target=evaluate) for _ in range(2)]
    for each in threads:
        each.start()
    for i in range(1, changes + 1):
        admin.flag("many", "NUMERIC", i)
    eventually(lambda: flag() == changes, "the last change")
    stop.set()
    for each in threads:
        each.join()
    assert not wrong


FORKING = """
import json, logging, os, sys
import signalbox
import signalbox.api
from support import FAST, eventually
box = signalbox.start(url=sys.argv[1], key=sys.argv[2], environment="production", service="forked", timing=FAST, cache=False)
flag = box.number("fork", default=-1)
log = logging.getLogger("fork.worker")
signalbox.logging.install(box)
box.ready(30)
for _ in range(5):
    flag()
for i in range(4):
    if os.fork() == 0:
        eventually(lambda: flag() == 7 and log.level == logging.DEBUG)
        eventually(lambda: box.state.status is signalbox.Status.LIVE)
        os.write(1, json.dumps({"child": i, "pid": os.getpid()}).encode() + b"\\n")
        box.close()
        os._exit(0)
os.write(1, json.dumps({"parent": os.getpid()}).encode() + b"\\n")
for _ in range(4):
    assert os.wait()[1] == 0
eventually(lambda: flag() == 7 and log.level == logging.DEBUG)
print(json.dumps({"done": True}), flush=True)
"""


def with_support() -> dict[str, str]:
    """Returns the environment of a program that imports the helpers of the tests."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])}


def test_forked_workers_follow(shared_server: Server, tmp_path: Path) -> None:
    admin = shared_server.admin
    admin.flag("fork", "NUMERIC", 0)
    script = tmp_path / "forking.py"
    script.write_text(FORKING)
    command = [sys.executable, str(script), shared_server.url, admin.key()[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=with_support()) as process:
        assert "parent" in printed(process)
        admin.flag("fork", "NUMERIC", 7)
        admin.level("fork", "DEBUG")
        children = [printed(process) for _ in range(4)]
        assert {each["child"] for each in children} == {0, 1, 2, 3}
        assert printed(process) == {"done": True}
        assert process.wait(PATIENCE) == 0


SHARING = """
import os, sys
import signalbox.api
api = signalbox.api.API(sys.argv[1], sys.argv[2])
api.get_flag("shared.parent")
child = os.fork()
name = "shared.parent" if child else "shared.child"
for _ in range(50):
    assert api.get_flag(name)["data"]["id"] == name
if child:
    assert os.wait()[1] == 0
else:
    os._exit(0)
"""


def test_forked_management(shared_server: Server, tmp_path: Path) -> None:
    """Parent and child have connections of their own."""
    for name in ("shared.parent", "shared.child"):
        shared_server.admin.flag(name, "NUMERIC", 0)
    script = tmp_path / "sharing.py"
    script.write_text(SHARING)
    subprocess.run([sys.executable, script, shared_server.url, shared_server.admin.key()[1]], check=True, timeout=PATIENCE)


EXITING = """
import sys, signalbox
box = signalbox.start(url=sys.argv[1], key=sys.argv[2], environment="production", service=sys.argv[3], cache=False)
flag = box.boolean("exit", default=False)
box.ready(30)
flag()
if sys.argv[4] == "exit":
    sys.exit(0)
"""


@pytest.mark.parametrize("how", ["exit", "end"])
def test_exit_reports(shared_server: Server, tmp_path: Path, how: str) -> None:
    """The process ends by itself, at once, and its last report arrives."""
    script = tmp_path / "exiting.py"
    script.write_text(EXITING)
    subprocess.run(
        [sys.executable, script, shared_server.url, shared_server.admin.key()[1], f"exit-{how}", how],
        check=True,
        timeout=PATIENCE,
    )
    assert shared_server.admin.request("GET", f"/api/v1/services/exit-{how}")


ALONE = """
import asyncio, signalbox
box = signalbox.start(url="http://127.0.0.1:9", key="k", environment="e", cache=False)
async def wait():
    try:
        await asyncio.wait_for(box.wait_ready(), 0.1)
    except asyncio.TimeoutError:
        print("canceled")
    try:
        await box.wait_ready(0.01)
    except signalbox.errors.NotReadyError:
        print("not ready")
"""


@pytest.mark.parametrize(("then", "prints"), [("", ""), ("asyncio.run(wait())", "canceled\nnot ready\n")], ids=["", "asyncio"])
def test_exit_without_a_server(tmp_path: Path, then: str, prints: str) -> None:
    script = tmp_path / "alone.py"
    script.write_text(ALONE + then)
    ended = subprocess.run([sys.executable, script], check=True, timeout=PATIENCE, capture_output=True, text=True)
    assert ended.stdout == prints


CLOSING = """
import os, sys
import signalbox
from support import FAST, eventually
box = signalbox.start(url=sys.argv[1], key=sys.argv[2], environment="production", timing=FAST, cache=False)
flag = box.number("daemon", default=-1)
box.ready(30)
os.closerange(3, 1000)  # as programs do that become daemons
print("{}", flush=True)
eventually(lambda: flag() == 7)
"""


def test_closed_descriptors(shared_server: Server, tmp_path: Path) -> None:
    admin = shared_server.admin
    admin.flag("daemon", "NUMERIC", 0)
    script = tmp_path / "closing.py"
    script.write_text(CLOSING)
    command = [sys.executable, str(script), shared_server.url, admin.key()[1]]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=with_support()) as process:
        printed(process)
        admin.flag("daemon", "NUMERIC", 7)
        assert process.wait(PATIENCE) == 0


def random_logic(r: random.Random, depth: int) -> Any:
    if depth == 0 or r.random() < 0.3:
        return r.choice(
            [
                {"var": "user.plan"},
                {"var": "user.age"},
                {"var": "user.key"},
                {"var": "user.tags"},
                {"var": "account.key"},
                1,
                0,
                "pro",
                "18",
                True,
                None,
                ["pro", "a"],
                2.5,
            ]
        )
    op = r.choice(
        [
            "==",
            "===",
            "!=",
            "<",
            ">=",
            "and",
            "or",
            "!",
            "in",
            "+",
            "cat",
            "if",
            "some",
            "starts_with",
            "ends_with",
            "sem_ver",
            "fractional",
            "max",
        ]
    )
    if op == "fractional":
        return {"fractional": [[True, r.randint(1, 50)], [False, r.randint(1, 50)]]}
    if op == "sem_ver":
        return {"sem_ver": [{"var": "user.version"}, r.choice(["=", "<", ">=", "^", "~"]), "1.2.0"]}
    return {op: [random_logic(r, depth - 1) for _ in range({"!": 1, "if": 3}.get(op, 2))]}


def random_context(r: random.Random) -> dict[str, Any]:
    user = {
        "key": f"user-{r.randint(0, 500)}",
        "plan": r.choice(["pro", "free", "", None]),
        "age": r.choice([0, 17, 18, "18", 99.5]),
        "tags": r.choice([[], ["a"], ["pro", 1]]),
        "version": r.choice(["1.2.3", "2.0.0-rc.1", "x", "1.1"]),
    }
    return {
        "user": {name: each for name, each in user.items() if name == "key" or r.random() < 0.8},
        "account": {"key": r.choice(["acme", "globex"])},
    }


def test_random_worlds_equal_the_server(server: Server, start: Start) -> None:
    """10,000 random pairs of a flag and contexts have the server's value, reason and variant."""
    r = random.Random(34)
    kinds: dict[str, list[Any]] = {
        "BOOLEAN": [True, False],
        "STRING": ["a", "b", ""],
        "NUMERIC": [0, 1, 2.5],
        "JSON": [{"a": 1}, [1], {"b": [True]}],
    }
    box = start(server.url)
    flags: dict[str, Flag[Any]] = {}
    for i in range(50):
        kind = r.choice(list(kinds))
        rules = [
            {"logic": {"and": [True, random_logic(r, 3)]}, "value": r.choice(kinds[kind]), "description": ""}
            for _ in range(r.randint(0, 4))
        ]
        default = r.choice([None, *kinds[kind]])
        here = {"default": default, "enabled": r.random() < 0.9}
        server.admin.flag(f"world-{i}", kind, kinds[kind][0], rules=rules, here=here)
        declare: Any = {"BOOLEAN": box.boolean, "STRING": box.string, "NUMERIC": box.number, "JSON": box.json}[kind]
        flags[f"world-{i}"] = declare(f"world-{i}", kinds[kind][0])
    eventually(lambda: flags["world-49"].detail().code == "", "the last flag")
    reasons = set()
    for _ in range(200):
        contexts = random_context(r)
        answer = server.admin.request(
            "POST", "/ofrep/v1/evaluate/flags", {"context": contexts}, {"X-Signalbox-Environment": "production"}
        )
        assert len(answer["flags"]) == len(flags)
        for each in answer["flags"]:
            detail = flags[each["key"]].detail(**contexts)
            reason = "STATIC" if detail.reason == "DISABLED" else detail.reason
            assert (detail.value, reason, detail.variant) == (each["value"], each["reason"], each["variant"]), (each, contexts)
            reasons.add(detail.reason)
    assert reasons == {"STATIC", "TARGETING_MATCH", "SPLIT", "DEFAULT", "DISABLED"}


def test_restored_database_goes_back(server: Server, start: Start, tmp_path: Path) -> None:
    """A server with its database is always right, also with a smaller number."""
    server.admin.flag("restored", "NUMERIC", 1)
    backup = tmp_path / "backup"
    environment = {"SIGNALBOX_DATA": str(tmp_path / "data")}
    subprocess.run([BINARY, "admin", "backup", str(backup)], env=environment, check=True, capture_output=True)
    for i in range(2, 12):
        server.admin.flag("restored", "NUMERIC", i)
    box = start(server.url)
    flag = box.number("restored", default=0)
    eventually(lambda: flag() == 11, "the flag")
    server.stop()
    subprocess.run([BINARY, "admin", "restore", str(backup), "--yes"], env=environment, check=True, capture_output=True)
    server.start()
    eventually(lambda: flag() == 1, "the restored value")


def test_management_calls(shared_server: Server) -> None:
    api = signalbox.api.API(shared_server.url, OWNER_KEY)
    body = {"data": {"id": "managed.call", "type": "flag", "attributes": {"type": "STRING", "default": "a"}}}
    made = api.create_flag(body, idempotency_key="made once", note="für später")
    assert api.create_flag(body, idempotency_key="made once", note="für später") == made
    assert made["data"]["attributes"]["default"] == "a"
    (change,) = api.list_changes(filter_resource="flag:managed.call")["data"]
    assert change["attributes"]["note"] == "für später"
    assert [each["id"] for each in api.list_flags(filter_search="managed.call", meta_total=True)["data"]] == ["managed.call"]
    with pytest.raises(signalbox.errors.ConflictError) as refused:
        api.create_flag(body)
    assert (refused.value.code, refused.value.status) == ("already_exists", 409)
    with pytest.raises(signalbox.errors.InvalidError, match="/data/attributes/type"):
        api.create_flag({"data": {"id": "wrong", "type": "flag", "attributes": {"type": "TEXT", "default": "a"}}})
    assert api.delete_flag("managed.call") is None
    with pytest.raises(signalbox.errors.NotFoundError, match=r"managed\.call"):
        api.get_flag("managed.call")


def test_management_calls_are_those_of_the_server(shared_server: Server) -> None:
    sys.path.insert(0, str(Path(__file__).parents[1]))
    import generate_api  # noqa: PLC0415

    generated = generate_api.generate(shared_server.admin.request("GET", "/api/openapi.json"))
    assert generate_api.TARGET.read_text() == generated, "run make api-calls"


def test_tls(tmp_path: Path, start: Start) -> None:
    certificate, key = tmp_path / "certificate.pem", tmp_path / "key.pem"
    command = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command += [
        "-subj",
        "/CN=localhost",
        "-addext",
        "subjectAltName=DNS:localhost",
        "-keyout",
        str(key),
        "-out",
        str(certificate),
    ]
    subprocess.run(command, check=True, capture_output=True)
    server = Server(tmp_path / "data", SIGNALBOX_TLS_CERT=str(certificate), SIGNALBOX_TLS_KEY=str(key))
    trusting = ssl.create_default_context(cafile=str(certificate))
    admin = Admin(f"https://localhost:{server.port}", OWNER_KEY, trusting)
    try:
        admin.flag("tls", "NUMERIC", 1)
        box = start(f"https://localhost:{server.port}", ssl_context=trusting)
        flag = box.number("tls", default=0)
        eventually(lambda: live(box) and flag() == 1, "the socket")
        for i in range(2, 5):
            admin.flag("tls", "NUMERIC", i)
            eventually(functools.partial(has, flag, i), "a change over TLS")
        distrustful = start(f"https://localhost:{server.port}", cache=False)
        eventually(lambda: "certificate" in str(distrustful.state.why), "the reason")
    finally:
        server.stop()


def test_proxy_of_the_environment(shared_server: Server, start: Start, monkeypatch: pytest.MonkeyPatch) -> None:
    """Requests go through it as they are, and the socket through a tunnel."""
    shared_server.admin.flag("proxied", "NUMERIC", 1)
    forward = ForwardProxy()
    monkeypatch.setenv("http_proxy", f"http://user:secret@127.0.0.1:{forward.port}")
    monkeypatch.setenv("no_proxy", "")
    box = start(shared_server.url, cache=False)
    flag = box.number("proxied", default=0)
    eventually(lambda: flag() == 1 and {"GET", "CONNECT"} <= {each.split()[0] for each in forward.seen}, "the socket")
    eventually(lambda: live(box), "LIVE")
    monkeypatch.delenv("http_proxy")
    assert all(each.split()[1].startswith(("http://", "127.0.0.1:")) for each in forward.seen)
    assert forward.authorized
    forward.close()
