package api_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// oneAtATime lets one request to a host be in flight, so that other runs wait.
func oneAtATime(s *settings.Settings) { s.RunsInFlight = 4 }

// queue makes a run that runs until it is released, and one that waits for it.
func (c client) queue(key string) (running, pending string, sink *sink) {
	c.t.Helper()
	sink = newSink(c.t)
	path := c.makeJob(key, sendingTo(sink.hold(), nil))
	running = c.run(path)
	sink.take(c.t)
	return running, c.run(path), sink
}

func TestRun_Lifecycle(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), oneAtATime)
	running, pending, sink := owner.queue("job")

	waits := owner.get(runsPath + "/" + pending).want(200)
	requireRun(t, waits, map[string]any{"job": "job", "trigger": "MANUAL", "rerun_of": nil, "scheduled_for": nil, "status": "PENDING", "job_version": nil,
		"started_at": nil, "finished_at": nil, "pending_duration_ms": nil, "run_duration_ms": nil, "total_duration_ms": nil,
		"failure_reason": nil, "error": nil, "request": nil, "result": nil})
	runs := owner.get(runsPath + "/" + running).want(200)
	requireRun(t, runs, map[string]any{"status": "RUNNING", "job_version": 1.0, "finished_at": nil, "run_duration_ms": nil, "total_duration_ms": nil,
		"failure_reason": nil, "error": nil, "result": nil,
		"request": map[string]any{"method": "POST", "url": sink.hold(), "headers": []any{}, "body": nil}})
	if runs.attribute("started_at") == nil || runs.attribute("pending_duration_ms") == nil {
		t.Errorf("got %s", runs.body)
	}
	sink.release()
	for _, run := range []string{running, pending} {
		got := owner.finished(run)
		requireRun(t, got, map[string]any{"status": "SUCCEEDED", "failure_reason": nil, "error": nil})
		requireDurations(t, got)
		if got.member("result.status") != 200.0 || got.member("result.body") != "" || got.member("result.body_truncated") != false || got.member("result.body_bytes") != 0.0 {
			t.Errorf("got %s", got.body)
		}
	}
}

// requireRun checks that attributes of a run are what they should be.
func requireRun(t *testing.T, got answer, want map[string]any) {
	t.Helper()
	shown := got.data().Attributes
	some := map[string]any{}
	for name := range want {
		some[name] = shown[name]
	}
	if difference := cmp.Diff(want, some); difference != "" {
		t.Errorf("%s: want (-), got (+):\n%s", got.what, difference)
	}
}

// requireDurations checks that durations are whole milliseconds between the
// instants that a run shows.
func requireDurations(t *testing.T, got answer) {
	t.Helper()
	at := func(name string) time.Time {
		instant, err := time.Parse(time.RFC3339Nano, got.text(name))
		if err != nil {
			t.Fatal(err)
		}
		return instant
	}
	for name, want := range map[string]time.Duration{
		"pending_duration_ms": at("started_at").Sub(at("created_at")), "run_duration_ms": at("finished_at").Sub(at("started_at")),
		"total_duration_ms": at("finished_at").Sub(at("created_at")),
	} {
		if got.attribute(name) != float64(want.Milliseconds()) || want < 0 {
			t.Errorf("%s is %v, want %s", name, got.attribute(name), want)
		}
	}
}

// requireNeverStarted checks a run that ended without starting.
func requireNeverStarted(t *testing.T, got answer, status string) {
	t.Helper()
	requireRun(t, got, map[string]any{"status": status, "started_at": nil, "run_duration_ms": nil, "request": nil, "result": nil})
	for _, name := range []string{"finished_at", "pending_duration_ms", "total_duration_ms"} {
		if got.attribute(name) == nil {
			t.Errorf("%s: %s is null", got.what, name)
		}
	}
}

