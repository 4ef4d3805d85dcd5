package store

import (
	"context"
	"database/sql"
	"errors"
	"reflect"
	"time"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// interruptInterval is how often the statements of a read whose context has ended are interrupted.
const interruptInterval = 5 * time.Millisecond

// readConn is a connection whose statements can be made to end.
type readConn struct {
	*prepared
	handle uintptr // SQLite's own, of the connection
}

func newReadConn(ctx context.Context, pool *sql.DB) (*readConn, error) {
	conn, err := newPrepared(ctx, pool)
	if err != nil {
		return nil, err
	}
	handle, err := handleOf(conn.conn)
	if err != nil {
		return nil, errors.Join(err, conn.close())
	}
	return &readConn{conn, handle}, nil
}

// handleOf returns SQLite's handle of a connection, which the driver keeps to itself.
func handleOf(conn *sql.Conn) (handle uintptr, err error) {
	err = conn.Raw(func(driverConn any) error {
		if fields := reflect.Indirect(reflect.ValueOf(driverConn)); fields.Kind() == reflect.Struct {
			if field := fields.FieldByName("db"); field.Kind() == reflect.Uintptr {
				handle = uintptr(field.Uint())
			}
		}
		if handle == 0 {
			return errors.New("this SQLite driver has no handle where one is expected")
		}
		return nil
	})
	return handle, err
}

// during runs fn, whose statements end with ctx.
func (r *readConn) during(ctx context.Context, fn func(querier) error) error {
	stop := r.interruptWith(ctx)
	defer stop()
	err := fn(r)
	if sqliteCode(err)&0xff == sqlite3.SQLITE_INTERRUPT {
		err = errors.Join(ctx.Err(), err)
	}
	return err
}

// interruptWith ends the connection's statements from when ctx ends until stop is called.
//
// The driver would interrupt each statement once. SQLite forgets an interrupt that comes just before a statement begins, and
// the statement would run to its end for nobody.
func (r *readConn) interruptWith(ctx context.Context) (stop func()) {
	done, exited := make(chan struct{}), make(chan struct{})
	unwatch := context.AfterFunc(ctx, func() {
		defer close(exited)
		ticker := time.NewTicker(interruptInterval)
		defer ticker.Stop()
		for {
			r.interrupt()
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() {
		if !unwatch() {
			close(done)
			<-exited
		}
	}
}

func (r *readConn) interrupt() {
	thread := libc.NewTLS()
	defer thread.Close()
	sqlite3.Xsqlite3_interrupt(thread, r.handle)
}
