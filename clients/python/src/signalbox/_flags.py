"""Flags: the six steps of evaluation (the same as client/flageval), and the flags that a service declares."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar

from ._context import current, prepared
from ._listeners import KeyListeners, Listeners
from ._rules import Decision, Rule, RuleError, escape
from ._values import normalize

if TYPE_CHECKING:
    from ._box import Box
    from ._context import Contexts

T = TypeVar("T")

#: How many flags a box keeps up to date, the maximum of an account.
MAX_FLAGS: Final = 10_000
#: How many values of a flag have their own counter.
MAX_VALUES: Final = 100

NO_RULE: Final = -1

ERROR: Final = "ERROR"
STATIC: Final = "STATIC"
TARGETING_MATCH: Final = "TARGETING_MATCH"
SPLIT: Final = "SPLIT"
DEFAULT: Final = "DEFAULT"
DISABLED: Final = "DISABLED"

FLAG_NOT_FOUND: Final = "FLAG_NOT_FOUND"
TYPE_MISMATCH: Final = "TYPE_MISMATCH"
PARSE_ERROR: Final = "PARSE_ERROR"

_ABSENT: Final = object()


@dataclasses.dataclass(frozen=True, slots=True)  # Python 3.10 has no generic NamedTuple
class Detail(Generic[T]):
    """A flag's value for a context, and why."""

    value: T
    #: STATIC, TARGETING_MATCH, SPLIT, DEFAULT, DISABLED or ERROR.
    reason: str
    #: The index of the rule that decided, or -1.
    rule: int
    #: The name of the value. A value without a name has its origin: "rule-0", "environment" or "default".
    variant: str
    #: Why the value is the code's default: FLAG_NOT_FOUND, TYPE_MISMATCH or PARSE_ERROR; else empty.
    code: str


class Served(NamedTuple):
    """A value that a flag may serve, and why."""

    value: Any
    reason: str
    rule: int
    code: str
    environment_default: bool


class Plan:
    """A flag's compiled definition in one environment."""

    __slots__ = ("enabled", "fallback", "kind", "light", "problems", "rules")

    def __init__(self, key: str, definition: Mapping[str, Any], environment: str) -> None:
        self.problems: list[tuple[str, str]] = []  # parts that cannot be served: JSON pointers and reasons
        self.kind = kind = definition.get("type")
        fallback = self._value(kind, definition.get("default", _ABSENT), "/default", nullable=kind == "JSON")
        here = (definition.get("environments") or {}).get(environment)
        self.enabled = here is None or here.get("enabled") is not False
        pointer = f"/environments/{escape(environment)}"
        own = _ABSENT
        if here is not None and here.get("default") is not None:
            own = self._value(kind, here["default"], pointer + "/default", nullable=False)
        rules = (here.get("rules") or []) if here is not None else []
        self.rules = [self._rule(key, kind, i, each, f"{pointer}/rules/{i}") for i, each in enumerate(rules)]
        self.fallback = self._fallback(fallback if own is _ABSENT else own, environment_default=own is not _ABSENT)
        #: The weight of contexts up to which no rule needs a state to notice that it exceeds a limit.
        self.light = min((logic.plain_weight for logic, _ in self.rules if logic), default=1 << 62)

    def _value(self, kind: Any, value: Any, pointer: str, *, nullable: bool) -> Any:
        """Returns a value that the flag can serve, or _ABSENT."""
        if value is None and not nullable:
            value = _ABSENT
        if value is _ABSENT or not _fits(kind, value):
            self.problems.append(
                (pointer, "a value is required" if value is _ABSENT else f"the value does not fit a {kind} flag")
            )
            return _ABSENT
        return value

    def _rule(self, key: str, kind: Any, index: int, rule: Mapping[str, Any], pointer: str) -> tuple[Rule | None, Served]:
        value = self._value(kind, rule.get("value", _ABSENT), pointer + "/value", nullable=kind == "JSON" and "value" in rule)
        served = Served(None if value is _ABSENT else value, TARGETING_MATCH, index, "", environment_default=False)
        logic = rule.get("logic")
        if logic is None:
            self.problems.append((pointer + "/logic", "logic is required"))
            return None, served
        try:
            compiled = Rule(logic, key)
        except RuleError as error:
            self.problems.append((f"{pointer}/logic{error.pointer}", str(error)))
            return None, served
        never = value is _ABSENT or logic == {}  # empty logic never matches
        return None if never else compiled, served

    def _fallback(self, value: Any, *, environment_default: bool) -> Served:
        if value is _ABSENT:
            return Served(None, ERROR, NO_RULE, PARSE_ERROR, environment_default=False)
        reason = DISABLED if not self.enabled else DEFAULT if self.rules else STATIC
        return Served(value, reason, NO_RULE, "", environment_default)

    def decide(self, data: Any, weight: int) -> tuple[int, bool]:
        """Returns the index of the rule that matches, or NO_RULE, and whether a bucket decided. A rule that fails does not
        match."""
        if self.enabled:
            for i, (logic, _) in enumerate(self.rules):
                if logic is not None:
                    decided = _decide(logic, data, weight)
                    if decided.matched:
                        return i, decided.split
        return NO_RULE, False

    def serves(self, rule: int) -> Served:
        """Returns what is served if the rule at an index matches, or for NO_RULE if none does."""
        return self.fallback if rule == NO_RULE else self.rules[rule][1]

    def evaluate(self, data: Any, weight: int) -> Served:
        rule, split = self.decide(data, weight)
        served = self.serves(rule)
        return served._replace(reason=SPLIT) if split else served


