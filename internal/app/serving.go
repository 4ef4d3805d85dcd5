package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/fault"
)

// checkReady returns why this node should get no requests, or nil. It remembers that the
// node was ready once.
func (a *App) checkReady(ctx context.Context) error {
	err := a.ready(ctx)
	if err == nil {
		a.wasReady.Store(true)
	}
	return err
}

// serving returns the problem of a node that still answers evaluation, or an error if the
// node should get no traffic at all. Once the node was ready it does not ask the database,
// because a load balancer does not wait for a silent one.
func (a *App) serving(ctx context.Context) (degraded string, err error) {
	if a.stopping.Load() {
		return "", errStopping
	}
	if !a.wasReady.Load() {
		if err := a.checkReady(ctx); err != nil {
			return "", err
		}
	}
	if a.standsIn || !a.feed.Live() {
		return databaseAway, nil
	}
	return reason(a.db.Writable()), nil
}

// databaseAway is the answer to load balancers during an outage.
const databaseAway = "The database cannot be reached. Evaluation is answered from memory, everything else is refused."

var errStopping = errors.New("it is shutting down")

// reason returns the part of an error that everybody may see.
func reason(err error) (text string) {
	for _, refusal := range fault.All(err) {
		text = refusal.Detail
	}
	return text
}
