"""The vectors that the Go packages wrote: every line must have the same answer here."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from signalbox._rules import Rule, RuleError
from signalbox._operators import weight_of
from signalbox._values import normalize

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
