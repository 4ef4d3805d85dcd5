package store

import (
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
)

//go:embed migrations
var migrationFiles embed.FS

// migration is one step of the schema. Both dialects have the same steps.
type migration struct {
	version  int
	name     string
	text     string
	checksum string
}

// Migrate brings the schema up to date, on any number of nodes at once. It refuses a schema that is newer than the
// program or has other steps.
func (db *DB) Migrate(ctx context.Context) error {
	steps, err := db.steps()
	if err != nil {
		return err
	}
	if err := db.prepareMigrations(ctx); err != nil {
		return fmt.Errorf("preparing migrations: %w", err)
	}
	return db.write(ctx, writeOptions{unlimited: true}, func(ctx context.Context, tx *Tx) error {
		if err := tx.LockSchema(ctx); err != nil {
			return err
		}
		if err := tx.migrate(ctx, steps); err != nil {
			return err
		}
		return tx.foldAddresses(ctx)
	})
}

// Migrated returns an error unless the schema has every step that this program needs.
func (db *DB) Migrated(ctx context.Context) error {
	steps, err := db.steps()
	if err != nil {
		return err
	}
	return db.read(ctx, forLoops, db.engine.read, func(ctx context.Context, tx *ReadTx) error { // a busy node is healthy
		applied, err := tx.appliedMigrations(ctx)
		if err != nil {
			return err
		}
		if len(applied) < len(steps) { // a newer node may have migrated further; this program works with that schema
			return fmt.Errorf("the schema is at version %d and this program needs %d", last(applied), last(steps))
		}
		return nil
	})
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations (
	version    bigint PRIMARY KEY,
	name       text NOT NULL,
	checksum   text NOT NULL,
	applied_at bigint NOT NULL
)`

const createSchemaLock = `CREATE TABLE IF NOT EXISTS schema_lock (id bigint PRIMARY KEY)`

// prepareMigrations makes the tables that Migrate itself needs. It retries: on
// PostgreSQL two nodes at once may make each other fail, even with IF NOT EXISTS.
func (db *DB) prepareMigrations(ctx context.Context) (err error) {
	for range 5 {
		err = db.Write(ctx, "", func(ctx context.Context, tx *Tx) error {
			for _, statement := range []string{createMigrations, createSchemaLock,
				`INSERT INTO schema_lock (id) VALUES (1) ON CONFLICT DO NOTHING`} {
				if err := tx.run(ctx, statement); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil || ctx.Err() != nil {
			return err
		}
	}
	return err
}

func (tx *Tx) migrate(ctx context.Context, steps []migration) error {
	applied, err := tx.appliedMigrations(ctx)
	if err != nil {
		return err
	}
	if err := compare(applied, steps); err != nil {
		return err
	}
	for _, step := range steps[len(applied):] {
		if err := tx.apply(ctx, step); err != nil {
			return fmt.Errorf("migration %04d_%s: %w", step.version, step.name, err)
		}
	}
	return nil
}

// compare checks that the applied steps are the first steps of this program.
func compare(applied, steps []migration) error {
	if len(applied) > len(steps) {
		return fmt.Errorf("the database has schema version %d and this program knows up to %d: it was migrated by a newer Signalbox. Start that version, or restore a backup from before it",
			last(applied), last(steps))
	}
	for i, done := range applied {
		if done.version != steps[i].version || done.checksum != steps[i].checksum {
			return fmt.Errorf("the database was migrated with another text of step %04d_%s than this program has: it belongs to another build of Signalbox",
				done.version, done.name)
		}
	}
	return nil
}

func (tx *Tx) apply(ctx context.Context, step migration) error {
	for _, statement := range statements(step.text) {
		if err := tx.run(ctx, statement); err != nil {
			return err
		}
	}
	return tx.run(ctx, `INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES ($1, $2, $3, $4)`,
		step.version, step.name, step.checksum, micros(tx.now))
}

// statements cuts the text of a migration. A semicolon at the end of a line ends a statement, unless the next line is
// indented, as in the body of a function.
func statements(text string) (found []string) {
	for piece := range strings.SplitSeq(text, ";\n") {
		switch {
		case strings.HasPrefix(piece, "\t"):
			found[len(found)-1] += ";\n" + piece
		case strings.TrimSpace(piece) != "":
			found = append(found, piece)
		}
	}
	return found
}

func (tx *ReadTx) appliedMigrations(ctx context.Context) ([]migration, error) {
	return all(ctx, tx.conn, func(r row) (m migration, err error) {
		err = r.Scan(&m.version, &m.name, &m.checksum)
		return m, err
	}, `SELECT version, name, checksum FROM schema_migrations ORDER BY version`)
}

// migrations reads the embedded steps of a dialect, NNNN_name.sql, ordered by number. Numbers may have gaps.
func migrations(dialect string) ([]migration, error) {
	files, err := fs.Glob(migrationFiles, "migrations/"+dialect+"/*.sql")
	if err != nil {
		return nil, err
	}
	steps := make([]migration, 0, len(files))
	for _, file := range files {
		text, err := migrationFiles.ReadFile(file)
		if err != nil {
			return nil, err
		}
		base := strings.TrimSuffix(file[strings.LastIndex(file, "/")+1:], ".sql")
		number, name, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil || version <= last(steps) {
			return nil, fmt.Errorf("the migration %s does not follow number %d", file, last(steps))
		}
		sum := sha256.Sum256(text)
		steps = append(steps, migration{version: version, name: name, text: string(text), checksum: hex.EncodeToString(sum[:])})
	}
	return steps, nil
}

// last returns the number of the last step; 0 when there is none.
func last(steps []migration) int {
	if len(steps) == 0 {
		return 0
	}
	return steps[len(steps)-1].version
}