def _decide(logic: Rule, data: Any, weight: int) -> Decision:
    try:
        return logic.decide(data, weight)
    except Exception:  # noqa: BLE001, such as a RecursionError: never into the caller
        return Decision(matched=False, split=False, error="limit")


def _fits(kind: Any, value: Any) -> bool:
    if kind == "BOOLEAN":
        return isinstance(value, bool)
    if kind == "STRING":
        return isinstance(value, str)
    if kind == "NUMERIC":
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(value)
    return bool(kind == "JSON")


class Outcome(Generic[T]):
    """One value that a declared flag may have."""

    __slots__ = ("code", "count", "served", "value", "variant")

    def __init__(self, value: T, served: Served | None, variant: str, code: str, count: Counter) -> None:
        self.value = value
        self.served = served
        self.variant = variant
        self.code = code
        self.count = count.ticks


class Counter:
    """Counts without a lock: next() of itertools.count is one step of the interpreter, so no count is lost."""

    __slots__ = ("_taken", "ticks")

    def __init__(self) -> None:
        self.ticks = itertools.count()
        self._taken = 0

    def take(self) -> int:
        """Returns the count since the last call."""
        now = next(self.ticks)
        count, self._taken = now - self._taken, now + 1
        return count

    def put_back(self, count: int) -> None:
        """Adds a count that could not be reported."""
        self._taken -= count


