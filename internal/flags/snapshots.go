package flags

import (
	"context"
	"encoding/json"
	"maps"
	"sync"
	"sync/atomic"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/changes"
)

// maxCatchUp is how many changes a snapshot follows one by one; further behind
// it is read anew.
const maxCatchUp = 500

// Snapshots keeps the compiled flags of each account that evaluates on the
// server. Before a snapshot is used the account's version is asked for, and
// what changed since is read: an evaluation is never older than the last write
// that was acknowledged before it began, on whichever node. See evict.go for how
// long a snapshot is kept.
type Snapshots struct {
	Store Store
	// Version returns the number of an account's last recorded change.
	Version func(ctx context.Context, account string) (int64, error)
	// History returns an account's changes after a number, oldest first.
	History func(ctx context.Context, account string, after int64, limit int) ([]changes.Change, error)

	// MaxBytes is about what all snapshots may take together; 0 means the default.
	MaxBytes int

	round    atomic.Int64 // of Evict
	mu       sync.RWMutex
	accounts map[string]*held
	bytes    int // of all accounts
}

// Snapshot is the flags of an account, compiled, and its environments, at a
// version.
type Snapshot struct {
	*flageval.Snapshot
	version      int64
	details      map[string]detail // by flag
	bytes        int
	environments map[string]bool
}

// Variant returns the name of the choice that an evaluated value is, as JSON, or
// nil.
func (s *Snapshot) Variant(key string, value json.RawMessage) json.RawMessage {
	return s.details[key].variants[string(value)]
}

// detail is what a snapshot knows of a flag besides how to evaluate it.
type detail struct {
	variants variants
	bytes    int
}

// HasEnvironment reports whether the account has an environment.
func (s *Snapshot) HasEnvironment(key string) bool {
	_, has := s.environments[key]
	return has
}

// held is an account's snapshot. One reader brings it up to date under its lock
// while the others wait; a reader that finds it up to date does not.
type held struct {
	mu       sync.Mutex
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

// Get returns the current snapshot of an account.
func (s *Snapshots) Get(ctx context.Context, account string) (*Snapshot, error) {
	version, err := s.Version(ctx, account)
	if err != nil {
		return nil, err
	}
	holder := s.holder(account)
	holder.use(s.round.Load())
	if current := holder.atLeast(version); current != nil {
		return current, nil
	}
	holder.mu.Lock()
	defer holder.mu.Unlock()
	if current := holder.atLeast(version); current != nil {
		return current, nil
	}
	updated, err := s.update(ctx, account, holder.snapshot.Load(), version)
	if err != nil {
		return nil, err
	}
	s.keep(account, holder, updated)
	return updated, nil
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
	if old == nil {
		return s.load(ctx, account, version)
	}
	news, err := s.History(ctx, account, old.version, maxCatchUp)
	if err != nil {
		return nil, err
	}
	keys, followed := changedFlags(news, old.version, version)
	if !followed {
		return s.load(ctx, account, version)
	}
	return s.follow(ctx, account, old, version, keys)
}

// changedFlags returns the flags that changes are about, or false when there is a
// gap between the two versions.
func changedFlags(news []changes.Change, from, to int64) ([]string, bool) {
	keys := []string{}
	for _, change := range news {
		if change.Seq != from+1 {
			return nil, false
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
			return nil, false
		}
		keys = append(keys, several.Keys...)
	}
	return keys, from >= to
}

func (s *Snapshots) load(ctx context.Context, account string, version int64) (*Snapshot, error) {
	flags, environments, err := s.read(ctx, account, nil)
	if err != nil {
		return nil, err
	}
	made := &Snapshot{version: version, details: map[string]detail{}, environments: environments}
	made.Snapshot = flageval.NewSnapshot(made.add(flags)...)
	return made, nil
}

func (s *Snapshots) follow(ctx context.Context, account string, old *Snapshot, version int64, keys []string) (*Snapshot, error) {
	flags, environments, err := s.read(ctx, account, keys)
	if err != nil {
		return nil, err
	}
	updated := &Snapshot{Snapshot: old.Snapshot, version: version, details: old.details, bytes: old.bytes, environments: environments}
	if len(keys) == 0 {
		return updated, nil
	}
	updated.details = maps.Clone(old.details)
	for _, key := range keys {
		updated.bytes -= updated.details[key].bytes
		delete(updated.details, key)
	}
	updated.Snapshot = old.With(updated.add(flags), keys)
	return updated, nil
}

// add adds flags and returns them compiled.
func (s *Snapshot) add(flags []Flag) []*flageval.Flag {
	compiled := make([]*flageval.Flag, len(flags))
	for i, flag := range flags {
		compiled[i] = flag.Compiled()
		s.details[flag.Key] = detail{variants: flag.variants(), bytes: compiledBytes + flag.bytes()}
		s.bytes += s.details[flag.Key].bytes
	}
	return compiled
}

func (s *Snapshots) read(ctx context.Context, account string, keys []string) (flags []Flag, environments map[string]bool, err error) {
	err = s.Store.Read(ctx, func(tx ReadTx) error {
		if flags, err = tx.FlagsByKey(ctx, account, keys); err != nil {
			return err
		}
		environments, err = tx.ManagedEnvironments(ctx, account)
		return err
	})
	return flags, environments, err
}
