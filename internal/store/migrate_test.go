package store_test

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// eachEmpty runs a test on both kinds of database, without a schema.
func eachEmpty(t *testing.T, test func(t *testing.T, database storetest.Database)) {
	t.Helper()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, storetest.NewEmpty(t, kind))
		})
	}
}

// openOnly opens a database without migrating it.
func openOnly(t *testing.T, database storetest.Database) *store.DB {
	t.Helper()
	db, err := store.Open(t.Context(), database.Options())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// A migration that is given up is rolled back, and would be at every start.
func TestMigrate_LongerThanWriteLimit(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, database storetest.Database) {
		var longest time.Duration
		db := database.Open(t, func(options *store.Options) { // which migrates
			options.Trace = func(ctx context.Context, _ string) (context.Context, func(error)) {
				until, bounded := ctx.Deadline()
				if longest = max(longest, time.Until(until)); !bounded {
					t.Error("a transaction has no end")
				}
				return ctx, func(error) {}
			}
		})
		if longest < 30*time.Minute {
			t.Errorf("the longest transaction may take %v", longest)
		}
		longest = 0
		if err := db.Write(t.Context(), "", func(context.Context, *store.Tx) error { return nil }); err != nil || longest > time.Minute {
			t.Errorf("a write may take %v, %v", longest, err)
		}
	})
}

func TestMigrate_EmptyDatabase(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, database storetest.Database) {
		db := openOnly(t, database)
		if err := db.Migrated(t.Context()); err == nil {
			t.Error("an empty database passes for a migrated one")
		}
		var first []string
		for range 3 {
			if err := db.Migrate(t.Context()); err != nil {
				t.Fatal(err)
			}
			if err := db.Migrated(t.Context()); err != nil {
				t.Error(err)
			}
			applied := query(t, database.Raw(t), `SELECT version || ' ' || name || ' ' || checksum || ' ' || applied_at FROM schema_migrations ORDER BY version`)
			if first == nil {
				first = applied
			}
			if diff := cmp.Diff(first, applied); diff != "" || len(applied) == 0 {
				t.Errorf("a repetition changed something (-first +later):\n%s", diff)
			}
		}
		storetest.NewTenant(t, db, "pro")
	})
}

func TestMigrate_Concurrent(t *testing.T) {
	t.Parallel()
	eachEmpty(t, func(t *testing.T, database storetest.Database) {
		start := make(chan struct{})
		var nodes sync.WaitGroup
		for i := range 8 {
			nodes.Go(func() {
				<-start
				db, err := store.Open(t.Context(), database.Options())
				if err != nil {
					t.Errorf("node %d does not open: %v", i, err)
					return
				}
				defer db.Close()
				if err := db.Migrate(t.Context()); err != nil {
					t.Errorf("node %d does not migrate: %v", i, err)
				}
				if err := db.Migrated(t.Context()); err != nil {
					t.Errorf("node %d: %v", i, err)
				}
			})
		}
		close(start)
		nodes.Wait()
		storetest.NewTenant(t, openOnly(t, database), "pro")
	})
}

func TestMigrate_ForeignSchema(t *testing.T) {
	t.Parallel()
	steps, err := store.Steps("sqlite")
	if err != nil {
		t.Fatal(err)
	}
	newer := fmt.Sprintf(`INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (%d, 'later', 'x', 1)`, steps[len(steps)-1].Version+1)
	for name, foreign := range map[string]struct{ damage, says string }{
		"a newer schema":        {newer, "newer Signalbox"},
		"a changed checksum":    {`UPDATE schema_migrations SET checksum = 'other' WHERE version = 1`, "another build"},
		"another first version": {`UPDATE schema_migrations SET version = 7 WHERE version = 1`, "another build"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, database storetest.Database) {
				db := database.Open(t)
				account := storetest.NewTenant(t, db, "pro").Account.ID
				if _, err := database.Raw(t).ExecContext(t.Context(), foreign.damage); err != nil {
					t.Fatal(err)
				}
				err := db.Migrate(t.Context())
				if err == nil || !strings.Contains(err.Error(), foreign.says) {
					t.Errorf("got %v, want a refusal that says %q", err, foreign.says)
				}
				if !holds(t, db, account, "production") {
					t.Error("the refusal touched the data")
				}
			})
		})
	}
}

// A newer node that joins migrates under the older ones, which go on serving
// until they are replaced.
func TestMigrated_NewerSchema(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		db := database.Open(t)
		if _, err := database.Raw(t).ExecContext(t.Context(),
			`INSERT INTO schema_migrations (version, name, checksum, applied_at) VALUES (99, 'later', 'x', 1)`); err != nil {
			t.Fatal(err)
		}
		if err := db.Migrated(t.Context()); err != nil {
			t.Errorf("got %v", err)
		}
	})
}

