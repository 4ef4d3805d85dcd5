package lastknown

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// share bounds the time spent on saves: the pause after a save is at least share times as long.
const share = 20

// Keeper keeps a file current.
type Keeper struct {
	File     File
	Interval time.Duration // between two checks
	// Mark returns a number that changes when there is something new to keep.
	Mark func() uint64
	// Collect returns the state to keep. It fails while the database is down.
	Collect func(context.Context) (any, error)
	Log     *slog.Logger

	loop    background.Loop
	started bool
	saved   uint64 // the mark of the file; used by the loop, and by Stop after the loop has ended
}

// Start begins to keep the file current.
func (k *Keeper) Start(ctx context.Context) {
	k.started = true
	k.File.removeLeftovers(time.Now())
	k.loop.Start(ctx, func(ctx context.Context) {
		background.Repeat(ctx, nil, k.round, func(err error) {
			k.Log.Warn("Keeping the last known state on disk failed; a restart during an outage of the database would serve nothing, or older values. Retrying.",
				"file", k.File.Path, "error", err)
		})
	})
}

// Stop ends the loop and saves once more if something is new.
func (k *Keeper) Stop(ctx context.Context) {
	k.loop.Stop()
	if k.started {
		if _, err := k.round(ctx); err != nil {
			k.Log.Warn("The last known state was not saved at the stop; a restart during an outage of the database would serve older values.",
				"file", k.File.Path, "error", err)
		}
		k.started = false
	}
}

// round saves the state if it is new, and returns the pause until the next check.
func (k *Keeper) round(ctx context.Context) (time.Duration, error) {
	mark := k.Mark()
	if mark == k.saved {
		return k.Interval, nil
	}
	began := time.Now()
	content, err := k.Collect(ctx)
	if err != nil { // the file stays as it is, as while the database is down
		return k.Interval, fmt.Errorf("collecting the last known state: %w", err)
	}
	err = k.File.Save(content)
	if err == nil {
		k.saved = mark
	}
	return max(k.Interval, share*time.Since(began)), err
}
