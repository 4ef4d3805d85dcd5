package app

import (
	"net"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/jobs/worker"
)

// NewSender is what makes the requests of runs.
func NewSender(client *egress.Client) worker.Sender { return sender{client} }

// WatchNothing makes a node that has not been started notice no cancellation by
// itself: it has to be told.
func (a *App) WatchNothing() {
	a.worker.Pace = worker.Pace{Beat: 2 * time.Second, GiveUpOwn: time.Minute, GiveUpOther: 2 * time.Minute,
		Watch: time.Hour, Look: time.Second, Backlog: time.Millisecond, Write: 8 * time.Millisecond}
}

// Addresses lists where the app listens: the API first, then the metrics when
// they have an address of their own.
func (a *App) Addresses() []string {
	var addresses []string
	for _, server := range a.servers {
		addresses = append(addresses, server.listener.Addr().String())
	}
	return addresses
}

// Listeners gives what the app listens with, for a test to break.
func (a *App) Listeners() []net.Listener {
	var listeners []net.Listener
	for _, server := range a.servers {
		listeners = append(listeners, server.listener)
	}
	return listeners
}
