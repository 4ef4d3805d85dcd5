"""How current the values of a box are."""

from __future__ import annotations

import datetime
import enum
from typing import NamedTuple


class Status(enum.Enum):
    """How current the values of a box are."""

    #: The server has not answered yet.
    STARTING = "STARTING"
    #: The values are the server's current values.
    LIVE = "LIVE"
    #: The server cannot be reached, or cannot reach its database. The last known values are served.
    STALE = "STALE"
    #: The server does not accept the key. The last known values are served.
    REFUSED = "REFUSED"


class State(NamedTuple):
    """How current the values of a box are, and why."""

    status: Status
    #: When the status began, in UTC. For values of the cache or the bootstrap file it is when they were saved.
    since: datetime.datetime
    #: Why the status is STALE or REFUSED, or why a LIVE box polls; else None.
    why: Exception | None = None
    #: The box polls because no event socket can be opened. Changes then arrive up to 30 s late.
    polling: bool = False
    #: The number of the account's last change that the box knows.
    seq: int = 0

    def __str__(self) -> str:
        text = f"{self.status.value} since {self.since.strftime('%Y-%m-%dT%H:%M:%SZ')}"
        if self.polling:
            text += ", polling"
        return f"{text}: {self.why}" if self.why else text


def now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def at(seconds: float) -> datetime.datetime:
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc)
