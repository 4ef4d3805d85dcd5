package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/signalbox/signalbox/internal/durable"
)

// Backup copies a SQLite file to a new file, also beside a running server: the copy is one state of the database.
// The copy is checked before it gets its name. The original is not migrated.
func Backup(ctx context.Context, file, to string) (version int, err error) {
	if _, err := os.Lstat(to); err == nil {
		return 0, fmt.Errorf("%s exists already; name a new file", to)
	}
	removeAbandoned(filepath.Dir(to))
	temporary, err := newTemporary(filepath.Dir(to))
	if err != nil {
		return 0, fmt.Errorf("making the backup: %w", err)
	}
	defer temporary.remove()
	err = withFile(file, func(db *sql.DB) error {
		_, err := db.ExecContext(ctx, `VACUUM INTO ?`, temporary.name) // in one read transaction
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("copying the database: %w", err)
	}
	if version, err = CheckFile(ctx, temporary.name); err != nil {
		return 0, fmt.Errorf("the copy is damaged and was removed: %w", err)
	}
	if err := syncFile(temporary.name); err != nil {
		return 0, fmt.Errorf("making the backup durable: %w", err)
	}
	return version, durable.Rename(temporary.name, to)
}

// withFile opens an existing SQLite file without changing its settings. options are parameters of its name.
func withFile(file string, fn func(*sql.DB) error, options ...string) (err error) {
	if _, err := os.Stat(file); err != nil {
		return err
	}
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath(), RawQuery: strings.Join(append(options, "_pragma=busy_timeout(10000)"), "&")}
	db, err := sql.Open("sqlite", name.String())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	db.SetMaxOpenConns(1)
	return fn(db)
}

// CheckFile checks that a SQLite file is whole and a database of Signalbox, and returns the version of its schema. It
// refuses a schema that is newer than this program.
func CheckFile(ctx context.Context, file string) (version int, err error) {
	steps, err := migrations("sqlite")
	if err != nil {
		return 0, err
	}
	err = withFile(file, func(db *sql.DB) error {
		var found string
		if err := db.QueryRowContext(ctx, `PRAGMA integrity_check(1)`).Scan(&found); err != nil {
			return err
		}
		if found != "ok" {
			return errors.New(strings.TrimSpace(found))
		}
		err := db.QueryRowContext(ctx, `SELECT coalesce(max(version), 0) FROM schema_migrations`).Scan(&version)
		if err != nil {
			return fmt.Errorf("it is not a database of Signalbox: %w", err)
		}
		if known := last(steps); version > known {
			return fmt.Errorf("it has schema version %d and this program knows up to %d: use a newer Signalbox", version, known)
		}
		return nil
	})
	return version, err
}

func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}
