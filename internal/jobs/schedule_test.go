package jobs

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

func TestDue_Fire(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ schedule, due, now, wantFor, wantNext string }{
		"in time":                      {"*/5 * * * *", "2030-01-01T00:05:00Z", "2030-01-01T00:05:00.2Z", "2030-01-01T00:05:00Z", "2030-01-01T00:10:00Z"},
		"to the microsecond":           {"* * * * *", "2030-01-01T00:05:00Z", "2030-01-01T00:05:00Z", "2030-01-01T00:05:00Z", "2030-01-01T00:06:00Z"},
		"a little late":                {"* * * * *", "2030-01-01T00:05:00Z", "2030-01-01T00:05:59.999999Z", "2030-01-01T00:05:00Z", "2030-01-01T00:06:00Z"},
		"when the next is due as well": {"* * * * *", "2030-01-01T00:05:00Z", "2030-01-01T00:06:00Z", "2030-01-01T00:06:00Z", "2030-01-01T00:07:00Z"},
		"after a night":                {"*/10 * * * *", "2030-01-01T20:00:00Z", "2030-01-02T07:34:56Z", "2030-01-02T07:30:00Z", "2030-01-02T07:40:00Z"},
		"after years":                  {"0 0 29 2 *", "2028-02-29T00:00:00Z", "2041-06-01T00:00:00Z", "2040-02-29T00:00:00Z", "2044-02-29T00:00:00Z"},
		"after a clock that went back": {"0 * * * *", "2030-01-01T05:00:00Z", "2030-01-01T03:30:00Z", "2030-01-01T05:00:00Z", "2030-01-01T06:00:00Z"},
		"one instant":                  {"2030-01-01T00:05:00Z", "2030-01-01T00:05:00Z", "2030-01-09T00:00:00Z", "2030-01-01T00:05:00Z", ""},
		"now":                          {"Now", "2030-01-01T00:05:00.123456Z", "2030-01-01T00:05:01Z", "2030-01-01T00:05:00.123456Z", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			due := Due{Schedule: c.schedule, ScheduledAt: at(t, c.due)}
			due.Key = "job"
			firing := due.Fire(at(t, c.now), nil)
			if !firing.ScheduledFor.Equal(at(t, c.wantFor)) || firing.Key != "job" {
				t.Errorf("it fires for %s, want %s", firing.ScheduledFor, c.wantFor)
			}
			if (firing.Next == nil) != (c.wantNext == "") || firing.Next != nil && !firing.Next.Equal(at(t, c.wantNext)) {
				t.Errorf("it fires next at %v, want %q", firing.Next, c.wantNext)
			}
		})
	}
}

// However late it is, a job fires for an instant that is due, and next for one
// that is not, with none of its instants between.
func TestDue_FireLeavesNothingDue(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schedule := rapid.SampledFrom([]string{"* * * * *", "*/7 * * * *", "5 4 * * 1-5", "0 0 1 * *", "30 2 29 2 *"}).Draw(t, "schedule")
		times, err := readTimetable(schedule, nil, time.UTC)
		if err != nil {
			t.Fatal(err)
		}
		began := time.Unix(rapid.Int64Range(1_700_000_000, 2_000_000_000).Draw(t, "began"), 0).UTC()
		due := times.first(began)
		now := due.Add(time.Duration(rapid.Int64Range(0, int64(400*24*time.Hour)).Draw(t, "late")))
		firing := Due{Schedule: schedule, ScheduledAt: due}.Fire(now, nil)
		if firing.ScheduledFor.Before(due) || firing.ScheduledFor.After(now) || firing.Next == nil || !firing.Next.After(now) {
			t.Fatalf("due at %s, at %s it fires for %s and then at %v", due, now, firing.ScheduledFor, firing.Next)
		}
		if between, _ := times.cron.Next(firing.ScheduledFor); !between.Equal(*firing.Next) {
			t.Fatalf("%s is left out between %s and %s", between, firing.ScheduledFor, *firing.Next)
		}
	})
}

func TestFiring_Run(t *testing.T) {
	t.Parallel()
	now := at(t, "2030-01-01T00:05:01Z")
	due := Due{Schedule: "* * * * *", ScheduledAt: at(t, "2030-01-01T00:05:00Z")}
	due.Account, due.UID, due.Key, due.Lane = "a", "u", "k", "a:h"
	firing := due.Fire(now, nil)
	run := firing.Run(now)
	if run.Account != "a" || run.JobUID != "u" || run.JobKey != "k" || run.Lane != "a:h" || run.Trigger != OnSchedule || run.Status != Pending ||
		!run.CreatedAt.Equal(now) || run.ScheduledFor == nil || !run.ScheduledFor.Equal(firing.ScheduledFor) || run.ID == "" {
		t.Errorf("got %+v", run)
	}
}

func TestPeriod(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2030-01-31T23:59:59.999999Z": "2030-01", "2030-02-01T00:00:00Z": "2030-02", "2030-02-01T00:30:00+01:00": "2030-01",
	} {
		t.Run(text, func(t *testing.T) {
			if got := Period(at(t, text)); got != want {
				t.Errorf("%s is metered in %s, want %s", text, got, want)
			}
		})
	}
}
