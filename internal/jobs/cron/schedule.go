package cron

import (
	"math/bits"
	"time"
)

// Schedule is a parsed expression. Schedules with the same fields are equal. The zero Schedule never fires.
type Schedule struct {
	minutes, hours, days, months, weekdays bitset
	// bothDays says that the day of the month and the day of the week must both match, instead of one of them.
	bothDays bool
	// wallClock says that a change of the clock neither repeats nor leaves out a fire time.
	wallClock bool
}

// cycle is the number of months after which the calendar repeats, weekdays included: a schedule that does not fire
// within a cycle never fires.
const cycle = 400 * 12

// lastYear is the last year that an RFC 3339 timestamp can express.
const lastYear = 9999

// Next returns the first fire time after an instant, in UTC. There is none for the zero Schedule and after the year 9999.
func (s Schedule) Next(after time.Time) (time.Time, bool) {
	from := after.UTC().Truncate(time.Minute).Add(time.Minute)
	year, month, day := from.Date()
	if s.daysOf(year, month).has(day) {
		if hour, minute, ok := s.timeFrom(from.Hour(), from.Minute()); ok {
			return fireTime(year, month, day, hour, minute)
		}
	}
	for range cycle + 1 {
		if next, ok := s.daysOf(year, month).from(day + 1); ok {
			return fireTime(year, month, next, s.hours.lowest(), s.minutes.lowest())
		}
		if month++; month > time.December {
			year, month = year+1, time.January
		}
		day = 0
	}
	return time.Time{}, false
}

// Latest returns the last fire time at or before an instant, in UTC. After an outage this is the latest missed one.
func (s Schedule) Latest(until time.Time) (time.Time, bool) {
	until = until.UTC()
	year, month, day := until.Date()
	if s.daysOf(year, month).has(day) {
		if hour, minute, ok := s.timeUpTo(until.Hour(), until.Minute()); ok {
			return fireTime(year, month, day, hour, minute)
		}
	}
	for range cycle + 1 {
		if last, ok := s.daysOf(year, month).upTo(day - 1); ok {
			return fireTime(year, month, last, s.hours.highest(), s.minutes.highest())
		}
		if month--; month < time.January {
			year, month = year-1, time.December
		}
		day = 32
	}
	return time.Time{}, false
}

func fireTime(year int, month time.Month, day, hour, minute int) (time.Time, bool) {
	if year > lastYear {
		return time.Time{}, false
	}
	return time.Date(year, month, day, hour, minute, 0, 0, time.UTC), true
}

// timeFrom returns the first fire time of a day at or after a time of day.
func (s Schedule) timeFrom(hour, minute int) (int, int, bool) {
	if s.hours.has(hour) {
		if next, ok := s.minutes.from(minute); ok {
			return hour, next, true
		}
	}
	next, ok := s.hours.from(hour + 1)
	return next, s.minutes.lowest(), ok
}

// timeUpTo returns the last fire time of a day at or before a time of day.
func (s Schedule) timeUpTo(hour, minute int) (int, int, bool) {
	if s.hours.has(hour) {
		if last, ok := s.minutes.upTo(minute); ok {
			return hour, last, true
		}
	}
	last, ok := s.hours.upTo(hour - 1)
	return last, s.minutes.highest(), ok
}

// daysOf returns the days of a month that fire.
func (s Schedule) daysOf(year int, month time.Month) bitset {
	if !s.months.has(int(month)) {
		return 0
	}
	first := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC).Weekday()
	byWeekday := s.weekdays.asDays(first)
	days := s.days | byWeekday
	if s.bothDays {
		days = s.days & byWeekday
	}
	length := time.Date(year, month+1, 0, 0, 0, 0, 0, time.UTC).Day()
	return days & (1<<(length+1) - 2)
}

// asDays repeats days of the week over a month whose first day is the weekday first: bit 1 is day 1 of the month.
func (b bitset) asDays(first time.Weekday) bitset {
	week := (b>>first | b<<(7-first)) & (1<<7 - 1)
	return (week | week<<7 | week<<14 | week<<21 | week<<28) << 1
}

// bitset is a set of numbers below 64.
type bitset uint64

func (b bitset) has(n int) bool { return b>>n&1 == 1 }
func (b bitset) lowest() int    { return bits.TrailingZeros64(uint64(b)) }
func (b bitset) highest() int   { return bits.Len64(uint64(b)) - 1 }

// from returns the lowest member that is not below n.
func (b bitset) from(n int) (int, bool) {
	rest := b >> n << n
	return rest.lowest(), rest != 0
}

// upTo returns the highest member that is not above n.
func (b bitset) upTo(n int) (int, bool) {
	rest := b & (1<<(n+1) - 1)
	return rest.highest(), rest != 0
}
