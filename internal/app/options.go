package app

import (
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jobs"
)

// Options hold values that tests set differently from a server. They are not
// settings, because no operator should change them.
type Options struct {
	// FeedInterval is how late, at the worst, a node hears of another node's change.
	FeedInterval time.Duration
	// ResealInterval is how soon a rotation of the key ring is noticed.
	ResealInterval time.Duration
	// RefreshInterval is how long last-seen times of services and keys are buffered.
	RefreshInterval time.Duration
	// PendingRuns is how many runs of an account may be pending.
	PendingRuns int
	// ConnectionInterval is how late the list of connections is.
	ConnectionInterval time.Duration
	// KeepInterval is how late the last known state on disk may be.
	KeepInterval time.Duration
	// KeptBytes bounds the size of the last known state.
	KeptBytes int
	// PasswordCost is the cost of hashing a password.
	PasswordCost accounts.PasswordCost
	// Unsynced lets SQLite acknowledge writes that a power cut would lose.
	Unsynced bool
	// ClockInterval is how often the clock is compared with the database's.
	ClockInterval time.Duration
	// Now is the clock.
	Now func() time.Time
}

func serverOptions() Options {
	return Options{FeedInterval: 400 * time.Millisecond, ResealInterval: 10 * time.Second, RefreshInterval: 5 * time.Second,
		ConnectionInterval: time.Second, ClockInterval: 5 * time.Second, KeepInterval: 3 * time.Second, KeptBytes: 64 << 20, PendingRuns: jobs.MaxPending,
		PasswordCost: accounts.DefaultPasswordCost(), Now: time.Now}
}
