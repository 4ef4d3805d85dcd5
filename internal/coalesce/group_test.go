package coalesce_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/signalbox/signalbox/internal/coalesce"
)

// desk has a group whose runs wait for the test.
type desk struct {
	group coalesce.Group[string, int, int]
	begun chan []int // the calls of each run
	open  chan error // the error that each run returns

	shares bool // calls may share runs that have begun
	calls  sync.WaitGroup
}

func newDesk() *desk {
	return &desk{begun: make(chan []int, 10), open: make(chan error)}
}

func (d *desk) run(ctx context.Context, calls []int) (int, error) {
	d.begun <- calls
	select {
	case err := <-d.open:
		return slices.Max(calls), err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// result is the result of a call.
type result struct {
	out int
	err error
}

// call starts a call in the background and waits until it is queued.
func (d *desk) call(ctx context.Context, key string, in int) <-chan result {
	got := make(chan result, 1)
	d.calls.Go(func() {
		do := d.group.Do
		if d.shares {
			do = d.group.Share
		}
		out, err := do(ctx, key, in, d.run)
		got <- result{out, err}
	})
	synctest.Wait()
	return got
}

func wants(t *testing.T, got <-chan result, out int, err error) {
	t.Helper()
	synctest.Wait()
	select {
	case r := <-got:
		if r.out != out || !errors.Is(r.err, err) {
			t.Errorf("got %d, %v, want %d, %v", r.out, r.err, out, err)
		}
	default:
		t.Error("the call has not returned")
	}
}

func runs(t *testing.T, d *desk, want ...int) {
	t.Helper()
	synctest.Wait()
	select {
	case calls := <-d.begun:
		if !slices.Equal(calls, want) {
			t.Errorf("a run is for %v, want %v", calls, want)
		}
	default:
		t.Errorf("there is no run, want one for %v", want)
	}
	if len(d.begun) > 0 {
		t.Errorf("another run is for %v", <-d.begun)
	}
}

func TestGroup(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]func(*testing.T, *desk){
		"calls that come during a run share the next one": func(t *testing.T, d *desk) {
			first := d.call(t.Context(), "a", 1)
			second, third := d.call(t.Context(), "a", 2), d.call(t.Context(), "a", 3)
			runs(t, d, 1)
			d.open <- nil
			wants(t, first, 1, nil)
			runs(t, d, 2, 3)
			d.open <- nil
			wants(t, second, 3, nil)
			wants(t, third, 3, nil)
		},
		"keys do not wait for each other": func(t *testing.T, d *desk) {
			a := d.call(t.Context(), "a", 1)
			runs(t, d, 1)
			b := d.call(t.Context(), "b", 2)
			runs(t, d, 2)
			d.open <- nil
			d.open <- nil
			wants(t, a, 1, nil)
			wants(t, b, 2, nil)
		},
		"a failure is that of its batch alone": func(t *testing.T, d *desk) {
			failure := errors.New("no")
			first, second := d.call(t.Context(), "a", 1), d.call(t.Context(), "a", 2)
			d.open <- failure
			wants(t, first, 1, failure)
			d.open <- nil
			wants(t, second, 2, nil)
		},
		"a caller that leaves costs the others nothing": func(t *testing.T, d *desk) {
			ctx, leave := context.WithCancel(t.Context())
			first, waits := d.call(ctx, "a", 1), d.call(ctx, "a", 2)
			third, fourth := d.call(t.Context(), "a", 3), d.call(t.Context(), "a", 4)
			runs(t, d, 1)
			leave()
			wants(t, first, 0, context.Canceled)
			wants(t, waits, 0, context.Canceled)
			d.open <- nil // the run continues although nobody waits for it
			runs(t, d, 3, 4)
			d.open <- nil
			wants(t, third, 4, nil)
			wants(t, fourth, 4, nil)
		},
		"a run goes on for callers who stay": func(t *testing.T, d *desk) {
			before := d.call(t.Context(), "a", 0)
			ctx, leave := context.WithCancel(t.Context())
			leaves, stays := d.call(ctx, "a", 1), d.call(t.Context(), "a", 2)
			d.open <- nil
			wants(t, before, 0, nil)
			leave()
			wants(t, leaves, 0, context.Canceled)
			d.open <- nil
			wants(t, stays, 2, nil)
		},
		"nobody is served after leaving": func(t *testing.T, d *desk) {
			ctx, leave := context.WithCancel(t.Context())
			leave()
			wants(t, d.call(ctx, "a", 1), 0, context.Canceled)
			if len(d.begun) > 0 {
				t.Error("there was a run")
			}
		},
		"where that is allowed, calls share a run that has begun": func(t *testing.T, d *desk) {
			d.shares = true
			ctx, leave := context.WithCancel(t.Context())
			first, second := d.call(ctx, "a", 1), d.call(t.Context(), "a", 2)
			runs(t, d, 1)
			leave()
			wants(t, first, 0, context.Canceled)
			d.open <- nil
			wants(t, second, 1, nil)
		},
		"stopping ends every call": func(t *testing.T, d *desk) {
			first, second := d.call(t.Context(), "a", 1), d.call(t.Context(), "a", 2)
			d.group.Stop()
			wants(t, first, 0, coalesce.ErrStopped)
			wants(t, second, 0, coalesce.ErrStopped)
			wants(t, d.call(t.Context(), "a", 3), 0, coalesce.ErrStopped)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				d := newDesk()
				test(t, d)
				d.calls.Wait()
			})
		})
	}
}

