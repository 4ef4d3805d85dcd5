package observations

import (
	"context"
	"runtime"
)

// Slots bounds how many reports a node reads or compares at once. Without it, a starting fleet
// would keep every processor busy, and small requests would wait for all reports of the fleet.
// Nil means no bound.
type Slots chan struct{}

// NewSlots creates slots for half of the processors. The other half stays free for other requests.
func NewSlots() Slots { return make(Slots, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take runs a function when a slot is free. A report with few items needs no slot, because it
// mostly waits for the database.
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
