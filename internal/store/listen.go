package store

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/signalbox/signalbox/internal/background"
)

// The channels are what PostgreSQL's nodes notify each other on.
const (
	changesChannel = "signalbox_changes"
	runsChannel    = "signalbox_runs" // with the id of a run that was cancelled
)

// Listener hears of changes that other nodes commit. SQLite has no other
// nodes, and its Listener does nothing.
type Listener struct {
	db      *DB
	wake    func()
	aborted func(run string)
	loop    background.Loop
}

// NewListener calls wake for every notification, and once after each time the
// connection was lost and is back, because something may have been missed.
func (db *DB) NewListener(wake func()) *Listener {
	return &Listener{db: db, wake: wake, aborted: func(string) {}}
}

// OnAbort sets what is called for every run that another node cancels. It must
// be called before Start.
func (l *Listener) OnAbort(aborted func(run string)) { l.aborted = aborted }

// Start begins to listen.
func (l *Listener) Start(ctx context.Context) {
	if l.db.database == "" {
		return
	}
	l.loop.Start(ctx, l.run)
}

// Stop ends listening and waits for it.
func (l *Listener) Stop() { l.loop.Stop() }

// run connects again, with growing pauses, until it is stopped. The change
// feed's poll covers the gaps.
func (l *Listener) run(ctx context.Context) {
	const longest = 10 * time.Second
	pause := l.db.limits.Reconnect
	for ctx.Err() == nil {
		heard, err := l.listen(ctx)
		if ctx.Err() != nil {
			return
		}
		if heard {
			pause = l.db.limits.Reconnect
		}
		l.db.log.Warn("Lost the connection that hears of other nodes' changes; it is made again.", "error", err)
		select {
		case <-ctx.Done():
		case <-time.After(pause + time.Duration(rand.Int64N(int64(pause)))): //nolint:gosec // jitter needs no secrecy
		}
		pause = min(2*pause, longest)
	}
}

// listen waits for notifications on a connection of its own until it breaks.
func (l *Listener) listen(ctx context.Context) (heard bool, err error) {
	config, err := parseURL(l.db.database)
	if err != nil {
		return false, err
	}
	conn, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, conn.Close(context.WithoutCancel(ctx))) }()
	for _, channel := range []string{changesChannel, runsChannel} {
		if _, err := conn.Exec(ctx, "LISTEN "+channel); err != nil {
			return false, err
		}
	}
	l.wake()
	for {
		heard, err := conn.WaitForNotification(ctx)
		switch {
		case err != nil:
			return true, err
		case heard.Channel == runsChannel:
			l.aborted(heard.Payload)
		default:
			l.wake()
		}
	}
}
