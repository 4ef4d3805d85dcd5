package jobs

import (
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
)

// TestHealth_Table checks the table of the package documentation.
func TestHealth_Table(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	alerts := Alerts{AfterFailures: 2, RecoverAfter: 2}
	for name, c := range map[string]struct {
		from    HealthState
		steps   string // s for a success, f for a failure
		want    HealthState
		actions string // of the steps: F failing, R recovered, - none
	}{
		"new, one failure":            {HealthNew, "f", HealthNew, "-"},
		"new, two failures":           {HealthNew, "ff", HealthFailing, "-F"},
		"new, success":                {HealthNew, "s", HealthOK, "-"},
		"ok, failures with a success": {HealthOK, "fsf", HealthOK, "---"},
		"ok, many failures":           {HealthOK, "ffff", HealthFailing, "-F--"},
		"failing, one success":        {HealthFailing, "s", HealthFailing, "-"},
		"failing, interrupted":        {HealthFailing, "sfs", HealthFailing, "---"},
		"failing, two successes":      {HealthFailing, "ss", HealthOK, "-R"},
		"failing, and again":          {HealthFailing, "ssff", HealthFailing, "-R-F"},
		"late, failures":              {HealthLate, "fff", HealthLate, "---"},
		"late, success":               {HealthLate, "s", HealthOK, "R"},
		"paused stays paused":         {HealthPaused, "ffss", HealthPaused, "----"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			health, actions := Health{State: c.from, Since: at}, ""
			for i, step := range c.steps {
				var action changes.Action
				now := at.Add(time.Duration(i+1) * time.Minute)
				if step == 's' {
					health, action = health.succeed(now, now, alerts)
				} else {
					health, action = health.fail(now, alerts)
				}
				actions += map[changes.Action]string{"": "-", Failing: "F", Recovered: "R"}[action]
			}
			if health.State != c.want || actions != c.actions {
				t.Errorf("it is %s after %s", health.State, actions)
			}
		})
	}
}

func TestHealth_LateEndsWithItsInstant(t *testing.T) {
	t.Parallel()
	instant := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	late := Health{State: HealthLate, LateFor: &instant}
	if after, action := late.succeed(instant.Add(-time.Second), instant.Add(time.Hour), DefaultAlerts()); after.State != HealthLate || action != "" {
		t.Errorf("an earlier instant: %s, %s", after.State, action)
	}
	if after, action := late.succeed(instant, instant.Add(time.Hour), DefaultAlerts()); after.State != HealthOK || action != Recovered || after.LateFor != nil {
		t.Errorf("the instant: %+v, %s", after, action)
	}
}

func TestHealth_PauseAndResume(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	paused := Health{State: HealthFailing, Failures: 3, LastSuccessAt: &at}.Pause(at)
	if paused.State != HealthPaused || paused.Failures != 3 || !paused.Since.Equal(at) {
		t.Errorf("paused: %+v", paused)
	}
	resumed := paused.Resume(at.Add(time.Hour))
	if resumed.State != HealthNew || resumed.Failures != 0 || resumed.LastSuccessAt == nil || !resumed.Since.Equal(at.Add(time.Hour)) {
		t.Errorf("resumed: %+v", resumed)
	}
}

func TestWatched_CheckLate(t *testing.T) {
	t.Parallel()
	now := time.Date(2030, 1, 1, 12, 0, 0, 0, time.UTC)
	ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	for name, c := range map[string]struct {
		watched Watched
		late    bool
		again   *time.Time
	}{
		"no alerts":           {Watched{NextRunAt: ago(time.Hour), Health: Health{State: HealthOK}}, false, nil},
		"no limits":           {Watched{NextRunAt: ago(time.Hour), Alerts: &Alerts{}, Health: Health{State: HealthOK}}, false, nil},
		"not fired":           {Watched{NextRunAt: ago(time.Hour), Alerts: &Alerts{LateAfter: new(60)}, Health: Health{State: HealthOK}}, true, nil},
		"in time":             {Watched{NextRunAt: ago(-time.Hour), Alerts: &Alerts{LateAfter: new(60)}, Health: Health{State: HealthOK}}, false, ago(-time.Hour - time.Minute)},
		"pending":             {Watched{NextRunAt: ago(-time.Hour), Unstarted: ago(2 * time.Minute), Alerts: &Alerts{LateAfter: new(60)}, Health: Health{State: HealthNew}}, true, nil},
		"failing already":     {Watched{NextRunAt: ago(time.Hour), Alerts: &Alerts{LateAfter: new(60)}, Health: Health{State: HealthFailing}}, false, nil},
		"no success":          {Watched{Enabled: true, Alerts: &Alerts{NoSuccessFor: new(60)}, Health: Health{State: HealthOK, Since: *ago(time.Hour), LastSuccessAt: ago(time.Minute)}}, true, nil},
		"a success":           {Watched{Enabled: true, Alerts: &Alerts{NoSuccessFor: new(60)}, Health: Health{State: HealthOK, Since: *ago(time.Hour), LastSuccessAt: ago(time.Second)}}, false, ago(-59 * time.Second)},
		"a one-off is over":   {Watched{Alerts: &Alerts{NoSuccessFor: new(60)}, Health: Health{State: HealthOK, Since: *ago(time.Hour)}}, false, nil},
		"resumed a while ago": {Watched{Enabled: true, Alerts: &Alerts{NoSuccessFor: new(60)}, Health: Health{State: HealthNew, Since: *ago(time.Second), LastSuccessAt: ago(time.Hour)}}, false, ago(-59 * time.Second)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			after, again, event := c.watched.CheckLate(now)
			if (after.State == HealthLate) != c.late || (event != nil) != c.late || !equalTimes(again, c.again) {
				t.Errorf("it is %s, checked again at %v, %+v", after.State, again, event)
			}
		})
	}
}

func equalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Equal(*b)
}
