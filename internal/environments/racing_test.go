package environments_test

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

const racers = 32

// On every node at once, half of the racers promote discovered environments and half create new
// ones. The plan's limit is never exceeded.
func TestReplace_RacingPromotionsKeepThePlan(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		plan string
		want map[string]any // the metadata of every refusal
	}{
		"free":     {"free", map[string]any{"limit_key": "platform.managed_environments", "current": 2, "maximum": 2, "plan": "free", "product": "platform"}},
		"standard": {"logging=standard", map[string]any{"limit_key": "platform.managed_environments", "current": 5, "maximum": 5, "plan": "standard", "product": "logging"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			storetest.Each(t, func(t *testing.T, database storetest.Database) {
				h := newFixture(t, database, each.plan)
				nodes := []*environments.Service{h.Service}
				if database.Kind == "postgres" {
					nodes = append(nodes, newService(database.Open(t)))
				}
				maximum := each.want["maximum"].(int)
				for _, err := range race(t, h, nodes) {
					if err == nil {
						continue
					}
					same(t, refusals(err), []refusal{{Code: fault.LimitReached}})
					same(t, fault.All(err)[0].Meta, each.want)
				}
				same(t, managed(t, h), maximum)
				// After one environment is demoted, exactly one racer gets its slot.
				release(t, h)
				won := 0
				for _, err := range race(t, h, nodes) {
					if err == nil {
						won++
					}
				}
				same(t, won, 1)
				same(t, managed(t, h), maximum)
			})
		})
	}
}

// race starts all racers at once and returns the error of each.
func race(t *testing.T, h *fixture, nodes []*environments.Service) []error {
	t.Helper()
	for i := range racers {
		h.discover(t, fmt.Sprint("found-", i))
	}
	unmanaged := candidates(t, h)
	start, errs := make(chan struct{}), make([]error, racers)
	var running sync.WaitGroup
	for i := range racers {
		node := nodes[i%len(nodes)]
		running.Go(func() {
			<-start
			if i%4 < 2 {
				_, errs[i] = node.Create(t.Context(), h.owner, fresh(fmt.Sprint("made-", i, "-", h.version(t.Context(), t))))
				return
			}
			_, errs[i] = node.Replace(t.Context(), h.owner, unmanaged[i%len(unmanaged)], manage(true), nil)
		})
	}
	close(start)
	running.Wait()
	return errs
}

// candidates returns different unmanaged environments, at least one per racer.
func candidates(t *testing.T, h *fixture) (keys []string) {
	t.Helper()
	for key, isManaged := range all(t, h) {
		if !isManaged {
			keys = append(keys, key)
		}
	}
	return keys
}

func all(t *testing.T, h *fixture) (known map[string]bool) {
	t.Helper()
	if err := h.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) (err error) {
		known, err = tx.ManagedEnvironments(ctx, h.owner.Account)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return known
}

func managed(t *testing.T, h *fixture) (count int) {
	t.Helper()
	for _, isManaged := range all(t, h) {
		if isManaged {
			count++
		}
	}
	return count
}

// release demotes one managed environment.
func release(t *testing.T, h *fixture) {
	t.Helper()
	for key, isManaged := range all(t, h) {
		if isManaged && key != environments.Production {
			if _, err := h.Replace(t.Context(), h.owner, key, manage(false), nil); err != nil {
				t.Fatal(err)
			}
			return
		}
	}
}

func TestReplace_ManagedTakesNoSecondSlot(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	if _, err := h.Replace(t.Context(), h.owner, "staging", manage(true), nil); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"staging", "production"} { // the plan is full
		t.Run(key, func(t *testing.T) {
			draft := manage(true)
			draft.Name = optional.Of("Renamed")
			if _, err := h.Replace(t.Context(), h.owner, key, draft, nil); err != nil {
				t.Errorf("%s cannot be renamed: %v", key, err)
			}
		})
	}
	if _, err := h.Create(t.Context(), h.owner, fresh("third")); !fault.Is(err, fault.LimitReached) {
		t.Errorf("got %v", err)
	}
	same(t, h.orders(t).Account, []string{"staging", "production"})
	if err := h.Delete(t.Context(), h.owner, "staging", false, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := h.Create(t.Context(), h.owner, fresh("third")); err != nil {
		t.Errorf("a deletion freed no slot: %v", err)
	}
}

func TestDiscover_TakesNoSlot(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "free")
	for i := range 10 {
		h.discover(t, fmt.Sprint("e", i))
	}
	same(t, managed(t, h), 1)
}
