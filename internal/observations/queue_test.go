package observations

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/fault"
)

// gate is a store that holds transactions until the test lets them through. Its transactions
// list the written reports.
type gate struct {
	through chan error // nil lets one transaction through, an error fails it
	writes  [][]string
}

func (g *gate) Write(ctx context.Context, _ string, fn func(context.Context, *[]string) error) error {
	if err := <-g.through; err != nil {
		return err
	}
	var written []string
	err := fn(ctx, &written)
	g.writes = append(g.writes, written)
	return err
}

// reporter writes reports of one account in a synctest bubble.
type reporter struct {
	queue   queue[*[]string]
	gate    gate
	running sync.WaitGroup
	checks  map[string]func(context.Context, *[]string) error
	mu      sync.Mutex
	errs    map[string]error
}

func allowed(context.Context, *[]string) error { return nil }

// check returns the check of a report. It allows the report unless the test says otherwise.
func (r *reporter) check(name string) func(context.Context, *[]string) error {
	if check := r.checks[name]; check != nil {
		return check
	}
	return allowed
}

func (r *reporter) report(ctx context.Context, name string, size int) {
	r.running.Go(func() {
		err := r.queue.Write(ctx, &r.gate, "account", queuedWrite[*[]string]{items: size, check: r.check(name), write: func(_ context.Context, tx *[]string, _ *sharedCount) error {
			*tx = append(*tx, name)
			return nil
		}})
		r.mu.Lock()
		defer r.mu.Unlock()
		r.errs[name] = err
	})
	synctest.Wait()
}

// err returns the error that the caller of a report has received so far.
func (r *reporter) err(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.errs[name]
}

func during(t *testing.T, test func(t *testing.T, r *reporter)) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := &reporter{gate: gate{through: make(chan error)}, errs: map[string]error{}}
		test(t, r)
		r.running.Wait()
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
		if err := r.err("left"); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v while the first is being written", err)
		}
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if len(r.gate.writes) != 2 || r.errs["stays"] != nil {
			t.Errorf("wrote %v, got %v", r.gate.writes, r.errs)
		}
	})
}

// A report that is being written is completed although its caller leaves.
func TestQueue_CallerThatLeavesIsStillWrittenFor(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(ctx, "first", 1)
		r.report(t.Context(), "second", 1)
		leave()
		synctest.Wait()
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if !errors.Is(r.errs["first"], context.Canceled) || r.errs["second"] != nil || len(r.gate.writes) != 2 {
			t.Errorf("got %v, wrote %v", r.errs, r.gate.writes)
		}
	})
}

// The report of a caller that leaves before the write is not written.
func TestQueue_CallerThatLeavesIsNotWrittenFor(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(t.Context(), "first", 1)
		r.report(ctx, "left", sliceSize)
		leave()
		synctest.Wait()
		r.report(t.Context(), "next", sliceSize)
		r.gate.through <- nil
		r.gate.through <- nil
		r.running.Wait()
		if r.errs["next"] != nil || len(r.gate.writes) != 2 {
			t.Errorf("got %v, wrote %v", r.errs, r.gate.writes)
		}
	})
}

// Callers that have left do not count as waiting, neither while the store is blocked nor later.
func TestQueue_CallersThatLeftLockNobodyOut(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		ctx, leave := context.WithCancel(t.Context())
		r.report(ctx, "blocked", 1)
		for i := range maxWaiting / sliceSize {
			r.report(ctx, fmt.Sprint(i), sliceSize)
		}
		r.report(t.Context(), "refused", sliceSize)
		if err := r.err("refused"); !fault.Is(err, fault.RateLimited) {
			t.Fatalf("got %v past the bound", err)
		}
		leave()
		synctest.Wait()
		r.report(t.Context(), "waits", sliceSize)
		r.gate.through <- nil // lets the report through that was being written
		r.gate.through <- nil
		r.running.Wait()
		r.report(t.Context(), "later", sliceSize)
		r.gate.through <- nil
		r.running.Wait()
		if r.errs["waits"] != nil || r.errs["later"] != nil || len(r.gate.writes) != 3 {
			t.Errorf("got %v and %v in %d transactions", r.errs["waits"], r.errs["later"], len(r.gate.writes))
		}
	})
}

