"""Flags: the six steps of evaluation (the same as client/flageval), and the flags that a service declares."""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import threading
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Generic, NamedTuple, TypeVar
from weakref import WeakValueDictionary

from ._context import current, prepared
from ._listeners import KeyListeners, Listeners, raise_for_caller
from ._rules import Decision, Rule, RuleError, escape
from ._values import as_float, finite, normalize

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
        here = _mapping(_mapping(definition.get("environments")).get(environment))
        self.enabled = here.get("enabled") is not False
        pointer = f"/environments/{escape(environment)}"
        own = _ABSENT
        if here.get("default") is not None:
            own = self._value(kind, here["default"], pointer + "/default", nullable=False)
        self.rules = [
            self._rule(key, kind, i, _mapping(each), f"{pointer}/rules/{i}") for i, each in enumerate(_list(here.get("rules")))
        ]
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


def _mapping(value: Any) -> Mapping[str, Any]:
    """Returns a value of a definition, or nothing for anything but an object: a bootstrap file may have anything."""
    return value if isinstance(value, Mapping) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


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
        return isinstance(value, (int, float)) and not isinstance(value, bool) and math.isfinite(as_float(value))
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


class Definition(NamedTuple):
    """What the server has for a key."""

    plan: Plan | None
    choices: list[Any]  # the named values


_UNKNOWN: Final = Definition(None, [])


class Flag(Generic[T]):
    """A declared flag. Calling it returns its value for the contexts that apply; see `signalbox.context`. It is safe for use
    by many threads and tasks. Reading waits for no request."""

    __slots__ = (
        "__weakref__",
        "_box",
        "_declaration",
        "_empty",
        "_evaluate",
        "_outcomes",
        "_plan",
        "_read",
        "default",
        "kind",
    )

    def __init__(self, box: Box, declaration: Declaration, default: T, read: Callable[[Any], T], kind: Any) -> None:
        #: The value of the code, while the server has no flag with this key and type.
        self.default = default
        self.kind = kind
        self._box = box
        self._declaration = declaration
        self._empty = box.no_contexts
        self._read = read  # decodes a value of the server; it raises for one that does not fit
        self._plan: Plan | None = None
        self._outcomes: list[Outcome[T]] = []
        self._evaluate: Callable[[Contexts], Outcome[T]]
        self.serve(declaration.definition)

    @property
    def key(self) -> str:
        """The key of the flag in the account."""
        return self._declaration.key

    @property
    def declared_type(self) -> str:
        """BOOLEAN, STRING, NUMERIC or JSON."""
        return self._declaration.declared_type

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
        box = self._box
        return self._declaration.listeners.add(lambda: box.dispatcher, listener)

    def __repr__(self) -> str:
        return f"<signalbox flag {self.key!r}: {self.declared_type}, default {self.default!r}>"

    def _contexts(self, contexts: Mapping[str, Mapping[str, Any] | str]) -> Contexts:
        if contexts:
            return prepared(contexts).bound_to(self._box)
        found = current()
        if found is None:
            return self._empty
        return found if found.box is self._box else found.bound_to(self._box)

    # The declaration calls the following methods.

    def serve(self, definition: Definition) -> None:
        """Prepares every value that the flag may have."""
        plan = definition.plan
        if plan is None:
            outcomes = [self._failed(FLAG_NOT_FOUND)]
        else:
            outcomes = [self._outcome(plan.kind, plan.serves(i), definition.choices) for i in range(-1, len(plan.rules))]
        self._plan, self._outcomes = plan, outcomes
        self._evaluate = _evaluator(plan, outcomes)

    def _outcome(self, kind: Any, served: Served, choices: list[Any]) -> Outcome[T]:
        code = served.code or ("" if kind == self.declared_type else TYPE_MISMATCH)
        if code:
            return self._failed(code)
        try:
            value = self._read(served.value)
        except BaseException as error:  # noqa: BLE001, decoding may run the user's code
            raise_for_caller(error)
            return self._failed(TYPE_MISMATCH)
        return Outcome(value, served, _variant(served, choices), "", self._declaration.counter(served.value))

    def _failed(self, code: str) -> Outcome[T]:
        return Outcome(self.default, None, "", code, self._declaration.counter(self.default))

    def summary(self) -> dict[str, Any]:
        """Returns what the flag serves when no rule matches. It does not count as an evaluation."""
        plan, first = self._plan, self._outcomes[0]
        return {"serves": first.value, "rules": len(plan.rules) if plan else 0, "error": first.code or None}