// Probes of the readiness must not read and hash all steps again: that is most of their cost.
func TestMigrated_ReadsStepsOnce(t *testing.T) { // not in parallel, because it measures what the process allocates
	db := storetest.New(t, "sqlite").Open(t)
	const probes = 100
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range probes {
		if err := db.Migrated(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	runtime.ReadMemStats(&after)
	if each, texts := int(after.TotalAlloc-before.TotalAlloc)/probes, len(sources(t, "migrations/sqlite/*.sql")); each > texts {
		t.Errorf("a probe allocates %d bytes, more than the %d of all steps", each, texts)
	}
}

func TestMigrations_SameSchema(t *testing.T) {
	t.Parallel()
	steps := map[string][]store.Step{}
	for _, dialect := range []string{"sqlite", "postgres"} {
		var err error
		if steps[dialect], err = store.Steps(dialect); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(steps["sqlite"], steps["postgres"]); diff != "" || len(steps["sqlite"]) == 0 {
		t.Errorf("the steps differ (-sqlite +postgres):\n%s", diff)
	}
	sqlite, postgres := storetest.New(t, "sqlite"), storetest.New(t, "postgres")
	sqlite.Open(t)
	if diff := cmp.Diff(sqliteColumns(t, sqlite.Raw(t)), postgresColumns(t, postgres.Raw(t))); diff != "" {
		t.Errorf("the columns differ (-sqlite +postgres):\n%s", diff)
	}
	if diff := cmp.Diff(sqliteIndexes(t, sqlite.Raw(t)), postgresIndexes(t, postgres.Raw(t))); diff != "" {
		t.Errorf("the indexes differ (-sqlite +postgres):\n%s", diff)
	}
}

// Every sort must mean the same on every machine, whatever its locale.
func TestPostgres_SortsByBytes(t *testing.T) {
	t.Parallel()
	wrong := query(t, storetest.New(t, "postgres").Raw(t), `SELECT table_name || '.' || column_name FROM information_schema.columns
		WHERE table_schema = 'public' AND data_type IN ('text', 'character varying') AND table_name <> 'schema_migrations'
		AND coalesce(collation_name, '') <> 'C'`)
	if len(wrong) > 0 {
		t.Errorf("these have no collation C: %s", strings.Join(wrong, ", "))
	}
}

func TestSQLite_StrictTables(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	database.Open(t)
	loose := query(t, database.Raw(t), `SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table'
		AND strict = 0 AND name NOT LIKE 'sqlite_%' AND name NOT LIKE 'schema_%'`)
	if len(loose) > 0 {
		t.Errorf("these are not STRICT: %s", strings.Join(loose, ", "))
	}
}

func sqliteColumns(t *testing.T, db *sql.DB) []string {
	kinds := map[string]string{"TEXT": "text", "INTEGER": "integer", "REAL": "real", "BLOB": "bytes"}
	return columns(t, db, kinds, `SELECT m.name || '.' || c.name, c.type, c."notnull" = 1 OR c.pk > 0 FROM sqlite_master m, pragma_table_info(m.name) c
		WHERE m.type = 'table' AND m.name NOT LIKE 'sqlite_%' AND m.name NOT LIKE 'schema_%' ORDER BY m.name, c.cid`)
}

func postgresColumns(t *testing.T, db *sql.DB) []string {
	kinds := map[string]string{"text": "text", "bigint": "integer", "boolean": "integer", "double precision": "real", "bytea": "bytes"}
	return columns(t, db, kinds, `SELECT table_name || '.' || column_name, data_type, is_nullable = 'NO' FROM information_schema.columns
		JOIN information_schema.tables USING (table_schema, table_name)
		WHERE table_schema = 'public' AND table_type = 'BASE TABLE' AND table_name NOT LIKE 'schema\_%' ORDER BY table_name, ordinal_position`)
}

// columns lists tables, columns, their kinds and whether they may be null.
func columns(t *testing.T, db *sql.DB, kinds map[string]string, statement string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var name, kind string
		var required bool
		if err := rows.Scan(&name, &kind, &required); err != nil {
			t.Fatal(err)
		}
		if kinds[kind] == "" {
			t.Errorf("%s has the kind %s; known are %v", name, kind, slices.Sorted(maps.Keys(kinds)))
		}
		found = append(found, fmt.Sprint(name, " ", kinds[kind], " ", required))
	}
	if err := rows.Err(); err != nil || len(found) == 0 {
		t.Fatalf("%d columns, %v", len(found), err)
	}
	slices.Sort(found)
	return found
}

// sqliteIndexes gives every index as its table, columns and whether it is unique.
func sqliteIndexes(t *testing.T, db *sql.DB) []string {
	return query(t, db, `SELECT text FROM (SELECT m.name || ' (' || (SELECT group_concat(name, ', ') FROM (SELECT coalesce(name, 'expression') AS name FROM pragma_index_info(i.name) ORDER BY seqno)) || ') ' || i."unique" AS text
		FROM sqlite_master m, pragma_index_list(m.name) i WHERE m.type = 'table' AND m.name NOT LIKE 'schema_%') ORDER BY text COLLATE BINARY`)
}

func postgresIndexes(t *testing.T, db *sql.DB) []string {
	return query(t, db, `SELECT text FROM (SELECT t.relname || ' (' || string_agg(coalesce(a.attname, 'expression'), ', ' ORDER BY k.place) || ') ' || (x.indisunique::int)::text AS text
		FROM pg_index x JOIN pg_class t ON t.oid = x.indrelid JOIN pg_namespace n ON n.oid = t.relnamespace
		CROSS JOIN LATERAL unnest(x.indkey) WITH ORDINALITY AS k(attnum, place)
		LEFT JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = k.attnum
		WHERE n.nspname = 'public' AND t.relname NOT LIKE 'schema\_%' GROUP BY t.relname, x.indexrelid, x.indisunique) i ORDER BY text COLLATE "C"`)
}

func query(t *testing.T, db *sql.DB, statement string) []string {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var found []string
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			t.Fatal(err)
		}
		found = append(found, text)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}
