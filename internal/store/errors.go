package store

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/signalbox/signalbox/internal/fault"
)

// classify turns database errors into coded ones. Only this file knows the
// databases' codes.
func classify(ctx context.Context, err error) error {
	switch {
	case err == nil || fault.All(err) != nil:
		return err
	case isDuplicate(err):
		return fault.New(fault.AlreadyExists, "It exists already.").Because(err)
	case isFull(err):
		return fault.New(fault.Unavailable, "The database has no space left; nothing was changed.").Because(err)
	case errors.Is(ctx.Err(), context.Canceled): // the caller left; that is no outage
		return err
	case isLate(err):
		return fault.New(fault.Unavailable, "The database did not answer in time. Try again in a moment.").Because(err)
	case isOutage(err):
		return fault.New(fault.Unavailable, "The database cannot be reached right now. Try again in a moment.").Because(err)
	}
	return err
}

// isDuplicate reports whether a unique key was violated.
func isDuplicate(err error) bool {
	return sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY ||
		sqliteCode(err) == sqlite3.SQLITE_CONSTRAINT_UNIQUE || postgresCode(err) == "23505"
}

// isMissingTable reports whether a statement names a table that does not exist.
func isMissingTable(err error) bool {
	return postgresCode(err) == "42P01" ||
		sqliteCode(err) == sqlite3.SQLITE_ERROR && strings.Contains(err.Error(), "no such table")
}

// isRetryable reports whether PostgreSQL rolled back a transaction that may work
// when it runs again: after a serialization failure, a deadlock, or a pause so
// long that the server took the node for stopped.
func isRetryable(err error) bool {
	code := postgresCode(err)
	return code == "40001" || code == "40P01" || code == idleTransaction
}

// isBusy reports whether another process has locked the SQLite file.
func isBusy(err error) bool { return sqliteCode(err)&0xff == sqlite3.SQLITE_BUSY }

// isFull reports whether the disk is full.
func isFull(err error) bool {
	return sqliteCode(err)&0xff == sqlite3.SQLITE_FULL || postgresCode(err) == "53100"
}

// diskFailure returns what is wrong with the database's disk, or "" if the error
// has another cause.
func diskFailure(err error) string {
	code, pgCode := sqliteCode(err)&0xff, postgresCode(err)
	switch {
	case err == nil:
		return ""
	case isFull(err):
		return "no space is left on its disk"
	case code == sqlite3.SQLITE_READONLY || pgCode == readOnly:
		return "it is read-only"
	case code == sqlite3.SQLITE_IOERR || code == sqlite3.SQLITE_CANTOPEN || pgCode == "58030":
		return "its disk reports an error"
	}
	return ""
}

// isLate reports whether a time limit ended the work although the database was reachable, as on an overloaded
// one.
func isLate(err error) bool {
	if isUnreached(err) {
		return false
	}
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_INTERRUPT:
		return true
	}
	switch postgresCode(err) {
	case "57014", "55P03", idleTransaction, "25P04", "40001", "40P01":
		return true
	}
	return errors.Is(err, context.DeadlineExceeded)
}

// isUnreached reports whether a connection to the database failed.
func isUnreached(err error) bool {
	_, isNetwork := errors.AsType[*net.OpError](err)
	_, isConnect := errors.AsType[*pgconn.ConnectError](err)
	return isNetwork || isConnect
}

// isOutage reports whether the caller may try again: the database could not be
// reached or refuses work for a while.
func isOutage(err error) bool {
	switch sqliteCode(err) & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY,
		sqlite3.SQLITE_INTERRUPT: // a time limit of a read
		return true
	}
	switch code := postgresCode(err); {
	case strings.HasPrefix(code, "08"), // connection
		strings.HasPrefix(code, "53"),    // resources
		strings.HasPrefix(code, "57P"),   // shutdown, crash, starting up
		code == "58030",                  // an error of the disk
		code == "57014", code == "55P03", // a time limit of a statement or a lock
		code == idleTransaction, code == "25P04", // a time limit of a transaction
		code == readOnly, code == "40001", // a standby; too many retries
		code == "40P01":
		return true
	}
	// Not net.Error: errors of files satisfy it too.
	return isUnreached(err) || pgconn.SafeToRetry(err) ||
		errors.Is(err, driver.ErrBadConn) || errors.Is(err, sql.ErrConnDone) ||
		errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) ||
		errors.Is(err, errClosed) || errors.Is(err, context.DeadlineExceeded)
}

const (
	readOnly        = "25006" // the answer of a standby to a write
	idleTransaction = "25P03" // the server has waited too long for the next statement
)

func sqliteCode(err error) int {
	if failure, ok := errors.AsType[*sqlite.Error](err); ok {
		return failure.Code()
	}
	return 0
}

func postgresCode(err error) string {
	if failure, ok := errors.AsType[*pgconn.PgError](err); ok {
		return failure.Code
	}
	return ""
}