func TestRun_CancelPending(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), oneAtATime)
	running, pending, sink := owner.queue("job")
	got := owner.post(runsPath+"/"+pending+"/actions/cancel", `{}`).want(200)
	requireNeverStarted(t, got, "CANCELED")
	if got.attribute("failure_reason") != nil || !strings.HasPrefix(got.text("error"), "Canceled with the key ") {
		t.Errorf("got %s", got.body)
	}
	owner.post(runsPath+"/"+pending+"/actions/cancel", "").refused(409, problem{code: "run_finished"})
	sink.release()
	owner.finished(running)
	if difference := cmp.Diff(got.data(), owner.get(runsPath+"/"+pending).data()); difference != "" {
		t.Errorf("a canceled run changed:\n%s", difference)
	}
	if used := owner.get(usagePath); used.attribute("runs_used") != 1.0 {
		t.Errorf("a run that was canceled while pending is metered: %s", used.body)
	}
}

func TestRun_CancelRunning(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		sink := newSink(t)
		run := owner.run(owner.makeJob("job", sendingTo(sink.hold(), nil)))
		request := sink.take(t)
		began := time.Now()
		got := owner.post(runsPath+"/"+run+"/actions/cancel", "").want(200)
		select {
		case <-request.Context().Done():
			t.Logf("the connection was closed after %s", time.Since(began))
		case <-time.After(patience):
			t.Error("the request goes on")
		}
		requireRun(t, got, map[string]any{"status": "CANCELED", "failure_reason": nil, "result": nil})
		requireDurations(t, got)
		owner.ran(owner.makeJob("another", nil)) // whatever the first reports has been written by now
		if difference := cmp.Diff(got.data(), owner.get(runsPath+"/"+run).data()); difference != "" {
			t.Errorf("a canceled run changed:\n%s", difference)
		}
	})
}

func TestRun_ActionsAfterEnd(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t)
	path := owner.makeJob("job", sendingTo(sink.url(), nil))
	succeeded, failed := owner.ran(path).data().ID, strings.TrimPrefix(aRun(owner), runsPath+"/")
	for _, run := range []string{succeeded, failed} {
		before := owner.get(runsPath + "/" + run)
		owner.post(runsPath+"/"+run+"/actions/cancel", `{"anything":[1]}`).refused(409, problem{code: "run_finished"})
		if difference := cmp.Diff(before.data(), owner.get(runsPath+"/"+run).data()); difference != "" {
			t.Errorf("the run changed:\n%s", difference)
		}
	}
	for _, id := range []string{uuid.NewString(), "1", "x", "not-a-uuid", "{" + succeeded + "}", "urn:uuid:" + succeeded, strings.ReplaceAll(succeeded, "-", "")} {
		owner.get(runsPath+"/"+url.PathEscape(id), offContract).refused(404, problem{code: "not_found"})
		for _, action := range []string{"cancel", "rerun"} {
			owner.post(runsPath+"/"+url.PathEscape(id)+"/actions/"+action, "", offContract).refused(404, problem{code: "not_found"})
		}
	}
	if got := owner.get(runsPath + "/" + strings.ToUpper(succeeded)).want(200); got.data().ID != succeeded {
		t.Errorf("got %s", got.body)
	}
	for _, body := range []string{"[]", "7", "{"} {
		t.Run(body, func(t *testing.T) { owner.in(t).post(path+"/actions/run", body, offContract).want(400) })
	}
}

func TestRun_Rerun(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t)
	path := owner.makeJob("job", sendingTo(sink.url()+"old", attributes{"body": "old"}))
	first := owner.ran(path)
	owner.put(path, envelope("", "", sendingTo(sink.url()+"new", attributes{"body": "new", "method": "PUT"}))).want(200)
	queued := owner.post(runsPath+"/"+first.data().ID+"/actions/rerun", "").want(200)
	if queued.data().ID == first.data().ID || queued.text("trigger") != "RERUN" || queued.text("rerun_of") != first.data().ID {
		t.Errorf("got %s", queued.body)
	}
	again := owner.finished(queued.data().ID)
	requireRun(t, again, map[string]any{"status": "SUCCEEDED", "job_version": 2.0, "scheduled_for": nil,
		"request": map[string]any{"method": "PUT", "url": sink.url() + "new", "headers": []any{}, "body": "new"}})
	if old, now := sink.take(t), sink.take(t); old.body != "old" || now.body != "new" || now.URL.Path != "/new" {
		t.Errorf("got %s and %s", old.body, now.body)
	}
	// The first still shows what it sent.
	if difference := cmp.Diff(first.data(), owner.get(runsPath+"/"+first.data().ID).data()); difference != "" {
		t.Errorf("the first run changed:\n%s", difference)
	}
	owner.delete(path).want(204)
	owner.post(runsPath+"/"+first.data().ID+"/actions/rerun", "").refused(409, problem{code: "job_deleted"})
	owner.makeJob("job", nil) // another job with the same key is not the job of the run
	owner.post(runsPath+"/"+first.data().ID+"/actions/rerun", "").refused(409, problem{code: "job_deleted"})
	if got := owner.get(runsPath + "/" + first.data().ID).want(200); got.text("status") != "SUCCEEDED" {
		t.Errorf("got %s", got.body)
	}
}

