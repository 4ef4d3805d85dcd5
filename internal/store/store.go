package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/coalesce"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Options says which database to open and how it is observed.
type Options struct {
	// Database is a PostgreSQL URL; empty means SQLite.
	Database string
	// File is the SQLite database file.
	File string
	Log  *slog.Logger
	// Now is the clock; nil means the system's.
	Now func() time.Time
	// Observe receives the outcome of every transaction. Observe, Trace and GroupCommitted may be nil.
	Observe func(kind string, took time.Duration, err error)
	// Trace begins a span of a transaction.
	Trace func(ctx context.Context, name string) (context.Context, func(error))
	// GroupCommitted receives how many writers shared a commit of SQLite.
	GroupCommitted func(writers int)
	// Connections is how many connections to PostgreSQL are open at most; zero is DefaultConnections.
	Connections int
	// HistoryBytes bounds the total size of the documents of an account's changes; zero means no limit.
	HistoryBytes int64
	Limits       Limits
	// Unsynced lets SQLite acknowledge a write that a power cut would lose. It is for tests.
	Unsynced bool
}

// DB is an open database.
type DB struct {
	dialect  dialect
	engine   engine
	options  Options
	wake     atomic.Pointer[func(account string)]
	onTrim   atomic.Pointer[func(changes int)]
	onDue    atomic.Pointer[func()]
	ring     atomic.Pointer[sealed.Ring]
	versions versionCache
	reads    coalesce.Group[string, struct{}, accounts.Versions] // of versions
	failure  writeFailure
	announce announcer
	steps    func() ([]migration, error) // of the schema; every readiness probe asks for them
}

// engine runs functions on the connections of one database.
type engine interface {
	// read runs fn outside a transaction.
	read(ctx context.Context, via priority, fn func(querier) error) error
	// snapshot runs fn in a transaction that cannot write and sees one state.
	snapshot(ctx context.Context, via priority, fn func(querier) error) error
	// write runs fn in a transaction and returns once it is durable. On SQLite fn's context is never canceled: a
	// caller that leaves must not undo the work of other writers of its group.
	write(ctx context.Context, options writeOptions, fn work) error
	// epoch returns a number that changes with every commit of any process; false if the database has no such number.
	epoch(ctx context.Context) (int64, bool, error)
	ping(ctx context.Context) error
	pools() map[string]func() sql.DBStats
	close() error
}

// priority says which transactions go first. Each priority has its own connections, so a heartbeat is on time under any load.
type priority int

const (
	forLoops        priority = iota // heartbeats, claims, firing
	forDecisions                    // writes of callers
	forObservations                 // reports of running services
	priorityCount
)

// writeOptions describe a transaction that writes.
type writeOptions struct {
	priority  priority
	account   string // the account whose lock it holds; "" for none
	unlimited bool   // the database must not end it
	matches   bool   // its first statement matches rows with values, see matching
}

// work is the function of a transaction. access is the access version of the locked account, or 0 if the engine did not
// read it with the lock.
type work func(ctx context.Context, conn querier, access int64) error

