package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// errClosed refuses work on a closed database.
var errClosed = errors.New("the database is closed")

// maxGroup bounds how many writers share a commit, and so how long the first
// of them waits for the last.
const maxGroup = 256

// maxStatements bounds what a connection has prepared: callers choose sorts
// and filters, and so the texts of lists.
const maxStatements = 500

// loopReaders are the readers of the node's own loops, whose reads are short.
const loopReaders = 3

// sqliteEngine is one writer connection behind a queue, and a pool of readers.
type sqliteEngine struct {
	writing, reading *sql.DB
	writer           *prepared
	readers          [poolCount]chan *prepared
	opened           [poolCount]int // readers
	commits          atomic.Int64   // of this process
	watch            watch          // for the commits of others
	grouped          func(writers int)

	queue   chan *writeJob
	stop    chan struct{} // closed when work is to end
	ended   chan struct{} // closed when the writer has ended
	stopped sync.Once
}

// writeJob is one function that waits for its commit.
type writeJob struct {
	ctx  context.Context
	fn   func(context.Context, querier) error
	err  error
	done chan struct{}
}

func openSQLite(ctx context.Context, file string, grouped func(int), unsynced bool) (*sqliteEngine, error) {
	e := &sqliteEngine{grouped: grouped, queue: make(chan *writeJob, maxGroup), stop: make(chan struct{}), ended: make(chan struct{})}
	if e.grouped == nil {
		e.grouped = func(int) {}
	}
	if err := makePrivate(file); err != nil {
		return nil, err
	}
	if err := e.connect(ctx, file, unsynced); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the SQLite database: %w", err), e.closePools())
	}
	go e.run()
	return e, nil
}

// makePrivate makes a new database file that its owner alone can read; SQLite
// gives the files beside it the same mode.
func makePrivate(file string) error {
	made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the SQLite database: %w", err)
	}
	return made.Close()
}

func (e *sqliteEngine) connect(ctx context.Context, file string, unsynced bool) (err error) {
	// A large batch touches many pages of many indexes: with SQLite's 2 MiB it
	// would write them to the log and read them again, over and over.
	more := "&_pragma=cache_size(-65536)"
	if unsynced {
		more += "&_pragma=synchronous(OFF)"
	}
	if e.writing, err = sql.Open("sqlite", dsn(file, more)); err != nil {
		return err
	}
	e.writing.SetMaxOpenConns(1)
	if e.writer, err = newPrepared(ctx, e.writing); err != nil {
		return err
	}
	if e.reading, err = sql.Open("sqlite", dsn(file, "&_pragma=query_only(1)")); err != nil {
		return err
	}
	if e.watch.conn, err = newPrepared(ctx, e.reading); err != nil {
		return err
	}
	for via, count := range [poolCount]int{forCallers: max(4, 2*runtime.GOMAXPROCS(0)), forLoops: loopReaders} {
		if err := e.openReaders(ctx, pool(via), count); err != nil {
			return err
		}
	}
	return nil
}

func (e *sqliteEngine) openReaders(ctx context.Context, via pool, count int) error {
	e.readers[via] = make(chan *prepared, count)
	for range count {
		reader, err := newPrepared(ctx, e.reading)
		if err != nil {
			return err
		}
		reader.interruptible = true
		e.readers[via] <- reader
		e.opened[via]++
	}
	return nil
}

// dsn names the file and what every connection is set to. The write-ahead log
// lets readers go on while one writes; FULL makes a commit survive a power cut.
func dsn(file, more string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}
	return name.String() + "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)" +
		"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)" + more
}

// read lends a connection to fn. Its statements are interrupted when the caller
// leaves or takes too long: there are few connections, and all accounts share them.
func (e *sqliteEngine) read(ctx context.Context, via pool, fn func(querier) error) error {
	return e.lend(ctx, via, func(reader *prepared) error { return fn(reader) })
}

// snapshot is read in a transaction. There is nothing to take back: it ends
// with a rollback, which ends it whatever state it is in, and whoever has left.
func (e *sqliteEngine) snapshot(ctx context.Context, fn func(querier) error) error {
	return e.lend(ctx, forCallers, func(reader *prepared) error {
		if err := reader.run(ctx, "BEGIN"); err != nil {
			return err
		}
		return errors.Join(fn(reader), reader.run(context.WithoutCancel(ctx), "ROLLBACK"))
	})
}