class Declaration:
    """A key and type that the service has declared. Each call that declares it may have another default: the flags share the
    definition, the listeners and the counters, so that defaults that differ with every call need no memory."""

    def __init__(self, key: str, declared_type: str) -> None:
        self.key = key
        self.declared_type = declared_type
        self.listeners = Listeners()
        self._counters: dict[str, Counter] = {}
        self.definition = _UNKNOWN
        #: The flags that the service still has, by their type and default.
        self._flags: WeakValueDictionary[tuple[int, str], Flag[Any]] = WeakValueDictionary()
        #: The flag with the first default. It is kept, because most flags have one default.
        self.first: Flag[Any] | None = None

    def flag(self, identity: tuple[int, str], make: Callable[[Declaration], Flag[Any]]) -> Flag[Any]:
        """Returns the flag with a type and default."""
        found = self._flags.get(identity)
        if found is not None:
            return found
        definition = self.definition
        made = self._flags.setdefault(identity, make(self))
        if self.first is None:
            self.first = made
        while definition is not self.definition:  # another thread has replaced it meanwhile
            definition = self.definition
            made.serve(definition)
        return made

    def serve(self, definition: Definition) -> None:
        """Gives all flags their definition."""
        self.definition = definition
        for each in self._flags.valuerefs():
            flag = each()
            if flag is not None:
                flag.serve(definition)

    def counter(self, value: Any) -> Counter:
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
        """Returns the declaration as the server reads it, with the default that the service has named first."""
        default = self.first.default if self.first is not None else None
        return {"id": self.key, "type": self.declared_type, "default": finite(_jsonable(default))}

    def summary(self) -> dict[str, Any]:
        """Returns the declaration for `Box.debug`."""
        return {**self.reported(), **(self.first.summary() if self.first is not None else {})}

    def after_fork(self) -> None:
        self.listeners.after_fork()
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
    for each in map(_mapping, choices):
        if each.get("name") and _exact(each.get("value")) == value:
            return str(each["name"])
    if served.rule != NO_RULE:
        return f"rule-{served.rule}"
    return "environment" if served.environment_default else "default"


def _exact(value: Any) -> str:
    """Returns a text by which JSON values are compared: 1 is 1.0, but not true; the order of members counts as in Go."""
    return repr(normalize(value))


def _jsonable(value: Any) -> Any:
    """Returns a default in JSON, or None if it has no such form."""
    if type(value) in {bool, int, float, str}:
        return value
    to_json = getattr(value, "model_dump", None)
    try:
        if to_json is not None:
            return to_json(mode="json")
        return json.loads(json.dumps(value, default=vars))
    except Exception:  # noqa: BLE001, the value is the service's code
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

    def __init__(self, environment: str, full: Callable[[int], None]) -> None:
        self._environment = environment
        self._full = full  # is called once there are MAX_FLAGS declarations
        self._lock = threading.Lock()
        self._declared: dict[tuple[str, str], Declaration] = {}
        self._by_key: dict[str, list[Declaration]] = {}
        self._definitions: Mapping[str, Any] = {}
        self.listeners = KeyListeners()

    def declare(self, key: str, declared_type: str) -> tuple[Declaration, bool]:
        """Returns the declaration of a key and type, and whether it must be reported. A declaration beyond MAX_FLAGS is
        not kept: its values never change."""
        found = self._declared.get((key, declared_type))
        if found is not None:
            return found, False
        made = Declaration(key, declared_type)
        with self._lock:
            found = self._declared.get((key, declared_type))
            if found is not None:
                return found, False
            room = MAX_FLAGS - len(self._declared)
            if room > 0:
                self._declared[key, declared_type] = made
                self._by_key.setdefault(key, []).append(made)
        if room == 1:
            self._full(MAX_FLAGS)
        self._serve(made)
        return made, room > 0

    def _serve(self, declaration: Declaration) -> None:
        """Gives a declaration its definition. It repeats that if another thread has replaced the definitions meanwhile."""
        while True:
            definitions = self._definitions
            found = definitions.get(declaration.key)
            if found is None:
                declaration.serve(_UNKNOWN)
            else:
                declaration.serve(Definition(Plan(declaration.key, found, self._environment), _list(found.get("values"))))
            if definitions is self._definitions:
                return

    def replace(self, definitions: Mapping[str, Any], changed: list[str]) -> None:
        """Sets the definitions of all flags. changed has the keys of those that differ."""
        self._definitions = definitions
        affected = [each for key in changed for each in self._by_key.get(key, ())]
        for each in affected:
            self._serve(each)
        for each in affected:
            each.listeners.notify()
        self.listeners.notify(changed)

    def all(self) -> list[Declaration]:
        """Returns the declarations, without one that another thread is making: its default is not known yet."""
        return [each for each in list(self._declared.values()) if each.first is not None]

    def after_fork(self) -> None:
        """Prepares the table in a child, which may have been forked in the middle of a change."""
        self._lock = threading.Lock()
        self.listeners.all.after_fork()
        for each in list(self._declared.values()):
            each.after_fork()
            self._serve(each)
