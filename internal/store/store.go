package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/sealed"
)

// Options says which database to open and who wants to know about its work.
type Options struct {
	// Database is a PostgreSQL URL; empty means SQLite.
	Database string
	// File is the SQLite database file.
	File string
	Log  *slog.Logger
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// Observe receives the outcome of every transaction; nil does not observe.
	Observe func(kind string, took time.Duration, err error)
	// Trace begins a span of a transaction; nil does not trace.
	Trace func(ctx context.Context, name string) (context.Context, func(error))
	// GroupCommitted receives how many writers shared a commit; nil does not observe.
	GroupCommitted func(writers int)
}

// DB is an open database.
type DB struct {
	dialect  dialect
	engine   engine
	log      *slog.Logger
	clock    func() time.Time
	observe  func(kind string, took time.Duration, err error)
	trace    func(ctx context.Context, name string) (context.Context, func(error))
	wake     atomic.Pointer[func()]
	ring     atomic.Pointer[sealed.Ring]
	database string // PostgreSQL's URL
	versions versions
	looks    looks
}

// engine runs functions on the connections of one database.
type engine interface {
	// read runs fn outside a transaction.
	read(ctx context.Context, via pool, fn func(querier) error) error
	// snapshot runs fn in a transaction that cannot write and sees one state.
	snapshot(ctx context.Context, fn func(querier) error) error
	// write runs fn in a transaction and returns once it is durable. fn gets
	// the context for its statements, which on SQLite is never canceled: a
	// writer that leaves must not take others of its group with it.
	write(ctx context.Context, via pool, fn func(context.Context, querier) error) error
	// epoch gives a number that differs after any commit, by whatever process;
	// false when the database has none.
	epoch(ctx context.Context) (int64, bool, error)
	ping(ctx context.Context) error
	// pools names the connection pools, for statistics.
	pools() map[string]func() sql.DBStats
	close() error
}

// pool says which connections a transaction may use. The loops of a node have
// some of their own: however much callers read, a beat does not wait for them.
type pool int

const (
	forCallers pool = iota
	forLoops
	poolCount // how many there are
)

