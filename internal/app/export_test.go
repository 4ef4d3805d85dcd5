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

// Resealer returns the function that checks the key ring once.
func Resealer(db *store.DB, ring *sealed.Ring, log *slog.Logger) (look func(context.Context)) {
	return (&resealer{db: db, ring: ring, log: log}).check
}

// Retention returns the function that removes old rows once, by the clock now.
func Retention(db *store.DB, log *slog.Logger, runs, changes time.Duration, now func() time.Time) (removeOld func(context.Context)) {
	return (&retention{db: db, log: log, runs: runs, changes: changes, now: now, paused: func() bool { return false }}).removeOld
}

// Chores runs every periodic task of the app once.
func (a *App) Chores(ctx context.Context) {
	for _, chore := range a.chores {
		chore.work(ctx)
	}
}

// Clock exports clock.
type Clock struct{ *clock }

// NewClock returns a clock. passed returns the time since the start.
func NewClock(db databaseClock, log *slog.Logger, now func() time.Time, passed func() time.Duration) Clock {
	made := newClock(db, log, now)
	made.passed = passed
	return Clock{made}
}

// Check compares the clocks.
func (c Clock) Check(ctx context.Context) { c.check(ctx) }

// IsWrong reports whether the node must do no work that depends on its clock.
func (c Clock) IsWrong() bool { return c.isWrong() }

// GiveUpSoon makes a node, before its start, give up its runs soon after its heartbeats fail.
func (a *App) GiveUpSoon() {
	a.worker.Intervals = worker.Intervals{Heartbeat: 20 * time.Millisecond, AbortAfter: 200 * time.Millisecond, LostAfter: 300 * time.Millisecond,
		CancelCheck: time.Second, Poll: 50 * time.Millisecond, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// NewSender returns the sender that makes the requests of runs.
func NewSender(client *egress.Client) worker.Sender { return sender{client} }

// WatchNothing keeps a node from polling for canceled runs; call it before the node starts. The node
// then learns of them only by notifications.
func (a *App) WatchNothing() {
	a.worker.Intervals = worker.Intervals{Heartbeat: 2 * time.Second, AbortAfter: time.Minute, LostAfter: 2 * time.Minute,
		CancelCheck: time.Hour, Poll: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// SendError exports sendError.
func SendError(err error) error { return sendError(err) }

// Addresses lists the addresses that the app listens on: the API first, then the metrics if they have
// their own address.
func (a *App) Addresses() []string {
	var addresses []string
	for _, server := range a.servers {
		addresses = append(addresses, server.listener.Addr().String())
	}
	return addresses
}

// Listeners returns the app's listeners, so that a test can break them.
func (a *App) Listeners() []net.Listener {
	var listeners []net.Listener
	for _, server := range a.servers {
		listeners = append(listeners, server.listener)
	}
	return listeners
}

// Certificates returns the function that returns the certificate for each handshake. Every call
// checks for new files.
func Certificates(certFile, keyFile string, log *slog.Logger) (func() (*tls.Certificate, error), error) {
	loaded, err := loadCertificate(certFile, keyFile, log)
	return func() (*tls.Certificate, error) {
		loaded.checked = time.Time{}
		return loaded.get(nil)
	}, err
}
