// Package background starts, stops and wakes loops. The owner of a loop documents
// what it does.
package background

import (
	"context"
	"sync"
	"time"
)

// Loop is work that goes on until it is stopped. The zero value is ready for use.
type Loop struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// Start runs each of works on a goroutine of its own. Their context has the
// values of ctx but ends only with Stop: the owner decides in which order its
// loops end.
func (l *Loop) Start(ctx context.Context, works ...func(context.Context)) {
	ctx, l.cancel = context.WithCancel(context.WithoutCancel(ctx))
	for _, work := range works {
		l.running.Go(func() { work(ctx) })
	}
}

// Stop ends the work and waits for it. The loop need not have been started.
func (l *Loop) Stop() {
	if l.cancel != nil {
		l.cancel()
	}
	l.running.Wait()
}

// Every runs work after every interval until ctx ends.
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

// Repeat runs work at once, whenever bell rings, and after the pause that work
// returns, until ctx ends. A nil bell never rings. failed is called with the
// first error of an outage, and not again until work has succeeded.
func Repeat(ctx context.Context, bell Bell, work func(context.Context) (pause time.Duration, err error), failed func(error)) {
	timer := time.NewTimer(0)
	defer timer.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-bell:
		case <-timer.C:
		}
		pause, err := work(ctx)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			failed(err)
		}
		failing = err != nil
		timer.Reset(pause)
	}
}

// Each runs work for every item, at most limit at a time, and waits for all.
func Each[K comparable, V any](limit int, items map[K]V, work func(key K, item V)) {
	var running sync.WaitGroup
	slots := make(chan struct{}, limit)
	for key, item := range items {
		slots <- struct{}{}
		running.Go(func() {
			defer func() { <-slots }()
			work(key, item)
		})
	}
	running.Wait()
}

// Pause reports whether a loop must do nothing for now. A nil Pause never does.
type Pause func() bool

// IsOn reports whether the loop must pause.
func (p Pause) IsOn() bool { return p != nil && p() }

// Bell wakes a loop that receives from it.
type Bell chan struct{}

// NewBell returns a bell.
func NewBell() Bell { return make(Bell, 1) }

// Ring wakes the loop, now or when it receives again. It never blocks.
func (b Bell) Ring() {
	select {
	case b <- struct{}{}:
	default: // it has been rung already
	}
}
