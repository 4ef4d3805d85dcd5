package store

import (
	"context"
	"database/sql"
	"errors"
	"log/slog"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// IsUnreachable reports whether a database could not be opened because it is down. A
// wrong password or a missing database is not an outage, because waiting does not help.
func IsUnreachable(err error) bool {
	code := postgresCode(err)
	if strings.HasPrefix(code, "28") || code == "3D000" || errors.Is(err, context.Canceled) {
		return false
	}
	return fault.Is(err, fault.Unavailable) || isOutage(err)
}

// Unreachable returns a PostgreSQL database that refuses everything at once. A node that
// starts during an outage uses it while it serves its last known values.
func Unreachable() *DB {
	db := &DB{dialect: postgresDialect(), engine: unreachable{}}
	db.options = Options{Now: time.Now, Log: slog.New(slog.DiscardHandler), Limits: Limits{}.withDefaults()}
	return db
}

// unreachable is the engine of a database that is down.
type unreachable struct{}

func (unreachable) read(context.Context, priority, func(querier) error) error {
	return errUnreachable()
}

func (unreachable) snapshot(context.Context, priority, func(querier) error) error {
	return errUnreachable()
}
func (unreachable) write(context.Context, writeOptions, work) error { return errUnreachable() }
func (unreachable) epoch(context.Context) (int64, bool, error)      { return 0, false, errUnreachable() }
func (unreachable) ping(context.Context) error                      { return errUnreachable() }
func (unreachable) pools() map[string]func() sql.DBStats            { return nil }
func (unreachable) close() error                                    { return nil }

func errUnreachable() error {
	return fault.New(fault.Unavailable, "The database could not be reached when this node started, and still cannot. Try again in a moment.")
}
