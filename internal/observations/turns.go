package observations

import (
	"context"
	"runtime"
)

// Turns bounds how many reports a node reads or compares at once. A fleet that
// starts would otherwise keep every processor busy, and each small request that
// comes between would wait for all of its reports. Nil bounds nothing.
type Turns chan struct{}

// NewTurns leaves half of the processors to other requests.
func NewTurns() Turns { return make(Turns, max(1, runtime.GOMAXPROCS(0)/2)) }

// Take runs a function when its turn has come. What has few items, as most services
// have, has it at once: waiting for the database is no work for a processor.
func (t Turns) Take(ctx context.Context, items int, run func() error) error {
	const few = 1000
	if t == nil || items <= few {
		return run()
	}
	select {
	case t <- struct{}{}:
		defer func() { <-t }()
		return run()
	case <-ctx.Done():
		return ctx.Err()
	}
}
