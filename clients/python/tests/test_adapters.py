"""The adapters of logging frameworks, the middleware, and the OpenFeature provider."""

from __future__ import annotations

import asyncio
import copy
import logging
import logging.config
import pickle
import threading
import time
from collections.abc import Iterator
from typing import Any

import loguru
import openfeature.api
import pytest
import structlog
from openfeature.evaluation_context import EvaluationContext
from openfeature.event import ProviderEvent
from openfeature.exception import ErrorCode, ProviderNotReadyError
from openfeature.provider import ProviderStatus

import signalbox.asgi
import signalbox.django
import signalbox.loguru
import signalbox.openfeature
import signalbox.structlog
from signalbox import Level
from signalbox._box import Box
from signalbox._settings import Settings
from signalbox._state import Status
from signalbox._sync import Timing
from signalbox.testing import FakeBox, Rules
from support import eventually


@pytest.fixture
def manager() -> logging.Manager:
    """Loggers that no other test has."""
    return logging.Manager(logging.RootLogger(logging.WARNING))


class TestLogging:
    def test_only_managed_loggers_are_touched(self, manager: logging.Manager) -> None:
        shop, payments, other = manager.getLogger("shop"), manager.getLogger("shop.payments"), manager.getLogger("other")
        payments.setLevel(logging.ERROR)
        box = FakeBox(levels={"shop": "DEBUG"})
        signalbox.logging.install(box, manager)
        later = manager.getLogger("Shop.Later")
        assert [each.level for each in (shop, payments, later, other, manager.root)] == [10, 10, 10, 0, 30]
        box.set(levels={"shop": "SILENT"})
        assert not shop.isEnabledFor(logging.CRITICAL)
        box.set(levels={"shop": "TRACE"})
        assert shop.level == 5
        box.set(levels={"shop": None})
        assert [each.level for each in (shop, payments, later, other)] == [0, logging.ERROR, 0, 0]

    def test_code_sets_a_level_meanwhile(self, manager: logging.Manager) -> None:
        log = manager.getLogger("shop")
        box = FakeBox(levels={"shop": "DEBUG"})
        installed = signalbox.logging.install(box, manager)
        log.setLevel("ERROR")
        assert log.level == logging.DEBUG
        assert installed.levels("shop") == (signalbox.Level.ERROR, signalbox.Level.DEBUG)
        box.set(levels={"shop": None})
        assert log.level == logging.ERROR
        log.setLevel(logging.INFO)
        assert log.level == logging.INFO
        with pytest.raises(ValueError, match="Unknown level"):
            log.setLevel("LOUD")

    def test_root(self, manager: logging.Manager) -> None:
        box = FakeBox(levels={"root": "ERROR"})
        installed = signalbox.logging.install(box, manager)
        assert manager.root.level == logging.ERROR
        assert installed.levels("root") == (signalbox.Level.WARN, signalbox.Level.ERROR)

    def test_uninstall(self, manager: logging.Manager) -> None:
        original = logging.Logger.setLevel
        log = manager.getLogger("shop")
        log.setLevel(logging.WARNING)
        box = FakeBox(levels={"shop": "DEBUG"})
        installed = signalbox.logging.install(box, manager)
        installed.uninstall()
        installed.uninstall()
        assert log.level == logging.WARNING
        assert logging.Logger.setLevel is original
        box.set(levels={"shop": "ERROR"})
        assert log.level == logging.WARNING
        assert manager.getLogger("shop.new").level == 0

    def test_code_decides_after_a_close(self, manager: logging.Manager) -> None:
        shop, other = manager.getLogger("shop"), manager.getLogger("shop.other")
        other.setLevel(logging.ERROR)
        box = FakeBox(levels={"shop": "DEBUG"})
        installed = signalbox.logging.install(box, manager)
        box.close()
        assert (shop.level, other.level) == (logging.DEBUG, logging.DEBUG)
        shop.setLevel(logging.WARNING)
        assert shop.level == logging.WARNING
        assert not shop.isEnabledFor(logging.INFO)
        box.after_fork()
        assert shop.level == logging.WARNING
        installed.uninstall()
        assert (shop.level, other.level) == (logging.WARNING, logging.ERROR)

    def test_placeholders_and_child_loggers(self, manager: logging.Manager) -> None:
        manager.getLogger("a.b.c")  # makes placeholders for a and a.b
        box = FakeBox(levels={"a": "DEBUG"})
        signalbox.logging.install(box, manager)
        assert manager.getLogger("a").getChild("x").level == logging.DEBUG

    def test_no_deadlock_with_dict_config(self) -> None:
        """dictConfig holds the lock of logging while it makes loggers and sets levels."""
        box = FakeBox()
        installed = signalbox.logging.install(box)

        def configure() -> None:
            for i in range(50):
                names = {f"dead.{i}": {"level": "INFO"}, "dead": {"level": "WARNING"}}
                logging.config.dictConfig({"version": 1, "incremental": True, "loggers": names})

        thread = threading.Thread(target=configure, daemon=True)
        thread.start()
        for i in range(50):
            box.set(levels={"dead": "DEBUG" if i % 2 else "ERROR"})
        thread.join(30)
        assert not thread.is_alive()
        assert logging.getLogger("dead").level == logging.DEBUG
        installed.uninstall()

    def test_many_loggers(self, manager: logging.Manager) -> None:
        logs = [manager.getLogger(f"shop.{i}") for i in range(3000)]
        box = FakeBox()
        signalbox.logging.install(box, manager)
        assert not any(log.isEnabledFor(logging.DEBUG) for log in logs)
        began = time.process_time()
        box.set(levels={"shop": "DEBUG"})
        assert time.process_time() - began < 1  # 2 s before levels were written at once
        assert all(log.isEnabledFor(logging.DEBUG) for log in logs)
        box.set(levels={"shop": None})
        assert not any(log.isEnabledFor(logging.DEBUG) for log in logs)

    def test_level_numbers(self) -> None:
        assert [signalbox.Level.of(each).name for each in (0, 5, 10, 15, 20, 30, 40, 50, 51, 100)] == [
            *("TRACE", "TRACE", "DEBUG", "INFO", "INFO", "WARN", "ERROR", "FATAL", "SILENT", "SILENT")
        ]


