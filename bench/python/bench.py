"""Compares the Python client with those of LaunchDarkly, Unleash and flagd, side by side in one run, and prints ratios.

    make bench-python

Reads are interleaved: every round measures every client once, and the best round of each counts.
"""

from __future__ import annotations

import json
import logging
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
import timeit
from collections.abc import Callable
from pathlib import Path
from typing import Any

ROUNDS = 15
FLAGS = 1000
PRO = {"==": [{"var": "user.plan"}, "pro"]}
QUARTER = {"fractional": [[True, 25], [False, 75]]}
CASES = ("no rule", "a rule on user.plan", "a 25 % rollout")

Read = Callable[[], Any]


def say(text: str = "") -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


# The four clients, each with a flag for every case and others up to a number. Each returns one function per case.


def signalbox_reads(flags: int) -> list[Read]:
    import signalbox
    from signalbox._context import set_context
    from signalbox.testing import FakeBox, Rules

    values: dict[str, Any] = {"case-0": True, "case-1": Rules(False, [(PRO, True)]), "case-2": Rules(False, [(QUARTER, True)])}
    values.update({f"flag-{i}": Rules(False, [(PRO, True)]) for i in range(3, flags)})
    box = FakeBox(values)
    declared = [box.boolean(key, default=False) for key in values]
    set_context(user={"key": "alice", "plan": "pro"})
    assert declared[0]() is True
    assert declared[1]() is True
    assert signalbox.__version__
    keep.append(declared)
    return list(declared[:3])


def signalbox_request() -> Read:
    """A context of its own for one read, as in a request that reads one flag."""
    import signalbox
    from signalbox.testing import FakeBox, Rules

    flag = FakeBox({"f": Rules(False, [(PRO, True)])}).boolean("f", default=False)

    def read() -> bool:
        with signalbox.context(user={"key": "alice", "plan": "pro"}):
            return flag()

    assert read() is True
    return read


def launchdarkly_reads(flags: int) -> list[Read]:
    import ldclient
    from ldclient.config import Config
    from ldclient.integrations.test_data import TestData

    data = TestData.data_source()
    data.update(data.flag("case-0").variation_for_all(True))
    for i in range(flags - 2):
        rule = data.flag("case-1" if i == 0 else f"flag-{i}").fallthrough_variation(False)
        data.update(rule.if_match("plan", "pro").then_return(True))
    data.update(data.flag("case-2").fallthrough_variation(False))
    # TestData cannot express percentages, so the flag has the form in which the service sends it.
    rollout = {"variations": [{"variation": 0, "weight": 25000}, {"variation": 1, "weight": 75000}]}
    data._current_flags["case-2"].update(fallthrough={"rollout": rollout}, salt="salt")
    client = ldclient.LDClient(Config("sdk-key", update_processor_class=data, send_events=False))
    alice = ldclient.Context.builder("alice").set("plan", "pro").build()
    assert client.variation("case-0", alice, False) is True
    assert client.variation("case-1", alice, False) is True
    share = sum(client.variation("case-2", ldclient.Context.create(f"u{i}"), False) for i in range(2000))
    assert 400 < share < 600, share
    keep.append(client)
    return [lambda key=key: client.variation(key, alice, False) for key in ("case-0", "case-1", "case-2")]


def unleash_reads(flags: int) -> list[Read]:
    from UnleashClient import UnleashClient
    from UnleashClient.cache import FileCache

    def feature(name: str, parameters: dict[str, str], constraints: list[Any]) -> dict[str, Any]:
        strategy = {
            "name": "flexibleRollout",
            "parameters": {"stickiness": "userId", "groupId": name, **parameters},
            "constraints": constraints,
        }
        return {
            "name": name,
            "type": "release",
            "enabled": True,
            "stale": False,
            "impressionData": False,
            "strategies": [strategy],
        }

    pro = [{"contextName": "plan", "operator": "IN", "values": ["pro"], "inverted": False, "caseInsensitive": False}]
    features = [{**feature("case-0", {"rollout": "100"}, []), "strategies": []}, feature("case-1", {"rollout": "100"}, pro)]
    features += [feature("case-2", {"rollout": "25"}, [])]
    features += [feature(f"flag-{i}", {"rollout": "100"}, pro) for i in range(3, flags)]
    folder = tempfile.mkdtemp()
    cache = FileCache("bench", directory=folder)
    cache.bootstrap_from_dict({"version": 2, "features": features})
    client = UnleashClient(
        "http://127.0.0.1:9/api", "bench", cache=cache, disable_metrics=True, disable_registration=True, verbose_log_level=50
    )
    client.initialize_client(fetch_toggles=False)
    alice = {"userId": "alice", "properties": {"plan": "pro"}}
    assert client.is_enabled("case-0", alice) is True
    assert client.is_enabled("case-1", alice) is True
    keep.append(client)
    return [lambda key=key: client.is_enabled(key, alice) for key in ("case-0", "case-1", "case-2")]


