package flags

import (
	"cmp"
	"context"
	"hash/maphash"
	"maps"
	"slices"
)

// Kept is the flags of an account that a node keeps across a restart.
type Kept struct {
	Account      string     `json:"account"`
	Version      int64      `json:"version"` // the content is at least as new
	Environments []string   `json:"environments"`
	Flags        []KeptFlag `json:"flags"`
}

// KeptFlag is one flag of Kept.
type KeptFlag struct {
	Key  string `json:"key"`
	Flag Flag   `json:"flag"`
}

// keptShare sets the size groups of Keep: each group spans limit/keptShare bytes.
const keptShare = 8

// Keep reads the flags of the accounts whose snapshots are in memory, up to about limit
// bytes. Accounts come in groups of similar size (see keptShare), small ones first; within a
// group, recently used ones first. The database is read because snapshots hold compiled flags.
func (s *Snapshots) Keep(ctx context.Context, limit int) ([]Kept, error) {
	kept, found, share := []Kept{}, s.inMemory(), limit/keptShare+1
	slices.SortStableFunc(found, func(a, b snapshotInMemory) int { return cmp.Compare(a.flags.bytes/share, b.flags.bytes/share) })
	for _, each := range found {
		if each.flags.bytes > limit {
			continue
		}
		flags, environments, err := s.read(ctx, each.account, nil)
		if err != nil {
			return nil, err
		}
		size := 0 // the flags may have grown since they were compiled
		one := Kept{Account: each.account, Version: each.version, Environments: slices.Collect(maps.Keys(environments))}
		for _, key := range one.Environments {
			size += framing + len(key)
		}
		for _, flag := range flags {
			size += compiledBytes + flag.bytes()
			flag.Name, flag.Description = "", nil // evaluation does not need them
			one.Flags = append(one.Flags, KeptFlag{flag.Key, flag})
		}
		if size <= limit {
			limit -= size
			kept = append(kept, one)
		}
	}
	return kept, nil
}

// Take loads flags that were kept before a restart. Held returns them.
func (s *Snapshots) Take(kept Kept) {
	flags, environments := make([]Flag, len(kept.Flags)), map[string]bool{}
	for i, each := range kept.Flags {
		flags[i] = each.Flag
		flags[i].Account, flags[i].Key = kept.Account, each.Key
		flags[i].restoreDefaults()
	}
	for _, key := range kept.Environments {
		environments[key] = true
	}
	holder := s.holder(kept.Account)
	holder.use(s.round.Load())
	s.keep(kept.Account, holder, &Snapshot{flags: new(table).with(flags, nil), version: kept.Version, environments: environments})
}

// restoreDefaults turns the default of environments from null back into nil, which JSON encodes
// as null. No environment has the default null.
func (f *Flag) restoreDefaults() {
	for key, environment := range f.Environments {
		if string(environment.Default) == "null" {
			environment.Default = nil
			f.Environments[key] = environment
		}
	}
}

// Mark returns a number that changes when the flags in memory change.
func (s *Snapshots) Mark(seed maphash.Seed) (mark uint64) {
	for _, each := range s.inMemory() {
		mark += maphash.Comparable(seed, struct {
			account string
			version int64
		}{each.account, each.version})
	}
	return mark
}

// snapshotInMemory is the snapshot of an account, and the round of its last use.
type snapshotInMemory struct {
	*Snapshot
	account string
	used    int64
}

// inMemory returns the snapshots of all accounts, most recently used first.
func (s *Snapshots) inMemory() (found []snapshotInMemory) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	for account, holder := range s.accounts {
		if snapshot := holder.snapshot.Load(); snapshot != nil {
			found = append(found, snapshotInMemory{snapshot, account, holder.used.Load()})
		}
	}
	slices.SortFunc(found, func(a, b snapshotInMemory) int { return cmp.Compare(b.used, a.used) })
	return found
}