func (e *sqliteEngine) lend(ctx context.Context, via pool, fn func(*prepared) error) error {
	select {
	case reader := <-e.readers[via]:
		defer func() { e.readers[via] <- reader }()
		return fn(reader)
	case <-e.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// write queues fn and waits for its commit. Once the writer has taken it, fn
// is waited for even if the caller leaves: it may be committed by then.
func (e *sqliteEngine) write(ctx context.Context, _ pool, fn func(context.Context, querier) error) error {
	job := &writeJob{ctx: ctx, fn: fn, done: make(chan struct{})}
	select {
	case e.queue <- job:
	case <-e.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-job.done:
		return job.err
	case <-e.ended:
	}
	select { // the writer may have done it before it ended
	case <-job.done:
		return job.err
	default:
		return errClosed
	}
}

// run is the writer. It ends when stop is closed and the queue is empty.
func (e *sqliteEngine) run() {
	defer close(e.ended)
	for {
		select {
		case job := <-e.queue:
			e.commitGroup(job)
		case <-e.stop:
			e.refuseQueued(errClosed)
			return
		}
	}
}

func (e *sqliteEngine) refuseQueued(cause error) {
	for {
		select {
		case job := <-e.queue:
			job.finish(cause)
		default:
			return
		}
	}
}

// commitGroup runs the first job and all that wait behind it in one
// transaction, then tells each what became of it.
func (e *sqliteEngine) commitGroup(first *writeJob) {
	ctx := context.Background()
	if err := e.writer.run(ctx, "BEGIN IMMEDIATE"); err != nil {
		first.finish(err)
		e.refuseQueued(err) // they have waited as long, and would wait once more
		return
	}
	var kept []*writeJob
	next := first
	for count := 0; next != nil && count < maxGroup; count++ {
		switch lost := e.runInSavepoint(next); {
		case lost != nil:
			if isFull(next.err) || isOutage(next.err) { // what broke the transaction for all
				lost = errors.Join(next.err, lost)
			}
			next.finish(errors.Join(next.err, lost))
			e.abandon(ctx, kept, lost)
			return
		case next.err != nil:
			next.finish(next.err)
		default:
			kept = append(kept, next)
		}
		next = e.waiting(count + 1)
	}
	if err := e.writer.run(ctx, "COMMIT"); err != nil {
		e.abandon(ctx, kept, err)
		return
	}
	e.commits.Add(1)
	e.grouped(len(kept))
	for _, job := range kept {
		job.finish(nil)
	}
}

// waiting takes the next job that is there already, if the group has room.
func (e *sqliteEngine) waiting(count int) *writeJob {
	if count >= maxGroup {
		return nil
	}
	select {
	case job := <-e.queue:
		return job
	default:
		return nil
	}
}

// runInSavepoint runs one job so that its failure takes back its work only.
// The error it returns means that the whole transaction is gone.
func (e *sqliteEngine) runInSavepoint(job *writeJob) error {
	if job.err = expired(job.ctx); job.err != nil {
		return nil //nolint:nilerr // the job's error is not the transaction's
	}
	ctx := context.WithoutCancel(job.ctx)
	if err := e.writer.run(ctx, "SAVEPOINT job"); err != nil {
		return err
	}
	job.err = job.fn(ctx, e.writer)
	if job.err != nil {
		if err := e.writer.run(ctx, "ROLLBACK TO job"); err != nil {
			return err
		}
	}
	return e.writer.run(ctx, "RELEASE job")
}

// abandon rolls the transaction back and fails the jobs that were part of it.
func (e *sqliteEngine) abandon(ctx context.Context, jobs []*writeJob, cause error) {
	// When SQLite has rolled back by itself, as on a full disk, this fails and
	// nothing is left to do.
	_ = e.writer.run(ctx, "ROLLBACK")
	for _, job := range jobs {
		job.finish(cause)
	}
}

// expired tells why a context has ended. It looks at the clock too: a context
// hears of its parent's deadline a moment after it has passed.
func expired(ctx context.Context) error {
	if deadline, set := ctx.Deadline(); set && !time.Now().Before(deadline) {
		return context.DeadlineExceeded
	}
	return ctx.Err()
}

func (j *writeJob) finish(err error) {
	j.err = err
	close(j.done)
}

// epoch counts the commits of this process exactly, and those of others as of
// the last look at the file.
func (e *sqliteEngine) epoch(ctx context.Context) (int64, bool, error) {
	others, err := e.watch.look(ctx)
	return e.commits.Load() + others, true, err
}

func (e *sqliteEngine) ping(ctx context.Context) error {
	return e.read(ctx, forLoops, func(conn querier) error {
		_, err := all(ctx, conn, scanInt, "SELECT 1")
		return err
	})
}

func (e *sqliteEngine) pools() map[string]func() sql.DBStats {
	return map[string]func() sql.DBStats{"sqlite_write": e.writing.Stats, "sqlite_read": e.reading.Stats}
}

func (e *sqliteEngine) close() error {
	var err error
	e.stopped.Do(func() {
		close(e.stop)
		<-e.ended
		err = e.closePools()
	})
	return err
}

func (e *sqliteEngine) closePools() error {
	var err error
	if e.writer != nil {
		err = e.writer.close()
	}
	err = errors.Join(err, e.watch.close())
	for via, opened := range e.opened {
		for range opened { // those that are lent out come back first
			err = errors.Join(err, (<-e.readers[via]).close())
		}
	}
	for _, pool := range []*sql.DB{e.writing, e.reading} {
		if pool != nil {
			err = errors.Join(err, pool.Close())
		}
	}
	return err
}

// prepared is one connection that prepares every statement once.
type prepared struct {
	conn       *sql.Conn
	statements map[string]*sql.Stmt
	// interruptible makes queries end with their context. It is not for the
	// writer: SQLite answers an interruption with a rollback of the whole group.
	interruptible bool
}

// newPrepared makes a connection. Several processes may open a new file at the
// same time, and while one of them turns its write-ahead log on the others are
// told that it is busy, however long they are willing to wait for locks.
func newPrepared(ctx context.Context, pool *sql.DB) (*prepared, error) {
	const patience, pause = 10 * time.Second, 5 * time.Millisecond
	end := time.Now().Add(patience)
	for {
		conn, err := pool.Conn(ctx)
		switch {
		case err == nil:
			return &prepared{conn: conn, statements: map[string]*sql.Stmt{}}, nil
		case !isBusy(err) || time.Now().After(end):
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause):
		}
	}
}

func (p *prepared) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if statement, ok := p.statements[query]; ok {
		return statement, nil
	}
	statement, err := p.conn.PrepareContext(context.WithoutCancel(ctx), query)
	if err != nil {
		return nil, err
	}
	if len(p.statements) >= maxStatements {
		if err := p.forget(); err != nil {
			return nil, err
		}
	}
	p.statements[query] = statement
	return statement, nil
}

func (p *prepared) exec(ctx context.Context, query string, args ...any) (sql.Result, error) {
	statement, err := p.statement(ctx, query) //nolint:sqlclosecheck // it is kept for the next use
	if err != nil {
		return nil, err
	}
	return statement.ExecContext(context.WithoutCancel(ctx), args...)
}

func (p *prepared) query(ctx context.Context, query string, args ...any) (*sql.Rows, error) {
	statement, err := p.statement(ctx, query) //nolint:sqlclosecheck // it is kept for the next use
	if err != nil {
		return nil, err
	}
	if !p.interruptible {
		ctx = context.WithoutCancel(ctx)
	}
	return statement.QueryContext(ctx, args...)
}

func (p *prepared) run(ctx context.Context, query string) error {
	_, err := p.exec(ctx, query)
	return err
}

// forget closes all statements. Those in use are closed when their rows are.
func (p *prepared) forget() error {
	var err error
	for _, statement := range p.statements {
		err = errors.Join(err, statement.Close())
	}
	clear(p.statements)
	return err
}

func (p *prepared) close() error { return errors.Join(p.forget(), p.conn.Close()) }