// querier runs statements on one connection.
type querier interface {
	exec(ctx context.Context, query string, args ...any) (sql.Result, error)
	query(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// Open connects to the database. It does not migrate.
func Open(ctx context.Context, options Options) (*DB, error) {
	options.Limits = options.Limits.withDefaults()
	if options.Now == nil {
		options.Now = time.Now
	}
	if options.Log == nil {
		options.Log = slog.New(slog.DiscardHandler)
	}
	db := &DB{dialect: sqliteDialect(), options: options}
	var err error
	if options.Database != "" {
		db.dialect = postgresDialect()
		var engine *postgres
		engine, err = openPostgres(ctx, options.Database, options.Connections, options.Limits)
		db.engine, db.announce.send = engine, engine.announce
	} else {
		db.engine, err = openSQLite(ctx, options)
	}
	if err != nil {
		return nil, err
	}
	if db.Pooled() {
		options.Log.Info("PostgreSQL is behind a pooler such as PgBouncer; statements are not prepared by name. With transaction pooling, changes of other nodes are found by polling.")
	}
	db.steps = sync.OnceValues(func() ([]migration, error) { return migrations(db.dialect.name) })
	return db, nil
}

// Close waits for writers and notifications, and closes all connections.
func (db *DB) Close() error {
	db.reads.Stop()
	db.announce.stop()
	return db.engine.close()
}

// Name returns the kind of database: sqlite or postgres.
func (db *DB) Name() string { return db.dialect.name }

// Ping checks that the database can be reached.
func (db *DB) Ping(ctx context.Context) error { return classify(ctx, db.engine.ping(ctx)) }

// Pools returns the statistics of the connection pools, by name.
func (db *DB) Pools() map[string]func() sql.DBStats { return db.engine.pools() }

// OnChange sets a function that is called after every commit that recorded changes, with the locked account or "".
func (db *DB) OnChange(wake func(account string)) { db.wake.Store(&wake) }

// OnTrim sets a function that is called after every commit that trimmed a history above Options.HistoryBytes, with the
// number of trimmed changes.
func (db *DB) OnTrim(tell func(changes int)) { db.onTrim.Store(&tell) }

// OnDeliveries sets a function that is called after every commit that made deliveries of webhooks claimable.
func (db *DB) OnDeliveries(wake func()) { db.onDue.Store(&wake) }

// SealWith sets the key ring that encrypts secrets.
func (db *DB) SealWith(ring *sealed.Ring) { db.ring.Store(ring) }

// Read runs fn. Each statement of fn sees what is committed when it starts.
func (db *DB) Read(ctx context.Context, fn func(context.Context, *ReadTx) error) error {
	return db.read(ctx, forDecisions, db.engine.read, fn)
}

// reader is engine.read or engine.snapshot.
type reader func(ctx context.Context, via priority, fn func(querier) error) error

func (db *DB) read(ctx context.Context, via priority, read reader, fn func(context.Context, *ReadTx) error) error {
	ctx, cancel := context.WithTimeout(ctx, db.options.Limits.Read)
	defer cancel()
	ctx, end := db.begin(ctx, "read")
	err := classify(ctx, read(ctx, via, func(conn querier) error {
		return safely(func() error {
			return fn(ctx, &ReadTx{conn: conn, dialect: db.dialect, ring: db.ring.Load(), log: db.options.Log, now: db.now()})
		})
	}))
	end(err)
	return err
}

// Write runs fn in one transaction that holds the lock of the account; "" locks none. The transaction is
// rolled back when fn returns an error; see transaction.ErrDryRun and the package documentation.
func (db *DB) Write(ctx context.Context, account string, fn func(context.Context, *Tx) error) error {
	return db.write(ctx, writeOptions{priority: forDecisions, account: account}, fn)
}

func (db *DB) write(ctx context.Context, options writeOptions, fn func(context.Context, *Tx) error) error {
	limit := db.options.Limits.Write
	if options.unlimited {
		limit = migrateTimeout
	}
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	ctx, end := db.begin(ctx, "write")
	var tx *Tx // of the last attempt
	err := classify(ctx, db.engine.write(ctx, options, func(ctx context.Context, conn querier, access int64) error {
		// The time is read under the lock, so that times follow the order of changes.
		tx = &Tx{ReadTx: ReadTx{conn: conn, dialect: db.dialect, ring: db.ring.Load(), log: db.options.Log, now: db.now()},
			locked: options.account, access: access, historyLimit: db.options.HistoryBytes}
		return safely(func() error { return fn(ctx, tx) })
	}))
	committed := err == nil
	if errors.Is(err, transaction.ErrDryRun) {
		err = nil
	}
	end(err)
	db.noteWrite(err, committed && tx.wrote)
	if committed {
		db.follow(tx)
	}
	return err
}

// follow calls the functions that were registered for the commit of a transaction.
func (db *DB) follow(tx *Tx) {
	if tell := db.onTrim.Load(); tx.trimmed > 0 && tell != nil {
		(*tell)(tx.trimmed)
	}
	if wake := db.wake.Load(); tx.changed && wake != nil {
		(*wake)(tx.locked)
	}
	if tx.changed {
		tx.notices = append(tx.notices, notice{changesChannel, tx.locked})
	}
	db.announce.tell(tx.notices...)
	if wake := db.onDue.Load(); tx.delivers && wake != nil {
		(*wake)()
	}
	for _, fn := range tx.afterCommit {
		fn()
	}
}

// safely turns a panic into an error: the connection must be returned, and SQLite's writer serves everybody.
func safely(fn func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("a transaction panicked: %v\n%s", cause, debug.Stack())
		}
	}()
	return fn()
}

