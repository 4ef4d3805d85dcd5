package jobs

import (
	"strings"
	"testing"
	"time"
)

func TestTimetable_ClockChange(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		schedule, zone, now string
		at                  string
		shift               int
		local               string
	}{
		"a local time that is left out": {"30 2 * * *", "Europe/Berlin", "2026-03-01T00:00:00Z", "2026-03-29T01:00:00Z", 3600,
			"03-27T02:30+01:00 03-28T02:30+01:00 03-29T03:00+02:00 03-30T02:30+02:00 03-31T02:30+02:00"},
		"a local time that comes twice": {"30 2 * * *", "Europe/Berlin", "2026-10-24T12:00:00Z", "2026-10-25T01:00:00Z", -3600,
			"10-25T02:30+02:00 10-26T02:30+01:00 10-27T02:30+01:00 10-28T02:30+01:00"},
		"elapsed time": {"*/30 * * * *", "Australia/Lord_Howe", "2026-03-30T00:00:00Z", "2026-04-04T15:00:00Z", -1800,
			"04-05T01:00+11:00 04-05T01:30+11:00 04-05T01:30+10:30 04-05T02:00+10:30 04-05T02:30+10:30"},
		"a clock that stays": {"30 2 * * *", "Asia/Tokyo", "2026-03-01T00:00:00Z", "", 0, ""},
		"UTC":                {"30 2 * * *", "UTC", "2026-03-01T00:00:00Z", "", 0, ""},
		"one instant":        {"now", "Europe/Berlin", "2026-03-01T00:00:00Z", "", 0, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			zone := (*Zones)(nil).Load(&c.zone)
			times, broken := readSchedule(c.schedule, nil, zone)
			if broken != "" {
				t.Fatal(broken)
			}
			change := times.clockChange(at(t, c.now), zone)
			if c.at == "" {
				if change != nil {
					t.Fatalf("got %+v", change)
				}
				return
			}
			if change == nil || !change.At.Equal(at(t, c.at)) || change.Shift != c.shift {
				t.Fatalf("got %+v", change)
			}
			if got := shortly(change.Local); got != c.local || len(change.Around) != len(change.Local) {
				t.Errorf("got  %s\nwant %s", got, c.local)
			}
		})
	}
}

func shortly(instants []time.Time) string {
	words := make([]string, len(instants))
	for i, each := range instants {
		words[i] = each.Format("01-02T15:04Z07:00")
	}
	return strings.Join(words, " ")
}
