package api

import (
	"bytes"
	"cmp"
	"context"
	"hash/maphash"
	"slices"
	"strconv"
	"time"
)

// keptShare sets the bytes that an account gets in each turn: one eighth of the limit.
const keptShare = 8

// KeptSnapshot is a snapshot that a node keeps over a restart.
type KeptSnapshot struct {
	Account     string        `json:"account"`
	Environment string        `json:"environment"`
	Parts       SnapshotParts `json:"parts"`
	Seq         int64         `json:"seq"`
	Text        string        `json:"text"` // the encoded response
	ETag        string        `json:"etag"`
	Used        time.Time     `json:"used"`
	Confirmed   time.Time     `json:"confirmed"`
}

// KeptFlags says when the flags of an account were last known to be current.
type KeptFlags struct {
	Account   string    `json:"account"`
	Confirmed time.Time `json:"confirmed"`
}

// SnapshotsToKeep returns the snapshots of services that would be served if the database
// were away, up to limit bytes. Snapshots in the format of flagd are not kept. To share the
// limit fairly, every account gets up to limit/keptShare bytes in each turn. Within a turn,
// the most recently used snapshots come first.
func (a *API) SnapshotsToKeep(limit int) []KeptSnapshot {
	type candidate struct {
		keptSnapshot
		current *encodedSnapshot
		turn    int
	}
	candidates, taken := []candidate{}, map[string]int{}
	for _, each := range a.loaded.lately("", time.Now().Add(-maxStale)) {
		current := each.held.current.Load()
		if size := current.keptBytes(); size <= limit && !each.key.flagd {
			taken[each.key.account] += size
			candidates = append(candidates, candidate{each, current, taken[each.key.account] * keptShare / limit})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.turn, b.turn) })
	kept := []KeptSnapshot{}
	for _, each := range candidates {
		current := each.current
		if current.keptBytes() > limit {
			continue
		}
		limit -= current.keptBytes()
		kept = append(kept, KeptSnapshot{Account: each.key.account, Environment: each.key.environment, Parts: each.key.parts, Seq: current.version,
			Text: string(current.text), ETag: current.etag, Used: instant(&each.held.used), Confirmed: instant(&each.held.confirmed)})
	}
	return kept
}

// keptBytes returns the approximate size of the snapshot on disk.
func (e *encodedSnapshot) keptBytes() int { return len(e.text) + snapshotOverhead }

// FlagsToKeep returns when the flags of each account were last known to be current.
func (a *API) FlagsToKeep() []KeptFlags {
	kept := []KeptFlags{}
	for _, account := range a.outage.accounts() {
		kept = append(kept, KeptFlags{account, a.outage.since(account)})
	}
	return kept
}

// UseKept adds the snapshots and flags that were kept before a restart, to serve them while
// the database is away. It is only for a node that has not reached the database yet: the
// database may have been restored to another history meanwhile.
func (a *API) UseKept(snapshots []KeptSnapshot, flags []KeptFlags) {
	for _, kept := range snapshots {
		number, found := findNumber([]byte(kept.Text), kept.Seq)
		if !found {
			continue
		}
		key := kept.key()
		held := a.loaded.holder(key)
		snapshot := encoded(kept.Seq, []byte(kept.Text), number, kept.ETag)
		if key.parts.Files {
			snapshot.files = newFileSet(snapshot.text)
		}
		a.loaded.keep(key, held, snapshot)
		held.used.Store(kept.Used.UnixMicro())
		held.confirmed.Store(kept.Confirmed.UnixMicro())
	}
	for _, kept := range flags {
		a.outage.confirmAt(kept.Account, kept.Confirmed)
	}
}

// LoadKept reads from the database the snapshots and flags that were kept before a restart, so
// that the node is again prepared for an outage. LoadKept returns when all are loaded or ctx
// ends. Snapshots and flags that fail to load are loaded at their next use.
func (a *API) LoadKept(ctx context.Context, snapshots []KeptSnapshot, flags []KeptFlags, heads map[string]int64) {
	for _, kept := range flags {
		if head, exists := heads[kept.Account]; exists && ctx.Err() == nil && !isTooOld(kept.Confirmed) {
			if _, err := a.FlagSnapshots.Get(ctx, kept.Account, head); err == nil {
				a.outage.confirm(kept.Account)
			}
		}
	}
	for _, kept := range snapshots {
		if head, exists := heads[kept.Account]; exists && ctx.Err() == nil {
			if _, err := a.loaded.get(ctx, kept.key(), head); err == nil {
				a.loaded.holder(kept.key()).used.Store(kept.Used.UnixMicro())
			}
		}
	}
}

// CatchUp refreshes the snapshots and flags in memory up to the last change of each
// account, without pauses, before they are kept for the last time.
func (a *API) CatchUp(ctx context.Context, heads map[string]int64) {
	accounts := map[string]bool{}
	for _, each := range a.loaded.lately("", time.Now().Add(-maxStale)) {
		accounts[each.key.account] = true
	}
	for _, account := range a.outage.accounts() {
		accounts[account] = true
	}
	for account := range accounts {
		if head, exists := heads[account]; exists && ctx.Err() == nil {
			_ = a.refresher.refresh(ctx, account, head) // as much as possible: errors are ignored
		}
	}
}

func (k KeptSnapshot) key() snapshotKey {
	return snapshotKey{account: k.Account, environment: k.Environment, parts: k.Parts}
}

// findNumber returns the place of the version in a snapshot: the first attribute.
func findNumber(text []byte, version int64) (span, bool) {
	const before = `"attributes":{"seq":`
	number := strconv.FormatInt(version, 10)
	from := bytes.Index(text, []byte(before+number)) + len(before)
	return span{from, from + len(number)}, from >= len(before)
}

// Mark returns a number that changes when SnapshotsToKeep would return other snapshots. It also changes
// every hour, so that the times of unchanged snapshots are kept up to date.
func (a *API) Mark(seed maphash.Seed) (mark uint64) {
	for _, each := range a.loaded.lately("", time.Now().Add(-maxStale)) {
		mark += maphash.Comparable(seed, struct {
			key     snapshotKey
			version int64
			hour    int64
		}{each.key, each.held.current.Load().version, each.held.confirmed.Load() / time.Hour.Microseconds()})
	}
	return mark
}
