// Package background is what the loops of the house have in common: how their
// owners start and stop them, and how they are woken. What a loop does, and its
// protocol, is documented where it lives.
package background

import (
	"context"
	"sync"
	"time"
)

// Loop is work that goes on until its owner stops it. The zero value is ready
// for use.
type Loop struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start lets each of works go on, on a goroutine of its own. What they get has
// the values of ctx but ends with Stop alone: the owner decides in which order
// its loops end.
func (l *Loop) Start(ctx context.Context, works ...func(context.Context)) {
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, work := range works {
		l.running.Go(func() { work(ctx) })
	}
}

// Stop ends the work and waits for it. A loop that was never started is at its
// end already.
func (l *Loop) Stop() {
	if l.cancel != nil {
		l.cancel()
	}
	l.running.Wait()
}

// Every does work at a pace, first when one interval has passed, until ctx
// ends.
func Every(ctx context.Context, interval time.Duration, work func(context.Context)) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			work(ctx)
		}
	}
}

// Bell wakes a loop that receives from it.
type Bell chan struct{}

// NewBell makes a bell.
func NewBell() Bell { return make(Bell, 1) }

// Ring makes the loop look once more, now or when it is done with what it is
// at. It never blocks.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default: // it has been rung already
	}
}
