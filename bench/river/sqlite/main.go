// Command sqlite lets River do a backlog on SQLite.
package main

import (
	"context"
	"database/sql"

	"github.com/riverqueue/river/riverdriver/riversqlite"
	_ "modernc.org/sqlite" // the driver

	"github.com/signalbox/signalbox/bench/river/backlog"
)

func main() { backlog.Main(open) }

// open opens the database as River's documentation says: write-ahead log, one
// connection, because SQLite has one writer. It syncs at checkpoints only,
// which loses commits on power failure; Signalbox syncs every commit.
func open(_ context.Context, file string) (backlog.Database[*sql.Tx], error) {
	db, err := sql.Open("sqlite", "file:"+file+"?_pragma=journal_mode(WAL)&_pragma=synchronous(NORMAL)&_pragma=busy_timeout(10000)&_txlock=immediate")
	if err != nil {
		return backlog.Database[*sql.Tx]{}, err
	}
	db.SetMaxOpenConns(1)
	return backlog.Database[*sql.Tx]{
		Driver: riversqlite.New(db),
		Count: func(ctx context.Context, query string) (count int, err error) {
			err = db.QueryRowContext(ctx, query).Scan(&count)
			return count, err
		},
		Filled: func(context.Context) error { return nil },
		Close:  func() { _ = db.Close() },
	}, nil
}
