package app

import (
	"context"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// periodic does its work when it starts and again after every interval.
type periodic struct {
	every time.Duration
	work  func(context.Context)
	loop  background.Loop
}

// Start starts the loop.
func (p *periodic) Start(ctx context.Context) {
	p.loop.Start(ctx, func(ctx context.Context) {
		p.work(ctx)
		background.Every(ctx, p.every, p.work)
	})
}

// Stop cancels the work and waits until it has ended.
func (p *periodic) Stop() { p.loop.Stop() }
