package api_test

import (
	"net/http"
	"testing"
)

func TestJob_Policies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob(unique("job"), attributes{"overlap": "skip", "retry": attributes{"max_attempts": 3, "on": []string{"WORKER_LOST", "TIMEOUT"}},
		"alerts": attributes{"after_failures": 2, "late_after_seconds": 30}})
	got := owner.get(path).want(200)
	for _, part := range []string{`"overlap":"skip"`,
		`"retry":{"max_attempts":3,"delay_seconds":60,"backoff":"exponential","max_delay_seconds":3600,"on":["TIMEOUT","WORKER_LOST"],"statuses":["408","429","5xx"]}`,
		`"alerts":{"after_failures":2,"recover_after":1,"late_after_seconds":30,"no_success_for_seconds":null,"remind_every_seconds":null}`,
		`"health":{"state":"new",`} {
		if !got.contains(part) {
			t.Errorf("%s is not in %s", part, got.body)
		}
	}
	owner.put(path, envelope("job", "", job(attributes{"alerts": nil}))).want(200)
	if got := owner.get(path).want(200); !got.contains(`"alerts":null`) || !got.contains(`"retry":null`) || !got.contains(`"overlap":"allow"`) {
		t.Errorf("got %s", got.body)
	}
	owner.put(path, envelope("job", "", job(attributes{"enabled": false}))).want(200)
	if got := owner.get(path).want(200); !got.contains(`"state":"paused"`) || !got.contains(`"after_failures":1`) {
		t.Errorf("paused: %s", got.body)
	}
	if got := owner.get(jobsPath + "?filter[health]=paused").want(200).page().Data; len(got) != 1 {
		t.Errorf("%d jobs are paused", len(got))
	}
	owner.get(jobsPath + "?filter[health]=well").want(400)
	owner.put(path, envelope("job", "", job(nil))).want(200)
	if got := owner.get(path).want(200); !got.contains(`"state":"new"`) {
		t.Errorf("resumed: %s", got.body)
	}
}

func TestJob_InvalidPolicies(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		sent   attributes
		member string
	}{
		"overlap":          {attributes{"overlap": "never"}, "overlap"},
		"no attempts":      {attributes{"retry": attributes{}}, "retry/max_attempts"},
		"one attempt":      {attributes{"retry": attributes{"max_attempts": 1}}, "retry/max_attempts"},
		"many attempts":    {attributes{"retry": attributes{"max_attempts": 11}}, "retry/max_attempts"},
		"half an attempt":  {attributes{"retry": attributes{"max_attempts": 2.5}}, "retry/max_attempts"},
		"no delay":         {attributes{"retry": attributes{"max_attempts": 2, "delay_seconds": 0}}, "retry/delay_seconds"},
		"a long delay":     {attributes{"retry": attributes{"max_attempts": 2, "max_delay_seconds": 86401}}, "retry/max_delay_seconds"},
		"delays cross":     {attributes{"retry": attributes{"max_attempts": 2, "delay_seconds": 9, "max_delay_seconds": 8}}, "retry/max_delay_seconds"},
		"backoff":          {attributes{"retry": attributes{"max_attempts": 2, "backoff": "linear"}}, "retry/backoff"},
		"reason":           {attributes{"retry": attributes{"max_attempts": 2, "on": []string{"SSRF_BLOCKED"}}}, "retry/on/0"},
		"no reason":        {attributes{"retry": attributes{"max_attempts": 2, "on": []string{}}}, "retry/on"},
		"status":           {attributes{"retry": attributes{"max_attempts": 2, "statuses": []string{"9xx"}}}, "retry/statuses/0"},
		"unknown":          {attributes{"retry": attributes{"max_attempts": 2, "tries": 1}}, "retry/tries"},
		"no failures":      {attributes{"alerts": attributes{"after_failures": 0}}, "alerts/after_failures"},
		"late at once":     {attributes{"alerts": attributes{"late_after_seconds": 9}}, "alerts/late_after_seconds"},
		"success at once":  {attributes{"alerts": attributes{"no_success_for_seconds": 59}}, "alerts/no_success_for_seconds"},
		"reminded always":  {attributes{"alerts": attributes{"remind_every_seconds": 299}}, "alerts/remind_every_seconds"},
		"alerts as a text": {attributes{"alerts": "all"}, "alerts"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := owner.in(t).post(jobsPath, envelope("job", unique("job"), job(c.sent))).want(400); !got.contains(`"/data/attributes/` + c.member + `"`) {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestRun_Overlap(t *testing.T) {
	t.Parallel()
	owner, sink := newOwner(t, "pro"), newSink(t)
	for overlap, second := range map[string]int{"skip": http.StatusConflict, "wait": http.StatusOK, "allow": http.StatusOK} {
		t.Run(overlap, func(t *testing.T) {
			owner := owner.in(t)
			wanted := sendingTo(sink.hold(), nil)
			wanted["overlap"] = overlap
			path := owner.makeJob(unique("job"), wanted)
			first := owner.run(path)
			if got := owner.post(path+"/actions/run", "").want(second); second == 409 && !got.contains("already_running") {
				t.Errorf("got %s", got.body)
			}
			third := http.StatusConflict
			if overlap == "allow" {
				third = http.StatusOK
			}
			owner.post(runsPath+"/"+first+"/actions/rerun", "").want(third)
		})
	}
}
