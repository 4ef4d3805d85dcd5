package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/signalbox/signalbox/internal/background"
)

// The channels that nodes on PostgreSQL notify each other on.
const (
	changesChannel = "signalbox_changes" // carries the changed account, if it is known
	runsChannel    = "signalbox_runs"    // carries the id of a canceled run
)

// Listener receives the notifications of other nodes. With SQLite there are none.
type Listener struct {
	db      *DB
	wake    func(account string)
	aborted func(run string)
	loop    background.Loop
}

// NewListener returns a Listener that calls wake with the changed account for
// every notification. It calls wake with "" after every connect, because
// notifications may have been missed before.
func (db *DB) NewListener(wake func(account string)) *Listener {
	return &Listener{db: db, wake: wake, aborted: func(string) {}}
}

// OnAbort sets a function that is called for every run that another node cancels. Call it before Start.
func (l *Listener) OnAbort(aborted func(run string)) { l.aborted = aborted }

// Start starts listening.
func (l *Listener) Start(ctx context.Context) {
	if l.db.options.Database == "" {
		return
	}
	l.loop.Start(ctx, l.run)
}

// Stop stops listening and waits until it has ended.
func (l *Listener) Stop() { l.loop.Stop() }

// run reconnects, with growing pauses, until it is stopped. Without a connection the change feed polls.
func (l *Listener) run(ctx context.Context) {
	const longest = 10 * time.Second
	pause := l.db.options.Limits.Reconnect
	for failing := false; ctx.Err() == nil; failing = true {
		connected, err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if connected {
			pause = l.db.options.Limits.Reconnect
		}
		if connected || !failing { // once for each outage
			l.db.options.Log.Warn("Lost the connection for notifications from other nodes; reconnecting. Until then changes are found by polling.", "error", err)
		}
		select {
		case <-ctx.Done():
		case <-time.After(pause + time.Duration(rand.Int64N(int64(pause)))): //nolint:gosec // jitter needs no secrecy
		}
		pause = min(2*pause, longest)
	}
}

// listen waits for notifications until the connection breaks.
func (l *Listener) listen(ctx context.Context) (connected bool, err error) {
	conn, err := l.db.engine.(*postgres).primary.connect(ctx)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, channel := range []string{changesChannel, runsChannel} {
		if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
			return false, err
		}
	}
	l.wake("")
	for {
		received, err := l.notification(ctx, conn)
		switch {
		case err != nil:
			return true, err
		case received.Channel == runsChannel:
			l.aborted(received.Payload)
		default:
			l.wake(received.Payload)
		}
	}
}

// notification waits for a notification. A frozen server neither sends notifications nor closes the connection, so the
// connection is checked now and then.
func (l *Listener) notification(ctx context.Context, conn *pgx.Conn) (*pgconn.Notification, error) {
	silence := l.db.options.Limits.Silence
	for {
		received, err := waitFor(ctx, 2*silence, conn.WaitForNotification)
		if err == nil || ctx.Err() != nil || !errors.Is(err, context.DeadlineExceeded) {
			return received, err
		}
		if _, err := waitFor(ctx, silence, func(ctx context.Context) (struct{}, error) { return struct{}{}, conn.Ping(ctx) }); err != nil {
			return nil, err
		}
	}
}

// waitFor calls fn with a time limit.
func waitFor[T any](ctx context.Context, limit time.Duration, fn func(context.Context) (T, error)) (T, error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return fn(ctx)
}
