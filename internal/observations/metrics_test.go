package observations_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func metric(name string, value float64, at time.Time) observations.Metric {
	return observations.Metric{Name: name, Unit: "ms", Value: value, Dimensions: json.RawMessage(`{}`), RecordedAt: at}
}

// minutes returns the stored minute sums of the account.
func (h *fixture) minutes(t *testing.T) []observations.MetricSum {
	t.Helper()
	return storetest.MetricSums(t, h.db, h.owner.Account, observations.ByMinute, observations.MetricFilter{})
}

func (h *fixture) measure(t *testing.T, metrics ...observations.Metric) {
	t.Helper()
	if err := h.ReportMetrics(t.Context(), h.owner, metrics); err != nil {
		t.Fatal(err)
	}
}

// thisMinute is constant while the tests run.
var thisMinute = time.Now().UTC().Truncate(time.Minute)

// ago returns a time in the minute that began this many minutes ago.
func ago(minutes int, within time.Duration) time.Time {
	return thisMinute.Add(-time.Duration(minutes) * time.Minute).Add(within)
}

func TestReportMetrics_SumsPerMinute(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		h.measure(t, metric("m", 3, ago(5, 0)), metric("m", -1.5, ago(5, 59*time.Second)), metric("m", 7, ago(4, 0)))
		h.measure(t, metric("m", 10, ago(5, 30*time.Second)))
		same(t, h.minutes(t), []observations.MetricSum{
			{At: ago(5, 0), Name: "m", Unit: "ms", Dimensions: "{}", Samples: 3, Sum: 11.5, Minimum: -1.5, Maximum: 10},
			{At: ago(4, 0), Name: "m", Unit: "ms", Dimensions: "{}", Samples: 1, Sum: 7, Minimum: 7, Maximum: 7},
		})
	})
}

func TestReportMetrics_Series(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	base := metric("m", 1, ago(5, 0))
	name, unit, dimensions := base, base, base
	name.Name, unit.Unit, dimensions.Dimensions = "n", "s", json.RawMessage(`{"a":1}`)
	h.measure(t, base, name, unit, dimensions, base)
	same(t, len(h.minutes(t)), 4)
	stranger := &fixture{Service: h.Service, db: h.db, owner: storetest.NewTenant(t, h.db, "free").Owner}
	same(t, len(stranger.minutes(t)), 0)
}

func TestReportMetrics_SkipsUnusable(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	now := time.Now()
	var reported []string
	h.Measured = func(account string, metric observations.Metric) {
		if account != h.owner.Account || metric.RecordedAt.IsZero() {
			t.Errorf("reported %+v of %s", metric, account)
		}
		reported = append(reported, metric.Name)
	}
	long := metric("long unit", 1, now)
	long.Unit = strings.Repeat("x", 51)
	wide := metric("wide", 1, now)
	wide.Dimensions = json.RawMessage(`{"a":"` + strings.Repeat("x", 1<<10) + `"}`)
	fits := metric("fits", 1, now)
	fits.Unit, fits.Dimensions = strings.Repeat("é", 50), json.RawMessage(`{"a":"`+strings.Repeat("x", 1000)+`"}`)
	h.measure(t,
		metric("no time", 1, time.Time{}), metric("", 1, now), metric("a\nb", 1, now), metric(strings.Repeat("x", 256), 1, now),
		metric("not a number", math.NaN(), now), metric("infinite", math.Inf(1), now), metric("infinite", math.Inf(-1), now),
		metric("last week", 1, now.Add(-7*24*time.Hour-time.Minute)), metric("tomorrow", 1, now.Add(2*time.Hour)),
		metric("soon", 1, now.Add(50*time.Minute)), metric("recent", 1, now.Add(-6*24*time.Hour)), long, wide, fits)
	same(t, reported, []string{"no time", "soon", "recent", "fits"})
	same(t, len(h.minutes(t)), 4)
	h.measure(t) // an empty report
}

// A report of metrics does not fail, even if a value is huge.
func TestReportMetrics_HugeValues(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		for name, values := range map[string][][]float64{
			"huge in one report":      {{math.MaxFloat64, math.MaxFloat64}, {1}},
			"huge in two reports":     {{math.MaxFloat64}, {math.MaxFloat64}, {1}},
			"huge in both directions": {{math.MaxFloat64, math.MaxFloat64}, {-math.MaxFloat64, -math.MaxFloat64}, {1}},
			"tiny":                    {{math.SmallestNonzeroFloat64}, {-math.SmallestNonzeroFloat64}, {1}},
		} {
			t.Run(name, func(t *testing.T) {
				h := newFixture(t, database)
				for _, report := range values {
					var metrics []observations.Metric
					for _, value := range report {
						metrics = append(metrics, metric("m", value, ago(5, 0)))
					}
					h.measure(t, metrics...)
				}
				want := 1 // huge values are skipped
				if name == "tiny" {
					want = 3
				}
				if found := h.minutes(t); len(found) != 1 || found[0].Samples != want {
					t.Errorf("kept %+v", found)
				}
			})
		}
	})
}

