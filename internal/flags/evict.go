package flags

import (
	"cmp"
	"math"
)

const (
	// maxSnapshotBytes is the approximate limit for the snapshots of all accounts.
	maxSnapshotBytes = 256 << 20
	// compiledBytes is the approximate size of a compiled flag without its texts.
	compiledBytes = 1 << 10
	// idleRounds is how many calls of Evict, one every five minutes, a snapshot survives without being used.
	idleRounds = 12
)

// use marks the snapshot as used in a round. Only the first call of a round writes, so that calls do not slow each other.
func (h *held) use(round int64) {
	if h.used.Load() != round {
		h.used.Store(round)
	}
}

// keep stores a snapshot, and drops the least recently used ones while all together are too large.
func (s *Snapshots) keep(account string, holder *held, updated *Snapshot) {
	s.mu.Lock()
	defer s.mu.Unlock()
	holder.snapshot.Store(updated)
	if s.accounts[account] != holder { // it was dropped while this caller waited
		return
	}
	s.bytes += updated.flags.bytes - holder.bytes
	holder.bytes = updated.flags.bytes
	for dropped := true; dropped && s.bytes > cmp.Or(s.MaxBytes, maxSnapshotBytes); {
		dropped = s.dropOldest(holder)
	}
}

// dropOldest drops the least recently used snapshot other than except, and reports whether there was one.
func (s *Snapshots) dropOldest(except *held) bool {
	oldest, least := "", int64(math.MaxInt64)
	for account, holder := range s.accounts {
		if used := holder.used.Load(); holder != except && used < least {
			oldest, least = account, used
		}
	}
	if oldest == "" {
		return false
	}
	s.drop(oldest)
	return true
}

func (s *Snapshots) drop(account string) {
	s.bytes -= s.accounts[account].bytes
	delete(s.accounts, account)
}

// Evict drops the snapshots that were not used for an hour. It must be called every five minutes.
func (s *Snapshots) Evict() {
	idle := s.round.Add(1) - idleRounds
	s.mu.Lock()
	defer s.mu.Unlock()
	for account, holder := range s.accounts {
		if holder.used.Load() < idle {
			s.drop(account)
		}
	}
}
