"""Boxes without a server: flags, configs, contexts, listeners, the fake, and settings."""

from __future__ import annotations

import asyncio
import contextvars
import dataclasses
import datetime
import decimal
import enum
import gc
import logging
import pickle
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypedDict

import pydantic
import pytest

import signalbox
import signalbox._flags
import signalbox.api
from signalbox import Status
from signalbox._values import normalize
from signalbox.testing import FakeBox, Rules
from support import PATIENCE, eventually

PRO = Rules(default=False, rules=[({"==": [{"var": "user.plan"}, "pro"]}, True)])


def test_flag_types() -> None:
    box = FakeBox({"b": True, "s": "text", "n": 2.5, "i": 3, "j": {"a": [1]}})
    assert box.boolean("b", default=False)() is True
    assert box.string("s", default="")() == "text"
    assert box.number("n", default=0)() == 2.5
    assert box.integer("i", default=0)() == 3
    assert box.json("j", default={})() == {"a": [1]}
    assert box.integer("n", default=7).detail().code == "TYPE_MISMATCH"
    assert box.string("b", default="other")() == "other"
    assert box.boolean("none", default=True).detail() == signalbox.Detail(True, "ERROR", -1, "", "FLAG_NOT_FOUND")
    assert box.boolean("b", default=False) is box.boolean("b", default=False)
    box.forget("b")
    assert box.boolean("b", default=False)() is False


def test_json_flag_decodes() -> None:
    box = FakeBox({"j": {"timeout_ms": 5}})
    flag = box.json("j", Checkout(), Checkout)
    assert flag() == Checkout(5)
    box.set({"j": {"timeout_ms": "soon"}})
    assert flag.detail().code == "TYPE_MISMATCH"


def test_json_flag_of_two_classes_with_one_name() -> None:
    first, second = (dataclasses.make_dataclass("Limits", [("most", int, most)]) for most in (1, 2))
    box = FakeBox({"j": {"most": 5}})
    assert type(box.json("j", first(), first)()) is first
    assert type(box.json("j", first(), second)()) is second


def test_defaults_that_differ(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    """A default that differs with each call needs no room for another flag."""
    monkeypatch.setattr(signalbox._flags, "MAX_FLAGS", 2)
    box = FakeBox({"s": "server"})
    seen: list[str] = []
    box.string("greeting", default="first").on_change(lambda: seen.append("changed"))
    kept = [box.string("greeting", default=f"kept {i}") for i in range(3)]
    assert [box.string("greeting", default=f"hello {i}")() for i in range(200)] == [f"hello {i}" for i in range(200)]
    assert not caplog.text
    assert box.string("s", default="")() == "server"
    assert "This service has declared 2 flags." in caplog.text
    late = box.string("late", default="no room")
    box.set({"greeting": "hi", "late": "x"})
    assert [each() for each in kept] == ["hi"] * 3
    assert late() == "no room"
    eventually(lambda: seen == ["changed"], "the listener of a flag that nobody has kept")
    greeting = box.flags.all()[0]
    assert greeting.reported() == {"id": "greeting", "type": "STRING", "default": "first"}
    assert sum(counter.take() for _, counter in greeting.counts()) == 203
    gc.collect()
    assert len(greeting._flags) == 4


def test_contexts_nest_and_end() -> None:
    box = FakeBox({"f": PRO, "g": Rules("no", [({"==": [{"var": "account.key"}, "acme"]}, "yes")])})
    flag, account = box.boolean("f", default=False), box.string("g", default="")
    with signalbox.context(user={"key": "a", "plan": "pro"}):
        assert flag()
        with signalbox.context(account="acme"):
            assert (flag(), account()) == (True, "yes")
            assert not flag.get(user={"plan": "free"})
        assert account() == "no"
    assert not flag()


def test_contexts_of_threads_and_tasks() -> None:
    flag = FakeBox({"f": PRO}).boolean("f", default=False)

    def read(plan: str) -> bool:
        with signalbox.context(user={"plan": plan}):
            return flag()

    async def read_async(plan: str) -> bool:
        signalbox.set_context(user={"plan": plan})
        await asyncio.sleep(0)
        return flag()

    async def both() -> list[bool]:
        return list(await asyncio.gather(read_async("pro"), read_async("free"), asyncio.to_thread(read, "pro")))

    assert asyncio.run(both()) == [True, False, True]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(read, ["pro", "free"] * 50)) == [True, False] * 50
    assert not flag()