// TestGroup_Bounds: batches and waiting calls are bounded by weight. Calls that leave do not
// count. A call that is heavier than a bound is still answered, alone.
func TestGroup_Bounds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := newDesk()
		d.group.Weight, d.group.MaxBatch, d.group.MaxWaiting = func(in int) int { return in }, 10, 30
		ctx, leave := context.WithCancel(t.Context())
		d.call(t.Context(), "a", 50)
		runs(t, d, 50)
		d.call(t.Context(), "a", 4)
		d.call(ctx, "a", 1)
		d.call(t.Context(), "a", 6)
		d.call(t.Context(), "a", 19)
		full := <-d.call(t.Context(), "a", 1)
		if refusal, is := errors.AsType[*coalesce.FullError](full.err); !is || refusal.Waiting != 30 {
			t.Errorf("got %v", full.err)
		}
		leave()
		synctest.Wait()
		d.call(t.Context(), "a", 1)
		for _, want := range [][]int{{4, 6}, {19}, {1}} {
			d.open <- nil
			runs(t, d, want...)
		}
		d.open <- nil
		d.calls.Wait()
	})
}

// TestGroup_Panic: if a run panics, its callers panic with the same place. The next call is
// answered.
func TestGroup_Panic(t *testing.T) {
	t.Parallel()
	var group coalesce.Group[string, int, int]
	func() {
		defer func() {
			if text, _ := recover().(string); !strings.HasPrefix(text, "broken") || !strings.Contains(text, "group_test.go") {
				t.Errorf("got %q", text)
			}
		}()
		_, _ = group.Do(t.Context(), "a", 1, func(context.Context, []int) (int, error) { panic("broken") })
	}()
	if out, err := group.Do(t.Context(), "a", 1, func(context.Context, []int) (int, error) { return 7, nil }); out != 7 || err != nil {
		t.Errorf("got %d, %v", out, err)
	}
}

// TestGroup_Values: a run has the values of the first caller's context, but does not end with it.
func TestGroup_Values(t *testing.T) {
	t.Parallel()
	type name struct{}
	var group coalesce.Group[string, int, string]
	got, err := group.Do(context.WithValue(t.Context(), name{}, "first"), "a", 1, func(ctx context.Context, _ []int) (string, error) {
		found, _ := ctx.Value(name{}).(string)
		return found, nil
	})
	if got != "first" || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
