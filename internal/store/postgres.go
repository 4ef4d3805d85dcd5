package store

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"

	"github.com/signalbox/signalbox/internal/fault"
)

const (
	// writeAttempts limits how often a transaction runs when PostgreSQL asks for a retry.
	writeAttempts = 6
	// beginAttempts is how many broken connections are tried before begin fails.
	beginAttempts = 3
	// deadPeer is how long a connection may be silent before it is given up.
	deadPeer = 10 * time.Second
	// firstWithTransactionTimeout is the release that can limit a transaction as a whole.
	firstWithTransactionTimeout = 17
)

// postgres runs transactions on pools of connections, one for each priority.
type postgres struct {
	primary    *primary
	dbs        [priorityCount]*sql.DB
	sizes      [priorityCount]int // of the pools
	gate       accountGate
	limits     Limits
	pooled     bool // a pooler such as PgBouncer is between
	closed     atomic.Bool
	forgetting sync.Mutex // held by forgetIdle
}

// DefaultConnections lets four nodes share a PostgreSQL server with default settings.
const DefaultConnections = 24

// poolSizes gives one connection to the Listener, a quarter to loops, an eighth to observations and the rest to decisions.
func poolSizes(connections int) [priorityCount]int {
	loops, observations := connections/4, connections/8
	return [priorityCount]int{forLoops: loops, forDecisions: connections - 1 - loops - observations, forObservations: observations}
}

// parseURL reads a database URL and fills in defaults. If it names several hosts, one that accepts writes is used.
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
	dialer := &net.Dialer{Control: giveUpDeadPeer,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: deadPeer / 2, Interval: deadPeer / 10, Count: 5}}
	config.DialFunc = dialer.DialContext
	return config, checkQueryMode(config)
}

