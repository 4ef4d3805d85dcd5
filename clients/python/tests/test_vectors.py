"""The vectors that the Go packages wrote: every line must have the same answer here."""

from __future__ import annotations

import dataclasses
import json
import math
import subprocess
from pathlib import Path
from typing import Any

import pytest

import signalbox
from signalbox import Level, static
from signalbox._flags import Plan
from signalbox._levels import Tree, key_of, parent_of
from signalbox._rules import Rule, RuleError
from signalbox._values import normalize, weight_of

VECTORS = Path(__file__).parents[2] / "vectors"


def lines(name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (VECTORS / name).read_text().splitlines()]


def plain(value: Any) -> Any:
    """Returns a value as JSON.stringify writes it."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, list):
        return [plain(each) for each in value]
    if isinstance(value, dict):
        return {key: plain(each) for key, each in value.items()}
    if isinstance(value, float):
        return value + 0.0  # -0 is written as 0
    return value if isinstance(value, (str, bool)) else None


def exact(value: Any) -> str:
    """Tells 1 from True, but not from 1.0."""
    return repr(normalize(value))


def run_rule(vector: dict[str, Any]) -> dict[str, Any]:
    try:
        rule = Rule(vector["rule"], vector.get("flag", ""))
    except RuleError as refused:
        return {"refused": refused.code, "pointer": refused.pointer}
    data = normalize(vector["data"])
    value, error = rule.evaluate(data)
    if error:
        return {"error": error}
    decided = rule.decide(data, weight_of(data))
    assert rule.match(None, data) is decided.matched
    return {"result": plain(value), "matched": decided.matched, "split": decided.split}


def test_rules() -> None:
    wrong = []
    for vector in lines("rules.jsonl"):
        want = {key: vector[key] for key in ("result", "matched", "split", "error", "refused", "pointer") if key in vector}
        got = run_rule(vector)
        if exact(got) != exact(want):
            wrong.append(f"{json.dumps(vector['rule'])[:300]} with {json.dumps(vector['data'])[:200]}: {got}, want {want}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:20])


def test_flags() -> None:
    wrong = []
    for vector in lines("flags.jsonl"):
        data = normalize(vector["context"])
        served = Plan(vector["flag"], vector["definition"], vector["environment"]).evaluate(data, weight_of(data))
        got = (served.value, served.reason, served.rule, served.code)
        want = (vector["value"], vector["reason"], vector["rule"], vector["code"])
        if exact(got) != exact(want):
            wrong.append(f"{json.dumps(vector)[:500]}: {got}, want {want}")
    assert not wrong, f"{len(wrong)} differ\n" + "\n".join(wrong[:20])


@pytest.mark.parametrize("vector", lines("names.jsonl"), ids=lambda each: repr(each["name"]))
def test_names(vector: dict[str, Any]) -> None:
    assert key_of(vector["name"]) == vector["key"]
    assert parent_of(vector["key"]) == vector["parent"]


def test_levels() -> None:
    for vector in lines("levels.jsonl"):
        loggers = {each["key"]: {**each, "group": each["group"] or None} for each in vector["loggers"]}
        tree = Tree(vector["environment"], loggers, {each["key"]: each for each in vector["groups"]})
        for name, want in vector["names"].items():
            found = tree.resolve(name)
            got = {"level": found.level.name, "origin": found.origin, "of": found.of, "controlled": tree.controls(name)}
            assert got == want, name


@pytest.mark.parametrize("vector", lines("configs.jsonl"), ids=repr)
def test_configs(vector: dict[str, Any]) -> None:
    configs = {} if vector["values"] is None else {"checkout": {"values": vector["values"]}}
    box, _ = static("production", {"data": {"attributes": {"seq": 1, "configs": configs}}})
    assert box.config("checkout", vector["defaults"]).value == vector["result"]


class Recorder:
    """A logging framework that records levels."""

    def __init__(self) -> None:
        self.recorded: dict[str, str | None] = {}

    def set_level(self, name: str, level: Level | None) -> None:
        self.recorded[name] = level.name if level else None

    def levels(self, name: str) -> tuple[Level | None, Level]:  # noqa: ARG002
        return None, Level.INFO


@pytest.mark.parametrize("vector", lines("worlds.jsonl"), ids=lambda each: f"seq-{each['snapshot']['data']['attributes']['seq']}")
def test_worlds(vector: dict[str, Any]) -> None:
    check_world(vector)


@pytest.mark.soak
@pytest.mark.timeout(1200)
def test_10000_worlds(tmp_path: Path) -> None:
    file = tmp_path / "worlds.jsonl"
    make = ["go", "test", "./clients/vectors", "-run", "TestWorlds_Many", "-count=1", "-worlds", str(file)]
    subprocess.run(make, cwd=VECTORS.parents[1], check=True)
    count = 0
    with file.open() as made:
        for line in made:
            check_world(json.loads(line))
            count += 1
    assert count == 10_000


def check_world(vector: dict[str, Any]) -> None:
    """Compares flags, levels and configs of a snapshot with those of the Go client."""
    box, _ = static("production", vector["snapshot"], service=vector["service"])
    declare: dict[str, Any] = {"BOOLEAN": box.boolean, "STRING": box.string, "NUMERIC": box.number, "JSON": box.json}
    flags = [declare[each["type"]](each["key"], each["default"]) for each in vector["flags"]]
    for contexts, details in zip(vector["contexts"], vector["values"], strict=True):
        with signalbox.context(**contexts):
            for flag, want in zip(flags, details, strict=True):
                assert exact(dataclasses.asdict(flag.detail())) == exact(want), flag.key
                assert exact(flag()) == exact(want["value"])
                assert exact(flag.get(**contexts)) == exact(want["value"])
    recorder = Recorder()
    recorder.recorded = dict.fromkeys(vector["loggers"])
    box.adapt(recorder, vector["loggers"])
    assert recorder.recorded == vector["levels"]
    for key, values in vector["configs"].items():
        assert box.config(key).value == values
