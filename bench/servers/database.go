package servers

import (
	"context"
	"database/sql"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"
	_ "github.com/jackc/pgx/v5/stdlib" // the driver of PostgreSQL
	_ "modernc.org/sqlite"             // the driver of SQLite
)

// Store is a kind of database to measure on.
type Store struct {
	Name   string
	server string // URL of the PostgreSQL server; "" is SQLite
}

// storeVariable names the only store to measure on.
const storeVariable = "SIGNALBOX_BENCH_STORE"

// Stores returns SQLite and, when a server is named, PostgreSQL.
func Stores() []Store {
	stores := []Store{{Name: "sqlite"}}
	if server := os.Getenv("SIGNALBOX_TEST_POSTGRES"); server != "" {
		stores = append(stores, Store{"postgres", server})
	}
	only := os.Getenv(storeVariable)
	return slices.DeleteFunc(stores, func(s Store) bool { return only != "" && s.Name != only })
}

// Each measures on every store, with an empty folder for each.
func Each(measure func(folder string, store Store) error) error {
	folder, err := os.MkdirTemp("", "signalbox-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(folder)
	for _, store := range Stores() {
		if err := measure(filepath.Join(folder, store.Name), store); err != nil {
			return err
		}
	}
	return nil
}

// IsFile reports whether databases are files, as SQLite's are.
func (s Store) IsFile() bool { return s.server == "" }

// NewDatabase creates an empty database and returns its URL and a function that
// drops it. For SQLite the URL is "", which means a file in the server's folder.
func (s Store) NewDatabase(ctx context.Context) (string, func(), error) {
	if s.IsFile() {
		return "", func() {}, nil
	}
	name := "bench_" + strconv.FormatInt(time.Now().UnixNano(), 36)
	if err := execute(ctx, s.server, "CREATE DATABASE "+name); err != nil {
		return "", nil, err
	}
	location, err := url.Parse(s.server)
	if err != nil {
		return "", nil, err
	}
	location.Path = "/" + name
	drop := func() { _ = execute(context.WithoutCancel(ctx), s.server, "DROP DATABASE "+name+" WITH (FORCE)") } // the server is temporary
	return location.String(), drop, nil
}

// File returns the file of a database in the folder of a server on SQLite.
func File(folder string) string { return filepath.Join(folder, "signalbox.db") }

// Open opens the database of a server, to fill it faster than through the API. The server must have been started once, and it
// must be stopped while its tables are filled.
func (s Store) Open(folder, database string) (*sql.DB, error) {
	if s.IsFile() {
		return sql.Open("sqlite", "file:"+File(folder)+"?_pragma=busy_timeout(10000)")
	}
	return sql.Open("pgx", database)
}

// Series returns a query of the numbers n from 1 to count, for use after FROM, and an expression that makes an id of a number.
// The ids begin with the current time: retention removes older runs.
func (s Store) Series(count int) (numbers, id string) {
	at := fmt.Sprintf("%012x", time.Now().UnixMilli())
	prefix := fmt.Sprintf("'%s-%s-7000-8000-'", at[:8], at[8:])
	if s.IsFile() {
		return fmt.Sprintf("(WITH RECURSIVE series (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM series WHERE n < %d) SELECT n FROM series) AS numbers", count),
			prefix + " || printf('%012x', n)"
	}
	return fmt.Sprintf("(SELECT generate_series(1, %d) AS n) AS numbers", count), prefix + " || lpad(to_hex(n), 12, '0')"
}

// Start starts a Signalbox on a new database, which is dropped when it stops.
func (s Store) Start(ctx context.Context, folder string) (*Server, error) {
	database, drop, err := s.NewDatabase(ctx)
	if err != nil {
		return nil, err
	}
	server, err := StartSignalbox(ctx, folder, database)
	if err != nil {
		drop()
		return nil, err
	}
	server.drop = drop
	return server, nil
}

func execute(ctx context.Context, server, statement string) error {
	conn, err := pgx.Connect(ctx, server)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(context.WithoutCancel(ctx)) }() // its work is done
	_, err = conn.Exec(ctx, statement)
	return err
}
