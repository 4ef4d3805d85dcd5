package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/fault"
)

// checkReady returns why this node should get no requests, or nil, and remembers that it
// was ready once.
func (a *App) checkReady(ctx context.Context) error {
	err := a.ready(ctx)
	if err == nil {
		a.wasReady.Store(true)
	}
	return err
}

// serving returns what is wrong with this node although it answers evaluation, or the
// error why it should get no traffic at all. Once the node was ready it says so without
// asking the database: a load balancer does not wait for one that is silent.
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

// databaseAway is what the check for load balancers says during an outage.
const databaseAway = "The database cannot be reached. Evaluation is answered from memory, everything else is refused."

var errStopping = errors.New("it is shutting down")

// reason returns what everybody may know of an error.
func reason(err error) (text string) {
	for _, refusal := range fault.All(err) {
		text = refusal.Detail
	}
	return text
}