func openPostgres(ctx context.Context, url string, connections int, limits Limits) (*postgres, error) {
	config, err := parseURL(url)
	if err != nil {
		return nil, err
	}
	engine := &postgres{sizes: poolSizes(cmp.Or(connections, DefaultConnections)), limits: limits, gate: accountGate{lines: map[string]*accountLine{}}}
	engine.primary = newPrimary(config, limits.Silence)
	if engine.pooled, err = engine.primary.adaptToPooler(ctx, url); err != nil {
		return nil, fmt.Errorf("connecting to PostgreSQL: %w", err)
	}
	for via, size := range engine.sizes {
		db := sql.OpenDB(engine.primary.connector())
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

// MaxConnections returns how many connections the PostgreSQL server allows to all ordinary users together.
func (db *DB) MaxConnections(ctx context.Context) (int, error) {
	return fetch(ctx, db, forLoops, func(ctx context.Context, tx *ReadTx) (int, error) {
		return scalar(ctx, tx.conn, scanInt, `SELECT sum(CASE name WHEN 'max_connections' THEN setting::int ELSE -setting::int END)
			FROM pg_settings WHERE name IN ('max_connections', 'superuser_reserved_connections', 'reserved_connections')`)
	})
}

func (p *postgres) read(_ context.Context, via priority, fn func(querier) error) error {
	return p.orClosed(fn(pooled{p.dbs[via]}))
}

func (p *postgres) snapshot(ctx context.Context, via priority, fn func(querier) error) error {
	begin := func(conn *pgx.Conn) *pgx.Batch {
		return batch("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", serverLimits(conn, p.limits.Read, p.limits.Read))
	}
	return p.orClosed(p.transact(ctx, writeOptions{priority: via}, begin, func(_ context.Context, conn querier) error { return fn(conn) }))
}

// orClosed marks the errors of a closed pool as errClosed: database/sql has no named error for them.
func (p *postgres) orClosed(err error) error {
	if err != nil && p.closed.Load() && len(fault.All(err)) == 0 {
		return errors.Join(errClosed, err)
	}
	return err
}

func (p *postgres) write(ctx context.Context, options writeOptions, fn work) error {
	if err := p.gate.enter(ctx, options.account, options.priority); err != nil {
		return err
	}
	defer p.gate.leave(options.account)
	for attempt := 1; ; attempt++ {
		var access int64
		err := p.transact(ctx, options,
			func(conn *pgx.Conn) *pgx.Batch { return p.beginWrite(conn, options, attempt, &access) },
			func(ctx context.Context, conn querier) error { return fn(ctx, conn, access) })
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

// beginWrite returns the statements that start a write. They share one round trip, so that
// a node seldom stops between them. Locking the account reads its access version.
func (p *postgres) beginWrite(conn *pgx.Conn, options writeOptions, attempt int, access *int64) *pgx.Batch {
	idle, limit := time.Duration(attempt)*p.limits.Idle, p.limits.Write // a slow node gets more time at every attempt
	if options.unlimited {
		idle, limit = 0, 0
	}
	settings := serverLimits(conn, idle, limit)
	if options.priority == forLoops || options.matches {
		settings += indexesOnly
	}
	if options.matches {
		settings += matching
	}
	begin := batch("BEGIN", settings)
	if options.account != "" {
		begin.Queue(`SELECT access_seq FROM accounts WHERE id = $1 FOR NO KEY UPDATE`, options.account).QueryRow(func(row pgx.Row) error {
			if err := row.Scan(access); !errors.Is(err, pgx.ErrNoRows) { // a missing account is refused by the statements that need it
				return err
			}
			return nil
		})
	}
	return begin
}

// serverLimits returns a statement that makes the server end the transaction of a node that has stopped.
func serverLimits(conn *pgx.Conn, idle, limit time.Duration) string {
	statement := fmt.Sprintf(`SELECT set_config('idle_in_transaction_session_timeout', '%d', true), set_config('lock_timeout', '%d', true),
		set_config('statement_timeout', '%[2]d', true)`, idle.Milliseconds(), limit.Milliseconds())
	if serverRelease(conn) >= firstWithTransactionTimeout {
		statement += fmt.Sprintf(`, set_config('transaction_timeout', '%d', true)`, limit.Milliseconds())
	}
	return statement
}

// indexesOnly continues serverLimits: it makes PostgreSQL look up rows one by one in indexes. The statistics of the
// queue of runs are from another time, when it may have been empty or all of its runs pending. With these statistics
// PostgreSQL would read the whole queue for each batch of outcomes, or compare each of its rows with each outcome.
// PostgreSQL still uses a disabled kind of plan where no other is possible. It then believes the cost to be so high that it
// compiles the statement first, for half a second, unless jit is off.
const indexesOnly = `, set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
	set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true), set_config('jit', 'off', true)`

// matching follows indexesOnly for a statement that matches rows of the queue with a list of values. Where the queue was empty
// when its statistics were made, all nested loops look alike to PostgreSQL, and it compared each row of the queue with each
// value: a millisecond for each run. So it must match by hashing. Then the plan is the same for all values; planning it for
// 512 ids takes 3 ms.
const matching = `, set_config('enable_nestloop', 'off', true), set_config('enable_hashjoin', 'on', true), set_config('plan_cache_mode', 'force_generic_plan', true)`

// matched goes back from matching to indexesOnly.
const matched = `SELECT set_config('enable_nestloop', 'on', true), set_config('enable_hashjoin', 'off', true), set_config('plan_cache_mode', 'auto', true)`

func serverRelease(conn *pgx.Conn) int {
	release, _, _ := strings.Cut(conn.PgConn().ParameterStatus("server_version"), ".")
	number, _ := strconv.Atoi(release) // 0 if the version does not begin with a number
	return number
}

// forgetIdle closes the idle connections. It runs one call at a time: SetMaxIdleConns(0) closes the end of the pool's list
// after unlocking it, and a second call would allow idle connections again, which overwrite that end.
func (p *postgres) forgetIdle() {
	p.forgetting.Lock()
	defer p.forgetting.Unlock()
	for via, size := range p.sizes {
		p.dbs[via].SetMaxIdleConns(0)
		p.dbs[via].SetMaxIdleConns(size)
	}
}

// transact runs fn in a transaction that starts with the statements of begin.
func (p *postgres) transact(ctx context.Context, options writeOptions, begin func(*pgx.Conn) *pgx.Batch, fn func(context.Context, querier) error) error {
	conn, err := p.begin(ctx, options.priority, begin)
	if err != nil {
		return err
	}
	if err = fn(ctx, pooled{conn}); err == nil {
		err = commit(ctx, conn)
	}
	return giveBack(ctx, conn, err)
}

// begin begins a transaction. If a connection is broken it tries another, because nothing was written yet.
func (p *postgres) begin(ctx context.Context, via priority, begin func(*pgx.Conn) *pgx.Batch) (*sql.Conn, error) {
	for attempt := 1; ; attempt++ {
		conn, err := p.dbs[via].Conn(ctx)
		if err != nil {
			return nil, err // no connection was idle, and no host accepts a new one
		}
		if err = send(ctx, conn, begin); err == nil {
			return conn, nil
		}
		err = giveBack(ctx, conn, err)
		if postgresCode(err) == "" && !errors.Is(ctx.Err(), context.Canceled) {
			p.forgetIdle() // other connections are likely to be broken or silent too
		}
		if attempt == beginAttempts || postgresCode(err) != "" || ctx.Err() != nil {
			return nil, err
		}
	}
}

func commit(ctx context.Context, conn *sql.Conn) error {
	var tag pgconn.CommandTag
	err := send(ctx, conn, func(*pgx.Conn) *pgx.Batch {
		last := &pgx.Batch{}
		last.Queue("COMMIT").Exec(func(done pgconn.CommandTag) error {
			tag = done
			return nil
		})
		return last
	})
	if err == nil && tag.String() == "ROLLBACK" { // a statement had failed
		err = pgx.ErrTxCommitRollback
	}
	return err
}

// giveBack returns a connection to its pool, and returns err. It rolls back an open transaction; if the connection is
// broken, the server does.
func giveBack(ctx context.Context, conn *sql.Conn, err error) error {
	_ = conn.Raw(func(driven any) error {
		connection := driven.(*stdlib.Conn).Conn()
		if connection.PgConn().TxStatus() == 'I' && !connection.IsClosed() {
			return nil
		}
		if _, err := connection.Exec(ctx, "ROLLBACK"); err != nil {
			return driver.ErrBadConn
		}
		return nil
	})
	_ = conn.Close() // returns it to the pool
	return err
}

func batch(statements ...string) *pgx.Batch {
	all := &pgx.Batch{}
	for _, statement := range statements {
		all.Queue(statement)
	}
	return all
}

// send sends statements in one round trip. Functions that were queued with a statement receive its result.
func send(ctx context.Context, conn *sql.Conn, statements func(*pgx.Conn) *pgx.Batch) error {
	return conn.Raw(func(driven any) error {
		connection := driven.(*stdlib.Conn).Conn()
		return connection.SendBatch(ctx, statements(connection)).Close()
	})
}

func (p *postgres) epoch(context.Context) (int64, bool, error) { return 0, false, nil }

func (p *postgres) ping(ctx context.Context) error {
	return p.orClosed(p.dbs[forLoops].PingContext(ctx))
}

func (p *postgres) close() (err error) {
	p.closed.Store(true)
	for _, db := range p.dbs {
		err = errors.Join(err, db.Close())
	}
	return err
}

func (p *postgres) pools() map[string]func() sql.DBStats {
	return map[string]func() sql.DBStats{"postgres": p.dbs[forDecisions].Stats, "postgres_loops": p.dbs[forLoops].Stats,
		"postgres_observations": p.dbs[forObservations].Stats}
}

// pooled runs statements on a connection or a pool. pgx prepares statements by itself.
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