class Interrupted:
    """A framework in which the first level is not set: the process was forked before."""

    def __init__(self) -> None:
        self.calls: list[Level | None] = []

    def set_level(self, name: str, level: Level | None) -> None:  # noqa: ARG002
        self.calls.append(level)

    def levels(self, name: str) -> tuple[Level | None, Level]:  # noqa: ARG002
        return None, Level.INFO


def test_fork_while_a_level_is_set() -> None:
    box = FakeBox(levels={"shop": "DEBUG"})
    framework = Interrupted()
    box.add_logger(framework, "shop")
    box.after_fork()
    assert framework.calls == [Level.DEBUG, Level.DEBUG]


@pytest.fixture
def _structlog() -> Iterator[None]:
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("_structlog")
def test_structlog() -> None:
    seen: list[str] = []

    def keep(_logger: Any, name: str, values: Any) -> Any:
        seen.append(f"{name} {values['event']} {values.get('user', '')}".strip())
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    box = FakeBox(levels={"shop": "DEBUG"})
    signalbox.structlog.install(box)
    shop, other = structlog.get_logger("shop.payments"), structlog.get_logger("other")
    shop.bind(user="a").debug("one %s", "two")
    other.debug("no")
    other.info("yes")
    box.set(levels={"shop": "ERROR"})
    shop.warning("no")
    shop.error("bad")
    box.set(levels={"shop": None})
    shop.debug("no")
    shop.info("back")
    assert seen == ["debug one two a", "info yes", "error bad", "info back"]