func (db *DB) now() time.Time { return db.options.Now().UTC().Truncate(time.Microsecond) }

// begin starts to measure and trace a transaction.
func (db *DB) begin(ctx context.Context, kind string) (context.Context, func(error)) {
	started := time.Now()
	endSpan := func(error) {}
	if db.options.Trace != nil {
		ctx, endSpan = db.options.Trace(ctx, "store "+kind)
	}
	return ctx, func(err error) {
		endSpan(err)
		if db.options.Observe != nil {
			db.options.Observe(kind, time.Since(started), err)
		}
	}
}

// ReadTx runs the reading statements of all concepts.
type ReadTx struct {
	conn    querier
	dialect dialect
	ring    *sealed.Ring
	log     *slog.Logger
	now     time.Time
}

// Now returns the instant of the transaction, the same for all it writes.
func (tx *ReadTx) Now() time.Time { return tx.now }

// Tx runs the reading and writing statements of all concepts in one transaction.
type Tx struct {
	ReadTx
	locked       string          // the account whose lock it holds from its start; "" is none
	held         map[string]bool // accounts whose locks it took later
	access       int64           // that account's access version; 0 is unknown
	historyLimit int64           // bytes of an account's history; zero is no limit
	trimmed      int             // number of changes whose documents it removed
	changed      bool            // it recorded changes
	firstChange  int64           // the number of the first change it recorded; zero for none
	ownChange    int64           // the same without changes that are consequences of others
	wrote        bool            // a statement changed rows
	delivers     bool            // it made deliveries of webhooks claimable
	notices      []notice        // for other nodes, beside those of changes
	afterCommit  []func()
}

// AfterCommit calls fn when the transaction has been committed, and not after a dry run. Use it to notify other parts
// of this process, such as to wake a loop.
func (tx *Tx) AfterCommit(fn func()) { tx.afterCommit = append(tx.afterCommit, fn) }

// LockSchema waits for other nodes that migrate or make the first account.
func (tx *Tx) LockSchema(ctx context.Context) error {
	if tx.dialect.lockSchema == "" {
		return nil
	}
	return tx.run(ctx, tx.dialect.lockSchema)
}

// Transactions hands transactions to a domain package as the interfaces it asks for.
type Transactions[R, W any] struct {
	db       *DB
	priority priority
	read     func(*ReadTx) R
	write    func(*Tx) W
}

// NewTransactions pairs a database with the two interfaces of a domain package.
func NewTransactions[R, W any](db *DB, read func(*ReadTx) R, write func(*Tx) W) Transactions[R, W] {
	return Transactions[R, W]{db: db, priority: forDecisions, read: read, write: write}
}

// ForLoops returns transactions that go before all others.
func (t Transactions[R, W]) ForLoops() Transactions[R, W] {
	t.priority = forLoops
	return t
}

// ForObservations returns transactions that wait for all others. They are not interrupted, so a large report must be
// written in slices of a few milliseconds each.
func (t Transactions[R, W]) ForObservations() Transactions[R, W] {
	t.priority = forObservations
	return t
}

// Read is DB.Read with the domain's interface.
func (t Transactions[R, W]) Read(ctx context.Context, fn func(context.Context, R) error) error {
	return t.db.read(ctx, t.priority, t.db.engine.read, func(ctx context.Context, tx *ReadTx) error { return fn(ctx, t.read(tx)) })
}