def test_context_that_is_entered_again() -> None:
    flag = FakeBox({"f": PRO}).boolean("f", default=False)
    pro, inside = signalbox.context(user={"plan": "pro"}), threading.Barrier(4)

    def read() -> tuple[bool, bool]:
        with pro:
            inside.wait(10)  # the other threads are inside, too
            found = flag()
        return found, flag()

    with ThreadPoolExecutor(4) as pool:
        assert [each.result() for each in [pool.submit(read) for _ in range(4)]] == [(True, False)] * 4
    with pro:
        with pro:
            assert flag()
        assert flag()
        signalbox.set_context(user={"plan": "free"})
        assert not flag()
    assert not flag()
    with signalbox.context(self={"key": "a"}):
        assert not flag.get(self={"key": "b"})


def test_context_that_ends_elsewhere() -> None:
    """FastAPI enters and leaves a synchronous dependency in two threads."""
    flag = FakeBox({"f": PRO}).boolean("f", default=False)
    entered = signalbox.context(user={"plan": "pro"})
    contextvars.copy_context().run(entered.__enter__)
    with signalbox.context(user={"plan": "pro"}):
        entered.__exit__()
        assert flag()
    assert not flag()


def test_one_context_for_two_boxes() -> None:
    first, second = (
        FakeBox({"f": PRO}, service="a"),
        FakeBox({"f": Rules(False, [({"==": [{"var": "service.key"}, "b"]}, True)])}, service="b"),
    )
    with signalbox.context(user={"plan": "pro"}):
        assert first.boolean("f", default=False)()
        assert second.boolean("f", default=False)()
        assert first.boolean("f", default=False)()


class Plan(str, enum.Enum):
    PRO = "pro"