@pytest.mark.usefixtures("_structlog")
def test_structlog_async_methods() -> None:
    seen: list[tuple[str, ...]] = []

    def keep(_logger: Any, name: str, values: Any) -> Any:
        seen.append((name, values["event"], str(values.get("exc_info", ["none"])[0])))
        raise structlog.DropEvent

    async def log_all(log: Any, text: str) -> None:
        for name in ("adebug", "ainfo", "amsg", "awarning", "awarn", "aerror", "acritical", "afatal"):
            await getattr(log, name)("%s %s", text, name)
        await log.alog(30, "%(text)s alog", {"text": text})
        await log.alog(5, "no")
        try:
            raise KeyError(text)
        except KeyError:
            await log.aexception(f"{text} aexception")

    structlog.configure(processors=[keep])
    box = FakeBox(levels={"shop": "WARN"})
    signalbox.structlog.install(box)
    shop = structlog.get_logger("shop").bind()
    asyncio.run(log_all(shop, "one"))
    assert [(name, text) for name, text, _ in seen] == [
        ("warning", "one awarning"),
        ("warning", "one awarn"),
        ("error", "one aerror"),
        ("critical", "one acritical"),
        ("critical", "one afatal"),
        ("warning", "one alog"),
        ("error", "one aexception"),
    ]
    assert seen[-1][2] == "<class 'KeyError'>"
    assert (shop.is_enabled_for(20), shop.is_enabled_for(30), shop.get_effective_level()) == (False, True, 30)
    box.set(levels={"shop": "SILENT"})
    seen.clear()
    asyncio.run(log_all(shop, "two"))
    assert (seen, shop.is_enabled_for(50)) == ([], False)


@pytest.mark.usefixtures("_structlog")
def test_structlog_names_the_caller() -> None:
    seen: list[str] = []

    def keep(_logger: Any, _name: str, values: Any) -> Any:
        seen.append(values["func_name"])
        raise structlog.DropEvent

    callsite = structlog.processors.CallsiteParameterAdder([structlog.processors.CallsiteParameter.FUNC_NAME])
    structlog.configure(processors=[callsite, keep])
    signalbox.structlog.install(FakeBox())
    log = structlog.get_logger("shop")

    def pay() -> None:
        log.info("%(what)s", {"what": "a"})
        log.log(25, "b")
        log.exception("c")

    async def pay_later() -> None:
        await log.ainfo("a")
        await log.alog(25, "b")
        await log.aexception("c")

    pay()
    asyncio.run(pay_later())
    assert seen == ["pay"] * 3 + ["pay_later"] * 3


@pytest.mark.usefixtures("_structlog")
def test_structlog_copies_follow() -> None:
    seen: list[str] = []

    def keep(_logger: Any, _name: str, values: Any) -> Any:
        seen.append(values["event"])
        raise structlog.DropEvent

    structlog.configure(processors=[keep])
    box = FakeBox()
    signalbox.structlog.install(box)
    log = copy.deepcopy(structlog.get_logger("shop").bind())
    log.debug("no")
    box.set(levels={"shop": "DEBUG"})
    log.debug("yes")
    assert seen == ["yes"]
    assert pickle.loads(pickle.dumps(log._logger)).level.number == 10  # noqa: S301, for multiprocessing


def test_loguru() -> None:
    seen: list[str] = []
    box = FakeBox(levels={__name__: "DEBUG"})
    sink = loguru.logger.add(
        lambda message: seen.append(message.record["message"]), level=0, filter=signalbox.loguru.level_filter(box)
    )
    loguru.logger.debug("one")
    box.set(levels={__name__: "ERROR"})
    loguru.logger.warning("no")
    loguru.logger.error("two")
    box.set(levels={__name__: None})
    loguru.logger.debug("no")
    loguru.logger.info("three")
    loguru.logger.remove(sink)
    assert seen == ["one", "two", "three"]


FLAGS = {"f": Rules(default="no", rules=[({"==": [{"var": "user.key"}, "alice"]}, "yes")])}


