package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// postgresConnections bounds the pool of one node for its callers, and
	// loopConnections the one for its own loops.
	postgresConnections = 20
	loopConnections     = 8
	// writeAttempts is how often a transaction is run before PostgreSQL's wish
	// for another try is handed to the caller.
	writeAttempts = 6
)

// postgres runs on pools of connections.
type postgres struct {
	dbs    [poolCount]*sql.DB
	closed atomic.Bool
}

// poolSizes are the connections of each pool.
func poolSizes() [poolCount]int {
	return [poolCount]int{forCallers: postgresConnections, forLoops: loopConnections}
}

// parseURL reads a database URL and fills in what it leaves out. Of several
// hosts only one that accepts writes will do.
func parseURL(url string) (*pgx.ConnConfig, error) {
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, fmt.Errorf("the database URL cannot be read: %w", withoutURL(err))
	}
	if config.ConnectTimeout == 0 {
		config.ConnectTimeout = 5 * time.Second
	}
	if config.RuntimeParams["application_name"] == "" {
		config.RuntimeParams["application_name"] = "signalbox"
	}
	if len(config.Fallbacks) > 0 && config.ValidateConnect == nil {
		config.ValidateConnect = pgconn.ValidateConnectTargetSessionAttrsReadWrite
	}
	return config, nil
}

func openPostgres(ctx context.Context, url string) (*postgres, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	engine := &postgres{}
	for via, size := range poolSizes() {
		db := stdlib.OpenDB(*config)
		db.SetMaxOpenConns(size)
		db.SetMaxIdleConns(size)
		db.SetConnMaxIdleTime(5 * time.Minute)
		db.SetConnMaxLifetime(time.Hour)
		engine.dbs[via] = db
	}
	if err := engine.ping(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("connecting to PostgreSQL: %w", err), engine.close())
	}
	return engine, nil
}

func (p *postgres) read(_ context.Context, via pool, fn func(querier) error) error {
	return p.orClosed(fn(pooled{p.dbs[via]}))
}

func (p *postgres) snapshot(ctx context.Context, fn func(querier) error) error {
	return p.orClosed(p.attempt(ctx, forCallers, &sql.TxOptions{Isolation: sql.LevelRepeatableRead, ReadOnly: true},
		func(_ context.Context, conn querier) error { return fn(conn) }))
}

// orClosed names the reason for all errors of a closed pool, which database/sql
// gives no name.
func (p *postgres) orClosed(err error) error {
	if err != nil && p.closed.Load() && len(fault.All(err)) == 0 {
		return errors.Join(errClosed, err)
	}
	return err
}

func (p *postgres) write(ctx context.Context, via pool, fn func(context.Context, querier) error) error {
	for attempt := 1; ; attempt++ {
		err := p.attempt(ctx, via, nil, fn)
		if postgresCode(err) == readOnly { // the server has become a standby: look for the new primary
			p.forgetIdle()
		}
		if attempt == writeAttempts || !isRetryable(err) {
			return p.orClosed(err)
		}
		pause := time.Duration(rand.Int64N(int64(attempt * attempt * int(time.Millisecond)))) //nolint:gosec // jitter needs no secrecy
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
	}
}

// forgetIdle closes the connections that nobody uses.
func (p *postgres) forgetIdle() {
	for via, size := range poolSizes() {
		p.dbs[via].SetMaxIdleConns(0)
		p.dbs[via].SetMaxIdleConns(size)
	}
}

func (p *postgres) attempt(ctx context.Context, via pool, options *sql.TxOptions, fn func(context.Context, querier) error) error {
	tx, err := p.dbs[via].BeginTx(ctx, options)
	if err != nil {
		return err
	}
	if err := fn(ctx, pooled{tx}); err != nil {
		// The function's error is what the caller needs; a connection that
		// cannot roll back is discarded, and the server rolls back.
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

func (p *postgres) epoch(context.Context) (int64, bool, error) { return 0, false, nil }

func (p *postgres) ping(ctx context.Context) error {
	return p.orClosed(p.dbs[forLoops].PingContext(ctx))
}

func (p *postgres) close() error {
	p.closed.Store(true)
	return errors.Join(p.dbs[forCallers].Close(), p.dbs[forLoops].Close())
}

func (p *postgres) pools() map[string]func() sql.DBStats {
	return map[string]func() sql.DBStats{"postgres": p.dbs[forCallers].Stats, "postgres_loops": p.dbs[forLoops].Stats}
}

// pooled runs statements on a transaction or on any connection of the pool.
// pgx remembers prepared statements by itself.
type pooled struct {
	on interface {
		ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
		QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
	}
}

func (p pooled) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	return p.on.ExecContext(ctx, query, args...)
}

func (p pooled) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	return p.on.QueryContext(ctx, query, args...)
}

// withoutURL keeps a password in a URL out of errors and so out of logs.
func withoutURL(err error) error {
	if cause := errors.Unwrap(err); cause != nil {
		return cause
	}
	return errors.New("it must look like postgres://user:password@host:5432/database")
}
