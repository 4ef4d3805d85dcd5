// Package storetest creates real databases of both kinds for tests, and holds the
// suite that every concept of the store must pass on both kinds.
//
// Every call of the store needs a transaction and may fail. The suite's helpers keep that out of its tests: each runs one call in
// a transaction of its own, and ends the test on an error. of, find and list return what a read found. They take the method as an
// expression and then its arguments after the transaction and the context: one for of, two for find, three for list.
//
//	count := of(t, db, (*store.ReadTx).CountFlags, account)         // tx.CountFlags(ctx, account)
//	flag := find(t, db, (*store.ReadTx).Flag, account, "checkout")  // tx.Flag(ctx, account, "checkout")
//	found := list(t, db, (*store.ReadTx).Flags, account, filter, request)
//
// get takes a function, for other reads. missing and lacks are the opposites of get and find: they fail the test unless the read
// is refused as not found. do runs a function that writes, and write runs a function that writes and returns a result.
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
	"github.com/signalbox/signalbox/internal/suite"
)

// ServerVariable is the environment variable with the URL of the PostgreSQL server
// for test databases. scripts/with-postgres sets it.
const ServerVariable = "SIGNALBOX_TEST_POSTGRES"

// Database is an empty, migrated database. It may be opened any number of
// times, as several nodes would.
type Database struct {
	Kind string // "sqlite" or "postgres"
	URL  string // of PostgreSQL
	Dir  string // the folder of SQLite's file and of the files of nodes
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

// Need skips the test if no database of a kind can be made here: SQLite needs
// nothing, PostgreSQL needs a server.
func Need(t testing.TB, kind string) {
	t.Helper()
	if kind == "postgres" && os.Getenv(ServerVariable) == "" {
		suite.Skip(t, "This needs PostgreSQL, and "+ServerVariable+" names no server: run it with scripts/with-postgres go test …")
	}
}

// New makes a database of one kind that lasts as long as the test.
func New(t testing.TB, kind string) Database {
	t.Helper()
	Need(t, kind)
	return lasting(t, Database{Kind: kind, Dir: t.TempDir()}, Database.migrated)
}

// NewEmpty makes a database of one kind without any table.
func NewEmpty(t testing.TB, kind string) Database {
	t.Helper()
	Need(t, kind)
	return lasting(t, Database{Kind: kind, Dir: t.TempDir()}, Database.empty)
}

func lasting(t testing.TB, wanted Database, create func(Database) (Database, error)) Database {
	t.Helper()
	made, err := create(wanted)
	must(t, err)
	atEnd(t, made.drop)
	return made
}

// atEnd calls a function when the test ends.
func atEnd(t testing.TB, end func() error) {
	t.Helper()
	t.Cleanup(func() {
		if err := end(); err != nil {
			t.Error(err)
		}
	})
}

// NewShared makes a database for all tests of a package, and returns a function
// that removes it. The tests call Need first.
func NewShared(kind string) (made Database, remove func() error, err error) {
	folder, err := os.MkdirTemp("", "signalbox-test")
	if err != nil {
		return made, nil, err
	}
	made, err = Database{Kind: kind, Dir: folder}.migrated()
	return made, func() error { return errors.Join(made.drop(), os.RemoveAll(folder)) }, err
}

// Options returns the options that open the database. Tests do not wait for the
// disk. Their transactions may wait for each other, so PostgreSQL ends only
// transactions that are idle for a minute.
func (d Database) Options() store.Options {
	return store.Options{Database: d.URL, File: d.file(), Log: slog.New(slog.DiscardHandler), Unsynced: true,
		Limits: store.Limits{Idle: time.Minute}}
}

func (d Database) file() string { return filepath.Join(d.Dir, "signalbox.db") }

// Open opens the database until the end of the test. change may alter the options.
func (d Database) Open(t testing.TB, change ...func(*store.Options)) *store.DB {
	t.Helper()
	options := d.Options()
	for _, each := range change {
		each(&options)
	}
	db, err := store.Open(t.Context(), options)
	must(t, err)
	atEnd(t, db.Close)
	must(t, db.Migrate(t.Context()))
	return db
}

// Raw opens the database beside the store until the end of the test, to read or
// damage rows that the store does not show.
func (d Database) Raw(t testing.TB) *sql.DB {
	t.Helper()
	driver, source := "pgx", d.URL
	if d.Kind == "sqlite" {
		driver, source = "sqlite", "file:"+d.Options().File+"?_pragma=busy_timeout(10000)"
	}
	db, err := sql.Open(driver, source)
	must(t, err)
	atEnd(t, db.Close)
	return db
}

// Busy runs a statement in a transaction of its own, which keeps its locks until the test calls the function.
func (d Database) Busy(t testing.TB, statement string, args ...any) (end func()) {
	t.Helper()
	tx, err := d.Raw(t).BeginTx(t.Context(), nil)
	must(t, err)
	_, err = tx.ExecContext(t.Context(), statement, args...)
	must(t, err)
	return sync.OnceFunc(func() { must(t, tx.Rollback()) })
}

// BusyAccount holds the lock of an account on PostgreSQL, as a transaction of the account does, until the test calls the function.
func (d Database) BusyAccount(t testing.TB, account string) (end func()) {
	t.Helper()
	return d.Busy(t, `SELECT 1 FROM accounts WHERE id = $1 FOR NO KEY UPDATE`, account)
}

// execute runs a statement behind the store's back.
func execute(t testing.TB, database Database, statement string, args ...any) {
	t.Helper()
	_, err := database.Raw(t).ExecContext(t.Context(), statement, args...)
	must(t, err)
}

// migrated creates the database as a copy of a migrated template: much faster
// than migrating for every test.
func (d Database) migrated() (Database, error) {
	from, err := templates[d.Kind]()
	if err != nil {
		return d, err
	}
	if d.Kind == "sqlite" {
		return d, os.WriteFile(d.file(), from.bytes, 0o600)
	}
	return d.create(" TEMPLATE " + from.name)
}

// empty creates the database without any table. SQLite makes its own file.
func (d Database) empty() (Database, error) {
	if d.Kind == "sqlite" {
		return d, nil
	}
	return d.create("")
}

func (d Database) create(like string) (Database, error) {
	server, name := os.Getenv(ServerVariable), newName()
	d.URL = withDatabase(server, name)
	return d, whenUnused(context.Background(), server, "CREATE DATABASE "+name+like)
}

func (d Database) drop() error {
	if d.Kind == "sqlite" {
		return nil // the file is removed with its folder
	}
	parsed, err := url.Parse(d.URL)
	if err != nil {
		return err
	}
	return whenUnused(context.Background(), os.Getenv(ServerVariable), "DROP DATABASE "+parsed.Path[1:]+" WITH (FORCE)")
}

// template is a migrated database, from which others are copied.
type template struct {
	name  string // on the PostgreSQL server
	bytes []byte // of SQLite's file
}

// templates holds the templates of this test process, made when first needed.
var templates = map[string]func() (template, error){ //nolint:gochecknoglobals // tests of a package share templates
	"sqlite": sync.OnceValues(sqliteTemplate), "postgres": sync.OnceValues(postgresTemplate),
}

func sqliteTemplate() (made template, err error) {
	folder, err := os.MkdirTemp("", "signalbox-template")
	if err != nil {
		return made, err
	}
	defer os.RemoveAll(folder)
	database := Database{Kind: "sqlite", Dir: folder}
	if err := migrate(database.Options()); err != nil {
		return made, err
	}
	made.bytes, err = os.ReadFile(database.file())
	return made, err
}

func postgresTemplate() (template, error) {
	server, name := os.Getenv(ServerVariable), newName()
	if err := administer(context.Background(), server, "CREATE DATABASE "+name); err != nil {
		return template{}, err
	}
	return template{name: name}, migrate(Database{Kind: "postgres", URL: withDatabase(server, name)}.Options())
}

func migrate(options store.Options) error {
	ctx := context.Background()
	db, err := store.Open(ctx, options)
	if err != nil {
		return err
	}
	return errors.Join(db.Migrate(ctx), db.Close())
}

// whenUnused runs a statement that needs exclusive use of a database. The server
// waits some seconds until closed connections are gone. On a busy machine that is
// not enough, so the statement is repeated.
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