// querier runs statements on one connection.
type querier interface {
	exec(ctx context.Context, query string, args ...any) (sql.Result, error)
	query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Open connects to the database. It does not migrate.
func Open(ctx context.Context, options Options) (*DB, error) {
	db := &DB{dialect: sqliteDialect(), log: options.Log, clock: options.Now, observe: options.Observe, trace: options.Trace, database: options.Database}
	if db.clock == nil {
		db.clock = time.Now
	}
	var err error
	if options.Database != "" {
		db.dialect = postgresDialect()
		db.engine, err = openPostgres(ctx, options.Database)
	} else {
		db.engine, err = openSQLite(ctx, options.File, options.GroupCommitted)
	}
	if err != nil {
		return nil, err
	}
	return db, nil
}

// Close waits for writers and closes all connections.
func (db *DB) Close() error { return db.engine.close() }

// Name is the kind of database: sqlite or postgres.
func (db *DB) Name() string { return db.dialect.name }

// Ping tells whether the database can be reached.
func (db *DB) Ping(ctx context.Context) error { return classify(ctx, db.engine.ping(ctx)) }

// Pools names the connection pools, for statistics.
func (db *DB) Pools() map[string]func() sql.DBStats { return db.engine.pools() }

// OnChange sets what is called after a commit that recorded changes.
func (db *DB) OnChange(wake func()) { db.wake.Store(&wake) }

// SealWith sets the key ring for what is sealed at rest.
func (db *DB) SealWith(ring *sealed.Ring) { db.ring.Store(ring) }

// Read runs fn, whose statements each see what is committed when they start.
func (db *DB) Read(ctx context.Context, fn func(*ReadTx) error) error {
	return db.read(ctx, forCallers, fn)
}

func (db *DB) read(ctx context.Context, via pool, fn func(*ReadTx) error) error {
	return db.reading(ctx, fn, func(ctx context.Context, fn func(querier) error) error { return db.engine.read(ctx, via, fn) })
}

// Snapshot runs fn, whose statements all see the same state: for what is put
// together of several readings. On PostgreSQL it costs two more round trips.
func (db *DB) Snapshot(ctx context.Context, fn func(*ReadTx) error) error {
	return db.reading(ctx, fn, db.engine.snapshot)
}

func (db *DB) reading(ctx context.Context, fn func(*ReadTx) error, on func(context.Context, func(querier) error) error) error {
	ctx, cancel := context.WithTimeout(ctx, readTimeout)
	defer cancel()
	ctx, end := db.begin(ctx, "read")
	err := classify(ctx, on(ctx, func(conn querier) error {
		return safely(func() error {
			return fn(&ReadTx{conn: bounded{ctx, conn}, dialect: db.dialect, ring: db.ring.Load(), now: db.now()})
		})
	}))
	end(err)
	return err
}

// Write runs fn in one transaction. With an account it holds the account's
// lock; "" is for what belongs to no account. See the package's documentation.
func (db *DB) Write(ctx context.Context, account string, fn func(*Tx) error) error {
	return db.write(ctx, forCallers, account, fn)
}

func (db *DB) write(ctx context.Context, via pool, account string, fn func(*Tx) error) error {
	return db.writeWithin(ctx, writeTimeout, via, account, fn)
}

func (db *DB) writeWithin(ctx context.Context, limit time.Duration, via pool, account string, fn func(*Tx) error) error {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx, end := db.begin(ctx, "write")
	changed := false
	err := classify(ctx, db.engine.write(ctx, via, func(ctx context.Context, conn querier) error {
		tx := &Tx{ReadTx: ReadTx{conn: bounded{ctx, conn}, dialect: db.dialect, ring: db.ring.Load()}}
		if err := tx.lock(ctx, account); err != nil {
			return err
		}
		tx.now = db.now() // under the lock, so that time does not run against the order of changes
		if err := safely(func() error { return fn(tx) }); err != nil {
			return err
		}
		changed = tx.changed
		return tx.notify(ctx)
	}))
	end(err)
	if wake := db.wake.Load(); err == nil && changed && wake != nil {
		(*wake)()
	}
	return err
}

// The longest a transaction may take: a database that does not answer is an
// outage, and whoever waits must hear of it. To migrate a large database takes
// its time, and one that is given up would be given up at every start.
const (
	readTimeout    = 8 * time.Second
	writeTimeout   = 20 * time.Second
	migrateTimeout = time.Hour
)

// bounded runs statements with the transaction's context and not with the one
// that the caller of a statement has, which knows no deadline.
type bounded struct {
	ctx  context.Context //nolint:containedctx // it belongs to the transaction, as the connection does
	conn querier
}

func (b bounded) exec(_ context.Context, query string, args ...any) (sql.Result, error) {
	return b.conn.exec(b.ctx, query, args...)
}

func (b bounded) query(_ context.Context, query string, args ...any) (*sql.Rows, error) {
	return b.conn.query(b.ctx, query, args...)
}

// safely turns a panic of a transaction's function into an error: the
// connection must be given back, and SQLite's writer serves everybody.
func safely(fn func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a transaction panicked: %v\n%s", cause, debug.Stack())
		}
	}()
	return fn()
}

func (db *DB) now() time.Time { return db.clock().UTC().Truncate(time.Microsecond) }

// begin starts to time and to trace a transaction.
func (db *DB) begin(ctx context.Context, kind string) (context.Context, func(error)) {
	started := time.Now()
	endSpan := func(error) {}
	if db.trace != nil {
		ctx, endSpan = db.trace(ctx, "store "+kind)
	}
	return ctx, func(err error) {
		endSpan(err)
		if db.observe != nil {
			db.observe(kind, time.Since(started), err)
		}
	}
}

// ReadTx runs the reading statements of all concepts.
type ReadTx struct {
	conn    querier
	dialect dialect
	ring    *sealed.Ring
	now     time.Time
}

// Now is the instant of the transaction, the same for all it writes.
func (tx *ReadTx) Now() time.Time { return tx.now }

// Tx runs the reading and writing statements of all concepts in one transaction.
type Tx struct {
	ReadTx
	changed bool
}

func (tx *Tx) lock(ctx context.Context, account string) error {
	if account == "" || tx.dialect.lockAccount == "" {
		return nil
	}
	if _, err := tx.conn.exec(ctx, tx.dialect.lockAccount, account); err != nil {
		return fmt.Errorf("locking the account: %w", err)
	}
	return nil
}

// LockSchema makes this transaction wait for those of other nodes that
// migrate or make the first account.
func (tx *Tx) LockSchema(ctx context.Context) error {
	if tx.dialect.lockSchema == "" {
		return nil
	}
	_, err := tx.conn.exec(ctx, tx.dialect.lockSchema)
	return err
}

