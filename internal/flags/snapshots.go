package flags

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/coalesce"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
)

// maxCatchUp is how many changes a snapshot follows one by one; further behind
// it is read anew.
const maxCatchUp = 500

// Snapshots keeps the compiled flags of each account that evaluates on the
// server. A snapshot is used for the version of the account that the caller was
// authenticated with, and what changed since is read: an evaluation is never
// older than the last write that was acknowledged before its request, on
// whichever node. See evict.go for how long a snapshot is kept.
type Snapshots struct {
	Store Store
	// History returns an account's changes after a number, oldest first.
	History func(ctx context.Context, account string, after int64, limit int) ([]changes.Change, error)

	// MaxBytes is about what all snapshots may take together; 0 means the default.
	MaxBytes int

	updates  coalesce.Group[string, int64, *Snapshot] // by account, to a version
	round    atomic.Int64                             // of Evict
	mu       sync.RWMutex
	accounts map[string]*held
	bytes    int // of all accounts
}

// Snapshot is the flags of an account, compiled, and its environments, at a
// version.
type Snapshot struct {
	flags        *table
	version      int64
	environments map[string]bool
}

// Flag returns the compiled flag with a key, managed or not, and whether there is one.
func (s *Snapshot) Flag(key string) (*flageval.Flag, bool) {
	found := s.flags.find(key)
	return found.flag, found.flag != nil
}

// Keys returns the sorted keys of the flags that are served. They must not be changed.
func (s *Snapshot) Keys() []string { return s.flags.keys() }

// Evaluate returns a flag's value for a context in an environment. A flag that is
// only discovered is not found: what one service has reported must not decide what
// another one gets.
func (s *Snapshot) Evaluate(environment, key string, context jsonlogic.Value) flageval.Evaluation {
	found := s.flags.find(key)
	if !found.managed {
		return flageval.Evaluation{Code: flageval.FlagNotFound, Reason: flageval.Error, Rule: flageval.NoRule}
	}
	return found.flag.Evaluate(environment, context)
}

// Sent returns the text in which an evaluated value is sent to typed clients, and
// the name of the choice that it is, as JSON, or nil.
func (s *Snapshot) Sent(key string, value json.RawMessage) (text, variant json.RawMessage) {
	found := s.flags.find(key)
	return found.decimals.of(value), found.variants[string(value)]
}

// MissingEnvironment returns the refusal of an environment that the account does not
// have, or nil.
func (s *Snapshot) MissingEnvironment(key string) *fault.Error {
	if _, has := s.environments[key]; has {
		return nil
	}
	return fault.New(fault.Validation, "The environment %q does not exist.%s", key, naming.DidYouMean(key, slices.Sorted(maps.Keys(s.environments))))
}

// held is an account's snapshot.
type held struct {
	snapshot atomic.Pointer[Snapshot]
	used     atomic.Int64 // the round of the last use
	bytes    int          // of the snapshot; under the lock of Snapshots
}

// atLeast returns the snapshot if it is of a version or newer, else nil.
func (h *held) atLeast(version int64) *Snapshot {
	if snapshot := h.snapshot.Load(); snapshot != nil && snapshot.version >= version {
		return snapshot
	}
	return nil
}

// Get returns a snapshot of an account, of a version or newer.
func (s *Snapshots) Get(ctx context.Context, account string, version int64) (*Snapshot, error) {
	holder := s.holder(account)
	holder.use(s.round.Load())
	if current := holder.atLeast(version); current != nil {
		return current, nil
	}
	return s.bringUp(ctx, account, holder, version)
}

// Refresh brings the snapshot of an account up to a version if there is one, and
// reports whether there is. It does not count as a use, so that what nobody evaluates
// is still dropped.
func (s *Snapshots) Refresh(ctx context.Context, account string, version int64) (held bool, err error) {
	s.mu.RLock()
	holder := s.accounts[account]
	s.mu.RUnlock()
	switch {
	case holder == nil || holder.snapshot.Load() == nil:
		return false, nil
	case holder.atLeast(version) != nil:
		return true, nil
	}
	_, err = s.bringUp(ctx, account, holder, version)
	return true, err
}

