package observations

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/fault"
)

// gate is a store that holds transactions until they are let through. Its
// transactions list what is written.
type gate struct {
	through chan error // nil lets one through, an error fails it
	writes  [][]string
}

func (g *gate) Write(_ context.Context, _ string, fn func(*[]string) error) error {
	if err := <-g.through; err != nil {
		return err
	}
	var written []string
	err := fn(&written)
	g.writes = append(g.writes, written)
	return err
}

// reporter writes reports of one account in a bubble.
type reporter struct {
	queue   queue[*[]string]
	gate    gate
	running sync.WaitGroup
	mu      sync.Mutex
	errs    map[string]error
}

func (r *reporter) report(ctx context.Context, name string, size int) {
	r.running.Go(func() {
		err := r.queue.Write(ctx, &r.gate, "account", size, func(tx *[]string, _ *sharedCount) error {
			*tx = append(*tx, name)
			return nil
		})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs[name] = err
	})
	synctest.Wait()
}

func during(t *testing.T, test func(t *testing.T, r *reporter)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reporter{gate: gate{through: make(chan error)}, errs: map[string]error{}}
		test(t, r)
		r.running.Wait()
		if len(r.queue.waiting) > 0 {
			t.Errorf("%d accounts are left in the queue", len(r.queue.waiting))
		}
	})
}

func TestQueue_WritesWaitingReportsTogether(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		for _, name := range []string{"first", "second", "third"} {
			r.report(t.Context(), name, 1)
		}
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if len(r.gate.writes) != 2 || len(r.gate.writes[0]) != 1 || len(r.gate.writes[1]) != 2 {
			t.Errorf("wrote %v", r.gate.writes)
		}
	})
}

func TestQueue_BoundsTheBatch(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		for _, name := range []string{"first", "second", "third"} {
			r.report(t.Context(), name, sliceSize-1)
		}
		for range 3 {
			r.gate.through <- nil
		}
	})
}

func TestQueue_FailureReachesTheReportsOfItsBatch(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		for _, name := range []string{"first", "second", "third"} {
			r.report(t.Context(), name, 1)
		}
		down := errors.New("down")
		r.gate.through <- nil
		r.gate.through <- down
		r.running.Wait()
		if r.errs["first"] != nil || !errors.Is(r.errs["second"], down) || !errors.Is(r.errs["third"], down) {
			t.Errorf("got %v", r.errs)
		}
		r.report(t.Context(), "later", 1)
		r.gate.through <- nil
		r.running.Wait()
		if r.errs["later"] != nil {
			t.Errorf("got %v", r.errs["later"])
		}
	})
}

func TestQueue_CallerThatLeavesDoesNotWait(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(t.Context(), "first", 1)
		r.report(ctx, "left", 1)
		r.report(t.Context(), "stays", 1)
		leave()
		synctest.Wait()
		r.mu.Lock()
		if err := r.errs["left"]; !errors.Is(err, context.Canceled) {
			t.Errorf("got %v while the first is being written", err)
		}
		r.mu.Unlock()
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if len(r.gate.writes) != 2 || r.errs["stays"] != nil {
			t.Errorf("wrote %v, got %v", r.gate.writes, r.errs)
		}
	})
}

// The writer goes on when its own caller leaves: others wait for it.
func TestQueue_WriterThatLeavesStillWrites(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(ctx, "first", 1)
		r.report(t.Context(), "second", 1)
		leave()
		synctest.Wait()
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if r.errs["first"] != nil || r.errs["second"] != nil || len(r.gate.writes) != 2 {
			t.Errorf("got %v, wrote %v", r.errs, r.gate.writes)
		}
	})
}

// A batch whose callers have all left is written with the next report.
func TestQueue_BatchThatEverybodyLeft(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(t.Context(), "first", 1)
		r.report(ctx, "left", sliceSize)
		leave()
		synctest.Wait()
		r.report(t.Context(), "next", sliceSize)
		for range 3 {
			r.gate.through <- nil
		}
		r.running.Wait()
		if r.errs["next"] != nil || len(r.gate.writes) != 3 {
			t.Errorf("got %v, wrote %v", r.errs, r.gate.writes)
		}
	})
}

func TestQueue_RefusesPastItsBound(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		r.report(t.Context(), "first", 1)
		r.report(t.Context(), "large", maxWaiting)
		r.report(t.Context(), "refused", 1)
		r.mu.Lock()
		if err := r.errs["refused"]; !fault.Is(err, fault.RateLimited) || fault.All(err)[0].RetryAfter == 0 {
			t.Errorf("got %v", err)
		}
		r.mu.Unlock()
		r.gate.through <- nil
		r.gate.through <- nil
	})
}

func TestQueue_PanicKeepsNobodyWaiting(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		r.running.Go(func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic was swallowed")
				}
			}()
			_ = r.queue.Write(t.Context(), &r.gate, "account", 1, func(*[]string, *sharedCount) error { panic("broken") })
		})
		synctest.Wait()
		r.report(t.Context(), "second", 1)
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if r.errs["second"] != nil {
			t.Errorf("got %v", r.errs["second"])
		}
	})
}
