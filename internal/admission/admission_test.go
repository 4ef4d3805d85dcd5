package admission_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/signalbox/signalbox/internal/admission"
	"github.com/signalbox/signalbox/internal/fault"
)

// small returns a queue with few places, and waiting pieces.
func small(places, share, waiting int) *admission.Queue {
	table := admission.Table{Waiting: waiting}
	for i := range table.Classes {
		table.Classes[i] = admission.Limits{Places: places, Share: share, Patience: 10 * time.Second, Retry: time.Second}
	}
	return admission.NewQueue(table)
}

// visit is one piece of work of a test.
type visit struct {
	leave func()
	err   error
	ended atomic.Bool
}

// enter begins work that ends in its own time.
func enter(t *testing.T, queue *admission.Queue, class admission.Class, account string) *visit {
	t.Helper()
	v := &visit{}
	go func() {
		v.leave, v.err = queue.Enter(t.Context(), class, account)
		v.ended.Store(true)
	}()
	synctest.Wait()
	return v
}

func (v *visit) runs() bool { return v.ended.Load() && v.err == nil }

func (v *visit) wasRefused(t *testing.T) bool {
	t.Helper()
	if !v.ended.Load() || v.err == nil {
		return false
	}
	if refusal := fault.All(v.err); len(refusal) != 1 || refusal[0].Code != fault.Unavailable || refusal[0].RetryAfter < time.Second {
		t.Errorf("got %v", v.err)
	}
	return true
}

func (v *visit) end() {
	v.leave()
	synctest.Wait()
}

func TestQueue_AccountsTakeTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := small(1, 1, 100)
		first := enter(t, queue, admission.Lists, "busy")
		var flood []*visit
		for range 5 {
			flood = append(flood, enter(t, queue, admission.Lists, "busy"))
		}
		late := enter(t, queue, admission.Lists, "late")
		if !first.runs() || flood[0].runs() || late.runs() {
			t.Error("more than one list runs")
		}
		first.end()
		if !flood[0].runs() || late.runs() {
			t.Error("the first that waits does not run")
		}
		flood[0].end()
		if !late.runs() || flood[1].runs() {
			t.Error("the other account has to wait for the whole flood")
		}
		late.end()
		for _, each := range flood[1:] {
			each.end()
		}
	})
}

func TestQueue_ShareOfAccount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := small(3, 2, 100)
		one, two, three := enter(t, queue, admission.Writes, "a"), enter(t, queue, admission.Writes, "a"), enter(t, queue, admission.Writes, "a")
		other := enter(t, queue, admission.Writes, "b")
		if !one.runs() || !two.runs() || three.runs() || !other.runs() {
			t.Error("one account takes the place of another")
		}
		one.end()
		if !three.runs() {
			t.Error("a free place is not used")
		}
		two.end()
		three.end()
		other.end()
	})
}

// TestQueue_RefusesCheapestFirst: what waits is refused in the order observations, lists, writes, reads.
func TestQueue_RefusesCheapestFirst(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := small(1, 1, 3)
		classes := []admission.Class{admission.Observations, admission.Lists, admission.Writes}
		var running, waiting []*visit
		for _, class := range append(classes, admission.Reads) {
			running = append(running, enter(t, queue, class, "a"))
		}
		for _, class := range classes {
			waiting = append(waiting, enter(t, queue, class, "a"))
		}
		if again := enter(t, queue, admission.Observations, "a"); !again.wasRefused(t) {
			t.Error("an observation takes the place of others")
		}
		for i, each := range waiting {
			reader := enter(t, queue, admission.Reads, fmt.Sprint("reader ", i))
			if !each.wasRefused(t) || reader.ended.Load() {
				t.Errorf("%d was not refused for a read", i)
			}
		}
		if again := enter(t, queue, admission.Reads, "reader 0"); !again.wasRefused(t) {
			t.Error("more reads wait than may")
		}
		for _, each := range running {
			each.end()
		}
	})
}

func TestQueue_RefusesTheFlood(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := small(1, 1, 4)
		first := enter(t, queue, admission.Writes, "busy")
		var flood []*visit
		for range 4 {
			flood = append(flood, enter(t, queue, admission.Writes, "busy"))
		}
		late := enter(t, queue, admission.Writes, "late")
		if !flood[3].wasRefused(t) || flood[2].wasRefused(t) || late.wasRefused(t) {
			t.Error("the newest of the account with the most was not refused")
		}
		if again := enter(t, queue, admission.Writes, "busy"); !again.wasRefused(t) {
			t.Error("the flood goes on waiting")
		}
		first.end()
		for _, each := range []*visit{flood[0], late, flood[1], flood[2]} {
			if !each.runs() {
				t.Fatal("a piece that waits does not run in its turn")
			}
			each.end()
		}
	})
}

func TestQueue_Patience(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		queue := small(1, 1, 4)
		first, late := enter(t, queue, admission.Lists, "a"), enter(t, queue, admission.Lists, "a")
		<-time.After(11 * time.Second)
		synctest.Wait()
		if !late.wasRefused(t) {
			t.Error("it waits for longer than its class allows")
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := queue.Enter(gone, admission.Lists, "a"); err == nil {
			t.Error("a caller that left was admitted")
		}
		first.end()
		enter(t, queue, admission.Lists, "a").end()
	})
}

// TestQueue_Concurrent: places are neither lost nor used twice while callers come, leave and are refused.
func TestQueue_Concurrent(t *testing.T) {
	t.Parallel()
	queue := small(3, 2, 5)
	var running, most atomic.Int64
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			for j := range 300 {
				ctx, cancel := context.WithTimeout(t.Context(), time.Duration(j%3)*100*time.Microsecond)
				if leave, err := queue.Enter(ctx, admission.Writes, fmt.Sprint(i%4)); err == nil {
					now := running.Add(1)
					for highest := most.Load(); now > highest; highest = most.Load() {
						most.CompareAndSwap(highest, now)
					}
					running.Add(-1)
					leave()
				}
				cancel()
			}
		})
	}
	group.Wait()
	if most.Load() > 3 {
		t.Errorf("%d ran at once", most.Load())
	}
	for _, account := range []string{"a", "b", "c"} {
		leave, err := queue.Enter(t.Context(), admission.Writes, account)
		if err != nil {
			t.Fatal(err)
		}
		defer leave()
	}
}
