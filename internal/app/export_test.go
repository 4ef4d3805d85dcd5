package app

import (
	"context"
	"crypto/tls"
	"log/slog"
	"net"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs/worker"
	"github.com/signalbox/signalbox/internal/sealed"
	"github.com/signalbox/signalbox/internal/store"
)

// Resealer returns one check of what notices new keys.
func Resealer(db *store.DB, ring *sealed.Ring, log *slog.Logger) (look func(context.Context)) {
	return (&resealer{db: db, ring: ring, log: log}).check
}

// Retention returns one round of removing what is too old at an instant.
func Retention(db *store.DB, log *slog.Logger, runs, changes time.Duration, now func() time.Time) (removeOld func(context.Context)) {
	return (&retention{db: db, log: log, runs: runs, changes: changes, now: now, paused: func() bool { return false }}).removeOld
}

// Chores runs once what the app does by itself now and then: the clock, the key ring, the retention.
func (a *App) Chores(ctx context.Context) {
	for _, chore := range a.chores {
		chore.work(ctx)
	}
}

// Clock is a node's clock beside a database's.
type Clock struct{ *clock }

// NewClock returns a clock, with a function that says how much time has passed.
func NewClock(db databaseClock, log *slog.Logger, now func() time.Time, passed func() time.Duration) Clock {
	made := newClock(db, log, now)
	made.passed = passed
	return Clock{made}
}

// Check compares the clocks.
func (c Clock) Check(ctx context.Context) { c.check(ctx) }

// IsWrong reports whether the node must do nothing by its clock.
func (c Clock) IsWrong() bool { return c.isWrong() }

// GiveUpSoon makes a node that has not been started give its runs up after a moment without heartbeats.
func (a *App) GiveUpSoon() {
	a.worker.Intervals = worker.Intervals{Heartbeat: 20 * time.Millisecond, AbortAfter: 200 * time.Millisecond, LostAfter: 300 * time.Millisecond,
		CancelCheck: time.Second, Poll: 50 * time.Millisecond, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// NewSender is what makes the requests of runs.
func NewSender(client *egress.Client) worker.Sender { return sender{client} }

// WatchNothing makes a node that has not been started notice no cancellation by
// itself: it has to be told.
func (a *App) WatchNothing() {
	a.worker.Intervals = worker.Intervals{Heartbeat: 2 * time.Second, AbortAfter: time.Minute, LostAfter: 2 * time.Minute,
		CancelCheck: time.Hour, Poll: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// SendError says in the worker's words why a request failed.
func SendError(err error) error { return sendError(err) }

// Addresses lists where the app listens: the API first, then the metrics when
// they have an address of their own.
func (a *App) Addresses() []string {
	var addresses []string
	for _, server := range a.servers {
		addresses = append(addresses, server.listener.Addr().String())
	}
	return addresses
}

// Listeners returns what the app listens with, for a test to break.
func (a *App) Listeners() []net.Listener {
	var listeners []net.Listener
	for _, server := range a.servers {
		listeners = append(listeners, server.listener)
	}
	return listeners
}

// Certificates returns what handshakes get of two files. Every call looks for
// new ones.
func Certificates(certFile, keyFile string, log *slog.Logger) (func() (*tls.Certificate, error), error) {
	loaded, err := loadCertificate(certFile, keyFile, log)
	return func() (*tls.Certificate, error) {
		loaded.checked = time.Time{}
		return loaded.get(nil)
	}, err
}
