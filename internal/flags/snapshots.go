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

// maxCatchUp is how many changes are applied to a snapshot; a snapshot that is
// further behind is read again as a whole.
const maxCatchUp = 500

// Snapshots keeps the compiled flags of each account that evaluates on the
// server. Authentication tells the caller the current version of the account, and
// an older snapshot is first brought up to it. So an evaluation sees every write
// that any node acknowledged before the request. See evict.go for how long a
// snapshot is kept.
type Snapshots struct {
	Store Store
	// History returns an account's changes after a sequence number, oldest first.
	History func(ctx context.Context, account string, after int64, limit int) ([]changes.Change, error)

	// MaxBytes is the approximate limit for all snapshots; 0 means maxSnapshotBytes.
	MaxBytes int

	updates  coalesce.Group[string, int64, *Snapshot] // by account, to a version
	round    atomic.Int64                             // of Evict
	mu       sync.RWMutex
	accounts map[string]*held
	bytes    int // of all accounts
}

// Snapshot is the compiled flags and the environments of an account at a version.
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

// RequestSteps are the steps that the rules of all flags of one request may take, which is about a fifth of a second.
const RequestSteps = 8 << 20

// Evaluate returns a flag's value for a context in an environment. The flags of one request share the steps. A discovered
// flag is not found: the declaration of one service must not decide the values of others.
func (s *Snapshot) Evaluate(steps *jsonlogic.Steps, environment, key string, context jsonlogic.Value) flageval.Evaluation {
	found := s.flags.find(key)
	if !found.managed {
		return flageval.Evaluation{Code: flageval.FlagNotFound, Reason: flageval.Error, Rule: flageval.NoRule}
	}
	return found.flag.EvaluateWithin(steps, environment, context)
}

// Sent returns the text of an evaluated value for typed clients, and the name of its
// choice as a JSON string, or nil.
func (s *Snapshot) Sent(key string, value json.RawMessage) (text, variant json.RawMessage) {
	found := s.flags.find(key)
	return found.decimals.of(value), found.variants[string(value)]
}

// Includes reports whether the snapshot has the account's changes up to a sequence number.
func (s *Snapshot) Includes(seq int64) bool { return s.version >= seq }

// Environments returns the sorted keys of the account's environments.
func (s *Snapshot) Environments() []string { return slices.Sorted(maps.Keys(s.environments)) }

// MissingEnvironment returns an error if the account does not have the environment,
// or nil.
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

// atLeast returns the snapshot if it has the version or a newer one, else nil.
func (h *held) atLeast(version int64) *Snapshot {
	if snapshot := h.snapshot.Load(); snapshot != nil && snapshot.version >= version {
		return snapshot
	}
	return nil
}

// Get returns a snapshot of an account that has the version or a newer one.
func (s *Snapshots) Get(ctx context.Context, account string, version int64) (*Snapshot, error) {
	holder := s.holder(account)
	holder.use(s.round.Load())
	if current := holder.atLeast(version); current != nil {
		return current, nil
	}
	return s.bringUp(ctx, account, holder, version)
}

// Refresh brings the snapshot of an account up to a version, and reports whether the
// account has a snapshot. It does not count as a use, so that the snapshot of an
// account that evaluates nothing is still dropped.
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

// IsAt reports whether the account has a snapshot of the version or a newer one in
// memory.
func (s *Snapshots) IsAt(account string, version int64) bool {
	s.mu.RLock()
	holder := s.accounts[account]
	s.mu.RUnlock()
	return holder != nil && holder.atLeast(version) != nil
}

// bringUp brings a snapshot up to a version. Concurrent callers share one update.
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

// Held returns the account's snapshot in memory, which may be outdated, or nil.
func (s *Snapshots) Held(account string) *Snapshot {
	holder := s.holder(account)
	holder.use(s.round.Load())
	return holder.snapshot.Load()
}

// Forget drops every snapshot.
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

// update returns a snapshot of the version: the old one with the changes applied, or
// a new one if there is no old one or the history has a gap.
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

// changedFlags returns the keys of the changed flags, or nil if the changes between
// the two versions have a gap.
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
