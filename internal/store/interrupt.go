package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"iter"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// parkedQuery is the statement that waits on a read connection; see interruptible.
const parkedQuery = "SELECT park()"

// readConnector opens read connections.
type readConnector struct{ dsn string }

// Driver returns a driver that lacks the function park. database/sql opens connections with Connect instead.
func (c readConnector) Driver() driver.Driver { return &sqlite.Driver{} }

// Connect gives every connection a driver of its own, so that park knows which connection calls it.
func (c readConnector) Connect(context.Context) (driver.Conn, error) {
	conn, opener := &interruptible{}, &sqlite.Driver{}
	if err := opener.RegisterScalarFunction("park", 0, conn.park); err != nil {
		return nil, err
	}
	opener.RegisterConnectionHook(func(opened sqlite.ExecQuerierContext, _ string) error {
		conn.statements = opened
		return nil
	})
	var err error
	conn.Conn, err = opener.Open(c.dsn)
	return conn, err
}

// interruptible is a connection with a parked statement: the statement has called park, and waits there while other
// statements run. When the context of the parked statement ends, the driver interrupts the connection: SQLite then ends
// every statement of the connection until the parked one has ended too.
//
// Giving the context to every statement would be simpler, but costs a small read a quarter more CPU time, because the
// driver starts a goroutine for each statement. The driver would also end a statement only on the way to its first row,
// and SQLite forgets an interrupt that comes while no statement runs. See docs/decisions/0049-interrupting-reads.md.
type interruptible struct {
	driver.Conn
	statements sqlite.ExecQuerierContext // Conn, as the driver's hook gives it
	yield      func(struct{}) bool       // returns control to the caller of start, until unpark
	interrupt  context.CancelFunc        // nil while no statement is parked
	unpark     func()                    // returns when the parked statement has ended
}

// start parks a statement unless one is parked. The statement is a coroutine, so one goroutine at a time uses the connection.
func (c *interruptible) start() error {
	if c.interrupt != nil {
		return nil
	}
	ctx, interrupt := context.WithCancel(context.Background())
	var err error
	next, unpark := iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		_, err = c.statements.ExecContext(ctx, parkedQuery, nil)
	})
	if _, parked := next(); !parked {
		interrupt()
		return err
	}
	c.interrupt, c.unpark = interrupt, unpark
	return nil
}

// park is the SQL function that the parked statement calls.
func (c *interruptible) park(*sqlite.FunctionContext, []driver.Value) (driver.Value, error) {
	c.yield(struct{}{})
	return int64(0), nil
}

// end ends the parked statement, and with it the effect of an interrupt.
func (c *interruptible) end() {
	if c.interrupt != nil {
		c.unpark()
		c.interrupt()
		c.interrupt = nil
	}
}

// Close ends the parked statement first.
func (c *interruptible) Close() error {
	c.end()
	return c.Conn.Close()
}

// readConn is a connection whose statements can be interrupted.
type readConn struct {
	*prepared
	driven *interruptible
}

func newReadConn(ctx context.Context, pool *sql.DB) (*readConn, error) {
	conn, err := newPrepared(ctx, pool)
	if err != nil {
		return nil, err
	}
	made := &readConn{prepared: conn}
	err = conn.conn.Raw(func(driven any) error {
		made.driven = driven.(*interruptible)
		return nil
	})
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return made, nil
}

// during runs fn, whose statements end with ctx.
func (r *readConn) during(ctx context.Context, fn func(querier) error) error {
	if err := r.driven.start(); err != nil {
		return err
	}
	unwatch := context.AfterFunc(ctx, r.driven.interrupt)
	defer func() {
		if !unwatch() {
			r.driven.end()
		}
	}()
	err := fn(r)
	if sqliteCode(err)&0xff == sqlite3.SQLITE_INTERRUPT {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}