// If the caller has already left, nothing is written.
func TestQueue_CallersThatHaveLeft(t *testing.T) {
	t.Parallel()
	var q queue[*[]string]
	store := &gate{through: make(chan error, 1)}
	store.through <- nil
	gone, leave := context.WithCancel(t.Context())
	leave()
	report := queuedWrite[*[]string]{items: 1, check: allowed, write: func(context.Context, *[]string, *sharedCount) error { return nil }}
	for range 100 {
		if err := q.Write(gone, store, "account", report); !errors.Is(err, context.Canceled) {
			t.Fatalf("got %v", err)
		}
	}
	if err := q.Write(t.Context(), store, "account", report); err != nil || len(store.writes) != 1 {
		t.Errorf("got %v in %d transactions", err, len(store.writes))
	}
}

// If one report is refused, only that report fails.
func TestQueue_RefusalIsOfOneReport(t *testing.T) {
	down := errors.New("down")
	revoked, lowered := fault.New(fault.Unauthorized, "Revoked."), fault.New(fault.Forbidden, "Lowered.")
	for name, test := range map[string]struct {
		check  error
		others error
		wrote  string
	}{
		"revoked":              {revoked, nil, "[[first] [before after]]"},
		"lowered":              {lowered, nil, "[[first] [before after]]"},
		"the check has failed": {down, down, "[[first] [before]]"}, // the store rolls back
		"allowed":              {nil, nil, "[[first] [before checked after]]"},
	} {
		t.Run(name, func(t *testing.T) {
			during(t, func(t *testing.T, r *reporter) {
				r.checks = map[string]func(context.Context, *[]string) error{"checked": func(context.Context, *[]string) error { return test.check }}
				for _, name := range []string{"first", "before", "checked", "after"} {
					r.report(t.Context(), name, 1)
				}
				r.gate.through <- nil
				r.gate.through <- nil
				r.running.Wait()
				if !errors.Is(r.errs["checked"], test.check) || !errors.Is(r.errs["before"], test.others) || !errors.Is(r.errs["after"], test.others) {
					t.Errorf("got %v", r.errs)
				}
				if wrote := fmt.Sprint(r.gate.writes); wrote != test.wrote {
					t.Errorf("wrote %s, want %s", wrote, test.wrote)
				}
			})
		})
	}
}

// If the store repeats a transaction, the checks are repeated too.
func TestQueue_RefusalOfAnEarlierAttempt(t *testing.T) {
	t.Parallel()
	var q queue[int]
	attempts := 0
	err := q.Write(t.Context(), twice{}, "account", queuedWrite[int]{items: 1,
		check: func(_ context.Context, attempt int) error {
			if attempt == 0 {
				return fault.New(fault.Unauthorized, "Revoked.")
			}
			return nil
		},
		write: func(context.Context, int, *sharedCount) error { attempts++; return nil }})
	if err != nil || attempts != 1 {
		t.Errorf("got %v after %d writes", err, attempts)
	}
}

// twice is a store that runs every transaction twice. Each transaction is the number of the attempt.
type twice struct{}

func (twice) Write(ctx context.Context, _ string, fn func(context.Context, int) error) error {
	_ = fn(ctx, 0)
	return fn(ctx, 1)
}

func TestQueue_RefusesPastItsBound(t *testing.T) {
	during(t, func(t *testing.T, r *reporter) {
		r.report(t.Context(), "first", 1)
		r.report(t.Context(), "large", maxWaiting)
		r.report(t.Context(), "refused", 1)
		if err := r.err("refused"); !fault.Is(err, fault.RateLimited) || fault.All(err)[0].RetryAfter == 0 {
			t.Errorf("got %v", err)
		}
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
			_ = r.queue.Write(t.Context(), &r.gate, "account", queuedWrite[*[]string]{items: 1, check: allowed, write: func(context.Context, *[]string, *sharedCount) error { panic("broken") }})
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
