package api_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// TestJob_LastRun: a job shows its newest run while it waits, runs and has ended,
// and the ETag does not move with it.
func TestJob_LastRun(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		sink := newSink(t)
		path := owner.makeJob("job", sendingTo(sink.hold(), nil))
		idle := owner.makeJob("idle", nil)
		before := owner.get(path).want(200)
		if before.attribute("last_run") != nil || before.attribute("skipped_at") != nil {
			t.Errorf("a new job has %s", before.body)
		}
		run := owner.run(path)
		sink.take(t)
		running := owner.get(path).want(200)
		if running.member("last_run.id") != run || running.member("last_run.status") != "RUNNING" || running.member("last_run.started_at") == nil || running.member("last_run.run_duration_ms") != nil {
			t.Errorf("got %s", running.body)
		}
		if got := owner.get(jobsPath + "?filter[last_status]=RUNNING").ids(); !cmp.Equal(got, []string{"job"}) {
			t.Errorf("the list of those that run has %v", got)
		}
		sink.release()
		ended := owner.finished(run)
		want := map[string]any{"id": run, "trigger": "MANUAL", "failure_status": nil}
		for _, name := range []string{"status", "failure_reason", "started_at", "finished_at", "run_duration_ms"} {
			want[name] = ended.attribute(name)
		}
		got := owner.put(path, envelope("", "", sendingTo(sink.url(), nil)), with("If-Match", before.header.Get("Etag"))).want(200)
		if difference := cmp.Diff(want, got.member("last_run")); difference != "" {
			t.Errorf("want (-), got (+):\n%s", difference)
		}
		if got := owner.get(jobsPath + "?filter[last_status]=RUNNING&meta[total]=true").want(200); len(got.ids()) != 0 {
			t.Errorf("got %s", got.body)
		}
		if owner.get(idle).attribute("last_run") != nil {
			t.Error("another job has the run")
		}
		owner.get(jobsPath+"?filter[last_status]=DONE").refused(400, wrongParameter("filter[last_status]"))
		owner.delete(path).want(204)
		owner.makeJob("job", nil)
		if got := owner.get(path); got.attribute("last_run") != nil {
			t.Errorf("a job shows the run of a deleted one: %s", got.body)
		}
	})
}

func TestJob_LastRunIsNotHistory(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("job", nil)
	owner.ran(path)
	owner.put(path, envelope("", "", job(attributes{"name": "Renamed"}))).want(200)
	if got := owner.latest(); got.Attributes["before"] == nil || owner.get(changesPath+"/"+got.ID).contains("last_run") {
		t.Errorf("got %v", got.Attributes)
	}
}

func TestJobStats_Days(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		began := time.Now().UTC()
		owner.ran(path)
		owner.ran(path)
		for query, count := range map[string]int{"": 30, "?days=1": 1, "?days=90": 90} {
			t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
				got := owner.in(t).get(path + "/stats" + query).want(200)
				days, _ := got.attribute("days").([]any)
				if len(days) != count || got.data().ID != "job" {
					t.Fatalf("%d days, want %d: %s", len(days), count, got.body)
				}
				today, _ := days[count-1].(map[string]any)
				if began.Day() != time.Now().UTC().Day() {
					return // it is midnight
				}
				if today["date"] != began.Format(time.DateOnly) || today["failed"] != 2.0 || today["succeeded"] != 0.0 || today["max_ms"] == nil {
					t.Errorf("today has %v", today)
				}
				if first, _ := days[0].(map[string]any); count > 1 && (first["date"] != began.AddDate(0, 0, 1-count).Format(time.DateOnly) || first["failed"] != 0.0 || first["p50_ms"] != nil) {
					t.Errorf("the first day has %v", first)
				}
			})
		}
		for _, days := range []string{"0", "91", "x", ""} {
			t.Run(fmt.Sprintf("%q", days), func(t *testing.T) {
				owner.in(t).get(path+"/stats?days="+days).refused(400, wrongParameter("days"))
			})
		}
		owner.get(jobsPath+"/nothing/stats").refused(404, problem{code: "not_found"})
		all := owner.get(runsPath + "/stats?hours=2").want(200)
		hours, failed := all.attribute("hours").([]any), 0.0
		for _, hour := range hours {
			failed += hour.(map[string]any)["failed"].(float64)
		}
		if len(hours) != 2 || failed != 2 || all.attribute("complete") != true {
			t.Errorf("the account has %s", all.body)
		}
		owner.get(runsPath+"/stats?hours=169").refused(400, wrongParameter("hours"))
	})
}

// TestRun_PendingLimit: past the limit, asking for runs is refused until one ends.
func TestRun_PendingLimit(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	few := func(o *app.Options) { apptest.Quick(o); o.PendingRuns = 2 }
	owner := speakTo(t, apptest.StartWith(t, database, few, oneAtATime))
	running, pending, sink := owner.queue("job") // one runs, one waits
	another := func() bool { return owner.post(jobsPath+"/job/actions/run", "").status == 200 }
	eventually(t, patience, "the one that runs does not count", another)
	full := problem{code: "row_limit_reached", meta: map[string]any{"limit_key": "jobs.pending_runs", "maximum": 2.0}}
	owner.post(jobsPath+"/job/actions/run", "").refused(409, full)
	owner.post(runsPath+"/"+running+"/actions/rerun", "").refused(409, full)
	owner.post(jobsPath+"/nothing/actions/run", "").refused(404, problem{code: "not_found"})
	if runs := owner.runsOf("job"); len(runs) != 3 {
		t.Errorf("there are %d runs", len(runs))
	}
	owner.post(runsPath+"/"+pending+"/actions/cancel", "").want(200)
	eventually(t, patience, "there is capacity again", another)
	sink.release()
}
