package app

import (
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/jobs"
)

// Options are values that tests change. They are not settings, because operators
// should not change them.
type Options struct {
	// FeedInterval is the longest time until a node learns of another node's change.
	FeedInterval time.Duration
	// ResealInterval is how often a rotation of the key ring is looked for.
	ResealInterval time.Duration
	// RefreshInterval is how long last-seen times of services and keys are buffered.
	RefreshInterval time.Duration
	// PendingRuns is the largest number of pending runs of an account.
	PendingRuns int
	// ConnectionInterval is how often the list of connections is updated.
	ConnectionInterval time.Duration
	// KeepInterval is how often the last known state is saved on disk.
	KeepInterval time.Duration
	// KeptBytes bounds the size of the last known state.
	KeptBytes int
	// PasswordCost is the cost of hashing a password.
	PasswordCost accounts.PasswordCost
	// Unsynced lets SQLite acknowledge a write before it is safe from a power cut.
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
