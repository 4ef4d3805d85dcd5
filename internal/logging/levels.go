package logging

import (
	"maps"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/optional"
)

// Override is a level. A temporary level also has an expiry.
type Override struct {
	Level     loglevel.Level `json:"level"`
	ExpiresAt *time.Time     `json:"expires_at,omitempty"`
}

func (o Override) same(other Override) bool {
	return o.Level == other.Level && sameTime(o.ExpiresAt, other.ExpiresAt)
}

func sameTime(a, b *time.Time) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Equal(*b))
}

func (o Override) due(at time.Time) bool { return o.ExpiresAt != nil && !o.ExpiresAt.After(at) }

// Levels is the part that loggers and groups share.
type Levels struct {
	// Level is the base level; loglevel.None means that the level is inherited.
	Level          loglevel.Level `json:"level"`
	LevelExpiresAt *time.Time     `json:"level_expires_at"`
	// Environments are the overrides. It is never nil.
	Environments map[string]Override `json:"environments"`
}

func (l Levels) base() Override { return Override{l.Level, l.LevelExpiresAt} }

func (l Levels) sameBase(other Levels) bool { return l.base().same(other.base()) }

func (l Levels) empty() bool { return l.Level == loglevel.None && len(l.Environments) == 0 }

// NextExpiry returns the earliest expiry of the levels, or nil if none expires.
func (l Levels) NextExpiry() *time.Time {
	next := l.LevelExpiresAt
	for _, override := range l.Environments {
		if at := override.ExpiresAt; at != nil && (next == nil || at.Before(*next)) {
			next = at
		}
	}
	return next
}

// expired returns the levels without the due ones, and reports whether any was due.
func (l Levels) expired(at time.Time) (Levels, bool) {
	left := Levels{Level: l.Level, LevelExpiresAt: l.LevelExpiresAt, Environments: maps.Clone(l.Environments)}
	if left.base().due(at) {
		left.Level, left.LevelExpiresAt = loglevel.None, nil
	}
	maps.DeleteFunc(left.Environments, func(_ string, override Override) bool { return override.due(at) })
	return left, left.Level != l.Level || len(left.Environments) != len(l.Environments)
}

// plain returns the levels of the overrides, without their expiries.
func (l Levels) plain() map[string]loglevel.Level {
	levels := make(map[string]loglevel.Level, len(l.Environments))
	for environment, override := range l.Environments {
		levels[environment] = override.Level
	}
	return levels
}

// wantedLevel is a level that a caller asks for, before the stored level is read.
type wantedLevel struct {
	level loglevel.Level
	// expiry is absent if the caller did not send it, and null if the caller removes it.
	expiry optional.Value[time.Time]
	ttl    time.Duration // counted from the write; 0 for none
}

func (w wantedLevel) due(at time.Time) bool { return Override{ExpiresAt: w.expiry.Pointer()}.due(at) }

// over applies the wanted level to the stored one. If the same level is sent without an expiry,
// the stored expiry stays. So a client that does not know expiries cannot make a temporary
// level permanent.
func (w wantedLevel) over(stored Override, now time.Time) Override {
	if w.ttl > 0 {
		return Override{w.level, new(now.Add(w.ttl))}
	}
	if w.expiry.IsAbsent() && w.level == stored.Level {
		return stored
	}
	return Override{w.level, w.expiry.Pointer()}
}
