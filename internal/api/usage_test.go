package api_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/plans"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// fewRuns makes a plan file in which the free plan includes few runs.
func fewRuns(t testing.TB, runs int) func(*settings.Settings) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "plans.json")
	table := plans.BuiltIn()
	table[plans.Free][plans.JobsIncludedRuns] = runs
	text, err := json.Marshal(table)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return func(s *settings.Settings) { s.Plans = file }
}

func TestUsage_Counts(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	owner := first.account("free")
	month := time.Now().UTC().Format("2006-01")
	want := map[string]any{"period": month, "runs_used": 0.0, "runs_included": 3000.0, "active_jobs": 0.0, "active_jobs_limit": 10.0,
		"history_bytes_limit": -1.0}
	requireUsage := func(query string, want map[string]any) {
		t.Helper()
		got := owner.get(usagePath + query).want(200).data()
		if got.ID != "current" || got.Type != "usage" {
			t.Errorf("got %+v", got)
		}
		if bytes, _ := got.Attributes["history_bytes"].(float64); bytes < 100 { // the account was made
			t.Errorf("the history has %v bytes", bytes)
		}
		delete(got.Attributes, "history_bytes")
		if difference := cmp.Diff(want, got.Attributes); difference != "" {
			t.Errorf("%s: want (-), got (+):\n%s", query, difference)
		}
	}
	requireUsage("", want)
	path := owner.makeJob("job", nil)
	owner.makeJob("off", attributes{"enabled": false})
	owner.ran(path)
	owner.ran(path)
	want["runs_used"], want["active_jobs"] = 2.0, 1.0
	requireUsage("", want)
	requireUsage("?filter[period]=current", want)
	requireUsage("?filter[period]="+month, want)
	want["period"], want["runs_used"] = "2020-02", 0.0
	requireUsage("?filter[period]=2020-02", want)
	for _, period := range []string{"", "now", "2020", "2020-13", "2020-00", "2020-1", "20200-01", "2020-01-01", "CURRENT%20"} {
		t.Run(fmt.Sprintf("%q", period), func(t *testing.T) {
			owner.in(t).get(usagePath+"?filter[period]="+period).refused(400, wrongParameter("filter[period]"))
		})
	}
	pro := first.get(usagePath).want(200)
	if pro.attribute("runs_included") != -1.0 || pro.attribute("active_jobs_limit") != -1.0 {
		t.Errorf("got %s", pro.body)
	}
}

func TestUsage_EnabledJobsLimit(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "free")
	for i := range 10 {
		owner.makeJob(fmt.Sprintf("job-%d", i), nil)
	}
	full := problem{code: "entitlement_limit_reached", meta: map[string]any{"limit_key": "jobs.active_jobs", "current": 10.0, "maximum": 10.0, "plan": "free"}}
	owner.post(jobsPath, envelope("job", "more", job(nil))).refused(402, full)
	owner.get(jobsPath + "/more").want(404)
	off := owner.makeJob("off", attributes{"enabled": false}) // jobs that do not fire are not counted
	owner.put(off, envelope("", "", job(nil))).refused(402, full)
	if got := owner.get(off); got.attribute("enabled") != false || got.attribute("version") != 1.0 {
		t.Errorf("got %s", got.body)
	}
	owner.put(jobsPath+"/job-0", envelope("", "", job(attributes{"name": "Renamed"}))).want(200) // a job that is counted needs no slot
	owner.put(jobsPath+"/job-0", envelope("", "", job(attributes{"enabled": false}))).want(200)
	owner.put(off, envelope("", "", job(nil))).want(200)
	owner.delete(jobsPath + "/job-1").want(204)
	owner.makeJob("job-1", attributes{"schedule": "now"})
	owner.fired("job-1", 1) // a one-off that has fired frees its slot
	owner.makeJob("last", nil)
	owner.post(jobsPath, envelope("job", "more", job(nil))).refused(402, full)
	owner.requireActiveJobs(10)
	owner.run(jobsPath + "/job-0") // running takes no slot
}

func TestUsage_RacingWriters(t *testing.T) {
	t.Parallel()
	onBoth(t, "free", func(t *testing.T, owner client) {
		for i := range 12 {
			owner.makeJob(fmt.Sprintf("off-%d", i), attributes{"enabled": false})
		}
		var racing sync.WaitGroup
		statuses := make(chan int, 24)
		for i := range 12 {
			racing.Go(func() { statuses <- owner.post(jobsPath, envelope("job", fmt.Sprintf("new-%d", i), job(nil))).status })
			racing.Go(func() {
				statuses <- owner.put(fmt.Sprintf("%s/off-%d", jobsPath, i), envelope("", "", job(nil))).status
			})
		}
		racing.Wait()
		close(statuses)
		accepted := 0
		for status := range statuses {
			if status < 300 {
				accepted++
			} else if status != 402 {
				t.Errorf("got %d", status)
			}
		}
		owner.requireActiveJobs(10)
		if enabled := len(owner.get(jobsPath + "?filter[enabled]=true").ids()); enabled != 10 || accepted != 10 {
			t.Errorf("%d jobs are enabled after %d accepted writes", enabled, accepted)
		}
	})
}

func TestUsage_LongestTimeout(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	for plan, most := range map[string]int{"free": 30, "standard": 300, "pro": 900} {
		t.Run(plan, func(t *testing.T) {
			owner := first.in(t).account(plan)
			path := owner.makeJob("job", sendingTo(nowhere, attributes{"timeout": most}))
			for _, got := range []answer{
				owner.post(jobsPath, envelope("job", "long", sendingTo(nowhere, attributes{"timeout": most + 1}))),
				owner.put(path, envelope("job", "", sendingTo(nowhere, attributes{"timeout": most + 1}))),
			} {
				got.refused(400, invalid("/data/attributes/configuration/timeout"))
				if !got.contains(fmt.Sprintf("at most %d seconds", most)) {
					t.Errorf("the maximum is not named: %s", got.body)
				}
			}
		})
	}
}

func TestUsage_IncludedRuns(t *testing.T) {
	t.Parallel()
	first := start(t, storetest.New(t, "sqlite"), fewRuns(t, 2))
	owner := first.account("free")
	sink := newSink(t)
	path := owner.makeJob("job", sendingTo(sink.url(), nil))
	for range 2 {
		if run := owner.ran(path); run.text("status") != "SUCCEEDED" {
			t.Errorf("got %s", run.body)
		}
	}
	manual := owner.ran(path)
	rerun := owner.finished(owner.post(runsPath+"/"+manual.data().ID+"/actions/rerun", "").want(200).data().ID)
	owner.makeJob("scheduled", attributes{"schedule": "now"})
	scheduled := owner.get(runsPath + "/" + owner.fired("scheduled", 1)[0].ID)
	for _, run := range []answer{manual, rerun, scheduled} {
		requireNeverStarted(t, run, "FAILED")
		if run.text("failure_reason") != "QUOTA_EXCEEDED" || !strings.Contains(run.text("error"), "2 runs") {
			t.Errorf("got %s", run.body)
		}
	}
	if got := owner.get(usagePath); got.attribute("runs_used") != 2.0 || got.attribute("runs_included") != 2.0 {
		t.Errorf("got %s", got.body)
	}
	if len(sink.requests) != 2 {
		t.Errorf("%d requests were sent", len(sink.requests))
	}
	if run := first.ran(first.makeJob("job", sendingTo(sink.url(), nil))); run.text("status") != "SUCCEEDED" {
		t.Errorf("another account is refused: %s", run.body)
	}
}
