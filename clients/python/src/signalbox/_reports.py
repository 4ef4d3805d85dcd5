"""The reports of a service: its flags, loggers and contexts, and how often each flag had each value."""

from __future__ import annotations

import datetime
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ._http import segment
from ._loggers import reported
from ._values import finite
from .errors import APIError, ConnectionFailed, NotFoundError, SignalboxError

if TYPE_CHECKING:
    from ._box import Box
    from ._flags import Counter
    from ._http import Transport

T = TypeVar("T")

#: If this many declarations or contexts are new, they are reported before the next regular report.
MANY_PENDING: Final = 50
#: How many contexts wait for a report; further contexts are dropped.
MAX_PENDING: Final = 1000
#: How many contexts are remembered as reported.
MAX_SEEN: Final = 10_000
#: How many items one request has.
CHUNK: Final = 500


class Reports:
    """Sends reports. Its memory is limited, and callers never wait for a request."""

    def __init__(self, box: Box) -> None:
        self._box = box
        self._lock = threading.Lock()
        self._seen: dict[str, None] = {}  # the oldest first
        self._contexts: list[dict[str, Any]] = []
        self._declared = 0  # flags and loggers that are not reported yet
        self._flags_known = 0  # how many flags the server knows
        self._counted = time.time()
        self._checked = False
        self.enabled = True
        self.begin()

    def begin(self) -> None:
        settings = self._box.settings
        self._contexts = [{"type": "environment", "key": settings.environment}]
        if settings.service:
            self._contexts.insert(0, {"type": "service", "key": settings.service})

    def saw_contexts(self, types: Mapping[str, Any]) -> None:
        """Notes the contexts of a request. A context is reported once."""
        if not self.enabled or not self._box.settings.report_contexts:
            return
        for kind, attributes in types.items():
            key = attributes.get("key") if isinstance(attributes, dict) else None
            if type(key) is str and key and kind:
                self._saw(kind, key, attributes)

    def _saw(self, kind: str, key: str, attributes: dict[str, Any]) -> None:
        identity = f"{kind}:{key}"
        with self._lock:
            known = identity in self._seen
            if known:
                del self._seen[identity]  # it becomes the newest
            elif len(self._seen) >= MAX_SEEN:
                del self._seen[next(iter(self._seen))]
            self._seen[identity] = None
            if known or len(self._contexts) >= MAX_PENDING:
                return
            rest = {name: each for name, each in attributes.items() if name != "key"}
            self._contexts.append({"type": kind, "key": key, "attributes": rest})
            many = len(self._contexts) == MANY_PENDING
        if many:
            self._box.wake(report=True)

    def declared(self) -> None:
        """Counts a flag or logger that is not reported yet."""
        self._declared += 1
        if self._declared == MANY_PENDING:
            self._box.wake(report=True)

    def send(self, transport: Transport, *, everything: bool, pause: Callable[[], None]) -> None:
        """Sends new items, or everything with the counts. pause is called between two requests, so that changes need not wait
        for all of them. It raises the first error after trying all parts."""
        self._check_environment(transport)
        failed: SignalboxError | None = None
        parts = [self._send_contexts, self._send_flags, self._send_loggers]
        if everything:
            parts.append(self._send_counts)
        self._declared = 0
        for part in parts:
            try:
                part(transport, everything)
            except SignalboxError as error:
                failed = failed or error
                if not isinstance(error, APIError):
                    break  # the server is away
            pause()
        if failed is not None:
            raise failed

    def _check_environment(self, transport: Transport) -> None:
        """Warns if the environment does not exist before the first report creates it: its name may be misspelled."""
        if self._checked:
            return
        name = self._box.settings.environment
        try:
            transport.request("GET", f"/api/v1/environments/{segment(name)}")
        except NotFoundError:
            self._box.problems.warn(
                "environment",
                "Environment %s does not exist in Signalbox. It is created without values; check the name if it should have one",
                name,
            )
        except SignalboxError:
            return
        self._checked = True

    def _send_contexts(self, transport: Transport, _everything: bool) -> None:
        with self._lock:
            items, self._contexts = self._contexts, []
        try:
            for some in chunks(items):
                sent = [{name: finite(each) for name, each in item.items()} for item in some]
                transport.request("POST", "/api/v1/contexts/bulk", body={"contexts": sent})
        except BaseException:
            with self._lock:
                self._contexts = (items + self._contexts)[:MAX_PENDING]
            raise

    def _send_flags(self, transport: Transport, everything: bool) -> None:
        flags = list({each.key: each for each in reversed(self._box.flags.all())}.values())  # the first declaration of each key
        if len(flags) == self._flags_known and not everything:
            return
        settings = self._box.settings
        for some in chunks(flags):
            items = [{**each.reported(), "environment": settings.environment, **settings.named_service} for each in some]
            transport.request("POST", "/api/v1/flags/bulk", body={"flags": items})
        self._flags_known = len(flags)

    def _send_loggers(self, transport: Transport, everything: bool) -> None:
        settings = self._box.settings
        for some in chunks(self._box.loggers.news(everything=everything)):
            items = [reported(each, levels, settings.service, settings.environment) for each, levels in some]
            transport.request("POST", "/api/v1/loggers/bulk", body={"loggers": items})
            for each, levels in some:
                each.reported = levels

    def _send_counts(self, transport: Transport, _everything: bool) -> None:
        """Sends the evaluations by flag and value. After a failure, the rest waits for the next report, except counts that may
        have arrived: they are not sent again."""
        now = time.time()
        period, self._counted = now - self._counted, now
        waiting = deque(chunks(self._counts()))
        try:
            while waiting:
                items = [self._metric(flag, value, count, period, now) for flag, value, count, _ in waiting[0]]
                transport.request("POST", "/api/v1/metrics/bulk", body={"data": items})
                waiting.popleft()
        except ConnectionFailed:
            waiting.popleft()
            raise
        finally:
            for some in waiting:
                for _, _, count, counter in some:
                    counter.put_back(count)

    def _counts(self) -> list[tuple[str, str, int, Counter]]:
        found: list[tuple[str, str, int, Counter]] = []
        for flag in self._box.flags.all():
            for value, counter in flag.counts():
                count = counter.take()
                if count > 0:
                    found.append((flag.key, value, count, counter))
        return found

    def _metric(self, flag: str, value: str, count: int, period: float, now: float) -> dict[str, Any]:
        at = datetime.datetime.fromtimestamp(now, datetime.timezone.utc).isoformat().replace("+00:00", "Z")
        dimensions = {"flag": flag, "value": value, "environment": self._box.settings.environment}
        attributes = {"name": "flags.evaluations", "unit": "evaluations", "value": count, "period_seconds": max(round(period), 1)}
        return {"type": "metric", "attributes": {**attributes, "recorded_at": at, "dimensions": dimensions}}

    def after_fork(self) -> None:
        """Drops the items that the parent reports."""
        self._lock = threading.Lock()
        self._flags_known = 0
        self._counted = time.time()
        self.begin()


def chunks(items: list[T]) -> Iterator[list[T]]:
    for i in range(0, len(items), CHUNK):
        yield items[i : i + CHUNK]