// IsAt reports whether the snapshot of an account that is in memory, if any, is of a
// version or newer.
func (s *Snapshots) IsAt(account string, version int64) bool {
	s.mu.RLock()
	holder := s.accounts[account]
	s.mu.RUnlock()
	return holder != nil && holder.atLeast(version) != nil
}

// bringUp brings a snapshot up to a version, once for all callers who need that.
func (s *Snapshots) bringUp(ctx context.Context, account string, holder *held, version int64) (*Snapshot, error) {
	return s.updates.Do(ctx, account, version, func(ctx context.Context, versions []int64) (*Snapshot, error) {
		newest := slices.Max(versions)
		if current := holder.atLeast(newest); current != nil {
			return current, nil
		}
		updated, err := s.update(ctx, account, holder.snapshot.Load(), newest)
		if err != nil {
			return nil, err
		}
		s.keep(account, holder, updated)
		return updated, nil
	})
}

// Held returns the snapshot of an account that is in memory, current or not, or nil.
func (s *Snapshots) Held(account string) *Snapshot {
	holder := s.holder(account)
	holder.use(s.round.Load())
	return holder.snapshot.Load()
}

// Forget makes every snapshot be read anew.
func (s *Snapshots) Forget() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.accounts, s.bytes = nil, 0
}

func (s *Snapshots) holder(account string) *held {
	s.mu.RLock()
	holder, ok := s.accounts[account]
	s.mu.RUnlock()
	if ok {
		return holder
	}
	return s.addHolder(account)
}

func (s *Snapshots) addHolder(account string) *held {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.accounts == nil {
		s.accounts = map[string]*held{}
	}
	holder, ok := s.accounts[account]
	if !ok {
		holder = &held{}
		s.accounts[account] = holder
	}
	return holder
}

// update returns a snapshot of at least a version: the old one with what changed,
// or a new one when there is none or there is a gap.
func (s *Snapshots) update(ctx context.Context, account string, old *Snapshot, version int64) (*Snapshot, error) {
	var keys []string // nil is all
	if old != nil {
		news, err := s.History(ctx, account, old.version, maxCatchUp)
		if err != nil {
			return nil, err
		}
		keys = changedFlags(news, old.version, version)
	}
	flags, environments, err := s.read(ctx, account, keys)
	switch {
	case err != nil:
		return nil, err
	case keys == nil:
		return &Snapshot{flags: new(table).with(flags, nil), version: version, environments: environments}, nil
	case len(keys) == 0:
		return &Snapshot{flags: old.flags, version: version, environments: environments}, nil
	}
	return &Snapshot{flags: old.flags.with(flags, keys), version: version, environments: environments}, nil
}

// changedFlags returns the flags that changes are about, or nil when there is a gap
// between the two versions.
func changedFlags(news []changes.Change, from, to int64) []string {
	keys := []string{}
	for _, change := range news {
		if change.Seq != from+1 {
			return nil
		}
		from = change.Seq
		if change.Kind != Kind {
			continue
		}
		if change.Key != changes.AllKeys {
			keys = append(keys, change.Key)
			continue
		}
		var several changes.Several
		if json.Unmarshal(change.After, &several) != nil {
			return nil
		}
		keys = append(keys, several.Keys...)
	}
	if from < to {
		return nil
	}
	return keys
}

func (s *Snapshots) read(ctx context.Context, account string, keys []string) (flags []Flag, environments map[string]bool, err error) {
	err = s.Store.Read(ctx, func(ctx context.Context, tx ReadTx) error {
		if flags, err = tx.FlagsByKey(ctx, account, keys); err != nil {
			return err
		}
		environments, err = tx.ManagedEnvironments(ctx, account)
		return err
	})
	return flags, environments, err
}
