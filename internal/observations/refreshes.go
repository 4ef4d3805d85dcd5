package observations

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/transaction"
)

const (
	// refreshTimeout is how long the transaction of a slice may take, with its wait
	// for the lock.
	refreshTimeout = 3 * time.Second
	// maxBuffered and maxBufferedOfAccount bound the memory. The bound of an account is
	// enough for all its sources, flags and keys. Even when the buffer is full, every
	// account may have sureOfAccount keys, so that no account uses up the share of
	// another.
	maxBufferedOfAccount = 250_000
	maxBuffered          = 1_000_000
	sureOfAccount        = 1000
)

// Refreshed names an instant that reports and requests move forward.
type Refreshed uint8

// The instants, with the meaning of their keys.
const (
	FlagSourceSeen   Refreshed = iota // a source's id
	LoggerSourceSeen                  // a source's id
	FlagEvaluated                     // a flag's key
	KeyUsed                           // an API key's id
	SessionUsed                       // a session's id
)

// Refresh moves one instant forward.
type Refresh struct {
	What Refreshed
	Key  string
	At   time.Time
}

// RefreshTx writes refreshes.
type RefreshTx interface {
	// Refresh moves instants of an account forward, never back. It skips rows that
	// do not exist.
	Refresh(ctx context.Context, account string, refreshes []Refresh) error
}

// Refreshes buffers refreshes and writes them regularly. The package documentation
// describes its protocol.
type Refreshes struct {
	Store transaction.Writer[RefreshTx]
	// Interval is how long refreshes are buffered.
	Interval time.Duration
	Log      *slog.Logger

	mu      sync.Mutex
	pending map[string]map[instant]time.Time // by account
	size    int
	outage  outage
	loop    background.Loop
}

// instant identifies a refreshed instant.
type instant struct {
	what Refreshed
	key  string
}

// Note buffers that instants of an account move forward to at.
func (r *Refreshes) Note(account string, what Refreshed, at time.Time, keys ...string) {
	if len(keys) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[string]map[instant]time.Time{}
	}
	if r.pending[account] == nil {
		r.pending[account] = make(map[instant]time.Time, len(keys))
	}
	for _, key := range keys {
		r.note(r.pending[account], instant{what, key}, at)
	}
}

func (r *Refreshes) note(pending map[instant]time.Time, of instant, at time.Time) {
	noted, known := pending[of]
	switch {
	case known && at.After(noted):
		pending[of] = at
	case !known && (len(pending) < sureOfAccount || len(pending) < maxBufferedOfAccount && r.size < maxBuffered):
		pending[of] = at
		r.size++
	}
}

// Start begins to write the refreshes regularly.
func (r *Refreshes) Start(ctx context.Context) {
	r.loop.Start(ctx, func(ctx context.Context) { background.Every(ctx, r.Interval, r.Flush) })
}

// Stop ends the loop and writes the remaining refreshes.
func (r *Refreshes) Stop(ctx context.Context) {
	r.loop.Stop()
	r.Flush(ctx)
}

// Flush writes the buffered refreshes. Those that cannot be written before ctx ends
// stay in the buffer.
func (r *Refreshes) Flush(ctx context.Context) {
	r.mu.Lock()
	pending := r.pending
	r.pending, r.size = nil, 0
	r.mu.Unlock()
	flush(ctx, pending, r.write, &r.outage, r.Log, "last-seen times of flags, loggers and keys")
}

// write writes the refreshes of an account, and puts back refreshes that it cannot
// write.
func (r *Refreshes) write(ctx context.Context, account string, instants map[instant]time.Time) error {
	ordered := slices.SortedFunc(maps.Keys(instants), func(a, b instant) int {
		return cmp.Or(cmp.Compare(a.what, b.what), cmp.Compare(a.key, b.key))
	})
	for len(ordered) > 0 {
		slice := ordered[:min(len(ordered), sliceSize)]
		refreshes := make([]Refresh, len(slice))
		for i, each := range slice {
			refreshes[i] = Refresh{each.what, each.key, instants[each]}
		}
		if err := r.writeSlice(ctx, account, refreshes); err != nil {
			for _, each := range ordered {
				r.Note(account, each.what, instants[each], each.key)
			}
			return err
		}
		ordered = ordered[len(slice):]
	}
	return nil
}

func (r *Refreshes) writeSlice(ctx context.Context, account string, refreshes []Refresh) error {
	ctx, cancel := context.WithTimeout(ctx, refreshTimeout)
	defer cancel()
	return r.Store.Write(ctx, account, func(ctx context.Context, tx RefreshTx) error { return tx.Refresh(ctx, account, refreshes) })
}
