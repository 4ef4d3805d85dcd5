package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/telemetry"
)

// openStore opens and migrates the database that the settings name.
func openStore(ctx context.Context, s settings.Settings, o Options, log *slog.Logger, metrics *telemetry.Metrics, tracing *telemetry.Tracing) (*store.DB, error) {
	options := store.Options{Database: s.Database, File: filepath.Join(s.Data, databaseFile), Log: log, Unsynced: o.Unsynced}
	if s.TracesEnabled && tracing != nil {
		options.Trace = func(ctx context.Context, name string) (context.Context, func(error)) { return tracing.Start(ctx, name) }
	}
	if metrics != nil {
		options.GroupCommitted = metrics.ObserveGroupCommit
		options.Observe = func(kind string, took time.Duration, err error) {
			metrics.ObserveTransaction(kind, took, outcome(err))
		}
	}
	if s.Database == "" || s.Keyring == "" { // something is kept there
		if err := makeDataFolder(s.Data); err != nil {
			return nil, err
		}
	}
	db, err := store.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := db.Migrate(ctx); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// outcome returns the metric label of a transaction: a rule that refuses is not
// a failure of the database.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case len(fault.All(err)) > 0 && !fault.Is(err, fault.Unavailable):
		return "refused"
	}
	return "error"
}

// openRing opens the key ring and refuses one that is not the database's.
func openRing(ctx context.Context, s settings.Settings, db *store.DB) (*sealed.Ring, error) {
	ring, err := readRing(ctx, s, db)
	if err != nil {
		return nil, err
	}
	return ring, db.CheckSeal(ctx, ring)
}

// readRing reads the ring that the settings name, or the one in the data
// folder. The first start makes that one; later a missing ring is an error,
// because values sealed with it exist.
func readRing(ctx context.Context, s settings.Settings, db *store.DB) (*sealed.Ring, error) {
	if s.Keyring != "" {
		return sealed.Open(s.Keyring)
	}
	path := filepath.Join(s.Data, keyringFile)
	ring, err := sealed.OpenFile(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return ring, err
	}
	used, err := db.HasSeal(ctx)
	if err != nil {
		return nil, err
	}
	if used {
		if ring, err := sealed.OpenFile(path); err == nil { // another node has just made it
			return ring, nil
		}
		return nil, fmt.Errorf("the key ring %s is missing, and the database holds values sealed with it: restore the file, or name it with SIGNALBOX_KEYRING", path)
	}
	return sealed.OpenOrCreate(path)
}

// planTable reads the plans that the settings name.
func planTable(s settings.Settings) (plans.Table, error) {
	if s.Plans == "" {
		return plans.BuiltIn(), nil
	}
	file, err := os.Open(s.Plans)
	if err != nil {
		return nil, fmt.Errorf("opening the plans file: %w", err)
	}
	defer func() { _ = file.Close() }() // only read
	return plans.Parse(file)
}
