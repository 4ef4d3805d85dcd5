package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

const metricsPath = "/api/v1/metrics"

// points returns the points of an answer, each as a text.
func (a answer) points() (points []string) {
	a.t.Helper()
	for _, each := range a.want(200).attribute("points").([]any) {
		point := each.(map[string]any)
		points = append(points, fmt.Sprint(point["at"], " ", point["dimensions"], " ", point["sum"], " ", point["count"]))
	}
	return points
}

func TestMetrics_Series(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		hour := time.Now().UTC().Truncate(24 * time.Hour).Add(-20 * time.Hour)
		at := func(minutes int) string { return hour.Add(time.Duration(minutes) * time.Minute).Format(time.RFC3339) }
		evaluated := func(minute int, value float64, dimensions attributes) any {
			return metric("flags.evaluations", value, attributes{"unit": "evaluations", "dimensions": dimensions, "recorded_at": at(minute)})
		}
		owner.measure(evaluated(0, 1, attributes{"flag": "a", "value": "x"}), evaluated(0, 2, attributes{"flag": "a", "value": "y"}),
			evaluated(1, 4, attributes{"flag": "b", "value": true}), evaluated(59, 8, attributes{"flag": "a", "value": "x"}),
			evaluated(60, 16, nil), metric("other", 1, attributes{"recorded_at": at(0)})).want(202)
		within := metricsPath + "?name=flags.evaluations&from=" + at(0) + "&to=" + at(61)
		first, second := hour.Format(time.RFC3339), hour.Add(time.Hour).Format(time.RFC3339)
		for query, want := range map[string][]string{
			"":                                  {first + " map[] 15 4", second + " map[] 16 1"},
			"&by=flag":                          {first + " map[flag:a] 11 3", first + " map[flag:b] 4 1", second + " map[] 16 1"},
			"&by=value,flag&filter[flag]=a":     {first + " map[flag:a value:x] 9 2", first + " map[flag:a value:y] 2 1"},
			"&filter[value]=true":               {first + " map[] 4 1"},
			"&filter[flag]=a&filter[value]=y":   {first + " map[] 2 1"},
			"&filter[flag]=nothing":             nil,
			`&by=flag&filter[flag]=["b","c"]`:   {first + " map[flag:b] 4 1"},
			`&filter[flag]=["a","b"]`:           {first + " map[] 15 4"},
			`&filter[flag]=["a"`:                nil,
			"&step=60&filter[flag]=a":           {first + " map[] 3 2", at(59) + " map[] 8 1"},
			"&step=86400&by=nothing":            {hour.Truncate(24*time.Hour).Format(time.RFC3339) + " map[] 31 5"},
			"&filter[missing]=x&by=flag,value,": nil,
		} {
			t.Run(fmt.Sprintf("%.60q", query), func(t *testing.T) {
				got := owner.in(t).withRole("VIEWER").get(within + query)
				if query == "&filter[missing]=x&by=flag,value," {
					got.refused(400, wrongParameter("by"))
					return
				}
				requireSame(t, got.points(), want)
			})
		}
		got := owner.get(within + "&by=value,flag").want(200)
		requireSame(t, got.data().ID+" "+got.data().Type, "flags.evaluations metric_series")
		requireSame(t, fmt.Sprint(got.attribute("from"), got.attribute("to"), got.attribute("step"), got.attribute("by"), got.attribute("units")),
			fmt.Sprint(first, hour.Add(2*time.Hour).Format(time.RFC3339), 3600, []string{"flag", "value"}, []string{"evaluations"}))
	})
}

func TestMetrics_Refusals(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for query, parameter := range map[string]string{
		"": "name", "?name=": "name", "?name=a%09b": "name", "?name=m&step=61": "step", "?name=m&step=x": "step", "?name=m&step=0": "step",
		"?name=m&from=yesterday": "from", "?name=m&to=5": "to", "?name=m&from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z": "from",
		"?name=m&from=2000-01-01T00:00:00Z": "from", "?name=m&by=a,,b": "by", "?name=m&by=1,2,3,4,5,6,7,8,9": "by",
		"?name=m&filter[flag]=": "filter[flag]", "?name=m&page[size]=5": "page[size]",
		"?name=m&step=60&from=" + time.Now().UTC().Add(-8*24*time.Hour).Format(time.RFC3339) + "&to=" + time.Now().UTC().Add(-7*24*time.Hour).Format(time.RFC3339): "from",
	} {
		t.Run(fmt.Sprintf("%.60q", query), func(t *testing.T) {
			owner.in(t).get(metricsPath+query, offContract).refused(400, wrongParameter(parameter))
		})
	}
	requireSame(t, len(owner.get(metricsPath+"?name=m").points()), 0)
}

// TestOFREP_Counts: both ways to evaluate count and say that flags are in use; a question does not.
func TestOFREP_Counts(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("a", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), true)}))
		owner.makeFlag("b", nil)
		owner.makeFlag("asked", inEnvironment("production", attributes{"enabled": false}))
		owner.evaluated("asked", "production", nil).want(200)
		owner.ofrep("nothing", `{}`).want(404)
		for range 3 {
			owner.ofrep("a", `{"context":{"targetingKey":"alice"}}`).want(200)
		}
		owner.ofrep("a", `{}`).want(200)
		path := metricsPath + "?name=flags.evaluations&step=86400&by=flag,value,environment"
		counted := func(want map[string]float64) func() bool {
			return func() bool {
				sums := map[string]float64{}
				for _, each := range owner.get(path).want(200).attribute("points").([]any) {
					point := each.(map[string]any)
					sums[fmt.Sprint(point["dimensions"])] += point["sum"].(float64)
				}
				return fmt.Sprint(sums) == fmt.Sprint(want)
			}
		}
		const a, b = "map[environment:production flag:a value:", "map[environment:production flag:b value:"
		storetest.Wait(t, 10*time.Second, "the evaluations are counted", counted(map[string]float64{a + "true]": 3, a + "false]": 1}))
		storetest.Wait(t, 10*time.Second, "the flag is in use", func() bool { return owner.get(flagsPath+"/a").want(200).attribute("last_evaluated") != nil })
		requireSame(t, owner.get(flagsPath+"/asked").want(200).attribute("last_evaluated"), nil)
		owner.ofrep("", `{}`).want(200)
		storetest.Wait(t, 10*time.Second, "all are counted", counted(map[string]float64{a + "true]": 3, a + "false]": 2, b + "false]": 1,
			"map[environment:production flag:asked value:false]": 1}))
	})
}