func TestRun_OfDeletedJob(t *testing.T) {
	t.Parallel()
	owner := start(t, storetest.New(t, "sqlite"), oneAtATime)
	running, pending, sink := owner.queue("job")
	owner.delete(jobsPath + "/job").want(204)
	requireNeverStarted(t, owner.get(runsPath+"/"+pending), "CANCELED")
	if got := owner.get(runsPath + "/" + running); got.text("status") != "RUNNING" {
		t.Errorf("got %s", got.body)
	}
	sink.release()
	if got := owner.finished(running); got.text("status") != "SUCCEEDED" {
		t.Errorf("got %s", got.body)
	}
	// The key is free, and the list has the runs of both jobs.
	again := owner.makeJob("job", attributes{"description": "another"})
	if got := owner.get(again); got.attribute("version") != 1.0 {
		t.Errorf("got %s", got.body)
	}
	third := owner.ran(again).data().ID
	if difference := cmp.Diff([]string{third, pending, running}, owner.get(runsPath+"?filter[job]=job").ids()); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
}

func TestRuns_Pages(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		var all []string
		for range 5 {
			all = append([]string{owner.run(path)}, all...)
		}
		owner.run(owner.makeJob("other", nil))
		first := owner.get(runsPath + "?filter[job]=job&page[size]=2").want(200)
		walked := first.ids()
		newer := owner.run(path) // arrives while somebody turns pages
		for at := first; at.page().Links.Next != nil; {
			next, err := url.Parse(*at.page().Links.Next)
			if err != nil || !strings.HasPrefix(*at.page().Links.Next, owner.node.URL+runsPath) || next.Query().Get("filter[job]") != "job" {
				t.Fatalf("links.next is %s", *at.page().Links.Next)
			}
			at = owner.get(next.RequestURI()).want(200)
			if at.page().Meta.PageSize != 2 {
				t.Errorf("got %s", at.body)
			}
			walked = append(walked, at.ids()...)
		}
		if difference := cmp.Diff(all, walked); difference != "" {
			t.Errorf("want (-), got (+):\n%s", difference)
		}
		got := owner.get(runsPath).want(200)
		if got.page().Meta.PageSize != 50 || !got.contains(`"next":null`) || len(got.ids()) != 7 || got.ids()[0] != newer {
			t.Errorf("got %s", got.body)
		}
		if got := owner.get(runsPath + "?page[after]=" + all[4] + "&filter[job]=job").want(200); !got.contains(`"data":[]`) {
			t.Errorf("got %s", got.body)
		}
		if ids := owner.get(runsPath + "?sort=-created_at&page[size]=1000&page[after]=" + all[3]).want(200).ids(); len(ids) != 1 || ids[0] != all[4] {
			t.Errorf("got %v", ids)
		}
		for query, parameter := range map[string]string{
			"page[size]=0": "page[size]", "page[size]=1001": "page[size]", "page[size]=x": "page[size]", "page[number]=1": "page[number]",
			"page[after]=x": "page[after]", "page[after]=" + strings.ReplaceAll(newer, "-", ""): "page[after]", "sort=created_at": "sort",
			"filter[status]=DONE": "filter[status]", "filter[status]=": "filter[status]", "filter[trigger]=CRON": "filter[trigger]",
			"filter[created_at]=2030-01-01": "filter[created_at]", "filter[created_at]=[x,*)": "filter[created_at]", "filter[unknown]=x": "filter[unknown]",
		} {
			t.Run(query, func(t *testing.T) { owner.in(t).get(runsPath+"?"+query).refused(400, wrongParameter(parameter)) })
		}
	})
}

