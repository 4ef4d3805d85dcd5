package observations_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// failing is a store whose writes fail while broken is set.
type failing struct {
	observations.Store
	broken bool
	always string // an account whose writes always fail
}

func (f *failing) Write(ctx context.Context, account string, fn func(context.Context, observations.Tx) error) error {
	if f.broken || account == f.always {
		return errors.New("no")
	}
	return f.Store.Write(ctx, account, fn)
}

func newEvaluations(h *fixture) *observations.Evaluations {
	return &observations.Evaluations{Metrics: h.Service, Log: slog.New(slog.DiscardHandler)}
}

func served(flag, value string) observations.Evaluated {
	return observations.Evaluated{Flag: flag, Value: json.RawMessage(value)}
}

// counted returns the sums of an account by dimensions.
func (h *fixture) counted(t *testing.T, account string) map[string]float64 {
	t.Helper()
	sums := map[string]float64{}
	for _, sum := range storetest.MetricSums(t, h.db, account, observations.ByHour, observations.MetricFilter{Name: "flags.evaluations"}) {
		if sum.Unit != "evaluations" {
			t.Errorf("got %+v", sum)
		}
		sums[sum.Dimensions] += sum.Sum
	}
	return sums
}

func TestEvaluations_Counted(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		var used sync.Map
		h.Measured = func(_ string, metric observations.Metric) { used.Store(string(metric.Dimensions), metric.Value) }
		evaluations := newEvaluations(h)
		for range 3 {
			evaluations.Note(h.owner.Account, "production", served("a", "true"), served("b", `"x<y"`), served("a", "true"))
		}
		evaluations.Note(h.owner.Account, "staging", served("a", "true"), served("json", `{"k": "`+strings.Repeat("é", 100)+`"}`))
		same(t, len(h.counted(t, h.owner.Account)), 0) // nothing is written yet
		evaluations.Flush(t.Context())
		evaluations.Flush(t.Context()) // nothing is written twice
		want := map[string]float64{
			`{"environment":"production","flag":"a","value":"true"}`:                                       6,
			`{"environment":"production","flag":"b","value":"x\u003cy"}`:                                   3,
			`{"environment":"staging","flag":"a","value":"true"}`:                                          1,
			`{"environment":"staging","flag":"json","value":"{\"k\": \"` + strings.Repeat("é", 46) + `…"}`: 1,
		}
		same(t, h.counted(t, h.owner.Account), want)
		for dimensions, count := range want {
			t.Run(fmt.Sprintf("%.40q", dimensions), func(t *testing.T) {
				if value, _ := used.Load(dimensions); value != count {
					t.Errorf("%s was measured as %v", dimensions, value)
				}
			})
		}
	})
}

func TestEvaluations_KeptWhenNotWritten(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	store := &failing{Store: h.Reports, broken: true}
	h.Reports = store
	evaluations := newEvaluations(h)
	for i := range 3 {
		evaluations.Note(h.owner.Account, "e", served("a", "1"))
		store.broken = i < 2
		evaluations.Flush(t.Context())
	}
	same(t, h.counted(t, h.owner.Account), map[string]float64{`{"environment":"e","flag":"a","value":"1"}`: 3})
}

// TestEvaluations_LongValues: only the beginning of a long value is kept, so that long values do not fill
// the memory.
func TestEvaluations_LongValues(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	evaluations := newEvaluations(h)
	for _, end := range []string{"one", "two"} {
		evaluations.Note(h.owner.Account, "e", served("a", `"`+strings.Repeat("x", 60_000)+end+`"`))
	}
	evaluations.Flush(t.Context())
	same(t, h.counted(t, h.owner.Account), map[string]float64{`{"environment":"e","flag":"a","value":"` + strings.Repeat("x", 99) + `…"}`: 2})
}

// TestEvaluations_AccountsShareNothing: an account that exceeds its limit does not make another account lose counts.
func TestEvaluations_AccountsShareNothing(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	store := &failing{Store: h.Reports, broken: true, always: h.owner.Account} // writing all of them would take too long
	h.Reports = store
	dropped := 0
	h.Dropped = func(counts int) { dropped += counts }
	evaluations, other := newEvaluations(h), storetest.NewTenant(t, h.db, "free").Owner.Account
	for i := range 25_000 { // more than the limit of an account
		evaluations.Note(h.owner.Account, "e", served(fmt.Sprint("f", i), "1"))
	}
	same(t, dropped, 5000)
	evaluations.Note(other, "e", served("a", "1"))
	evaluations.Flush(t.Context())
	evaluations.Note(other, "e", served("a", "1"))
	store.broken = false
	evaluations.Flush(t.Context())
	same(t, h.counted(t, other), map[string]float64{`{"environment":"e","flag":"a","value":"1"}`: 2})
}

func BenchmarkEvaluations_Note(b *testing.B) {
	evaluations, value := &observations.Evaluations{}, json.RawMessage("true")
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			evaluations.Note("account", "production", observations.Evaluated{Flag: "checkout-v2", Value: value})
		}
	})
}
