package cron

import "time"

// Zoned is a schedule whose fields are local times of a zone.
type Zoned struct {
	schedule Schedule
	zone     *time.Location
}

// In returns the schedule in a zone.
func (s Schedule) In(zone *time.Location) Zoned { return Zoned{s, zone} }

// Next returns the first fire time after an instant, in UTC. There is none after the year 9999.
func (z Zoned) Next(after time.Time) (time.Time, bool) {
	switch {
	case z.zone == nil || z.zone == time.UTC:
		return z.schedule.Next(after)
	case z.schedule.wallClock:
		local, ok := z.schedule.Next(z.reached(after))
		return FirstAt(local, z.zone), ok
	}
	return z.nextElapsed(after)
}

// Latest returns the last fire time at or before an instant, in UTC.
func (z Zoned) Latest(until time.Time) (time.Time, bool) {
	switch {
	case z.zone == nil || z.zone == time.UTC:
		return z.schedule.Latest(until)
	case z.schedule.wallClock:
		local, ok := z.schedule.Latest(z.reached(until))
		return FirstAt(local, z.zone), ok
	}
	return z.latestElapsed(until)
}

// nextElapsed searches one period after the other: within a period of constant offset, local times are like UTC.
func (z Zoned) nextElapsed(after time.Time) (time.Time, bool) {
	for {
		now := periodAt(after, z.zone)
		local, ok := z.schedule.Next(now.local(after))
		if !ok {
			return time.Time{}, false
		}
		if at := now.instant(local); now.end.IsZero() || at.Before(now.end) {
			return at, true
		}
		after = now.end
		if following := periodAt(after, z.zone); z.schedule.matches(following.local(after)) {
			return after.UTC(), true
		}
	}
}

// latestElapsed is nextElapsed backward.
func (z Zoned) latestElapsed(until time.Time) (time.Time, bool) {
	for {
		now := periodAt(until, z.zone)
		local, ok := z.schedule.Latest(now.local(until))
		if !ok {
			return time.Time{}, false
		}
		if at := now.instant(local); now.start.IsZero() || !at.Before(now.start) {
			return at, true
		}
		until = now.start.Add(-time.Nanosecond)
	}
}

// reached returns the latest local time that the clock of the zone has shown up to an instant. After the clock was set
// back, that is later than the time that it shows.
func (z Zoned) reached(at time.Time) time.Time {
	now := periodAt(at, z.zone)
	latest := now.local(at)
	for !now.start.IsZero() && now.start.After(at.Add(-maxShift)) {
		before := now.start.Add(-time.Nanosecond)
		now = periodAt(before, z.zone)
		if local := now.local(before); local.After(latest) {
			latest = local
		}
	}
	return latest
}

// maxShift is more than any clock was ever moved at once: Samoa skipped a day.
const maxShift = 25 * time.Hour

// FirstAt returns the first instant at which the clock of a zone shows a local time or a later one. For a repeated
// local time, this is its first occurrence; for a skipped one, it is the end of the jump. The local time is given in
// UTC.
func FirstAt(local time.Time, zone *time.Location) time.Time {
	for now := periodAt(local.Add(-maxShift), zone); ; now = periodAt(now.end, zone) {
		at := now.instant(local)
		if !now.start.IsZero() && at.Before(now.start) {
			at = now.start
		}
		if now.end.IsZero() || at.Before(now.end) {
			return at
		}
	}
}

// NextChange returns the first time after an instant at which the clock of a zone is moved, and by how much. There is none
// in a zone whose offset stays.
func NextChange(after time.Time, zone *time.Location) (at time.Time, shift time.Duration, ok bool) {
	for now := periodAt(after, zone); !now.end.IsZero(); {
		following := periodAt(now.end, zone)
		if following.offset != now.offset { // else only the zone's abbreviation changes
			return now.end, following.offset - now.offset, true
		}
		now = following
	}
	return time.Time{}, 0, false
}

// period is a time of constant offset. A zero start or end is unbounded.
type period struct {
	start, end time.Time // the end is not included
	offset     time.Duration
}

func periodAt(at time.Time, zone *time.Location) period {
	at = at.In(zone)
	start, end := at.ZoneBounds()
	_, seconds := at.Zone()
	return period{start.UTC(), end.UTC(), time.Duration(seconds) * time.Second}
}

// local returns what the clock shows at an instant of the period, as a time in UTC.
func (p period) local(at time.Time) time.Time { return at.UTC().Add(p.offset) }

// instant is the reverse of local.
func (p period) instant(local time.Time) time.Time { return local.Add(-p.offset) }

// matches reports whether the schedule fires at the start of a local minute.
func (s Schedule) matches(local time.Time) bool {
	next, ok := s.Next(local.Add(-time.Nanosecond))
	return ok && next.Equal(local)
}