func TestRuns_Filters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		sink := newSink(t)
		good, bad := owner.makeJob("good", sendingTo(sink.url(), nil)), owner.makeJob("bad", nil)
		succeeded := owner.ran(good)
		failed := owner.ran(bad).data().ID
		rerun := owner.post(runsPath+"/"+failed+"/actions/rerun", "").want(200).data().ID
		owner.finished(rerun)
		held := owner.makeJob("held", sendingTo(sink.hold(), nil))
		canceled, running := owner.run(held), owner.run(held)
		for range 3 {
			sink.take(t)
		}
		owner.post(runsPath+"/"+canceled+"/actions/cancel", "").want(200)
		owner.makeJob("scheduled", attributes{"schedule": "now"})
		scheduled := owner.fired("scheduled", 1)[0].ID
		from := succeeded.text("created_at")
		after := owner.get(runsPath + "/" + failed).text("created_at")
		for query, want := range map[string][]string{
			"filter[job]=good": {succeeded.data().ID}, "filter[job]=nothing": {}, "filter[job]=GOOD": {}, "job=good": {succeeded.data().ID},
			"filter[status]=SUCCEEDED": {succeeded.data().ID}, "filter[status]=FAILED": {scheduled, rerun, failed}, "filter[status]=canceled": {canceled},
			"filter[status]=RUNNING": {running}, "filter[status]=PENDING": {},
			"filter[trigger]=RERUN": {rerun}, "filter[trigger]=SCHEDULE": {scheduled}, "filter[trigger]=MANUAL": {running, canceled, failed, succeeded.data().ID},
			"filter[trigger]=RERUN&filter[status]=FAILED&filter[job]=bad": {rerun}, "filter[trigger]=RERUN&filter[job]=good": {},
			"filter[created_at]=[" + from + "," + after + ")": {succeeded.data().ID}, "filter[created_at]=[*," + from + ")": {},
			"filter[created_at]=[" + after + ",*)": {scheduled, running, canceled, rerun, failed},
		} {
			t.Run(query, func(t *testing.T) {
				if difference := cmp.Diff(want, owner.in(t).get(runsPath+"?"+query, offContract).want(200).ids()); difference != "" {
					t.Errorf("want (-), got (+):\n%s", difference)
				}
			})
		}
	})
}

func TestRuns_PagesOfLargeBodies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob("large", sendingTo(nowhere, attributes{"body": strings.Repeat("x", 1<<20)}))
	var want []string
	for range 12 {
		want = append([]string{owner.run(path)}, want...)
	}
	eventually(t, patience, "all runs have ended", func() bool { // by lists that are empty then: each run has a large body
		return len(owner.get(runsPath+"?filter[status]=PENDING").ids()) == 0 && len(owner.get(runsPath+"?filter[status]=RUNNING").ids()) == 0
	})
	var walked []string
	pages := 0
	for at := runsPath + "?page[size]=1000"; at != ""; pages++ {
		got := owner.get(at).want(200).page()
		for _, run := range got.Data {
			walked = append(walked, run.ID)
		}
		if at = ""; got.Links.Next != nil {
			next, err := url.Parse(*got.Links.Next)
			if err != nil {
				t.Fatal(err)
			}
			at = next.RequestURI()
		}
	}
	if difference := cmp.Diff(want, walked); difference != "" || pages < 2 {
		t.Errorf("%d pages, want (-), got (+):\n%s", pages, difference)
	}
}

func TestRuns_ReadableAtOnce(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeJob("job", nil)
		for i := range 20 {
			run := owner.run(path)
			owner.get(runsPath + "/" + run).want(200)
			if ids := owner.get(runsPath + "?page[size]=1").ids(); len(ids) != 1 || ids[0] != run {
				t.Fatalf("the %dth run is not the first of the list", i+1)
			}
		}
	})
}
