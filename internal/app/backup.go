package app

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
)

// errPostgres is a backup of a database that has better tools.
var errPostgres = errors.New("the data is in PostgreSQL: back it up with pg_dump --format=custom, and restore it with pg_restore --clean while no server runs")

// Backup copies the SQLite database of a server, running or not, to a new file, and returns the version of its schema. The
// key ring is not in it.
func Backup(ctx context.Context, s settings.Settings, to string) (version int, err error) {
	if s.Database != "" {
		return 0, errPostgres
	}
	file := filepath.Join(s.Data, databaseFile)
	if !exists(file) {
		return 0, errNoDatabase(s)
	}
	return store.Backup(ctx, file, to)
}

// errNoDatabase says where a database was looked for.
func errNoDatabase(s settings.Settings) error {
	return fmt.Errorf("there is no database in %s: name the server's data folder with --data, or its PostgreSQL with --database", s.Data)
}

// HasDatabase reports whether a restore would replace a database.
func HasDatabase(s settings.Settings) bool {
	return s.Database == "" && exists(filepath.Join(s.Data, databaseFile))
}

// Restore makes a backup the SQLite database of a server that does not run. The database that was there is kept under
// another name, which is returned.
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
	copied, err := copyInto(s.Data, from)
	if err != nil {
		return "", fmt.Errorf("copying the backup: %w", err)
	}
	defer os.Remove(copied)
	file := filepath.Join(s.Data, databaseFile)
	if exists(file) {
		kept = file + ".before-" + time.Now().UTC().Format("20060102T150405Z")
		if err := moveDatabase(file, kept); err != nil {
			return "", fmt.Errorf("keeping the database that was there: %w", err)
		}
	}
	return kept, os.Rename(copied, file)
}

// copyInto copies a file to a new one in a folder and makes it durable.
func copyInto(folder, from string) (name string, err error) {
	source, err := os.Open(from)
	if err != nil {
		return "", err
	}
	defer source.Close()
	target, err := os.CreateTemp(folder, ".signalbox-restore-*.tmp")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(target, source)
	if err = errors.Join(err, target.Sync(), target.Close()); err != nil {
		os.Remove(target.Name())
		return "", err
	}
	return target.Name(), nil
}

// moveDatabase renames a SQLite database with the files beside it, which hold commits. They go first: without them the
// database is older, and with another's it is damaged.
func moveDatabase(file, to string) error {
	for _, suffix := range []string{"-wal", "-shm", ""} {
		if err := os.Rename(file+suffix, to+suffix); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	return nil
}