class Flag(Generic[T]):
    """A declared flag. Calling it returns its value for the contexts that apply; see `signalbox.context`. It is safe for use
    by many threads and tasks; reading takes no lock and no request."""

    __slots__ = (
        "__weakref__",
        "_box",
        "_counters",
        "_empty",
        "_evaluate",
        "_listeners",
        "_outcomes",
        "_plan",
        "_read",
        "declared_type",
        "default",
        "key",
    )

    def __init__(self, box: Box, key: str, declared_type: str, default: T, read: Callable[[Any], T]) -> None:
        self.key = key
        self.declared_type = declared_type
        #: The value of the code, while the server has no flag with this key and type.
        self.default = default
        self._box = box
        self._empty = box.no_contexts
        self._read = read  # decodes a value of the server; it raises for one that does not fit
        self._listeners = Listeners()
        self._counters: dict[str, Counter] = {}
        self._plan: Plan | None = None
        self._outcomes: list[Outcome[T]] = []
        self._evaluate: Callable[[Contexts], Outcome[T]]
        self.serve(None, None)

    def __call__(self) -> T:
        """Returns the flag's value for the contexts that apply."""
        contexts = current()
        if contexts is None:
            contexts = self._empty
        elif contexts.box is not self._box:
            contexts = contexts.bound_to(self._box)
        outcome = self._evaluate(contexts)
        next(outcome.count)
        return outcome.value

    def get(self, /, **contexts: Mapping[str, Any] | str) -> T:
        """Returns the flag's value for contexts, over those that apply."""
        outcome = self._evaluate(self._contexts(contexts))
        next(outcome.count)
        return outcome.value

    def detail(self, /, **contexts: Mapping[str, Any] | str) -> Detail[T]:
        """Returns the flag's value for contexts, over those that apply, and the reason for it."""
        bound = self._contexts(contexts)
        plan, outcomes = self._plan, self._outcomes
        rule, split = plan.decide(bound.data, bound.weight) if plan else (NO_RULE, False)
        outcome = outcomes[rule + 1]
        next(outcome.count)
        if outcome.code or outcome.served is None:
            return Detail(outcome.value, ERROR, NO_RULE, "", outcome.code)
        return Detail(outcome.value, SPLIT if split else outcome.served.reason, rule, outcome.variant, "")

    def on_change(self, listener: Callable[[], Any]) -> Callable[[], None]:
        """Calls a function whenever the flag's definition has changed, which may change its value. Calls come one after the
        other, on a thread of their own. The returned function ends the calls."""
        return self._listeners.add(lambda: self._box.dispatcher, listener)

    def __repr__(self) -> str:
        return f"<signalbox flag {self.key!r}: {self.declared_type}, default {self.default!r}>"

    def _contexts(self, contexts: Mapping[str, Mapping[str, Any] | str]) -> Contexts:
        if contexts:
            return prepared(contexts).bound_to(self._box)
        found = current()
        if found is None:
            return self._empty
        return found if found.box is self._box else found.bound_to(self._box)

    # The box calls the following methods.

    def serve(self, plan: Plan | None, choices: list[Any] | None) -> None:
        """Prepares every value that the flag may have."""
        if plan is None:
            outcomes = [Outcome(self.default, None, "", FLAG_NOT_FOUND, self._counter(self.default))]
        else:
            outcomes = [self._outcome(plan.kind, plan.serves(i), choices or []) for i in range(-1, len(plan.rules))]
        self._plan, self._outcomes = plan, outcomes
        self._evaluate = _evaluator(plan, outcomes)

    def notify(self) -> None:
        self._listeners.notify()

    def _outcome(self, kind: Any, served: Served, choices: list[Any]) -> Outcome[T]:
        code = served.code or ("" if kind == self.declared_type else TYPE_MISMATCH)
        if not code:
            try:
                value = self._read(served.value)
            except Exception:  # noqa: BLE001, decoding may run the user's code
                code = TYPE_MISMATCH
            else:
                return Outcome(value, served, _variant(served, choices), "", self._counter(served.value))
        return Outcome(self.default, None, "", code, self._counter(self.default))

    def _counter(self, value: Any) -> Counter:
        """Returns the counter for a value. Beyond MAX_VALUES, new values share one. Counters stay when the definition
        changes, so that no count is lost."""
        text = value_text(value)
        if text not in self._counters and len(self._counters) >= MAX_VALUES:
            text = ""
        return self._counters.setdefault(text, Counter())

    def counts(self) -> Iterator[tuple[str, Counter]]:
        """Yields the counters by the text of their values."""
        yield from list(self._counters.items())

    def reported(self) -> dict[str, Any]:
        """Returns the declaration as the server reads it."""
        default: Any = self.default
        if self.declared_type == "JSON":
            default = _jsonable(default)
        return {"id": self.key, "type": self.declared_type, "default": default}

    def summary(self) -> dict[str, Any]:
        """Returns the flag for `Box.debug`: what it serves when no rule matches. It does not count as an evaluation."""
        plan, first = self._plan, self._outcomes[0]
        return {**self.reported(), "serves": first.value, "rules": len(plan.rules) if plan else 0, "error": first.code or None}

    def after_fork(self) -> None:
        self._listeners.after_fork()
        for _, counter in self.counts():
            counter.take()  # the parent reports them


