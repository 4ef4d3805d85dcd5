package changes

import (
	"context"
	"log/slog"
	"maps"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

const (
	// feedBatch bounds how many rows are read of one account at a time.
	feedBatch = 500
	// lookTimeout is how long a look may take.
	lookTimeout = 5 * time.Second
)

// Source is where a Feed reads.
type Source interface {
	// Heads gives the last number of every account that exists.
	Heads(ctx context.Context) (map[string]int64, error)
	// EventsAfter gives up to limit changes of an account after a number, in
	// order, without actors and with those documents only that hearers need.
	// It may give fewer than there are, but not none.
	EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]Change, error)
}

// Feed hands every change committed since its start to its subscribers.
type Feed struct {
	source      Source
	log         *slog.Logger
	interval    time.Duration
	subscribers []func(Change)
	rewound     []func(seen map[string]int64)
	missed      []func(account string, upTo int64)

	wake     background.Bell
	loop     background.Loop
	lastLook atomic.Int64 // monotonic nanoseconds since began, of the last look that worked
	began    time.Time
}

// NewFeed makes a Feed that looks for news at least every interval.
func NewFeed(source Source, log *slog.Logger, interval time.Duration) *Feed {
	return &Feed{source: source, log: log, interval: interval, wake: background.NewBell(), began: time.Now()}
}

// Subscribe adds a receiver. It must be called before Start, and the receiver
// must not block: it is called on the feed's own goroutine.
func (f *Feed) Subscribe(receive func(Change)) { f.subscribers = append(f.subscribers, receive) }

// OnRewind adds a function that is called when an account's history is shorter
// than it was, as after a failover to a copy that lagged behind: whatever was
// learned from the feed is not to be trusted. It gets the last numbers of all
// accounts as they were before. It must be called before Start.
func (f *Feed) OnRewind(forget func(seen map[string]int64)) { f.rewound = append(f.rewound, forget) }

// OnMissed adds a function that is called when changes of an account, up to a
// number, were removed before the feed could read them, and before any that
// follows is handed out. It must be called before Start.
func (f *Feed) OnMissed(missed func(account string, upTo int64)) { f.missed = append(f.missed, missed) }

// Start reads where history ends and follows it from there.
func (f *Feed) Start(ctx context.Context) error {
	began := time.Since(f.began)
	heads, err := f.source.Heads(ctx)
	if err != nil {
		return err
	}
	f.lastLook.Store(int64(began))
	f.loop.Start(ctx, func(ctx context.Context) { f.run(ctx, heads) })
	return nil
}

// Stop ends the feed and waits for it.
func (f *Feed) Stop() { f.loop.Stop() }

// Wake makes the feed look now. It never blocks.
func (f *Feed) Wake() { f.wake.Ring() }

// Live tells whether the feed looked successfully within the last second.
func (f *Feed) Live() bool {
	return time.Since(f.began)-time.Duration(f.lastLook.Load()) < time.Second
}

func (f *Feed) run(ctx context.Context, seen map[string]int64) {
	ticker := time.NewTicker(f.interval)
	defer ticker.Stop()
	failing := false
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.wake:
		case <-ticker.C:
		}
		err := f.look(ctx, seen)
		if ctx.Err() != nil {
			return
		}
		if err != nil && !failing {
			f.log.Warn("The change feed cannot read the store; it keeps trying.", "error", err)
		}
		failing = err != nil
	}
}

// look reads what is new in every account. seen is advanced as rows are
// handed out, so a look that fails half way repeats nothing. One that gets no
// answer is given up: the next may get another connection.
func (f *Feed) look(ctx context.Context, seen map[string]int64) error {
	ctx, cancel := context.WithTimeout(ctx, lookTimeout)
	defer cancel()
	began := time.Since(f.began) // what a look finds was true when it began, not when it ended
	heads, err := f.source.Heads(ctx)
	if err != nil {
		return err
	}
	f.notice(heads, seen)
	for account, head := range heads {
		if err := f.follow(ctx, account, head, seen); err != nil {
			return err
		}
	}
	f.lastLook.Store(int64(began))
	return nil
}

// notice looks for accounts whose history was rewound, and starts over there.
func (f *Feed) notice(heads, seen map[string]int64) {
	if !isShorter(heads, seen) {
		return
	}
	was := maps.Clone(seen)
	for account, last := range was {
		head, exists := heads[account]
		seen[account] = min(last, head)
		if !exists {
			delete(seen, account)
		}
	}
	f.log.Warn("The database's history is shorter than it was; everything learned from it is forgotten.")
	for _, forget := range f.rewound {
		forget(was)
	}
}

// isShorter tells whether any account has less history than was seen. Every
// look asks it, and hardly any finds so.
func isShorter(heads, seen map[string]int64) bool {
	for account, last := range seen {
		if head, exists := heads[account]; !exists || head < last {
			return true
		}
	}
	return false
}

func (f *Feed) follow(ctx context.Context, account string, head int64, seen map[string]int64) error {
	for seen[account] < head {
		news, err := f.source.EventsAfter(ctx, account, seen[account], feedBatch)
		if err != nil {
			return err
		}
		for _, change := range news {
			f.skip(account, change.Seq-1, seen)
			f.publish(change)
			seen[account] = change.Seq
		}
		if len(news) == 0 {
			f.skip(account, head, seen)
		}
	}
	return nil
}

// skip goes on after a number. What is before it and was not handed out has
// been removed by retention.
func (f *Feed) skip(account string, upTo int64, seen map[string]int64) {
	if seen[account] >= upTo {
		return
	}
	seen[account] = upTo
	for _, missed := range f.missed {
		missed(account, upTo)
	}
}

func (f *Feed) publish(change Change) {
	for _, receive := range f.subscribers {
		receive(change)
	}
}
