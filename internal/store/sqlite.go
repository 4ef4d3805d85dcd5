package store

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"

	_ "modernc.org/sqlite" // registers the driver "sqlite"
)

// errClosed refuses work on a closed database.
var errClosed = errors.New("the database is closed")

// sqliteEngine is one writer connection behind a queue, and pools of readers.
type sqliteEngine struct {
	writing, reading *sql.DB
	writer           *prepared
	readers          [priorityCount]chan *readConn
	opened           [priorityCount]int // readers
	commits          atomic.Int64       // of this process
	watch            commitWatch        // for the commits of others
	grouped          func(writers int)
	limits           Limits

	queue   *writeQueue
	stop    chan struct{} // closed to end reading
	ended   chan struct{} // closed when the writer has ended
	stopped sync.Once
}

func openSQLite(ctx context.Context, options Options) (*sqliteEngine, error) {
	e := &sqliteEngine{grouped: options.GroupCommitted, limits: options.Limits, queue: newWriteQueue(), stop: make(chan struct{}), ended: make(chan struct{})}
	if e.grouped == nil {
		e.grouped = func(int) {}
	}
	if err := makePrivate(options.File); err != nil {
		return nil, err
	}
	if err := e.connect(ctx, options.File, options.Unsynced); err != nil {
		return nil, errors.Join(fmt.Errorf("opening the SQLite database: %w", err), e.closePools())
	}
	go e.runWriter()
	return e, nil
}

// makePrivate creates the database file for its owner alone; SQLite's other files get the same mode.
func makePrivate(file string) error {
	made, err := os.OpenFile(file, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("opening the SQLite database: %w", err)
	}
	return made.Close()
}

func (e *sqliteEngine) connect(ctx context.Context, file string, unsynced bool) (err error) {
	// A large batch touches many pages of many indexes. With SQLite's 2 MiB of
	// cache they would be written to the log and read again, over and over. Small
	// transactions change the same pages of indexes again and again: with a log of
	// 16 MiB, not SQLite's 4, each page is copied into the database less often.
	pragmas := []string{"cache_size(-65536)", "wal_autocheckpoint(4000)"}
	if unsynced {
		pragmas = append(pragmas, "synchronous(OFF)")
	}
	if e.writing, err = sql.Open("sqlite", e.dsn(file, pragmas...)); err != nil {
		return err
	}
	e.writing.SetMaxOpenConns(1)
	if e.writer, err = newPrepared(ctx, e.writing); err != nil {
		return err
	}
	e.reading = sql.OpenDB(readConnector{e.dsn(file, "query_only(1)")})
	if e.watch.conn, err = newPrepared(ctx, e.reading); err != nil {
		return err
	}
	for via, count := range [priorityCount]int{forLoops: 3, forDecisions: max(4, 2*runtime.GOMAXPROCS(0)), forObservations: 2} {
		if err := e.openReaders(ctx, priority(via), count); err != nil {
			return err
		}
	}
	return nil
}

func (e *sqliteEngine) openReaders(ctx context.Context, via priority, count int) error {
	e.readers[via] = make(chan *readConn, count)
	for range count {
		opened, err := newReadConn(ctx, e.reading)
		if err != nil {
			return err
		}
		e.readers[via] <- opened
		e.opened[via]++
	}
	return nil
}

// dsn returns the file's name with the settings of a connection. WAL lets readers
// go on while one writes; FULL makes a commit survive a power cut.
func (e *sqliteEngine) dsn(file string, pragmas ...string) string {
	name := url.URL{Scheme: "file", Opaque: (&url.URL{Path: file}).EscapedPath()}
	return fmt.Sprintf("%s?_pragma=busy_timeout(%d)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"+
		"&_pragma=foreign_keys(1)&_pragma=temp_store(MEMORY)&_pragma=%s", name.String(), e.limits.FileLock.Milliseconds(), strings.Join(pragmas, "&_pragma="))
}

// read lends a connection to fn. The statements of fn end with ctx, because few connections serve all accounts.
func (e *sqliteEngine) read(ctx context.Context, via priority, fn func(querier) error) error {
	return e.lend(ctx, via, func(conn *readConn) error { return conn.during(ctx, fn) })
}

// snapshot is read in a transaction. It ends with a rollback, which works in every state of a transaction.
func (e *sqliteEngine) snapshot(ctx context.Context, via priority, fn func(querier) error) error {
	return e.lend(ctx, via, func(conn *readConn) error {
		if err := conn.run(ctx, "BEGIN"); err != nil {
			return err
		}
		return errors.Join(conn.during(ctx, fn), conn.run(ctx, "ROLLBACK"))
	})
}

func (e *sqliteEngine) lend(ctx context.Context, via priority, fn func(*readConn) error) error {
	select {
	case conn := <-e.readers[via]:
		defer func() { e.readers[via] <- conn }()
		return fn(conn)
	case <-e.stop:
		return errClosed
	case <-ctx.Done():
		return ctx.Err()
	}
}

// epoch counts the commits of this process exactly, and those of other processes up to watchInterval late.
func (e *sqliteEngine) epoch(ctx context.Context) (int64, bool, error) {
	others, err := e.watch.read(ctx)
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
		e.queue.close()
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
		for range opened { // waits for readers in use
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
