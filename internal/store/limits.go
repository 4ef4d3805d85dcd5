package store

import (
	"cmp"
	"time"
)

// Limits bound how long things may take. A zero field means the value for production.
type Limits struct {
	// Read and Write bound a transaction, its waiting included; a slower database counts as an outage.
	Read, Write time.Duration
	// Idle is how long PostgreSQL waits for a transaction's next statement before it rolls back. A node that
	// stops holds its locks for this time.
	Idle time.Duration
	// FileLock is how long SQLite waits for another process's lock on the file.
	FileLock time.Duration
	// Group is how long the writers of one SQLite commit may run together.
	Group time.Duration
	// Silence is how long PostgreSQL may take to answer a check of a connection before it counts as silent.
	Silence time.Duration
	// Reconnect is the Listener's first pause before it connects again.
	Reconnect time.Duration
}

// migrateTimeout is long: a migration that is cut off would be cut off at every start.
const migrateTimeout = time.Hour

func (l Limits) withDefaults() Limits {
	return Limits{
		Read:      cmp.Or(l.Read, 8*time.Second),
		Write:     cmp.Or(l.Write, 20*time.Second),
		Idle:      cmp.Or(l.Idle, 500*time.Millisecond),
		FileLock:  cmp.Or(l.FileLock, 10*time.Second),
		Group:     cmp.Or(l.Group, 20*time.Millisecond),
		Silence:   cmp.Or(l.Silence, 2*time.Second),
		Reconnect: cmp.Or(l.Reconnect, 100*time.Millisecond),
	}
}
