package app

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
)

// errPostgres is the refusal to back up PostgreSQL, which has its own tools.
var errPostgres = errors.New("the data is in PostgreSQL: back it up with pg_dump --format=custom, and restore it with pg_restore --clean while no server runs")

// Backup copies the SQLite database of a server to a new file, and returns the version of its schema. The server may run
// meanwhile. The copy does not include the key ring.
func Backup(ctx context.Context, s settings.Settings, to string) (version int, err error) {
	if s.Database != "" {
		return 0, errPostgres
	}
	if err := settleRestore(s); err != nil {
		return 0, err
	}
	file := filepath.Join(s.Data, databaseFile)
	if !exists(file) {
		return 0, errNoDatabase(s)
	}
	return store.Backup(ctx, file, to)
}

// errNoDatabase returns an error that names the folder without a database.
func errNoDatabase(s settings.Settings) error {
	return fmt.Errorf("there is no database in %s: name the server's data folder with --data, or its PostgreSQL with --database", s.Data)
}

// HasDatabase reports whether a restore would replace a database.
func HasDatabase(s settings.Settings) bool {
	file := filepath.Join(s.Data, databaseFile)
	return s.Database == "" && (exists(file) || store.RestoreInterrupted(file))
}

// Restore replaces the SQLite database of a stopped server with a backup. It renames the old database and returns the new
// name.
func Restore(ctx context.Context, s settings.Settings, from string) (kept string, err error) {
	if s.Database != "" {
		return "", errPostgres
	}
	if _, err := store.CheckFile(ctx, from); err != nil {
		return "", fmt.Errorf("%s cannot be restored: %w", from, err)
	}
	lock, err := openDataFolder(s.Data)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	file := filepath.Join(s.Data, databaseFile)
	replaces := exists(file)
	kept = file + ".before-" + time.Now().UTC().Format("20060102T150405.000Z")
	if err := store.Restore(ctx, file, from, kept); err != nil || !replaces {
		return "", err
	}
	return kept, nil
}

// settleRestore completes an interrupted restore, if there is one, for commands that do not lock the folder.
func settleRestore(s settings.Settings) error {
	if s.Database != "" || !store.RestoreInterrupted(filepath.Join(s.Data, databaseFile)) {
		return nil
	}
	lock, err := openDataFolder(s.Data) // completes the restore
	if err != nil {
		return err
	}
	return lock.Close()
}
