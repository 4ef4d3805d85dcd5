package jobs_test

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/jobs"
)

// slowDatabase answers after a while, with the number of pending runs when it was asked.
// It runs in a synctest bubble.
type slowDatabase struct {
	jobs.Store
	takes   time.Duration
	fails   error
	pending atomic.Int64
	reads   atomic.Int64
}

func (d *slowDatabase) Read(ctx context.Context, fn func(context.Context, jobs.ReadTx) error) error {
	d.reads.Add(1)
	tx := countTx{pending: int(d.pending.Load())}
	select {
	case <-time.After(d.takes):
	case <-ctx.Done():
		return ctx.Err()
	}
	if d.fails != nil {
		return d.fails
	}
	return fn(ctx, tx)
}

// countTx has the same number of pending runs for each account.
type countTx struct {
	jobs.ReadTx
	pending int
}

func (tx countTx) PendingRuns(_ context.Context, accounts []string, _ int) (map[string]int, error) {
	counts := map[string]int{}
	for _, account := range accounts {
		counts[account] = tx.pending
	}
	return counts, nil
}

// TestBacklog_SilentDatabase: however many requests wait for a count, none waits for
// more than one timeout, or for longer than its context lasts.
func TestBacklog_SilentDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		silent := &slowDatabase{takes: 8 * time.Second, fails: errors.New("silent")}
		b := &jobs.Backlog{Requests: silent, Limit: 10, Now: time.Now}
		ask := func(ctx context.Context, want error, after time.Duration) {
			began := time.Now()
			if _, err := b.Admit(ctx, "a", 1); !errors.Is(err, want) || time.Since(began) != after {
				t.Errorf("after %s: %v", time.Since(began), err)
			}
		}
		var requests sync.WaitGroup
		for range 10 {
			requests.Go(func() { ask(t.Context(), silent.fails, silent.takes) })
		}
		synctest.Wait()
		hasty, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		ask(hasty, context.DeadlineExceeded, time.Second)
		requests.Wait()
		if reads := silent.reads.Load(); reads != 1 {
			t.Errorf("the database was asked %d times", reads)
		}
	})
}

// TestBacklog_FirstRequestLeaves: a caller is admitted although the request whose count it waits for
// is canceled.
func TestBacklog_FirstRequestLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowDatabase{takes: 2 * time.Second}
		b := &jobs.Backlog{Requests: slow, Limit: 10, Now: time.Now}
		leaving, leave := context.WithTimeout(t.Context(), time.Second)
		defer leave()
		var first sync.WaitGroup
		first.Go(func() { _, _ = b.Admit(leaving, "a", 1) })
		synctest.Wait()
		if got, _ := admit(t, b, "a", 3); got != 3 || slow.reads.Load() != 1 {
			t.Errorf("admitted %d after %d reads", got, slow.reads.Load())
		}
		first.Wait()
	})
}

// TestBacklog_QueuedWhileCounting: a count that began before runs were queued does not forget them.
func TestBacklog_QueuedWhileCounting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		slow := &slowDatabase{takes: time.Second}
		var later time.Duration
		b := &jobs.Backlog{Requests: slow, Limit: 10, Now: func() time.Time { return time.Now().Add(later) }}
		_, queued := admit(t, b, "a", 4)
		_, returned := admit(t, b, "a", 2)
		later = time.Minute
		var counting sync.WaitGroup
		counting.Go(func() {
			if got, err := b.Admit(t.Context(), "a", 10); got.Runs["a"] != 6 || err != nil {
				t.Errorf("admitted %d where four are queued, %v", got.Runs["a"], err)
			}
		})
		synctest.Wait()
		queued.Settle(true)
		returned.Settle(false)
		counting.Wait()
	})
}

// TestBacklog_LoopsDoNotWaitForRequests: the scheduler counts while a request waits for its
// connection. The result of the request does not replace the newer count.
func TestBacklog_LoopsDoNotWaitForRequests(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		requests, loops := &slowDatabase{takes: 2 * time.Second}, &slowDatabase{takes: time.Second}
		requests.pending.Store(10)
		var later time.Duration
		b := &jobs.Backlog{Requests: requests, Loops: loops, Limit: 100, Now: func() time.Time { return time.Now().Add(later) }}
		_, admission := admit(t, b, "a", 1)
		admission.Settle(false)
		requests.pending.Store(0) // they have run
		later = time.Minute
		var request sync.WaitGroup
		request.Go(func() {
			if got, err := b.Admit(t.Context(), "a", 50); got.Runs["a"] != 50 || err != nil {
				t.Errorf("the request is admitted %d runs, %v", got.Runs["a"], err)
			}
		})
		synctest.Wait()
		began := b.Now()
		if err := b.Count(t.Context(), []string{"a"}); err != nil || b.Now().Sub(began) != loops.takes {
			t.Errorf("the scheduler counted for %s, %v", b.Now().Sub(began), err)
		}
		request.Wait()
		rest, _ := b.AdmitCounted(began, map[string]int{"a": 100})
		if rest.Runs["a"] != 50 {
			t.Errorf("admitted %d where 50 are left", rest.Runs["a"])
		}
	})
}
