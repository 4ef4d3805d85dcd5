package observations

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

// ledger is a store that remembers refreshes, as seconds since its start.
type ledger struct {
	began  time.Time
	mu     sync.Mutex
	stored map[string]int
	sizes  []int // the size of each transaction
	fail   map[string]error
	takes  atomic.Int64 // how long a transaction takes, in nanoseconds
	log    strings.Builder
}

func (l *ledger) Write(ctx context.Context, account string, fn func(context.Context, RefreshTx) error) error {
	select {
	case <-time.After(time.Duration(l.takes.Load())):
	case <-ctx.Done():
		return ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err := l.fail[account]; err != nil {
		return err
	}
	return fn(ctx, l)
}

func (l *ledger) Refresh(_ context.Context, account string, refreshes []Refresh) error {
	for _, each := range refreshes {
		l.stored[account+"/"+strconv.Itoa(int(each.What))+"/"+each.Key] = int(each.At.Sub(l.began) / time.Second)
	}
	l.sizes = append(l.sizes, len(refreshes))
	return nil
}

func (l *ledger) breakFor(account string, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fail[account] = err
}

// buffer is a running Refreshes with a ledger as its store.
type buffer struct {
	*Refreshes
	*ledger
}

func (b *buffer) note(account, key string, second int) {
	b.Note(account, FlagEvaluated, b.began.Add(time.Duration(second)*time.Second), key)
}

func (b *buffer) expect(t *testing.T, want map[string]int) {
	t.Helper()
	b.ledger.mu.Lock()
	defer b.ledger.mu.Unlock()
	if diff := cmp.Diff(want, b.stored); diff != "" {
		t.Errorf("differs (-want +got):\n%s", diff)
	}
}

// pass advances the clock and waits until all due work is done.
func pass(seconds int) {
	<-time.After(time.Duration(seconds) * time.Second)
	synctest.Wait()
}

func refreshing(t *testing.T, test func(t *testing.T, b *buffer)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		l := &ledger{began: time.Now(), stored: map[string]int{}, fail: map[string]error{}}
		log := slog.New(slog.NewTextHandler(&l.log, nil))
		b := &buffer{&Refreshes{Store: l, Interval: 5 * time.Second, Log: log}, l}
		b.Start(t.Context())
		test(t, b)
		b.Stop(t.Context())
	})
}

func TestRefreshes_Interval(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		b.note("a", "f", 1)
		b.Note("a", KeyUsed, b.began, "f")
		b.note("b", "f", 2)
		pass(4)
		b.expect(t, map[string]int{})
		pass(1)
		want := map[string]int{"a/2/f": 1, "a/3/f": 0, "b/2/f": 2}
		b.expect(t, want)
		writes := len(b.sizes)
		pass(60) // without new notes, nothing is written
		if len(b.sizes) != writes {
			t.Errorf("wrote %v", b.sizes)
		}
	})
}

func TestRefreshes_NewestInstant(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		for _, second := range []int{3, 7, 5, 7, 1} {
			b.note("a", "f", second)
		}
		pass(5)
		b.expect(t, map[string]int{"a/2/f": 7})
	})
}

func TestRefreshes_SmallSlices(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		for i := range 2*sliceSize + 1 {
			b.note("a", strconv.Itoa(i), 1)
		}
		pass(5)
		if diff := cmp.Diff([]int{sliceSize, sliceSize, 1}, b.sizes); diff != "" {
			t.Error(diff)
		}
	})
}

func TestRefreshes_StopWritesWhatIsLeft(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		b.note("a", "f", 1)
		pass(3)
		b.Stop(t.Context())
		b.expect(t, map[string]int{"a/2/f": 1})
		b.Stop(t.Context())
		new(Refreshes).Stop(t.Context()) // stops one that was never started
	})
}

// If a write is interrupted by Stop, Stop writes its refreshes again.
func TestRefreshes_StopDuringAWrite(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		b.takes.Store(int64(2 * time.Second))
		b.note("a", "f", 1)
		pass(6)
		b.Stop(t.Context())
		b.expect(t, map[string]int{"a/2/f": 1})
	})
}

func TestRefreshes_OutageIsRetriedAndLoggedOnce(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		b.breakFor("a", errors.New("no database"))
		b.note("a", "f", 1)
		b.note("b", "f", 1)
		pass(5)
		b.expect(t, map[string]int{"b/2/f": 1}) // the other account does not wait
		b.note("a", "f", 9)
		b.note("a", "g", 9)
		pass(20)
		b.breakFor("a", nil)
		pass(5)
		b.expect(t, map[string]int{"b/2/f": 1, "a/2/f": 9, "a/2/g": 9})
		pass(5)
		for text, want := range map[string]int{"failed; they are kept in memory": 1, "works again": 1} {
			if got := strings.Count(b.log.String(), text); got != want {
				t.Errorf("%q was logged %d times:\n%s", text, got, b.log.String())
			}
		}
	})
}

func TestRefreshes_SlowAccountIsGivenUpForNow(t *testing.T) {
	refreshing(t, func(t *testing.T, b *buffer) {
		b.takes.Store(int64(time.Hour))
		b.note("a", "f", 1)
		pass(5)
		b.takes.Store(0)
		pass(int(refreshTimeout/time.Second) + 5)
		b.expect(t, map[string]int{"a/2/f": 1})
	})
}

func TestRefreshes_Bounds(t *testing.T) {
	t.Parallel()
	r := &Refreshes{}
	at := time.Unix(1, 0)
	for i := range maxBufferedOfAccount + 1 {
		r.Note("a", FlagEvaluated, at, strconv.Itoa(i))
	}
	r.Note("a", FlagEvaluated, at.Add(time.Second), "0") // known keys are still updated
	if got := r.pending["a"][instant{FlagEvaluated, "0"}]; len(r.pending["a"]) != maxBufferedOfAccount || !got.After(at) {
		t.Errorf("%d are buffered, the first of %v", len(r.pending["a"]), got)
	}
	r.size = maxBuffered
	for i := range sureOfAccount + 1 { // other accounts cannot take this share
		r.Note("b", FlagEvaluated, at, strconv.Itoa(i))
	}
	if noted := len(r.pending["b"]); noted != sureOfAccount {
		t.Errorf("%d of another account are buffered when the buffer is full", noted)
	}
}
