// Command postgres lets River do a backlog on PostgreSQL.
package main

import (
	"context"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/signalbox/signalbox/bench/river/backlog"
)

func main() { backlog.Main(open) }

func open(ctx context.Context, url string) (backlog.Database[pgx.Tx], error) {
	pool, err := pgxpool.New(ctx, url)
	if err != nil {
		return backlog.Database[pgx.Tx]{}, err
	}
	return backlog.Database[pgx.Tx]{
		Driver: riverpgxv5.New(pool),
		Count: func(ctx context.Context, query string) (count int, err error) {
			err = pool.QueryRow(ctx, query).Scan(&count)
			return count, err
		},
		Filled: func(ctx context.Context) error {
			_, err := pool.Exec(ctx, "ANALYZE river_job")
			return err
		},
		Close: pool.Close,
	}, nil
}
