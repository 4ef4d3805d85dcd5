package lastknown

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

// share is how many times as long as a save took the pause after it is at least.
const share = 20

// Keeper keeps a file current.
type Keeper struct {
	File     File
	Interval time.Duration // between two looks
	// Mark returns a number that is another one when there is something new to keep.
	Mark func() uint64
	// Collect returns what to keep. It fails while the database is away.
	Collect func(context.Context) (any, error)
	Log     *slog.Logger

	loop    background.Loop
	started bool
	saved   uint64 // the mark of what is in the file; of the loop, and after its end of Stop
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

// Stop ends that, and saves once more what is new.
func (k *Keeper) Stop(ctx context.Context) {
	k.loop.Stop()
	if k.started {
		_, _ = k.round(ctx) // without it, what the last save wrote is used
		k.started = false
	}
}

// round saves what is new, and returns when to look again.
func (k *Keeper) round(ctx context.Context) (time.Duration, error) {
	mark := k.Mark()
	if mark == k.saved {
		return k.Interval, nil
	}
	began := time.Now()
	content, err := k.Collect(ctx)
	if err != nil { // as while the database is away: the file stays as it is
		return k.Interval, fmt.Errorf("collecting the last known state: %w", err)
	}
	err = k.File.Save(content)
	if err == nil {
		k.saved = mark
	}
	return max(k.Interval, share*time.Since(began)), err
}