def test_asgi_middleware() -> None:
    flag = FakeBox(FLAGS).string("f", default="")
    seen: list[str] = []

    async def app(_scope: Any, _receive: Any, _send: Any) -> None:
        seen.append(flag())

    async def receive() -> dict[str, Any]:
        return {}

    async def send(_message: Any) -> None: ...

    middleware = signalbox.asgi.ContextMiddleware(app, lambda scope: {"user": {"key": scope["user"]}})
    asyncio.run(middleware({"type": "http", "user": "alice"}, receive, send))
    asyncio.run(middleware({"type": "lifespan"}, receive, send))
    assert seen == ["yes", "no"]


def test_django_middleware() -> None:
    flag = FakeBox(FLAGS).string("f", default="")
    middleware = signalbox.django.context_middleware(lambda request: {"user": request})
    assert middleware(lambda _request: flag())("alice") == "yes"

    async def view(_request: Any) -> str:
        return flag()

    assert asyncio.run(middleware(view)("alice")) == "yes"
    assert flag() == "no"


def test_openfeature_provider() -> None:
    box = FakeBox({**FLAGS, "b": True, "i": 3, "x": 2.5, "j": {"a": 1}})
    openfeature.api.set_provider(signalbox.openfeature.SignalboxProvider(box))
    client = openfeature.api.get_client()
    changed: list[Any] = []
    client.add_handler(ProviderEvent.PROVIDER_CONFIGURATION_CHANGED, lambda details: changed.append(details.flags_changed))
    alice = EvaluationContext("alice", {"plan": "pro", "account": {"key": "acme"}})
    found = client.get_string_details("f", "", alice)
    assert (found.value, found.reason, found.variant) == ("yes", "TARGETING_MATCH", "rule-0")
    assert client.get_string_value("f", "", EvaluationContext(attributes={"user": {"key": "alice"}})) == "yes"
    assert client.get_boolean_value("b", False) is True
    assert client.get_integer_value("i", 0) == 3
    assert client.get_float_value("i", 0.0) == 3.0
    assert client.get_object_value("j", {}) == {"a": 1}
    assert client.get_integer_details("x", 7).error_code is ErrorCode.TYPE_MISMATCH
    assert client.get_boolean_details("none", True).error_code is ErrorCode.FLAG_NOT_FOUND
    assert [client.get_string_value("new", f"hello {i}") for i in range(50)] == [f"hello {i}" for i in range(50)]
    assert [each.key for each in box.flags.all()].count("new") == 1
    box.set({"b": False})
    eventually(lambda: changed == [["b"]], "the event")
    openfeature.api.shutdown()


def unstarted_box() -> Box:
    """Returns a box that has not heard from a server, and does not ask one."""
    log = logging.getLogger("signalbox")
    return Box(Settings("", "", "test", "", False, None, None, False, log, None, Timing()))


def test_openfeature_provider_starts_stale() -> None:
    box = unstarted_box()
    box.apply(FakeBox({"b": True}).contents)  # as from the cache
    box.note(Status.STALE, None, polling=False)
    client = openfeature.api.get_client("stale")
    stale: list[Any] = []
    client.add_handler(ProviderEvent.PROVIDER_STALE, stale.append)
    # It would hang here if it waited for the server.
    openfeature.api.set_provider_and_wait(signalbox.openfeature.SignalboxProvider(box, 600), "stale")
    assert client.get_boolean_value("b", False) is True
    eventually(lambda: stale, "the event")
    assert client.get_provider_status() is ProviderStatus.STALE
    openfeature.api.shutdown()


def test_openfeature_provider_recovers() -> None:
    box = unstarted_box()
    client = openfeature.api.get_client("away")
    with pytest.raises(ProviderNotReadyError):
        openfeature.api.set_provider_and_wait(signalbox.openfeature.SignalboxProvider(box, 0), "away")
    ready: list[Any] = []
    client.add_handler(ProviderEvent.PROVIDER_READY, ready.append)
    box.apply(FakeBox({"b": True}).contents)
    box.note(Status.LIVE, None, polling=False)
    eventually(lambda: ready, "the event")
    assert client.get_boolean_value("b", False) is True
    openfeature.api.shutdown()
