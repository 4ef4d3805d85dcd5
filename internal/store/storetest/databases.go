// Package storetest gives every test a real database of its own, of both
// kinds, and holds the suite that every concept of the store must pass on both.
package storetest

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgconn"
	_ "github.com/jackc/pgx/v5/stdlib" // registers the driver "pgx"

	"github.com/signalbox/signalbox/internal/store"
)

// ServerVariable names the PostgreSQL server that tests make their databases
// on. scripts/with-postgres sets it.
const ServerVariable = "SIGNALBOX_TEST_POSTGRES"

// Database is an empty, migrated database. It may be opened any number of
// times, as several nodes would.
type Database struct {
	Kind string // "sqlite" or "postgres"
	URL  string // of PostgreSQL
	Dir  string // of SQLite's file
}

// Each runs a test on SQLite and on PostgreSQL, in parallel.
func Each(t *testing.T, test func(t *testing.T, database Database)) {
	t.Helper()
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, New(t, kind))
		})
	}
}

// New makes a database of one kind that lasts as long as the test.
func New(t testing.TB, kind string) Database {
	t.Helper()
	if kind == "sqlite" {
		return Database{Kind: kind, Dir: t.TempDir()}
	}
	return Database{Kind: kind, URL: newPostgres(t), Dir: t.TempDir()}
}

// NewEmpty makes a database of one kind without any table.
func NewEmpty(t testing.TB, kind string) Database {
	t.Helper()
	empty := Database{Kind: kind, Dir: t.TempDir()}
	if kind == "postgres" {
		empty.URL = createPostgres(t, "")
	}
	return empty
}

// Options are what the database is opened with. Transactions of tests wait for
// each other, so PostgreSQL does not end those that are idle.
func (d Database) Options() store.Options {
	return store.Options{Database: d.URL, File: filepath.Join(d.Dir, "signalbox.db"), Log: slog.New(slog.DiscardHandler),
		Limits: store.Limits{Idle: time.Minute}}
}

// Open opens the database until the end of the test. change may alter how.
func (d Database) Open(t testing.TB, change ...func(*store.Options)) *store.DB {
	t.Helper()
	options := d.Options()
	for _, each := range change {
		each(&options)
	}
	db, err := store.Open(t.Context(), options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Migrate(t.Context()); err != nil {
		t.Fatal(err)
	}
	return db
}

// Raw opens the database beside the store, to look at or damage what the store
// never shows, until the end of the test.
func (d Database) Raw(t testing.TB) *sql.DB {
	t.Helper()
	driver, source := "pgx", d.URL
	if d.Kind == "sqlite" {
		driver, source = "sqlite", "file:"+d.Options().File+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
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

// newPostgres copies a migrated template: much faster than migrating for
// every test.
func newPostgres(t testing.TB) string {
	t.Helper()
	from, err := template(postgresServer(t))
	if err != nil {
		t.Fatal(err)
	}
	return createPostgres(t, " TEMPLATE "+from)
}

func postgresServer(t testing.TB) string {
	t.Helper()
	server := os.Getenv(ServerVariable)
	if server == "" {
		t.Fatalf("%s is not set: run the tests with scripts/with-postgres, as make test does", ServerVariable)
	}
	return server
}

func createPostgres(t testing.TB, like string) string {
	t.Helper()
	server, name := postgresServer(t), newName()
	if err := whenUnused(t.Context(), server, "CREATE DATABASE "+name+like); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := whenUnused(context.Background(), server, fmt.Sprintf("DROP DATABASE %s WITH (FORCE)", name)); err != nil { //nolint:usetesting // the test's context has ended
			t.Error(err)
		}
	})
	return withDatabase(server, name)
}

// templates holds the template of this test process, made when first needed.
var templates struct { //nolint:gochecknoglobals // tests of a package share one server
	once sync.Once
	name string
	err  error
}

func template(server string) (string, error) {
	templates.once.Do(func() {
		templates.name = newName()
		templates.err = makeTemplate(server, templates.name)
	})
	return templates.name, templates.err
}

func makeTemplate(server, name string) error {
	ctx := context.Background()
	if err := administer(ctx, server, "CREATE DATABASE "+name); err != nil {
		return err
	}
	db, err := store.Open(ctx, store.Options{Database: withDatabase(server, name), Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// whenUnused runs a statement that needs a database for itself. The server waits
// some seconds until connections that were closed are gone, which a busy machine
// may need several times.
func whenUnused(ctx context.Context, server, statement string) error {
	const inUse, attempts = "55006", 12
	var err error
	for range attempts {
		err = administer(ctx, server, statement)
		if failure, is := errors.AsType[*pgconn.PgError](err); !is || failure.Code != inUse {
			return err
		}
	}
	return err
}

// administer runs a statement on the server's own database.
func administer(ctx context.Context, server, statement string) error {
	db, err := sql.Open("pgx", server)
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	if err = errors.Join(err, db.Close()); err != nil {
		return fmt.Errorf("%s: %w", statement, err)
	}
	return nil
}

func newName() string { return "t_" + strings.ReplaceAll(uuid.NewString(), "-", "") }

func withDatabase(server, name string) string {
	parsed, err := url.Parse(server)
	if err != nil {
		return server
	}
	parsed.Path = "/" + name
	return parsed.String()
}
