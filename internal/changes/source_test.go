package changes_test

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

// source is an in-memory store for synctest bubbles. A test can make it fail. The real store is
// tested in stores_test.go.
type source struct {
	mu      sync.Mutex
	history map[string][]changes.Change
	heads   map[string]int64
	// fail is called before every call, unless it is nil.
	fail  func(ctx context.Context, call string) error
	calls []string
	// lag is the time from the read of an answer to its arrival.
	lag time.Duration
}

func newSource() *source {
	return &source{history: map[string][]changes.Change{}, heads: map[string]int64{}}
}

// commit appends changes to an account's history.
func (s *source) commit(account string, count int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for range count {
		s.heads[account]++
		s.history[account] = append(s.history[account], changes.Change{Account: account, Seq: s.heads[account]})
	}
}

// forget removes changes up to a sequence number, as retention does.
func (s *source) forget(account string, upTo int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history[account] = slices.DeleteFunc(s.history[account], func(change changes.Change) bool { return change.Seq <= upTo })
}

// rewind removes the changes after a sequence number. -1 also removes the account.
func (s *source) rewind(account string, to int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.history[account] = slices.DeleteFunc(s.history[account], func(change changes.Change) bool { return change.Seq > to })
	s.heads[account] = to
	if to < 0 {
		delete(s.heads, account)
	}
}

func (s *source) breakWith(fail func(ctx context.Context, call string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = fail
}

// polls counts how often Heads was called.
func (s *source) polls() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(s.calls), func(call string) bool { return call != "Heads" }))
}

func (s *source) called(ctx context.Context, call string) error {
	s.mu.Lock()
	s.calls = append(s.calls, call)
	fail := s.fail
	s.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(ctx, call)
}

func (s *source) Heads(ctx context.Context) (map[string]int64, error) {
	if err := s.called(ctx, "Heads"); err != nil {
		return nil, err
	}
	s.mu.Lock()
	heads := maps.Clone(s.heads)
	lag := s.lag
	s.mu.Unlock()
	<-time.After(lag)
	return heads, nil
}

func (s *source) EventsAfter(ctx context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	if err := s.called(ctx, "EventsAfter "+account); err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []changes.Change
	for _, change := range s.history[account] {
		if change.Seq > seq && len(found) < limit {
			found = append(found, change)
		}
	}
	return found, nil
}

// interval is the poll interval of the feeds in these tests.
const interval = 400 * time.Millisecond

// follower is a feed with the changes that it passed on.
type follower struct {
	*changes.Feed
	mu     sync.Mutex
	got    map[string][]int64
	missed []gap
	log    strings.Builder
}

// gap is a range of changes that the feed missed: after one sequence number, up to another.
type gap struct {
	account     string
	after, upTo int64
}

// miss records a gap and the last sequence number before it.
func (f *follower) miss(account string, upTo int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	noted := gap{account: account, upTo: upTo}
	if got := f.got[account]; len(got) > 0 {
		noted.after = got[len(got)-1]
	}
	f.missed = append(f.missed, noted)
}

// follow starts a feed in a synctest bubble, until the end of the test.
func follow(t *testing.T, from changes.Source, rewound ...func(map[string]int64)) *follower {
	t.Helper()
	f := &follower{got: map[string][]int64{}}
	f.Feed = changes.NewFeed(from, slog.New(slog.NewTextHandler(&f.log, nil)), interval)
	f.Subscribe(func(change changes.Change) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.got[change.Account] = append(f.got[change.Account], change.Seq)
	})
	f.Missed = f.miss
	for _, each := range rewound {
		f.Rewound = each
	}
	if err := f.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(f.Stop)
	synctest.Wait()
	return f
}

// received returns the sequence numbers of an account that were passed on so far.
func (f *follower) received(account string) []int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.got[account])
}

// expect checks that exactly the sequence numbers from…to were passed on, in order.
func (f *follower) expect(t *testing.T, account string, from, to int64) {
	t.Helper()
	var want []int64
	for seq := from; seq <= to; seq++ {
		want = append(want, seq)
	}
	if got := f.received(account); !slices.Equal(got, want) {
		t.Errorf("got %d changes of %s, want %d: %v", len(got), account, len(want), got)
	}
}

// pass advances the clock of a bubble and waits until everything is idle.
func pass(duration time.Duration) {
	<-time.After(duration)
	synctest.Wait()
}
