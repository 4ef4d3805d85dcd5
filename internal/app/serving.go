package app

import (
	"context"
	"errors"

	"github.com/signalbox/signalbox/internal/fault"
)

// checkReady returns nil, or the reason why this node should get no requests. It remembers
// that the node was ready once.
func (a *App) checkReady(ctx context.Context) error {
	err := a.ready(ctx)
	if err == nil {
		a.wasReady.Store(true)
	}
	return err
}

// serving returns an error if the node should get no traffic at all. If the node can
// answer only evaluation, it returns the problem as degraded. Once the node was ready,
// serving does not query the database, because load balancers do not wait for a silent
// database.
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

// reason returns the part of an error that is safe to show to everybody.
func reason(err error) (text string) {
	for _, refusal := range fault.All(err) {
		text = refusal.Detail
	}
	return text
}
