package api_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// soon returns an instant a moment ahead, as a schedule has it.
func soon(ahead time.Duration) string {
	return time.Now().Add(ahead).UTC().Truncate(time.Millisecond).Format(time.RFC3339Nano)
}

// jobTransitions are the rows of the table of a job's enabled state, named
// after their State, Trigger and Next.
var jobTransitions = []transition{
	{"enabled, PUT enabled false: paused", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		got := owner.put(path, envelope("", "", job(attributes{"enabled": false}))).want(200)
		if got.attribute("enabled") != false || got.attribute("next_run_at") != nil {
			t.Errorf("got %s", got.body)
		}
		owner.requireActiveJobs(0)
	}},
	{"disabled, PUT enabled true: enabled and scheduled", func(t *testing.T, owner client) {
		path := owner.makeJob("job", attributes{"enabled": false})
		owner.requireActiveJobs(0)
		got := owner.put(path, envelope("", "", job(nil))).want(200)
		if got.attribute("enabled") != true || got.attribute("next_run_at") == nil {
			t.Errorf("got %s", got.body)
		}
		owner.requireActiveJobs(1)
	}},
	{"created enabled: fires", func(t *testing.T, owner client) {
		at := soon(300 * time.Millisecond)
		owner.makeJob("job", attributes{"schedule": at})
		run := owner.fired("job", 1)[0].Attributes
		if run["trigger"] != "SCHEDULE" || run["rerun_of"] != nil || run["scheduled_for"] != at {
			t.Errorf("got %v", run)
		}
	}},
	{"created disabled: does not fire", func(t *testing.T, owner client) {
		owner.makeJob("quiet", attributes{"schedule": "now", "enabled": false})
		owner.makeJob("loud", attributes{"schedule": "now"})
		owner.fired("loud", 1)
		if got := owner.get(jobsPath + "/quiet"); len(owner.runsOf("quiet")) != 0 || got.attribute("next_run_at") != nil || got.attribute("enabled") != false {
			t.Errorf("it fired: %s", got.body)
		}
	}},
	{"enabled one-off, fires: disabled", func(t *testing.T, owner client) {
		for key, schedule := range map[string]string{"instant": soon(200 * time.Millisecond), "now": "NOW"} {
			made := owner.post(jobsPath, envelope("job", key, job(attributes{"schedule": schedule}))).want(201)
			owner.fired(key, 1)
			got := owner.get(jobsPath + "/" + key).want(200)
			if got.attribute("enabled") != false || got.attribute("next_run_at") != nil {
				t.Errorf("%s: got %s", key, got.body)
			}
			for _, same := range []string{"version", "updated_at", "schedule", "created_at"} {
				if difference := cmp.Diff(made.attribute(same), got.attribute(same)); difference != "" {
					t.Errorf("%s: firing changed %s:\n%s", key, same, difference)
				}
			}
		}
		owner.requireActiveJobs(0)
	}},
	{"now, enabled again: fires again", func(t *testing.T, owner client) {
		path := owner.makeJob("job", attributes{"schedule": "now"})
		owner.fired("job", 1)
		got := owner.put(path, envelope("", "", job(attributes{"schedule": "now"}))).want(200)
		runs := owner.fired("job", 2)
		if runs[0].Attributes["scheduled_for"] != got.text("updated_at") || runs[0].Attributes["scheduled_for"] == runs[1].Attributes["scheduled_for"] {
			t.Errorf("got %v after %s", runs, got.body)
		}
	}},
	{"PUT of a schedule: computed anew", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		first := owner.get(path).text("next_run_at")
		changed := owner.put(path, envelope("", "", job(attributes{"schedule": "0 0 1 1 *"}))).want(200)
		if next := changed.text("next_run_at"); next == first || next[4:] != "-01-01T00:00:00Z" {
			t.Errorf("got %s", changed.body)
		}
		off := owner.put(path, envelope("", "", job(attributes{"schedule": "0 0 2 1 *", "enabled": false}))).want(200)
		if off.attribute("next_run_at") != nil {
			t.Errorf("got %s", off.body)
		}
	}},
	{"PUT of anything else: fires when it did", func(t *testing.T, owner client) {
		instant := soon(time.Hour)
		path := owner.makeJob("job", attributes{"schedule": instant})
		next := owner.get(path).text("next_run_at")
		got := owner.put(path, envelope("", "", sendingAt(instant))).want(200)
		if next != instant || got.text("next_run_at") != instant || got.attribute("version") != 2.0 {
			t.Errorf("got %s", got.body)
		}
	}},
	{"DELETE: gone, and its runs stay", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		run := owner.ran(path)
		owner.delete(path).want(204)
		for _, got := range []answer{owner.get(path), owner.put(path, envelope("", "", job(nil))), owner.delete(path), owner.post(path+"/actions/run", "")} {
			got.refused(404, problem{code: "not_found"})
		}
		if len(owner.get(jobsPath).ids()) != 0 || len(owner.runsOf("job")) != 1 {
			t.Error("the job is listed, or its run is not")
		}
		if difference := cmp.Diff(run.data(), owner.get(runsPath+"/"+run.data().ID).want(200).data()); difference != "" {
			t.Errorf("the run changed:\n%s", difference)
		}
		owner.requireActiveJobs(0)
	}},
	{"run now: changes neither schedule nor enabled state", func(t *testing.T, owner client) {
		for key, more := range map[string]attributes{"on": nil, "off": {"enabled": false}, "once": {"schedule": soon(time.Hour)}} {
			path := owner.makeJob(key, more)
			before := owner.get(path)
			run := owner.ran(path)
			after := owner.get(path).data()
			after.Attributes["last_run"], after.Attributes["health"] = nil, before.attribute("health")
			if difference := cmp.Diff(before.data(), after); difference != "" {
				t.Errorf("the job changed:\n%s", difference)
			}
			if run.text("trigger") != "MANUAL" || run.attribute("scheduled_for") != nil || run.attribute("rerun_of") != nil {
				t.Errorf("got %s", run.body)
			}
		}
	}},
}