// Snapshot is Read for statements that all see the same state. On PostgreSQL it costs two more round trips.
func (t Transactions[R, W]) Snapshot(ctx context.Context, fn func(context.Context, R) error) error {
	return t.db.read(ctx, t.priority, t.db.engine.snapshot, func(ctx context.Context, tx *ReadTx) error { return fn(ctx, t.read(tx)) })
}

// Write is DB.Write with the domain's interface.
func (t Transactions[R, W]) Write(ctx context.Context, account string, fn func(context.Context, W) error) error {
	return t.db.write(ctx, writeOptions{priority: t.priority, account: account}, func(ctx context.Context, tx *Tx) error { return fn(ctx, t.write(tx)) })
}

// row is the current row of a result.
type row interface{ Scan(into ...any) error }

// all reads every row of a query. It does not begin if ctx has ended.
func all[T any](ctx context.Context, conn querier, scan func(row) (T, error), query string, args ...any) (found []T, err error) {
	defer func() { err = classify(ctx, err) }()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
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

// upTo reads rows within a budget of bytes, and at least one; cut reports whether there were more.
func upTo[T any](ctx context.Context, conn querier, scan func(row) (T, error), budget int, size func(T) int, query string, args ...any) (found []T, cut bool, err error) {
	full := errors.New("the budget is used up")
	_, err = all(ctx, conn, func(r row) (item T, err error) {
		if item, err = scan(r); err != nil {
			return item, err
		}
		if budget -= size(item); budget < 0 && len(found) > 0 {
			return item, full
		}
		found = append(found, item)
		return item, nil
	}, query, args...)
	if errors.Is(err, full) {
		return found, true, nil
	}
	return found, false, err
}

// one reads the only row of a query; without a row it returns missing.
func one[T any](ctx context.Context, conn querier, missing error, scan func(row) (T, error), query string, args ...any) (only T, err error) {
	found, err := all(ctx, conn, scan, query, args...)
	if err == nil && len(found) == 0 {
		err = missing
	}
	if err != nil {
		return only, err
	}
	return found[0], nil
}

// scalar reads the only row of a query that always has one, such as an aggregate's.
func scalar[T any](ctx context.Context, conn querier, scan func(row) (T, error), query string, args ...any) (T, error) {
	return one(ctx, conn, fmt.Errorf("there is no row: %s", query), scan, query, args...)
}

// mapOf reads a query of two columns.
func mapOf[K comparable, V any](ctx context.Context, conn querier, query string, args ...any) (map[K]V, error) {
	found := map[K]V{}
	_, err := all(ctx, conn, scanInto(found), query, args...)
	return found, err
}

// scanInto returns a function that adds rows of two columns to a map.
func scanInto[K comparable, V any](found map[K]V) func(row) (K, error) {
	return func(r row) (key K, err error) {
		var value V
		err = r.Scan(&key, &value)
		found[key] = value
		return key, err
	}
}

// fetch runs fn like DB.Read and returns its result.
func fetch[T any](ctx context.Context, db *DB, via priority, fn func(context.Context, *ReadTx) (T, error)) (found T, err error) {
	err = db.read(ctx, via, db.engine.read, func(ctx context.Context, tx *ReadTx) error {
		found, err = fn(ctx, tx)
		return err
	})
	return found, err
}

// run executes a statement.
func (tx *Tx) run(ctx context.Context, query string, args ...any) error {
	_, err := tx.affect(ctx, query, args...)
	return err
}

// affect executes a statement and counts the rows it changed. It does not begin if ctx has ended.
func (tx *Tx) affect(ctx context.Context, query string, args ...any) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	result, err := tx.conn.exec(ctx, query, args...)
	if err != nil {
		return 0, classify(ctx, err)
	}
	changed, err := result.RowsAffected()
	tx.wrote = tx.wrote || changed > 0
	return int(changed), err
}
