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

// keptShare says which part of the bytes an account may have in its turn: one in so many.
const keptShare = 8

// KeptSnapshot is a snapshot as a node keeps it over a restart.
type KeptSnapshot struct {
	Account     string        `json:"account"`
	Environment string        `json:"environment"`
	Parts       SnapshotParts `json:"parts"`
	Seq         int64         `json:"seq"`
	Text        string        `json:"text"` // as it is sent
	ETag        string        `json:"etag"`
	Used        time.Time     `json:"used"`
	Confirmed   time.Time     `json:"confirmed"`
}

// KeptFlags says when the flags of an account were last known to be current.
type KeptFlags struct {
	Account   string    `json:"account"`
	Confirmed time.Time `json:"confirmed"`
}

// Keep returns the snapshots that would be served if the database were away, up to a
// number of bytes. Every account has its turn before another gets a further keptShare of
// them; those that were asked for last come first.
func (a *API) Keep(limit int) []KeptSnapshot {
	type candidate struct {
		keptSnapshot
		current *encodedSnapshot
		turn    int
	}
	candidates, taken := []candidate{}, map[string]int{}
	for _, each := range a.loaded.lately("", time.Now().Add(-maxStale)) {
		current := each.held.current.Load()
		if size := current.keptBytes(); size <= limit {
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

// keptBytes is about what the snapshot takes on disk.
func (e *encodedSnapshot) keptBytes() int { return len(e.text) + snapshotOverhead }

// KeepFlags returns when the flags of accounts were last known to be current.
func (a *API) KeepFlags() []KeptFlags {
	kept := []KeptFlags{}
	for _, account := range a.outage.accounts() {
		kept = append(kept, KeptFlags{account, a.outage.since(account)})
	}
	return kept
}

// Take takes over what was kept before a restart, to serve it while the database is away.
// It is for a node that has no database yet: what a database says now may be of another
// history.
func (a *API) Take(snapshots []KeptSnapshot, flags []KeptFlags) {
	for _, kept := range snapshots {
		number, found := findNumber([]byte(kept.Text), kept.Seq)
		if !found {
			continue
		}
		key := kept.key()
		held := a.loaded.holder(key)
		a.loaded.keep(key, held, encoded(kept.Seq, []byte(kept.Text), number, kept.ETag))
		held.used.Store(kept.Used.UnixMicro())
		held.confirmed.Store(kept.Confirmed.UnixMicro())
	}
	for _, kept := range flags {
		a.outage.confirmAt(kept.Account, kept.Confirmed)
	}
}

// Load loads what was kept before a restart anew, so that the node is as prepared for an
// outage as it was. It returns when everything is there or ctx ends. What fails is loaded
// when it is asked for.
func (a *API) Load(ctx context.Context, snapshots []KeptSnapshot, flags []KeptFlags, heads map[string]int64) {
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

// CatchUp brings what is in memory up to the last changes of the accounts without a
// pause, before it is kept for the last time.
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
			_ = a.refresher.refresh(ctx, account, head) // what fails stays as it is
		}
	}
}

func (k KeptSnapshot) key() snapshotKey { return snapshotKey{k.Account, k.Environment, k.Parts} }

// findNumber finds where a snapshot has its version: in front of everything else.
func findNumber(text []byte, version int64) (span, bool) {
	const before = `"attributes":{"seq":`
	number := strconv.FormatInt(version, 10)
	from := bytes.Index(text, []byte(before+number)) + len(before)
	return span{from, from + len(number)}, from >= len(before)
}

// Mark returns a number that is another one when something else would be kept, and every
// hour, so that what did not change does not become too old.
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