@pytest.mark.parametrize(
    ("given", "want"),
    [
        (1, 1.0),
        (True, True),
        (10**400, float("inf")),
        ((1, "a"), [1.0, "a"]),
        ({1: 2}, {"1": 2.0}),
        (Plan.PRO, "pro"),
        (datetime.datetime(2026, 1, 2, tzinfo=datetime.timezone.utc), "2026-01-02T00:00:00Z"),
        (datetime.date(2026, 1, 2), "2026-01-02"),
        (decimal.Decimal("1.5"), 1.5),
        (uuid.UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        (object(), None),
        (b"bytes", None),
        ("\ud800x", "\ufffdx"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_normalize(given: Any, want: Any) -> None:
    assert repr(normalize(given)) == repr(want)


def test_normalize_cycle() -> None:
    cycle: list[Any] = []
    cycle.append(cycle)
    assert normalize(cycle) is None


class Failing(Mapping[str, Any]):
    """A value of the service that raises while it is read."""

    def __getitem__(self, name: str) -> Any:
        raise RuntimeError(name)

    def __iter__(self) -> Iterator[str]:
        raise RuntimeError

    def __len__(self) -> int:
        raise RuntimeError


class FailingText(str):
    __slots__ = ()

    def __str__(self) -> str:
        raise RuntimeError


class FailingSet(set[Any]):
    def __iter__(self) -> Iterator[Any]:
        raise RuntimeError


@pytest.mark.parametrize(
    "value", [Failing(), FailingText("x"), FailingSet(), {FailingText("x"): 1, (): 2}], ids=lambda each: type(each).__name__
)
def test_value_that_raises(value: Any) -> None:
    flag = FakeBox({"f": PRO}).boolean("f", default=False)
    assert flag.get(user={"plan": "pro", "more": value}) in {True, False}
    assert not flag.get(user=value)
    with signalbox.context(user={"plan": "pro"}, other=value):
        assert flag()


def test_evaluation_never_raises() -> None:
    box = FakeBox({"f": Rules(0, [({"*": []}, 1), ({"cat": [{"var": "user.deep"}]}, 2), ({"!!": [1]}, 3)])})
    flag = box.integer("f", default=9)
    deep: Any = "x"
    for _ in range(400):
        deep = [deep]
    assert flag.get(user={"deep": deep}) in {2, 3}
    heavy = {"text": "x" * 2_000_000}
    assert flag.get(user=heavy) == 3


@dataclasses.dataclass
class Limits:
    most: int = 10
    least: int = 0


@dataclasses.dataclass
class Checkout:
    timeout_ms: int = 1500
    ratio: float = 0.5
    mode: Literal["fast", "safe"] = "safe"
    hosts: list[str] = dataclasses.field(default_factory=list)
    note: str | None = None
    limits: Limits = dataclasses.field(default_factory=Limits)

    def __post_init__(self) -> None:
        if self.timeout_ms < 0:
            raise ValueError("timeout_ms must not be negative")


class Typed(TypedDict, total=False):
    timeout_ms: int


class Model(pydantic.BaseModel):
    timeout_ms: int = 1500
    hosts: list[str] = []


def test_config_dataclass() -> None:
    box = FakeBox(configs={"c": {"timeout_ms": 5, "mode": "fast", "hosts": ["a"], "limits": {"most": 3}, "unknown": 1}})
    config = box.config("c", Checkout)
    assert config.value == Checkout(5, 0.5, "fast", ["a"], None, Limits(3, 0))
    assert config.timeout_ms == 5
    assert box.config("none", Checkout).value == Checkout()
    assert box.config("c", Checkout, default=Checkout(note="kept")).note == "kept"
    assert box.config("c", default=Checkout(ratio=0.1)).ratio == 0.1


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ({"timeout_ms": "soon"}, "timeout_ms must be a whole number, not 'soon'"),
        ({"timeout_ms": 1.5}, "timeout_ms must be a whole number"),
        ({"timeout_ms": True}, "timeout_ms must be a whole number"),
        ({"mode": "slow"}, "mode must be one of 'fast', 'safe', not 'slow'"),
        ({"hosts": ["a", 1]}, "hosts[1] must be text, not 1"),
        ({"limits": {"most": None}}, "limits.most must be a whole number"),
        ({"timeout_ms": -1}, "timeout_ms must not be negative"),
    ],
    ids=repr,
)
def test_config_keeps_the_last_good_values(wrong: Mapping[str, Any], why: str, caplog: pytest.LogCaptureFixture) -> None:
    box = FakeBox(configs={"c": {"timeout_ms": 5}})
    config = box.config("c", Checkout)
    box.set(configs={"c": wrong})
    assert config.timeout_ms == 5
    assert why in str(config.error)
    assert "the last good values stay" in caplog.text
    box.set(configs={"c": {"timeout_ms": 6}})
    assert (config.timeout_ms, config.error) == (6, None)


def test_exit_of_the_callers_own_thread() -> None:
    """An error that ends the program is for the caller when the caller's thread runs the code that raises it."""

    @dataclasses.dataclass
    class Leaving:
        most: int = 0

        def __post_init__(self) -> None:
            if self.most:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        FakeBox(configs={"c": {"most": 1}}).config("c", Leaving)


class Strict(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(extra="forbid")

    timeout_ms: int = pydantic.Field(1500, alias="timeoutMs")
    most: int = pydantic.Field(3, validation_alias=pydantic.AliasChoices("max", "most"))
    limits: Model = Model()

    @pydantic.computed_field  # type: ignore[prop-decorator]
    @property
    def seconds(self) -> float:
        return self.timeout_ms / 1000


def test_config_of_a_strict_model() -> None:
    box = FakeBox(configs={"c": {"max": 4}})
    config = box.config("c", Strict, default=Strict.model_validate({"timeoutMs": 7, "max": 1, "limits": {"timeout_ms": 2}}))
    assert (config.error, config.timeout_ms, config.most, config.limits.timeout_ms) == (None, 7, 4, 2)
    assert box.config("c", Strict).most == 4
    box.set(configs={"c": {"timeoutMs": 8, "most": 5}})
    assert (config.error, config.timeout_ms, config.most, config.seconds) == (None, 8, 5, 0.008)
    box.set(configs={"c": {"unknown": 8}})
    assert "unknown" in str(config.error)
    assert config.timeout_ms == 8


def test_config_kinds() -> None:
    box = FakeBox(configs={"c": {"timeout_ms": 5}})
    assert box.config("c", Model).value == Model(timeout_ms=5)
    assert box.config("c", Typed).value == {"timeout_ms": 5}
    assert box.config("c")["timeout_ms"] == 5
    assert box.config("c", {"timeout_ms": 1, "more": 2}).value == {"timeout_ms": 5, "more": 2}
    box.set(configs={"c": {"timeout_ms": []}})
    assert box.config("c", Model).value == Model(timeout_ms=5)
    with pytest.raises(TypeError, match="Give every field a default"):
        box.config("c", dataclasses.make_dataclass("Strict", [("needed", int)]))


def test_listeners() -> None:
    box = FakeBox({"f": 1}, configs={"c": {"a": 1}})
    flag, config = box.integer("f", default=0), box.config("c")
    seen: list[Any] = []
    stop = flag.on_change(lambda: seen.append(("flag", flag())))
    config.on_change(lambda before, after: seen.append((before["a"], after["a"])))
    box.on_flag_change(seen.append)
    box.set({"f": 2}, configs={"c": {"a": 2}})
    eventually(lambda: sorted(seen, key=str) == sorted([("flag", 2), (1, 2), ["f"]], key=str), "all calls")
    stop()
    box.set({"f": 3})
    eventually(lambda: len(seen) == 4, "the listener of all flags")
    assert seen[-1] == ["f"]


def test_listener_that_fails_or_hangs(caplog: pytest.LogCaptureFixture) -> None:
    box = FakeBox({"f": 1})
    flag = box.integer("f", default=0)
    let_go, seen = threading.Event(), threading.Event()

    def fail() -> None:
        raise RuntimeError("oops")

    flag.on_change(fail)
    flag.on_change(lambda: let_go.wait(10))
    flag.on_change(seen.set)
    box.set({"f": 2})
    assert flag() == 2
    let_go.set()
    assert seen.wait(10)
    assert "A Signalbox listener failed" in caplog.text
    assert "oops" in caplog.text


def test_settings_are_never_an_error(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("URL", "API_KEY", "ENVIRONMENT", "SERVICE"):
        monkeypatch.delenv(f"SIGNALBOX_{name}", raising=False)
    box = signalbox.start()
    assert box.boolean("f", default=True)()
    assert box.state.status is Status.REFUSED
    assert "no server: set SIGNALBOX_URL or pass url=; no API key: set SIGNALBOX_API_KEY or pass key=" in caplog.text
    with pytest.raises(signalbox.errors.SettingsError):
        box.ready()


@pytest.mark.parametrize("url", ["ftp://x", "http://[::1", "http://x:99999999", "http://"])
def test_url_that_is_none(url: str) -> None:
    box = signalbox.start(url=url, key="k", environment="e", cache=False)
    assert "is not the URL of a server" in str(box.state.why)
    assert box.state.status is Status.REFUSED


@pytest.mark.parametrize(
    "key", ["sk_api_secret\r\nX: y", "sk_api_s\u00e9cret", "sk_api_secret\udcff", "sk_api secret"], ids=ascii
)
def test_key_that_cannot_be_sent(key: str, caplog: pytest.LogCaptureFixture, tmp_path: Path) -> None:
    box = signalbox.start(url="http://127.0.0.1:9", key=key, environment="e", cache_dir=tmp_path)
    assert box.state.status is Status.REFUSED
    assert "the API key has a character that no key has" in str(box.state.why)
    with pytest.raises(signalbox.errors.SettingsError, match="the API key has a character"):
        signalbox.api.API("http://127.0.0.1:9", key)
    assert "sk_api" not in caplog.text + str(box.state) + repr(box.settings)


def test_fake_refuses_mistakes() -> None:
    with pytest.raises(ValueError, match="unknown operator"):
        FakeBox({"f": Rules(1, [({"nope": 1}, 2)])})
    with pytest.raises(ValueError, match="is not a level"):
        FakeBox(levels={"a": "LOUD"})


def test_counts_are_not_lost() -> None:
    box = FakeBox({"f": 1})
    flag = box.integer("f", default=0)
    with ThreadPoolExecutor(4) as pool:
        for _ in range(4):
            pool.submit(lambda: [flag() for _ in range(5000)])
    counts = {text: counter.take() for text, counter in box.flags.all()[0].counts()}
    assert counts["1"] == 20000
    assert not any(counter.take() for _, counter in box.flags.all()[0].counts())


def test_errors_are_copied_to_other_processes() -> None:
    body = b'{"errors": [{"code": "not_found", "detail": "There is no flag.", "source": {"header": "Signalbox-Note"}}]}'
    error = signalbox.errors.APIError.of("GET /x", 404, body, "7")
    copied = pickle.loads(pickle.dumps(error))  # noqa: S301, it is ours
    assert type(copied) is signalbox.errors.NotFoundError
    assert str(copied) == str(error) == "GET /x: 404: There is no flag. (Signalbox-Note)"
    assert (copied.code, copied.retry_after) == ("not_found", 7)


def test_debug_has_no_config_values() -> None:
    box = FakeBox({"f": 1}, configs={"c": {"secret": "hidden"}})
    box.integer("f", default=0)
    box.config("c")
    shown = box.debug()
    assert shown["flags"] == [{"id": "f", "type": "NUMERIC", "default": 0, "serves": 1, "rules": 0, "error": None}]
    assert not any(counter.take() for _, counter in box.flags.all()[0].counts())
    assert "hidden" not in str(shown)


def test_nothing_is_printed_without_logging() -> None:
    program = "import signalbox; signalbox.start(url='', cache=False); signalbox.testing.FakeBox().problems.warn('x', 'y')"
    ended = subprocess.run(
        [sys.executable, "-c", "import signalbox.testing; " + program], capture_output=True, check=True, timeout=PATIENCE
    )
    assert (ended.stdout, ended.stderr) == (b"", b"")


def test_records_of_the_box_are_quiet(caplog: pytest.LogCaptureFixture) -> None:
    box = FakeBox()
    with caplog.at_level(logging.WARNING):
        for _ in range(10):
            box.problems.warn("kind", "once")
    assert caplog.text.count("once") == 1
