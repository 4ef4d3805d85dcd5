package store

import (
	"sync/atomic"

	"github.com/signalbox/signalbox/internal/fault"
)

// writeFailure is why the last write failed; nil while writes work. A database
// whose disk is full still answers reads, so only writes show it.
type writeFailure struct{ reason atomic.Pointer[string] }

// Writable returns an error while writes fail because of the disk: from the first
// failed write until one works. Heartbeats write every 2 s.
func (db *DB) Writable() error {
	if reason := db.failure.reason.Load(); reason != nil {
		return fault.New(fault.Unavailable, "Writing to the database fails: %s.", *reason)
	}
	return nil
}

// noteWrite remembers whether writes work. A transaction that changed no row
// proves nothing: it works on a full disk as well.
func (db *DB) noteWrite(err error, wrote bool) {
	reason := diskFailure(err)
	switch {
	case reason != "":
		if db.failure.reason.Swap(&reason) == nil {
			db.options.Log.Error("Writing to the database failed; this node is not ready until a write works again. Check the disk of the database.",
				"reason", reason, "error", err)
		}
	case err == nil && wrote && db.failure.reason.Load() != nil:
		if db.failure.reason.Swap(nil) != nil {
			db.options.Log.Info("Writing to the database works again.")
		}
	}
}