// sendingAt returns a job with everything but the schedule changed.
func sendingAt(schedule string) attributes {
	return job(attributes{"schedule": schedule, "name": "Another", "description": "d", "configuration": attributes{"url": nowhere + "x", "method": "GET"}})
}

func (c client) requireActiveJobs(count float64) {
	c.t.Helper()
	if got := c.get(usagePath).want(200); got.attribute("active_jobs") != count {
		c.t.Errorf("got %s, want %v active jobs", got.body, count)
	}
}

func TestJob_Transitions(t *testing.T) {
	t.Parallel()
	runTransitions(t, "pro", jobTransitions)
}

func TestJob_ScheduleSpellings(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for schedule, want := range map[string]string{
		"2130-06-01T12:00:00+02:00":    "2130-06-01T10:00:00Z",
		"2130-06-01T12:00:00":          "2130-06-01T12:00:00Z",
		"2130-06-01T12:00":             "2130-06-01T12:00:00Z",
		"2130-06-01t12:00:00.1234567z": "2130-06-01T12:00:00.123456Z",
		"  2130-06-01T12:00:00Z ":      "2130-06-01T12:00:00Z",
	} {
		t.Run(fmt.Sprintf("%q", schedule), func(t *testing.T) {
			got := owner.in(t).post(jobsPath, envelope("job", unique("job"), job(attributes{"schedule": schedule}))).want(201)
			if got.text("next_run_at") != want {
				t.Errorf("%q: got %s, want %s", schedule, got.text("next_run_at"), want)
			}
		})
	}
	now := time.Now().UTC()
	next := now.Truncate(24 * time.Hour).Add(24 * time.Hour)
	for _, schedule := range []string{"0 0 * * *", "0 0 * * 0-7", "0 0 * jan-dec *", "0-0 0/24 * * *"} {
		t.Run(schedule, func(t *testing.T) {
			got := owner.in(t).post(jobsPath, envelope("job", unique("job"), job(attributes{"schedule": schedule}))).want(201)
			if at := got.text("next_run_at"); at != next.Format(time.RFC3339) && time.Now().UTC().Day() == now.Day() {
				t.Errorf("got %s, want %s", at, next.Format(time.RFC3339))
			}
		})
	}
}

