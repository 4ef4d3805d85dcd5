"""Writes zones.tsv: when 200 schedules fire in 12 zones over three years.

    python3 -m venv venv && venv/bin/pip install cronsim tzdata
    venv/bin/python zones.py > zones.tsv

The oracle is cronsim, an independent model of Debian's cron, with the zones of Python's zoneinfo:

- A schedule of the wall clock (neither minute nor hour starts with *) is enumerated by cronsim in the zone.
- Any other schedule follows elapsed time. It is enumerated by cronsim without a zone in each period of constant offset,
  because cronsim in a zone differs from the rule beside changes of the clock: it steps by hours and by midnights of the
  zone. It invents instants where a change is at midnight, and misses some or never ends where a change is not of whole
  hours (Lord Howe) or not on one (St. John's until 2011). The script checks that cronsim in the zone agrees on all other
  days in all other zones, and says on stderr on how many days it does not.

A line has the zone, the first year, the schedule, the number of instants, the start of the SHA-256 of all of them as
64-bit numbers of seconds and, for the first 20 schedules, the instants within three hours of a change of the clock.
"""

import hashlib
import random
import struct
import sys
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo

from cronsim import CronSim

UTC = timezone.utc
YEARS = 3
ZONES = [
    ("Africa/Casablanca", 2024),
    ("America/New_York", 2024),
    ("America/Sao_Paulo", 2016),
    ("America/St_Johns", 2010),
    ("Antarctica/Troll", 2023),
    ("Asia/Kolkata", 2025),
    ("Asia/Tehran", 2020),
    ("Australia/Lord_Howe", 2024),
    ("Europe/Berlin", 2024),
    ("Europe/Dublin", 2024),
    ("Pacific/Apia", 2010),
    ("Pacific/Chatham", 2024),
]
CHOSEN = [
    "30 2 * * *",
    "0 0 * * *",
    "15,45 0-3 * * *",
    "0 2,3 * * *",
    "0 1-3 * * SUN",
    "5 */6 * * *",
    "*/30 2 * * *",
    "*/20 * * 3,4,10,11 6-7",
    "0 * * * *",
    "1/29 1/6 * * *",
    "59 23 * * *",
    "10-50/20 0,12 1,15,31 * *",
    "0 12 30 12 *",
    "*/45 0 * * *",
    "0 */2 * * *",
    "0 3 29 2 *",
    "7 0,1,2,3 1-7 * SUN",
    "30 1 */2 * *",
    "0-59/7 2 * * 0",
    "* 2 * 3,10 SUN",
]


def field(draw, low, high, star):
    kind = draw.randrange(6)
    first, last = sorted((draw.randint(low, high), draw.randint(low, high)))
    if star:
        return draw.choice(["*", "*", "*/%d" % draw.randint(2, max(2, (high - low) // 2))])
    if kind == 0:
        return "%d-%d" % (first, last)
    if kind == 1 and first < last:  # cronsim reads 5-5/6 as 5/6
        return "%d-%d/%d" % (first, last, draw.randint(1, 9))
    if kind == 2:
        return "%d/%d" % (first, draw.randint(2, 9))
    if kind == 3:
        return ",".join(str(n) for n in sorted({draw.randint(low, high) for _ in range(3)}))
    return str(first)


def schedules():
    draw = random.Random(2026)
    found = list(CHOSEN)
    while len(found) < 200:
        minute = field(draw, 0, 59, draw.random() < 0.3)
        hour = field(draw, 0, 23 if draw.random() < 0.3 else 4, draw.random() < 0.3)
        day = field(draw, 1, 28, draw.random() < 0.7)
        month = field(draw, 1, 12, draw.random() < 0.6)
        weekday = field(draw, 0, 7, draw.random() < 0.7)
        if minute == "*" and hour.startswith("*"):
            continue  # too many instants
        text = " ".join((minute, hour, day, month, weekday))
        if text not in found and count(text) < 4000:
            found.append(text)
    return found


def count(text):
    n, end = 0, datetime(2024, 1, 1)
    for at in CronSim(text, datetime(2021, 1, 1)):
        if at >= end or n > 4000:
            break
        n += 1
    return n


def periods(zone, start, end):
    """The periods of constant offset between two instants, as (start, end, offset)."""
    found, since, offset = [], start, start.astimezone(zone).utcoffset()
    at = start
    while at < end:
        at += timedelta(minutes=1) if close(zone, at, offset) else timedelta(hours=6)
        now = min(at, end).astimezone(zone).utcoffset()
        if now != offset:
            found.append((since, at, offset))
            since, offset = at, now
    found.append((since, end, offset))
    return found


def close(zone, at, offset):
    return (at + timedelta(hours=6)).astimezone(zone).utcoffset() != offset


def elapsed(text, zone, segments):
    for since, until, offset in segments:
        first = (since + offset).replace(tzinfo=None)
        for local in CronSim(text, first - timedelta(seconds=1)):
            at = (local - offset).replace(tzinfo=UTC)
            if at >= until:
                break
            yield at


def zoned(text, zone, start, end):
    for local in CronSim(text, (start - timedelta(seconds=1)).astimezone(zone)):
        at = local.astimezone(UTC)
        if at >= end:
            return
        yield at


def on_whole_hours(before, after):
    local, shift = before[1] + before[2], after[2] - before[2]
    return local.minute == 0 and shift % timedelta(hours=1) == timedelta()


def on_days_of_change(zone, segments):
    days = set()
    for _, until, _ in segments[:-1]:
        for hours in (-27, -24, 0, 3, 24):
            days.add((until + timedelta(hours=hours)).astimezone(zone).date())
    return days


def main():
    differing, listed = 0, schedules()
    for name, year in ZONES:
        zone = ZoneInfo(name)
        start, end = datetime(year, 1, 1, tzinfo=UTC), datetime(year + YEARS, 1, 1, tzinfo=UTC)
        segments = periods(zone, start, end)
        whole = all(on_whole_hours(*pair) for pair in zip(segments, segments[1:]))
        days = on_days_of_change(zone, segments)
        for index, text in enumerate(listed):
            minute, hour = text.split()[:2]
            if minute.startswith("*") or hour.startswith("*"):
                instants = list(elapsed(text, zone, segments))
                other = set(instants) ^ set(limited(zoned(text, zone, start, end))) if whole else set()
                bad = [at for at in other if at.astimezone(zone).date() not in days]
                assert not bad, (name, text, sorted(bad)[:3])
                differing += len({at.astimezone(zone).date() for at in other})
            else:
                instants = list(zoned(text, zone, start, end))
                assert instants == sorted(set(instants)), (name, text)
            digest = hashlib.sha256(b"".join(struct.pack(">q", int(at.timestamp())) for at in instants)).hexdigest()[:16]
            around = []
            if index < len(CHOSEN):
                near = timedelta(hours=3)
                around = [at.strftime("%Y-%m-%dT%H:%MZ") for at in instants if any(abs(at - until) <= near for _, until, _ in segments[:-1])]
            print(name, year, text, len(instants), digest, " ".join(around), sep="\t")
    print("cronsim in the zone differs on %d days, all of them beside a change of the clock" % differing, file=sys.stderr)


def limited(instants):
    """The instants of cronsim in a zone; it may stand still or go back at a change of the clock, which ends the list."""
    found = []
    for at in instants:
        if len(found) > 40000:
            break
        found.append(at)
    return found


if __name__ == "__main__":
    main()
