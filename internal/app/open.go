package app

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net/url"
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
	options := store.Options{Database: s.Database, File: filepath.Join(s.Data, databaseFile), Log: log, Unsynced: o.Unsynced, Now: o.Now,
		HistoryBytes: s.HistoryBytes, Connections: s.DatabaseConnections}
	if s.TracesEnabled && tracing != nil {
		options.Trace = func(ctx context.Context, name string) (context.Context, func(error)) { return tracing.Start(ctx, name) }
	}
	if metrics != nil {
		options.GroupCommitted = metrics.ObserveGroupCommit
		options.Observe = func(kind string, took time.Duration, err error) {
			metrics.ObserveTransaction(kind, took, outcome(err))
		}
	}
	if s.Database == "" {
		if err := makeDataFolder(s.Data); err != nil {
			return nil, err
		}
	}
	if err := settleRestore(s); err != nil {
		return nil, err
	}
	ringExists, err := checkDatabaseFile(s)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, options)
	if err != nil {
		return nil, err
	}
	if s.Keyring == "" { // the data folder has the ring, also with PostgreSQL
		err = makeDataFolder(s.Data)
	}
	if err == nil && ringExists {
		err = checkSealed(ctx, s, db)
	}
	if err == nil {
		err = db.Migrate(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return db, nil
}

// checkDatabaseFile reports whether the data folder has a key ring. It refuses a ring
// whose SQLite file is missing.
func checkDatabaseFile(s settings.Settings) (ringExists bool, err error) {
	if s.Keyring != "" || !exists(filepath.Join(s.Data, keyringFile)) {
		return false, nil
	}
	if s.Database == "" && !exists(filepath.Join(s.Data, databaseFile)) {
		return true, errVanished(s)
	}
	return true, nil
}

// checkSealed refuses a database that does not belong to the key ring in the data
// folder. A ring file gets its final name only after the database has a value sealed
// with it, so a database without such a value is the wrong one.
func checkSealed(ctx context.Context, s settings.Settings, db *store.DB) error {
	used, err := db.HasSeal(ctx)
	if err == nil && !used {
		err = errVanished(s)
	}
	return err
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

func errVanished(s settings.Settings) error {
	return fmt.Errorf("there is a key ring, %s, but %s holds nothing that was sealed with it, as when a volume is not mounted or SIGNALBOX_DATABASE names another database: "+
		"mount or restore the database; to start with a new one on purpose, move the key ring away or name it with SIGNALBOX_KEYRING",
		filepath.Join(s.Data, keyringFile), databaseName(s))
}

// databaseName returns the name of the database, without a password.
func databaseName(s settings.Settings) string {
	if s.Database == "" {
		return "the database " + filepath.Join(s.Data, databaseFile)
	}
	location, err := url.Parse(s.Database)
	if err != nil || location.Host == "" {
		return "the PostgreSQL database"
	}
	return "the PostgreSQL database " + location.Host + location.Path
}

// outcome returns the metric label of a transaction. A refusal by a rule is not a
// failure of the database.
func outcome(err error) string {
	switch {
	case err == nil:
		return "ok"
	case len(fault.All(err)) > 0 && !fault.Is(err, fault.Unavailable):
		return "refused"
	}
	return "error"
}

// openRing returns the key ring that the settings name, or opens the ring in the data
// folder. It refuses a ring that does not belong to the database. The first start
// creates the ring under a temporary name. The ring gets its final name after the
// database has a value sealed with it, so an interrupted start can be repeated.
func openRing(ctx context.Context, s settings.Settings, named *sealed.Ring, db *store.DB) (*sealed.Ring, error) {
	if named != nil {
		return named, db.CheckSeal(ctx, named)
	}
	path := filepath.Join(s.Data, keyringFile)
	fresh := path + ".new"
	if _, err := db.OpenRing(ctx, func(used bool) (*sealed.Ring, error) {
		switch {
		case used:
			return openPublished(path, fresh)
		case exists(path):
			return nil, errVanished(s)
		}
		return sealed.OpenOrCreate(fresh)
	}); err != nil {
		return nil, err
	}
	return openPublished(path, fresh)
}

// openPublished opens the key ring of a database in use. If the start that created the
// ring was interrupted, it gives the ring its final name.
func openPublished(path, fresh string) (*sealed.Ring, error) {
	if !exists(path) {
		if err := os.Rename(fresh, path); err != nil && !errors.Is(err, fs.ErrNotExist) { // another node may have renamed it
			return nil, fmt.Errorf("naming the key ring: %w", err)
		}
	}
	ring, err := sealed.OpenFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("the key ring %s is missing, and the database holds values sealed with it: restore the file, or name it with SIGNALBOX_KEYRING", path)
	}
	return ring, err
}

// namedRing opens the key ring that the settings name, or returns nil if they name none.
func namedRing(s settings.Settings) (*sealed.Ring, error) {
	if s.Keyring == "" {
		return nil, nil //nolint:nilnil // nil means the ring in the data folder
	}
	return sealed.Open(s.Keyring)
}

// planTable reads the plans file that the settings name, or returns the built-in plans.
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
