package observations

import (
	"context"
	"runtime"
)

// Slots bounds how many reports a node reads or compares at once. Without it, a fleet
// that starts would keep every processor busy, and small requests would wait for all
// reports of the fleet. Nil bounds nothing.
type Slots chan struct{}

// NewSlots creates slots for half of the processors; other requests have the rest.
func NewSlots() Slots { return make(Slots, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take runs a function when a slot is free. A report with few items needs no slot: most
// of its time is spent waiting for the database, not computing.
func (s Slots) Take(ctx context.Context, items int, run func() error) error {
	const few = 1000
	if s == nil || items <= few {
		return run()
	}
	select {
	case s <- struct{}{}:
		defer func() { <-s }()
		return run()
	case <-ctx.Done():
		return ctx.Err()
	}
}