func TestJob_PastInstant(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	late, tooLate := soon(-30*time.Second), soon(-2*time.Minute)
	owner.makeJob("late", attributes{"schedule": late})
	if run := owner.fired("late", 1)[0].Attributes; run["scheduled_for"] != late {
		t.Errorf("got %v", run)
	}
	owner.post(jobsPath, envelope("job", "too-late", job(attributes{"schedule": tooLate}))).refused(400, invalid("/data/attributes/schedule"))
	path := owner.makeJob("too-late", attributes{"schedule": tooLate, "enabled": false})
	owner.put(path, envelope("", "", job(attributes{"schedule": tooLate}))).refused(400, invalid("/data/attributes/schedule"))
	owner.put(path, envelope("", "", job(attributes{"schedule": tooLate, "enabled": false, "name": "Still off"}))).want(200)
	// An instant that was fired for is not fired for again.
	owner.put(jobsPath+"/late", envelope("", "", job(attributes{"schedule": late}))).want(200)
	eventually(t, patience, "it disables itself again", func() bool { return owner.get(jobsPath+"/late").attribute("enabled") == false })
	if runs := owner.runsOf("late"); len(runs) != 1 {
		t.Errorf("it ran %d times for one instant", len(runs))
	}
}

func TestJob_ReplaceRaisesVersion(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("job", attributes{"description": "d", "enabled": false})
	got := owner.get(path).want(200)
	for version := 2.0; version < 5; version++ {
		before := got
		got = owner.put(path, envelope("job", "job", before.data().Attributes)).want(200) // a read, modify, replace without the modify
		if got.attribute("version") != version || sortableTime(got.text("updated_at")) <= sortableTime(before.text("updated_at")) || got.text("created_at") != before.text("created_at") {
			t.Errorf("got %s", got.body)
		}
	}
	// A PUT overwrites the members that it leaves out with their defaults.
	got = owner.put(path, envelope("job", "", job(nil))).want(200)
	if got.attribute("description") != nil || got.attribute("enabled") != true {
		t.Errorf("got %s", got.body)
	}
}

func TestJob_ETag(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	owner := speakTo(t, apptest.Still(t, database)) // its scheduler would put next_run_at right
	made := owner.post(jobsPath, envelope("job", "job", job(attributes{"schedule": "* * * * *"}))).want(201)
	path := jobsPath + "/job"
	tag := made.header.Get("ETag")
	next := made.text("next_run_at")
	// The next fire time moves without a change of the job.
	if _, err := database.Raw(t).ExecContext(t.Context(), `UPDATE jobs SET next_run_at = next_run_at + 60000000 WHERE key = 'job'`); err != nil {
		t.Fatal(err)
	}
	got := owner.get(path).want(200)
	if tag == "" || got.header.Get("ETag") != tag || got.text("next_run_at") == next {
		t.Errorf("got %s with %s after %s", got.header.Get("ETag"), got.body, tag)
	}
	owner.get(path, with("If-None-Match", tag)).want(http.StatusOK) // for next_run_at is new
	changed := owner.put(path, envelope("", "", job(nil)), with("If-Match", tag)).want(200)
	if changed.header.Get("ETag") == tag {
		t.Error("a change keeps the ETag")
	}
	mismatch := problem{code: "version_mismatch"}
	owner.put(path, envelope("", "", job(nil)), with("If-Match", tag)).refused(412, mismatch)
	owner.delete(path, with("If-Match", tag)).refused(412, mismatch)
	owner.put(path, envelope("", "", job(nil)), with("If-Match", "*")).want(200)
	owner.delete(path, with("If-Match", owner.get(path).header.Get("ETag"))).want(204)
	owner.delete(path, with("If-Match", "*")).want(404)
}

