package app

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"net/url"
	"path/filepath"
	"slices"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/api"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/lastknown"
	"github.com/signalbox/signalbox/internal/sealed"
)

// Bounds of the file that is kept on disk for a start without the database.
const (
	lastKnownFile = "last-known-" // followed by the node's name: nodes may share the folder
	// maxKeptAge is the age up to which the file is used.
	maxKeptAge = 24 * time.Hour
	// maxKeptUse is how long a key is kept after its last use: some services run once a day.
	maxKeptUse  = 7 * 24 * time.Hour
	maxKeptKeys = 10_000
	// Parts of Options.KeptBytes, in percent. Together they fit even if nothing can be
	// compressed: a state that is too large would not be saved for any account.
	keptSnapshots, keptFlags, keptKeys = 50, 30, 12
	// keptShare divides the bytes for keys: an account's keys beyond 1/keptShare come after
	// the keys of others.
	keptShare = 8
)

// lastKnown is the state that a node keeps on disk: enough to answer evaluation.
type lastKnown struct {
	SavedAt   time.Time           `json:"saved_at"`
	Keys      []accounts.KnownKey `json:"keys"`
	Snapshots []api.KeptSnapshot  `json:"snapshots"`
	Flags     []flags.Kept        `json:"flags"`
	Confirmed []api.KeptFlags     `json:"confirmed"` // when the flags were last known to be current
}

func (a *App) lastKnownFile(ring *sealed.Ring) lastknown.File {
	return lastknown.File{Path: filepath.Join(a.settings.Data, lastKnownFile+url.PathEscape(a.settings.Name)), Ring: ring, Database: databaseName(a.settings), MaxBytes: a.options.KeptBytes}
}

// loadLastKnown reads the state that this node kept before it was restarted.
func (a *App) loadLastKnown(ring *sealed.Ring) (lastKnown, error) {
	var kept lastKnown
	if err := a.lastKnownFile(ring).Load(&kept); err != nil {
		return lastKnown{}, err
	}
	if age := a.options.Now().Sub(kept.SavedAt); age > maxKeptAge {
		return lastKnown{}, fmt.Errorf("it is %s old, and may be at most %s", age.Round(time.Minute), maxKeptAge)
	}
	return kept, nil
}

// keepLastKnown creates the keeper of the file. With SQLite there is none: a node without
// its database file has nothing to wait for.
func (a *App) keepLastKnown() {
	if a.settings.Database == "" {
		return
	}
	seed := maphash.MakeSeed()
	a.lastKnown = &lastknown.Keeper{File: a.lastKnownFile(a.ring), Interval: a.options.KeepInterval, Log: a.log, Collect: a.collect,
		Mark: func() uint64 {
			return a.auth.Mark() + a.api.Mark(seed) + a.snapshots.Mark(seed) + maphash.String(seed, a.ring.Primary())
		}}
}

// collect returns the state to keep. It asks the database which keys still work.
func (a *App) collect(ctx context.Context) (any, error) {
	now, percent := a.options.Now(), a.options.KeptBytes/100
	kept := lastKnown{SavedAt: now, Snapshots: a.api.SnapshotsToKeep(keptSnapshots * percent), Confirmed: a.api.FlagsToKeep()}
	var err error
	if kept.Flags, err = a.snapshots.Keep(ctx, keptFlags*percent); err != nil {
		return nil, err
	}
	if kept.Keys, err = a.auth.Known(ctx, now.Add(-maxKeptUse), maxKeptKeys); err != nil {
		return nil, err
	}
	kept.Keys = fitKeys(kept.Keys, keptKeys*percent)
	return kept, nil
}

// fitKeys returns the keys that fit into a number of bytes. An account's keys beyond its
// share come after the keys of others.
func fitKeys(keys []accounts.KnownKey, limit int) (kept []accounts.KnownKey) {
	var first, later []accounts.KnownKey
	taken := map[string]int{}
	for _, key := range keys {
		if taken[key.Account] += keyBytes(key); taken[key.Account] > limit/keptShare {
			later = append(later, key)
		} else {
			first = append(first, key)
		}
	}
	for _, key := range slices.Concat(first, later) {
		if size := keyBytes(key); size <= limit {
			limit -= size
			kept = append(kept, key)
		}
	}
	return kept
}

// keyBytes returns the approximate size of a key as JSON.
func keyBytes(key accounts.KnownKey) int {
	const fixed, framing = 512, 3
	size := fixed + len(key.Name) + len(key.CreatedBy)
	for _, text := range slices.Concat(key.Environments, key.Origins) {
		size += framing + len(text)
	}
	return size
}

// recallLastKnown loads again from the database what the node had before it was restarted,
// so that it is as prepared for an outage as before. Nothing of the file is served: the
// database may have been restored to another history meanwhile.
func (a *App) recallLastKnown(ctx context.Context) {
	kept, err := a.loadLastKnown(a.ring)
	if err != nil {
		if !errors.Is(err, fs.ErrNotExist) {
			a.log.Info("The state that this node kept on disk is not used, and will be written again.", "error", err)
		}
		return
	}
	a.auth.Remember(kept.Keys)
	heads, err := a.db.Heads(ctx)
	if err != nil {
		return
	}
	a.api.LoadKept(ctx, kept.Snapshots, kept.Confirmed, heads)
}

// stopKeeping writes the file for the last time, with everything that was acknowledged. It
// tries even if the feed has stopped: a database that was slow for a second may answer.
func (a *App) stopKeeping(ctx context.Context) {
	a.recalling.Stop()
	if a.lastKnown == nil {
		return
	}
	if heads, err := a.db.Heads(ctx); err == nil {
		a.api.CatchUp(ctx, heads)
	}
	a.lastKnown.Stop(ctx)
}
