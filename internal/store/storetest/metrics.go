package storetest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

// MetricSums returns the stored metrics of an account.
func MetricSums(t testing.TB, db *store.DB, account string, by observations.Resolution, filter observations.MetricFilter) (sums []observations.MetricSum) {
	t.Helper()
	must(t, db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		return tx.MetricSums(ctx, account, by, filter, func(sum observations.MetricSum) error {
			sums = append(sums, sum)
			return nil
		})
	}))
	return sums
}

func metrics(t *testing.T, db *store.DB) {
	for _, by := range observations.Resolutions() {
		t.Run(by.Length().String(), func(t *testing.T) {
			metric := metricSums{db, by, at(0).Truncate(by.Length())}
			t.Run("sum of a time", metric.sums)
			t.Run("separate sets", metric.sets)
			t.Run("filter", metric.filter)
			t.Run("remove", metric.remove)
		})
	}
}

// metricSums are the sums of one resolution.
type metricSums struct {
	db    *store.DB
	by    observations.Resolution
	first time.Time
}

func (m metricSums) add(t *testing.T, account string, sums ...observations.MetricSum) {
	t.Helper()
	do(t, m.db, account, func(ctx context.Context, tx *store.Tx) error { return tx.AddMetrics(ctx, account, m.by, sums) })
}

func (m metricSums) stored(t *testing.T, account string, filter observations.MetricFilter) []observations.MetricSum {
	t.Helper()
	return MetricSums(t, m.db, account, m.by, filter)
}

func (m metricSums) after(times int) time.Time {
	return m.first.Add(time.Duration(times) * m.by.Length())
}

func (m metricSums) sums(t *testing.T) {
	account := newAccount(t, m.db).ID
	first := observations.MetricSum{At: m.first, Name: oddText, Unit: "ms", Dimensions: oddJSON, Samples: 3, Sum: 0.1, Minimum: -1.5, Maximum: 1e300}
	m.add(t, account, first)
	same(t, m.stored(t, account, observations.MetricFilter{}), []observations.MetricSum{first})
	second := first
	second.Samples, second.Sum, second.Minimum, second.Maximum = 4, 0.25, -2.5, 7
	m.add(t, account, second)
	want := first
	want.Samples, want.Sum, want.Minimum = 7, first.Sum+second.Sum, -2.5
	same(t, m.stored(t, account, observations.MetricFilter{}), []observations.MetricSum{want})
}

func (m metricSums) sets(t *testing.T) {
	account := newAccount(t, m.db).ID
	written := []observations.MetricSum{
		{At: m.first, Name: "a", Unit: "", Dimensions: `{"x":1}`, Samples: 1},
		{At: m.first, Name: "a", Unit: "", Dimensions: "{}", Samples: 2},
		{At: m.first, Name: "a", Unit: "ms", Dimensions: "{}", Samples: 3},
		{At: m.first, Name: "b", Unit: "", Dimensions: "{}", Samples: 4},
		{At: m.after(1), Name: "a", Unit: "", Dimensions: "{}", Samples: 5},
	}
	m.add(t, account, written[4], written[2], written[0], written[3], written[1])
	same(t, m.stored(t, account, observations.MetricFilter{}), written)
	for i, want := range []int{4, 1, 0} {
		same(t, list(t, m.db, (*store.ReadTx).CountMetrics, account, m.by, m.after(i)), want)
	}
}

func (m metricSums) filter(t *testing.T) {
	account := newAccount(t, m.db).ID
	var written []observations.MetricSum
	for i := range 4 {
		for _, name := range []string{"a", "b"} {
			written = append(written, observations.MetricSum{At: m.after(i), Name: name, Dimensions: "{}", Samples: i + 1})
		}
	}
	m.add(t, account, written...)
	same(t, m.stored(t, account, observations.MetricFilter{From: m.after(1), To: m.after(3)}), written[2:6])
	same(t, m.stored(t, account, observations.MetricFilter{Name: "b", From: m.after(3)}), written[7:])
	same(t, len(m.stored(t, account, observations.MetricFilter{Name: "c"})), 0)
	enough, read := errors.New("enough"), 0
	err := m.db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		return tx.MetricSums(ctx, account, m.by, observations.MetricFilter{}, func(observations.MetricSum) error {
			read++
			return enough
		})
	})
	if !errors.Is(err, enough) || read != 1 {
		t.Errorf("read %d, %v", read, err)
	}
}

func (m metricSums) remove(t *testing.T) {
	account, other := newAccount(t, m.db).ID, newAccount(t, m.db).ID
	var written []observations.MetricSum
	for i := range 1101 { // more than two full statements, and a rest
		written = append(written, observations.MetricSum{At: m.after(i), Name: "m", Dimensions: "{}", Samples: 1})
	}
	m.add(t, account, written...)
	m.add(t, other, written[:2]...)
	removed, err := m.db.RemoveMetrics(t.Context(), m.by, written[1099].At, nil)
	same(t, err, nil)
	if removed < 1099+2 { // rows of other tests may be removed too
		t.Errorf("%d were removed", removed)
	}
	same(t, m.stored(t, account, observations.MetricFilter{}), written[1099:])
	same(t, len(m.stored(t, other, observations.MetricFilter{})), 0)
	m.add(t, account)
}