func (tx *Tx) notify(ctx context.Context) error {
	if !tx.changed || tx.dialect.notify == "" {
		return nil
	}
	_, err := tx.conn.exec(ctx, tx.dialect.notify)
	return err
}

// Transactions hands transactions to a domain package as the interfaces it asks for.
type Transactions[R, W any] struct {
	db    *DB
	via   pool
	read  func(*ReadTx) R
	write func(*Tx) W
}

// NewTransactions pairs a database with the two interfaces of a domain package.
func NewTransactions[R, W any](db *DB, read func(*ReadTx) R, write func(*Tx) W) Transactions[R, W] {
	return Transactions[R, W]{db: db, read: read, write: write}
}

// ForLoops gives the same rooms with the connections of the node's own loops,
// which callers never use.
func (r Transactions[R, W]) ForLoops() Transactions[R, W] {
	r.via = forLoops
	return r
}

// ForObservations gives the same with the lowest priority.
func (r Transactions[R, W]) ForObservations() Transactions[R, W] { return r }

// Read is DB.Read in the domain's words.
func (r Transactions[R, W]) Read(ctx context.Context, fn func(R) error) error {
	return r.db.read(ctx, r.via, func(tx *ReadTx) error { return fn(r.read(tx)) })
}

// Snapshot is DB.Snapshot in the domain's words.
func (r Transactions[R, W]) Snapshot(ctx context.Context, fn func(R) error) error {
	return r.db.Snapshot(ctx, func(tx *ReadTx) error { return fn(r.read(tx)) })
}

// Write is DB.Write in the domain's words.
func (r Transactions[R, W]) Write(ctx context.Context, account string, fn func(W) error) error {
	return r.db.write(ctx, r.via, account, func(tx *Tx) error { return fn(r.write(tx)) })
}

// row is what a scan function reads: the current one of a result.
type row interface{ Scan(into ...any) error }

// all reads every row of a query.
func all[T any](ctx context.Context, conn querier, scan func(row) (T, error), query string, args ...any) (found []T, err error) {
	defer func() { err = classify(ctx, err) }()
	rows, err := conn.query(ctx, query, args...)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, rows.Close()) }()
	for rows.Next() {
		item, err := scan(rows)
		if err != nil {
			return nil, err
		}
		found = append(found, item)
	}
	return found, rows.Err()
}

// some reads rows while keep says so; the row it refuses is not part of the
// result. cut tells whether it refused one.
func some[T any](ctx context.Context, conn querier, scan func(row) (T, error), keep func(T) bool, query string, args ...any) (found []T, cut bool, err error) {
	refused := errors.New("enough")
	_, err = all(ctx, conn, func(r row) (T, error) {
		item, err := scan(r)
		if err == nil && !keep(item) {
			err = refused
		}
		if err == nil {
			found = append(found, item)
		}
		return item, err
	}, query, args...)
	if errors.Is(err, refused) {
		return found, true, nil
	}
	return found, false, err
}

// one reads the only row of a query, or refuses with what was looked for.
func one[T any](ctx context.Context, conn querier, missing *fault.Error, scan func(row) (T, error), query string, args ...any) (T, error) {
	var none T
	found, err := all(ctx, conn, scan, query, args...)
	if err != nil {
		return none, err
	}
	if len(found) == 0 {
		return none, missing
	}
	return found[0], nil
}

// scalar reads the only row of a query that always has one, as that of an
// aggregate does.
func scalar[T any](ctx context.Context, conn querier, scan func(row) (T, error), query string, args ...any) (T, error) {
	var none T
	found, err := all(ctx, conn, scan, query, args...)
	if err != nil {
		return none, err
	}
	if len(found) != 1 {
		return none, fmt.Errorf("%d rows where one was asked for: %s", len(found), query)
	}
	return found[0], nil
}

// run executes a statement.
func (tx *Tx) run(ctx context.Context, query string, args ...any) error {
	_, err := tx.conn.exec(ctx, query, args...)
	return classify(ctx, err)
}

// affect executes a statement and counts the rows it changed.
func (tx *Tx) affect(ctx context.Context, query string, args ...any) (int, error) {
	result, err := tx.conn.exec(ctx, query, args...)
	if err != nil {
		return 0, classify(ctx, err)
	}
	changed, err := result.RowsAffected()
	return int(changed), err
}
