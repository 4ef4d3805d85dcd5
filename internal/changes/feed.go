package changes

import (
	"context"
	"log/slog"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/signalbox/signalbox/internal/background"
)

const (
	// feedBatch bounds how many rows of an account are read at once.
	feedBatch = 500
	// pollTimeout ends a poll whose connection no longer answers. The next poll may get another
	// connection.
	pollTimeout = 5 * time.Second
)

// Source is the store from which a Feed reads changes.
type Source interface {
	// Heads returns the last sequence number of every account.
	Heads(ctx context.Context) (map[string]int64, error)
	// EventsAfter returns up to limit changes of an account after seq, in order, without actors
	// and with only the documents that subscribers need. It may return fewer changes than
	// exist, but at least one if there is any.
	EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]Change, error)
}

// Feed passes every change committed since its start to its subscribers.
type Feed struct {
	// Rewound is called when an account's history became shorter, as after a failover to a
	// replica that lagged behind. Data from the feed is then no longer valid. seen has the last
	// sequence number of every account before the rewind.
	Rewound func(seen map[string]int64)
	// Missed is called when retention removed changes of an account before the feed read them. upTo is
	// the last sequence number that was removed. Later changes are passed on afterward.
	Missed func(account string, upTo int64)

	source      Source
	log         *slog.Logger
	interval    time.Duration
	subscribers []func(Change)
	wake        background.Bell
	loop        background.Loop
	created     time.Time
	lastPoll    atomic.Int64 // the start of the last successful poll of all accounts, in monotonic nanoseconds since created

	mu    sync.Mutex
	woken map[string]bool // the accounts to read; "" means every account
}

// NewFeed creates a Feed that polls at least once per interval.
func NewFeed(source Source, log *slog.Logger, interval time.Duration) *Feed {
	return &Feed{source: source, log: log, interval: interval, wake: background.NewBell(), created: time.Now(), woken: map[string]bool{"": true},
		Rewound: func(map[string]int64) {}, Missed: func(string, int64) {}}
}

// Subscribe adds a receiver. Call it before Start. The receiver must not block, because it is
// called on the feed's goroutine.
func (f *Feed) Subscribe(receive func(Change)) { f.subscribers = append(f.subscribers, receive) }

// Start reads the last sequence number of every account, and follows the changes after it.
func (f *Feed) Start(ctx context.Context) error {
	began := time.Since(f.created)
	seen, err := f.source.Heads(ctx)
	if err != nil {
		return err
	}
	f.lastPoll.Store(int64(began))
	poll := func(ctx context.Context) (time.Duration, error) { return f.poll(ctx, seen) }
	f.loop.Start(ctx, func(ctx context.Context) {
		background.Repeat(ctx, f.wake, poll, func(err error) {
			f.log.Warn("Reading new changes failed; retrying. Until then events are delayed and caches are not used.", "error", err)
		})
	})
	return nil
}

// Stop ends the feed and waits until it has ended.
func (f *Feed) Stop() { f.loop.Stop() }

// Wake makes the feed look for changes of an account at once, or of every account if account is
// "". It never blocks.
func (f *Feed) Wake(account string) {
	f.mu.Lock()
	f.woken[account] = true
	f.mu.Unlock()
	f.wake.Ring()
}

// Live reports whether the last successful poll began less than a second ago.
func (f *Feed) Live() bool {
	return time.Since(f.created)-time.Duration(f.lastPoll.Load()) < time.Second
}

// poll passes on new changes. It reads every account if a full poll is due or was requested,
// else only the woken accounts. It returns the time until the next full poll.
func (f *Feed) poll(ctx context.Context, seen map[string]int64) (time.Duration, error) {
	ctx, cancel := context.WithTimeout(ctx, pollTimeout)
	defer cancel()
	began, woken := time.Since(f.created), f.takeWoken() // the result is as old as the beginning of the poll
	if due := time.Duration(f.lastPoll.Load()) + f.interval; !woken[""] && began < due {
		if found, err := f.pollWoken(ctx, woken, seen); found || err != nil {
			return due - began, err
		}
	}
	if err := f.pollAll(ctx, seen); err != nil {
		return f.interval, err
	}
	f.lastPoll.Store(int64(began))
	return f.interval, nil
}

func (f *Feed) takeWoken() map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	woken := f.woken
	f.woken = map[string]bool{}
	return woken
}

// pollWoken passes on the new changes of some accounts. It reports whether every account had
// some; an account without any may have been rewound.
func (f *Feed) pollWoken(ctx context.Context, accounts map[string]bool, seen map[string]int64) (found bool, err error) {
	for account := range accounts {
		before := seen[account]
		for more := true; more && err == nil; {
			more, err = f.passOn(ctx, account, seen)
		}
		if err != nil || seen[account] == before {
			return false, err
		}
	}
	return true, nil
}

// pollAll passes on the new changes of every account.
func (f *Feed) pollAll(ctx context.Context, seen map[string]int64) error {
	heads, err := f.source.Heads(ctx)
	if err != nil {
		return err
	}
	if isRewound(heads, seen) {
		f.rewind(heads, seen)
	}
	for account, head := range heads {
		if err := f.follow(ctx, account, head, seen); err != nil {
			return err
		}
	}
	return nil
}

// isRewound reports whether the history of any account is shorter than before.
func isRewound(heads, seen map[string]int64) bool {
	for account, last := range seen {
		if head, exists := heads[account]; !exists || head < last {
			return true
		}
	}
	return false
}

// rewind continues from the shorter history and tells the subscribers.
func (f *Feed) rewind(heads, seen map[string]int64) {
	before := maps.Clone(seen)
	maps.DeleteFunc(seen, func(account string, _ int64) bool { _, exists := heads[account]; return !exists })
	for account, last := range seen {
		seen[account] = min(last, heads[account])
	}
	f.log.Warn("The database was restored to an earlier state; caches were dropped and clients told to reload.")
	f.Rewound(before)
}

func (f *Feed) follow(ctx context.Context, account string, head int64, seen map[string]int64) error {
	for seen[account] < head {
		found, err := f.passOn(ctx, account, seen)
		if err != nil {
			return err
		}
		if !found {
			f.skip(account, head, seen)
		}
	}
	return nil
}

// passOn passes on the next changes of an account, and reports whether there were any. It
// advances seen after every change. So no change is passed on twice if a poll fails halfway.
func (f *Feed) passOn(ctx context.Context, account string, seen map[string]int64) (bool, error) {
	found, err := f.source.EventsAfter(ctx, account, seen[account], feedBatch)
	if err != nil {
		return false, err
	}
	for _, change := range found {
		f.skip(account, change.Seq-1, seen)
		for _, receive := range f.subscribers {
			receive(change)
		}
		seen[account] = change.Seq
	}
	return len(found) > 0, nil
}

// skip calls Missed if changes up to upTo were not passed on because retention has removed
// them.
func (f *Feed) skip(account string, upTo int64, seen map[string]int64) {
	if seen[account] < upTo {
		seen[account] = upTo
		f.Missed(account, upTo)
	}
}