def flagd_reads(flags: int) -> list[Read]:
    from openfeature.contrib.provider.flagd import FlagdProvider
    from openfeature.contrib.provider.flagd.config import ResolverType
    from openfeature.evaluation_context import EvaluationContext

    def flag(targeting: Any) -> dict[str, Any]:
        return {"state": "ENABLED", "variants": {"on": True, "off": False}, "defaultVariant": "off", "targeting": targeting}

    pro = {"if": [{"==": [{"var": "plan"}, "pro"]}, "on", "off"]}
    document = {
        "flags": {
            "case-0": {**flag({}), "defaultVariant": "on"},
            "case-1": flag(pro),
            "case-2": flag({"fractional": [["on", 25], ["off", 75]]}),
        }
    }
    document["flags"].update({f"flag-{i}": flag(pro) for i in range(3, flags)})
    file = Path(tempfile.mkdtemp()) / "flags.json"
    file.write_text(json.dumps(document))
    provider = FlagdProvider(resolver_type=ResolverType.FILE, offline_flag_source_path=str(file))
    provider.initialize(EvaluationContext())
    alice = EvaluationContext("alice", {"plan": "pro"})
    assert provider.resolve_boolean_details("case-0", False, alice).value is True
    assert provider.resolve_boolean_details("case-1", False, alice).value is True
    keep.append(provider)
    # The provider itself, without the hooks of the OpenFeature SDK, which cost more than the evaluation.
    return [lambda key=key: provider.resolve_boolean_details(key, False, alice).value for key in ("case-0", "case-1", "case-2")]


CLIENTS: dict[str, Callable[[int], list[Read]]] = {
    "signalbox": signalbox_reads,
    "launchdarkly": launchdarkly_reads,
    "unleash": unleash_reads,
    "flagd": flagd_reads,
}
keep: list[Any] = []  # references to clients, so that they are not collected


def best(functions: dict[str, Read], target: float = 0.02) -> dict[str, float]:
    """Returns the seconds that one call of each function takes, in its best round."""
    numbers = {}
    for name, function in functions.items():
        once = min(timeit.repeat(function, number=20, repeat=3)) / 20
        numbers[name] = max(int(target / once), 20)
    found = dict.fromkeys(functions, float("inf"))
    for _ in range(ROUNDS):
        for name, function in functions.items():
            found[name] = min(found[name], timeit.timeit(function, number=numbers[name]) / numbers[name])
    return found


def reads() -> None:
    made = {name: make(FLAGS) for name, make in CLIENTS.items()}
    say(f"A flag read, with {FLAGS} flags loaded\n")
    say(f"{'':24}" + "".join(f"{name:>16}" for name in CLIENTS))
    for i, case in enumerate(CASES):
        found = best({name: functions[i] for name, functions in made.items()})
        own = found["signalbox"]
        say(f"{case:24}" + "".join(f"{each * 1e9:>13.0f} ns" for each in found.values()))
        say(f"{'':24}" + "".join(f"{each / own:>14.1f} ×" for each in found.values()))
        assert all(own < each for name, each in found.items() if name != "signalbox"), case
    both = best({"request": signalbox_request(), "launchdarkly": made["launchdarkly"][1]})
    say(f"{'a new context, a read':24}{both['request'] * 1e9:>13.0f} ns")