func TestJobs_List(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for _, each := range []struct {
			key     string
			enabled bool
		}{{"one", true}, {"two", false}, {"three", true}} {
			owner.makeJob(each.key, attributes{"name": "Job " + each.key, "enabled": each.enabled})
		}
		owner.delete(owner.makeJob("four", nil)).want(204)
		for query, want := range map[string][]string{
			"":                        {"three", "two", "one"},
			"?filter[enabled]=true":   {"three", "one"},
			"?filter[enabled]=FALSE":  {"two"},
			"?enabled=false":          {"two"},
			"?filter[search]=JOB%20T": {"three", "two"},
			"?filter[search]=ne&filter[enabled]=true": {"one"},
			"?sort=key":                    {"one", "three", "two"},
			"?sort=next_run_at,-key":       {"three", "one", "two"},
			"?page[size]=1&page[number]=2": {"two"},
		} {
			t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
				if difference := cmp.Diff(want, owner.in(t).get(jobsPath+query, offContract).want(200).ids()); difference != "" {
					t.Errorf("%s: want (-), got (+):\n%s", query, difference)
				}
			})
		}
		owner.get(jobsPath+"?filter[enabled]=yes").refused(400, wrongParameter("filter[enabled]"))
		owner.get(jobsPath+"?page[size]=1001&page[number]=0").refused(400, wrongParameter("page[size]"), wrongParameter("page[number]"))
		got := owner.get(jobsPath + "?filter[enabled]=true&meta[total]=true&page[size]=1").want(200)
		requirePagination(t, got, map[string]int{"page": 1, "size": 1, "total": 2, "total_pages": 2})
	})
}

// Of the instants that pass while no node runs, a recurring job fires for the
// latest alone.
func TestJob_MissedInstants(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	// A schedule of one minute of every hour, at least half an hour away, so that the instant does
	// not pass during the test.
	latest := time.Now().UTC().Add(-30 * time.Minute).Truncate(time.Minute)
	t.Run("a node runs and stops", func(t *testing.T) { //nolint:paralleltest // what follows waits for its end
		start(t, database).makeJob("job", attributes{"schedule": fmt.Sprint(latest.Minute(), " * * * *")})
	})
	asleepSince(t, database, latest.Add(-3*time.Hour))
	owner := start(t, database)
	run := owner.fired("job", 1)[0].Attributes
	if run["scheduled_for"] != latest.Format(time.RFC3339) || run["trigger"] != "SCHEDULE" {
		t.Errorf("it fired for %v, want %s", run["scheduled_for"], latest)
	}
	if next := owner.get(jobsPath + "/job").want(200).text("next_run_at"); next != latest.Add(time.Hour).Format(time.RFC3339) {
		t.Errorf("it fires next at %s, an hour after %s", next, latest)
	}
	if runs := owner.get(runsPath + "?filter[job]=job").want(200).ids(); len(runs) != 1 {
		t.Errorf("it has %d runs, want 1", len(runs))
	}
}

// asleepSince makes every job one that should have fired at an instant.
func asleepSince(t *testing.T, database storetest.Database, instant time.Time) {
	t.Helper()
	err := database.Open(t).Write(t.Context(), "", func(ctx context.Context, tx *store.Tx) error {
		waiting, err := tx.DueJobs(ctx, tx.Now().AddDate(1, 0, 0), 100)
		if err != nil {
			return err
		}
		var asleep []jobs.Firing
		for _, job := range waiting {
			asleep = append(asleep, jobs.Firing{Due: job, Next: &instant})
		}
		return tx.AdvanceJobs(ctx, asleep)
	})
	if err != nil {
		t.Fatal(err)
	}
}