def _evaluator(plan: Plan | None, outcomes: list[Outcome[T]]) -> Callable[[Contexts], Outcome[T]]:
    """Returns the function that finds the outcome for contexts."""
    fallback = outcomes[0]
    if plan is None or not plan.enabled or not plan.rules:
        return lambda _contexts: fallback
    rules = [(logic.match, outcomes[i + 1]) for i, (logic, _) in enumerate(plan.rules) if logic is not None]
    light = plan.light
    whole = plan

    def evaluate(contexts: Contexts) -> Outcome[T]:
        data = contexts.data
        if contexts.weight <= light:
            try:
                for match, outcome in rules:
                    if match(None, data):
                        return outcome
            except Exception:  # noqa: BLE001, S110, reading a flag never raises; the code below skips the rule that fails
                pass
            else:
                return fallback
        return outcomes[whole.decide(data, contexts.weight)[0] + 1]

    return evaluate


def _variant(served: Served, choices: list[Any]) -> str:
    """Returns the name of a value, or its origin in the server's words."""
    value = _exact(served.value)
    for each in choices:
        if each.get("name") and _exact(each.get("value")) == value:
            return str(each["name"])
    if served.rule != NO_RULE:
        return f"rule-{served.rule}"
    return "environment" if served.environment_default else "default"


def _exact(value: Any) -> str:
    """Returns a text by which JSON values are compared: 1 is 1.0, but not true; the order of members counts as in Go."""
    return repr(normalize(value))


def _jsonable(value: Any) -> Any:
    """Returns the default of a JSON flag in JSON, or None if it has no such form."""
    to_json = getattr(value, "model_dump", None)
    if to_json is not None:
        return to_json(mode="json")
    try:
        return json.loads(json.dumps(value, default=vars))
    except (TypeError, ValueError, RecursionError):
        return None


def value_text(value: Any) -> str:
    """Returns the name of a value in counts: its JSON, or the text of a string, cut at 100 bytes."""
    try:
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=repr)
    except (TypeError, ValueError, RecursionError):
        text = type(value).__name__
    data = text.encode("utf-8", "replace")
    return text if len(data) <= 100 else data[:100].decode("utf-8", "ignore") + "…"


class FlagTable:
    """The declared flags, and the definitions of all flags."""

    def __init__(self, environment: str) -> None:
        self._environment = environment
        self._lock = threading.Lock()
        self._declared: dict[tuple[str, str, str], Flag[Any]] = {}
        self._by_key: dict[str, list[Flag[Any]]] = {}
        self._definitions: Mapping[str, Any] = {}
        self.listeners = KeyListeners()

    def declare(self, identity: tuple[str, str, str], make: Callable[[], Flag[Any]]) -> tuple[Flag[Any], bool]:
        """Returns the flag of the first declaration like this one, and whether this is the first. A flag beyond MAX_FLAGS is
        not kept: its values never change."""
        found = self._declared.get(identity)
        if found is not None:
            return found, False
        made = make()
        with self._lock:
            found = self._declared.get(identity)
            if found is not None:
                return found, False
            if len(self._declared) < MAX_FLAGS:
                self._declared[identity] = made
                self._by_key.setdefault(made.key, []).append(made)
        self._serve(made)
        return made, True

    def _serve(self, flag: Flag[Any]) -> None:
        """Gives a flag its definition. It repeats that if another thread has replaced the definitions meanwhile."""
        while True:
            definitions = self._definitions
            definition = definitions.get(flag.key)
            if definition is None:
                flag.serve(None, None)
            else:
                flag.serve(Plan(flag.key, definition, self._environment), definition.get("values"))
            if definitions is self._definitions:
                return

    def replace(self, definitions: Mapping[str, Any], changed: list[str]) -> None:
        """Sets the definitions of all flags. changed has the keys of those that differ."""
        self._definitions = definitions
        affected = [flag for key in changed for flag in self._by_key.get(key, ())]
        for flag in affected:
            self._serve(flag)
        for flag in affected:
            flag.notify()
        self.listeners.notify(changed)

    def all(self) -> list[Flag[Any]]:
        return list(self._declared.values())

    def after_fork(self) -> None:
        """Prepares the table in a child, which may have been forked in the middle of a change."""
        self._lock = threading.Lock()
        self.listeners.all.after_fork()
        for flag in self.all():
            flag.after_fork()
            self._serve(flag)
