package api_test

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"
)

// preview asks when a schedule fires.
func (c client) preview(schedule, more string) answer {
	c.t.Helper()
	return c.get(previewPath + "?schedule=" + url.QueryEscape(schedule) + more)
}

// instants returns the instants of a preview.
func (a answer) instants() []time.Time {
	a.t.Helper()
	var document struct {
		Data struct{ Attributes struct{ Next []time.Time } }
	}
	a.want(200).decode(&document)
	return document.Data.Attributes.Next
}

func TestPreview_Kinds(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	before := time.Now()
	cron := owner.preview(" 30 2 * * * ", "")
	if cron.data().ID != "30 2 * * *" || cron.attribute("kind") != "cron" || len(cron.instants()) != 5 {
		t.Errorf("got %s", cron.body)
	}
	for i, at := range cron.instants() {
		want := cron.instants()[0].AddDate(0, 0, i)
		if at.Format("15:04:05") != "02:30:00" || !at.Equal(want) || !at.After(before) {
			t.Errorf("instant %d is %s", i, at)
		}
	}
	one := owner.preview("2130-01-31T10:00:00+02:00", "&count=100")
	if one.attribute("kind") != "datetime" || !one.contains(`"next":["2130-01-31T08:00:00Z"]`) {
		t.Errorf("got %s", one.body)
	}
	now := owner.preview("NOW", "")
	if at := now.instants(); now.attribute("kind") != "now" || len(at) != 1 || at[0].Before(before.Truncate(time.Microsecond)) || at[0].After(time.Now()) {
		t.Errorf("got %s", now.body)
	}
}

func TestPreview_Count(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, count := range []int{1, 2, 100} {
		t.Run(fmt.Sprint(count), func(t *testing.T) {
			if got := owner.in(t).preview("*/5 * * * *", "&count="+strconv.Itoa(count)).instants(); len(got) != count {
				t.Errorf("%d instants, want %d", len(got), count)
			}
		})
	}
	for _, count := range []string{"0", "101", "-1", "x", "", "1.5"} {
		t.Run(fmt.Sprintf("%q", count), func(t *testing.T) {
			owner.in(t).preview("* * * * *", "&count="+count).refused(400, wrongParameter("count"))
		})
	}
}

// TestPreview_RefusesWhatAJobMayNotHave: the sentence is the same for both.
func TestPreview_RefusesWhatAJobMayNotHave(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, schedule := range []string{"", " ", "later", "* * * *", "61 * * * *", "0 0 30 2 *", "@daily", "@reboot", "2030-01-01", "2030-06-31T00:00:00Z"} {
		t.Run(fmt.Sprintf("%q", schedule), func(t *testing.T) {
			owner := owner.in(t)
			got := owner.preview(schedule, "")
			got.refused(400, wrongParameter("schedule"))
			if job := owner.post(jobsPath, envelope("job", "job", job(attributes{"schedule": schedule}))); detail(job) != detail(got) {
				t.Errorf("%q: a job is refused with %s, a preview with %s", schedule, job.body, got.body)
			}
		})
	}
	passed := owner.preview("2020-01-01T00:00:00Z", "")
	passed.refused(400, wrongParameter("schedule"))
	owner.get(previewPath).refused(400, wrongParameter("schedule"))
	if daily := owner.preview("@daily", ""); !strings.Contains(detail(daily), "write 0 0 * * * instead of @daily") {
		t.Errorf("got %s", daily.body)
	}
}

// detail returns the sentence of the only refusal.
func detail(a answer) string {
	a.t.Helper()
	var document struct{ Errors []refusal }
	a.want(400).decode(&document)
	return document.Errors[0].Detail
}