// The sums do not depend on how measurements are divided into reports.
func TestReportMetrics_SumsDoNotDependOnReports(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	service := newService(db)
	rapid.Check(t, func(r *rapid.T) {
		h := &fixture{Service: service, db: db, owner: storetest.NewTenant(t, db, "free").Owner}
		values := rapid.SliceOfN(rapid.IntRange(-1000, 1000), 1, 20).Draw(r, "values")
		want := observations.MetricSum{At: ago(9, 0), Name: "m", Unit: "ms", Dimensions: "{}", Minimum: math.Inf(1), Maximum: math.Inf(-1)}
		var pending []observations.Metric
		for i, value := range values {
			number := float64(value)
			want.Samples, want.Sum = want.Samples+1, want.Sum+number
			want.Minimum, want.Maximum = min(want.Minimum, number), max(want.Maximum, number)
			pending = append(pending, metric("m", number, want.At))
			if i == len(values)-1 || rapid.IntRange(0, 3).Draw(r, "cut") == 0 {
				h.measure(t, pending...)
				pending = nil
			}
		}
		if got := h.minutes(t); len(got) != 1 || got[0] != want {
			r.Fatalf("got %+v, want %+v", got, want)
		}
	})
}

// TestReportMetrics_CapPerTime reports more sets than one minute may have.
func TestReportMetrics_CapPerTime(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		dropped := 0
		h.Dropped = func(sums int) { dropped += sums }
		hour := thisMinute.Truncate(time.Hour)
		var report []observations.Metric
		for i := range 2100 {
			each := metric("m", 1, hour)
			each.Dimensions = json.RawMessage(fmt.Sprintf(`{"i":%d}`, i))
			report = append(report, each)
		}
		h.measure(t, report...)
		same(t, len(h.minutes(t)), 2000)
		same(t, dropped, 100)
		h.measure(t, report[0], report[2099], metric("m", 1, hour.Add(-time.Minute))) // a known set, a set beyond the cap, and a set of another minute
		minutes := h.minutes(t)
		same(t, len(minutes), 2001)
		same(t, minutes[1].Samples, 2)
		same(t, dropped, 101)
		hours := storetest.MetricSums(t, h.db, h.owner.Account, observations.ByHour, observations.MetricFilter{From: hour})
		same(t, len(hours), 2100) // the hour has capacity for all
	})
}

// TestReportMetrics_HoursAreSumsOfMinutes: for any reports, an hour is the sum of its minutes.
func TestReportMetrics_HoursAreSumsOfMinutes(t *testing.T) {
	t.Parallel()
	db := storetest.New(t, "sqlite").Open(t)
	service := newService(db)
	rapid.Check(t, func(r *rapid.T) {
		h := &fixture{Service: service, db: db, owner: storetest.NewTenant(t, db, "free").Owner}
		for range rapid.IntRange(1, 5).Draw(r, "reports") {
			var report []observations.Metric
			for range rapid.IntRange(1, 10).Draw(r, "metrics") {
				each := metric(rapid.SampledFrom([]string{"m", "n"}).Draw(r, "name"), float64(rapid.IntRange(-1000, 1000).Draw(r, "value")),
					ago(rapid.IntRange(0, 200).Draw(r, "minutes"), 0))
				each.Dimensions = json.RawMessage(rapid.SampledFrom([]string{`{}`, `{"a":1}`}).Draw(r, "dimensions"))
				report = append(report, each)
			}
			h.measure(t, report...)
		}
		want := map[string]observations.MetricSum{}
		for _, minute := range h.minutes(t) {
			minute.At = minute.At.Truncate(time.Hour)
			key := fmt.Sprint(minute.At, minute.Name, minute.Dimensions)
			if sum, known := want[key]; known {
				minute.Samples, minute.Sum = minute.Samples+sum.Samples, minute.Sum+sum.Sum
				minute.Minimum, minute.Maximum = min(minute.Minimum, sum.Minimum), max(minute.Maximum, sum.Maximum)
			}
			want[key] = minute
		}
		got := map[string]observations.MetricSum{}
		for _, hour := range storetest.MetricSums(t, db, h.owner.Account, observations.ByHour, observations.MetricFilter{}) {
			got[fmt.Sprint(hour.At, hour.Name, hour.Dimensions)] = hour
		}
		if difference := cmp.Diff(want, got); difference != "" {
			r.Fatalf("hours differ from their minutes (-want +got):\n%s", difference)
		}
	})
}
