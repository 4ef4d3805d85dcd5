package storetest

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

func metrics(t *testing.T, db *store.DB) {
	ctx := t.Context()
	minute := at(0).Truncate(time.Minute)
	add := func(account string, minutes ...observations.MetricMinute) {
		t.Helper()
		do(t, db, account, func(tx *store.Tx) error { return tx.AddMetrics(ctx, account, minutes) })
	}
	since := func(account string, since time.Time) []observations.MetricMinute {
		t.Helper()
		return get(t, db, func(tx *store.ReadTx) ([]observations.MetricMinute, error) {
			return tx.MetricMinutes(ctx, account, since)
		})
	}
	first := observations.MetricMinute{Minute: minute, Name: oddText, Unit: "ms", Dimensions: oddJSON, Samples: 3, Sum: 0.1, Minimum: -1.5, Maximum: 1e300}
	t.Run("sum of a minute", func(t *testing.T) {
		account := newAccount(t, db).ID
		add(account, first)
		same(t, since(account, minute), []observations.MetricMinute{first})
		second := first
		second.Samples, second.Sum, second.Minimum, second.Maximum = 4, 0.25, -2.5, 7
		add(account, second)
		want := first
		want.Samples, want.Sum, want.Minimum = 7, first.Sum+second.Sum, -2.5
		same(t, since(account, minute), []observations.MetricMinute{want})
	})
	t.Run("separate series", func(t *testing.T) {
		account := newAccount(t, db).ID
		written := []observations.MetricMinute{
			{Minute: minute, Name: "a", Unit: "", Dimensions: `{"x":1}`, Samples: 1},
			{Minute: minute, Name: "a", Unit: "", Dimensions: "{}", Samples: 2},
			{Minute: minute, Name: "a", Unit: "ms", Dimensions: "{}", Samples: 3},
			{Minute: minute, Name: "b", Unit: "", Dimensions: "{}", Samples: 4},
			{Minute: minute.Add(time.Minute), Name: "a", Unit: "", Dimensions: "{}", Samples: 5},
		}
		add(account, written[4], written[2], written[0], written[3], written[1])
		same(t, since(account, minute), written)
	})
	t.Run("remove old minutes", func(t *testing.T) {
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		var written []observations.MetricMinute
		for i := range 1101 { // more than two full statements, and a rest
			written = append(written, observations.MetricMinute{Minute: minute.Add(time.Duration(i) * time.Minute), Name: "m", Dimensions: "{}", Samples: 1})
		}
		add(account, written...)
		add(other, written[:2]...)
		same(t, since(account, minute), written)
		same(t, since(account, written[1100].Minute), written[1100:])
		removed, err := db.RemoveMetrics(ctx, written[1099].Minute)
		same(t, err, nil)
		if removed < 1099+2 { // and those of other tests
			t.Errorf("%d were removed", removed)
		}
		same(t, since(account, minute), written[1099:])
		same(t, len(since(other, minute)), 0)
		add(account)
	})
}
