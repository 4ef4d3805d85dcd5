package logging_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// gate holds transactions that write until they are let through, and counts them.
type gate struct {
	logging.Store
	through chan error // nil lets one through, an error fails it
	writes  int
}

func (g *gate) Write(ctx context.Context, account string, fn func(logging.Tx) error) error {
	g.writes++
	if err := <-g.through; err != nil {
		return err
	}
	return g.Store.Write(ctx, account, fn)
}

func TestReportsThatWaitAreWrittenTogether(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newHouse(t, database, "free")
		g := &gate{Store: h.Store, through: make(chan error)}
		h.Store = g
		const services = 10
		var running sync.WaitGroup
		report := func(i int) {
			running.Go(func() {
				outcome, err := h.Report(t.Context(), h.owner, []logging.Observation{seen("shared", "INFO", strconv.Itoa(i)), seen("own."+strconv.Itoa(i), "INFO", "s")})
				if err != nil || outcome.Registered != 2 {
					t.Errorf("%+v, %v", outcome, err)
				}
			})
		}
		for i := range services {
			report(i)
		}
		storetest.Wait(t, soon, "all but one wait", func() bool { return h.Waiting(h.owner.Account) == services-1 })
		g.through <- nil // the first
		g.through <- nil // all others
		running.Wait()
		same(t, g.writes, 2)
		same(t, h.Waiting(h.owner.Account), 0)
		same(t, len(h.sources(t, logging.SourceFilter{})), 2*services)
		same(t, len(h.all(t)), services+1)
	})
}

// A transaction that fails fails for those it was for, and the next goes on.
func TestAFailureIsToldToAllItWasFor(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.New(t, "sqlite"), "free")
	g := &gate{Store: h.Store, through: make(chan error)}
	h.Store = g
	var running sync.WaitGroup
	errs := make([]error, 4)
	for i := range errs {
		running.Go(func() {
			_, errs[i] = h.Report(t.Context(), h.owner, []logging.Observation{seen("l", "INFO", strconv.Itoa(i))})
		})
	}
	storetest.Wait(t, soon, "all but one wait", func() bool { return h.Waiting(h.owner.Account) == 3 })
	g.through <- nil
	g.through <- fault.New(fault.Unavailable, "Not now.")
	running.Wait()
	same(t, storetest.Won(t, errs, fault.Unavailable), 1)
	running.Go(func() { g.through <- nil })
	h.report(t, seen("l", "INFO", "later"))
	running.Wait()
	same(t, len(h.sources(t, logging.SourceFilter{})), 2)
}

// waitingHouse is a house whose first report is held by a gate.
func waitingHouse(t *testing.T, running *sync.WaitGroup) (*house, *gate) {
	t.Helper()
	h := newHouse(t, storetest.New(t, "sqlite"), "free")
	g := &gate{Store: h.Store, through: make(chan error)}
	h.Store = g
	running.Go(func() {
		if _, err := h.Report(t.Context(), h.owner, []logging.Observation{seen("first", "INFO", "s")}); err != nil {
			t.Error(err)
		}
	})
	storetest.Wait(t, soon, "the first is being written", func() bool { return h.Writing(h.owner.Account) })
	return h, g
}

func TestWhoLeavesDoesNotWait(t *testing.T) {
	t.Parallel()
	var running sync.WaitGroup
	h, g := waitingHouse(t, &running)
	ctx, leave := context.WithCancel(t.Context())
	var left error
	var gone sync.WaitGroup
	gone.Go(func() {
		_, left = h.Report(ctx, h.owner, []logging.Observation{seen("left", "INFO", "s")})
	})
	storetest.Wait(t, soon, "one waits", func() bool { return h.Waiting(h.owner.Account) == 1 })
	running.Go(func() { h.report(t, seen("stays", "INFO", "s")) })
	storetest.Wait(t, soon, "two wait", func() bool { return h.Waiting(h.owner.Account) == 2 })
	leave()
	gone.Wait() // while the first is still being written
	same(t, errors.Is(left, context.Canceled), true)
	g.through <- nil
	g.through <- nil
	running.Wait()
	same(t, len(h.all(t)), 2)
	same(t, h.Writing(h.owner.Account), false)
}

func TestReportsThatWaitAreBounded(t *testing.T) {
	t.Parallel()
	var running sync.WaitGroup
	h, g := waitingHouse(t, &running)
	leave := h.Crowd(h.owner.Account, logging.MaxSources)
	if _, err := h.Report(t.Context(), h.owner, []logging.Observation{seen("l", "INFO", "s")}); !fault.Is(err, fault.RateLimited) || fault.All(err)[0].RetryAfter == 0 {
		t.Errorf("got %v", err)
	}
	leave()
	g.through <- nil
	running.Wait()
}

// broken is a store that panics when it is to write.
type broken struct{ logging.Store }

func (broken) Write(context.Context, string, func(logging.Tx) error) error { panic("broken") }

func TestAPanicKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	h := newHouse(t, storetest.New(t, "sqlite"), "free")
	intact := h.Store
	h.Store = broken{intact}
	func() {
		defer func() { same(t, recover(), any("broken")) }()
		h.report(t, seen("l", "INFO", "s"))
	}()
	h.Store = intact
	same(t, h.report(t, seen("l", "INFO", "s")).Registered, 1)
}
