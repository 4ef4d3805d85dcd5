package flags

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/naming"
)

// noteInterval is the pace at which reported evaluations are written.
const noteInterval = 10 * time.Second

// EvaluationNotes remembers when flags were last evaluated, as clients report
// it with their metrics, and writes it in batches: a fleet reports every flag
// every minute, and nobody needs to know it to the second.
type EvaluationNotes struct {
	// Write stores the newest evaluation of flags, by account and key.
	Write func(ctx context.Context, notes map[FlagRef]time.Time) error
	Log   *slog.Logger

	mu      sync.Mutex
	pending map[FlagRef]time.Time
	loop    background.Loop
}

// FlagRef names a flag of any account.
type FlagRef struct{ Account, Key string }

// Note remembers that a flag was evaluated. What no flag can be called is
// ignored: clients report what they like, and it must not fill the memory or
// spoil the batch.
func (n *EvaluationNotes) Note(account, key string, at time.Time) {
	if !naming.IsKey(key, naming.MaxKey) {
		return
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.pending == nil {
		n.pending = map[FlagRef]time.Time{}
	}
	ref := FlagRef{account, key}
	if earlier, known := n.pending[ref]; at.After(earlier) && (known || len(n.pending) < MaxSources) {
		n.pending[ref] = at
	}
}

// Start begins to write.
func (n *EvaluationNotes) Start(ctx context.Context) {
	n.loop.Start(ctx, func(ctx context.Context) {
		background.Every(ctx, noteInterval, func(ctx context.Context) {
			n.flush(context.WithoutCancel(ctx)) // Stop waits for it
		})
	})
}

// Stop writes what is left and ends.
func (n *EvaluationNotes) Stop(ctx context.Context) {
	n.loop.Stop()
	n.flush(ctx)
}

// flush writes what is pending. What cannot be written is dropped: the next
// report says it again.
func (n *EvaluationNotes) flush(ctx context.Context) {
	n.mu.Lock()
	notes := n.pending
	n.pending = nil
	n.mu.Unlock()
	if len(notes) == 0 {
		return
	}
	if err := n.Write(ctx, notes); err != nil {
		n.Log.Debug("Could not write when flags were last evaluated; the next report repeats it.", "error", err)
	}
}
