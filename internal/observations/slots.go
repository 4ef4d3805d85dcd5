package observations

import (
	"context"
	"runtime"
)

// Slots bounds how many reports a node reads or compares at once. A fleet that
// starts would otherwise keep every processor busy, and each small request that
// comes between would wait for all of its reports. Nil bounds nothing.
type Slots chan struct{}

// NewSlots leaves half of the processors to other requests.
func NewSlots() Slots { return make(Slots, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take runs a function when a slot is free. What has few items, as most services
// have, needs none: waiting for the database is no work for a processor.
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