def records() -> None:
    """A suppressed record of logging, bare and followed by Signalbox."""
    import signalbox
    from signalbox.testing import FakeBox

    bare = logging.Manager(logging.RootLogger(logging.WARNING))
    followed = logging.Manager(logging.RootLogger(logging.WARNING))
    box = FakeBox(levels={"shop": "INFO"})
    signalbox.logging.install(box, followed)
    one, other = bare.getLogger("shop.payments"), followed.getLogger("shop.payments")
    one.setLevel(logging.INFO)
    found = best({"bare": lambda: one.debug("no %s", 1), "signalbox": lambda: other.debug("no %s", 1)})
    ratio = found["signalbox"] / found["bare"]
    say(
        f"\nA suppressed record of logging: bare {found['bare'] * 1e9:.0f} ns, with Signalbox {found['signalbox'] * 1e9:.0f} ns, {ratio:.2f} ×"
    )
    assert ratio <= 1.1


def changes(count: int = 200) -> None:
    """From the write of a change to its application, through a real server on SQLite."""
    import signalbox
    from support import OWNER_KEY, Server

    server = Server(Path(tempfile.mkdtemp()))
    try:
        server.admin.flag("bench", "NUMERIC", 0)
        box = signalbox.start(url=server.url, key=OWNER_KEY, environment="production", service="bench", cache=False)
        flag = box.number("bench", default=-1)
        box.ready(10)
        applied = threading.Event()
        taken: list[tuple[float, float]] = []
        at = [0.0]

        def note() -> None:
            at[0] = time.perf_counter()
            applied.set()

        flag.on_change(note)
        while not (box.state.status is signalbox.Status.LIVE and flag() == 0):
            time.sleep(0.01)
        for i in range(1, count + 1):
            applied.clear()
            began = time.perf_counter()
            server.admin.flag("bench", "NUMERIC", i)
            answered = time.perf_counter()
            assert applied.wait(10)
            taken.append((at[0] - began, at[0] - answered))
        box.close()
    finally:
        server.stop()
    whole = sorted(each for each, _ in taken)
    after = statistics.median(each for _, each in taken)
    p50, p99 = whole[len(whole) // 2], whole[int(len(whole) * 0.99)]
    say(
        f"\nA change until it is applied: p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms from the start of the write; p50 {after * 1000:.1f} ms after its answer"
    )
    assert p50 <= 0.02


def resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def memory() -> None:
    """The memory of a client with its flags, each in a process of its own."""
    say(f"\nMemory of a client with {FLAGS} flags, imports included")
    for name in CLIENTS:
        code = f"import bench; before = bench.resident(); bench.CLIENTS[{name!r}]({FLAGS}); print(bench.resident() - before); import os; os._exit(0)"
        environment = {**os.environ, "PYTHONPATH": f"{Path(__file__).parent}{os.pathsep}{os.environ.get('PYTHONPATH', '')}"}
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=environment).stdout
        say(f"  {name:16}{int(printed.split()[-1]) / 1e6:8.1f} MB")


def starts() -> None:
    """The start of a box from a warm cache, up to the first value."""
    import signalbox
    from signalbox import _cache

    folder = Path(tempfile.mkdtemp())
    attributes = {
        "type": "BOOLEAN",
        "default": True,
        "managed": True,
        "environments": {"e": {"rules": [{"logic": {"==": [{"var": "user.plan"}, "x"]}, "value": False}]}},
    }
    flags = [{"id": f"flag-{i}", "type": "flag", "attributes": attributes} for i in range(FLAGS)]
    document = {"data": {"id": "e", "type": "snapshot", "attributes": {"seq": 1, "flags": flags}}}
    _cache.Cache(folder, "http://127.0.0.1:9", "k", "e").write(document)
    taken = []
    for _ in range(20):
        began = time.perf_counter()
        box = signalbox.start(
            url="http://127.0.0.1:9", key="k", environment="e", cache_dir=folder, log=logging.Logger("quiet", 100)
        )
        assert box.boolean("flag-7", default=False)() is True
        taken.append(time.perf_counter() - began)
        box.close()
    say(f"\nA start from a warm cache with {FLAGS} flags, to the first value: p50 {statistics.median(taken) * 1000:.1f} ms")


if __name__ == "__main__":
    logging.disable(logging.NOTSET)
    say(f"Python {sys.version.split()[0]}, {os.cpu_count()} processors, load {os.getloadavg()[0]:.1f}\n")
    reads()
    records()
    changes()
    memory()
    starts()
    os._exit(0)  # without waiting for the threads of the other clients
