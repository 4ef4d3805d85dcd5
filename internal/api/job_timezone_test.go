package api_test

import (
	"testing"
)

func TestJob_Timezone(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeJob(unique("job"), attributes{"schedule": "2130-07-01T08:00:00", "timezone": "Europe/Berlin"})
	got := owner.get(path).want(200)
	if got.attribute("timezone") != "Europe/Berlin" || got.attribute("next_run_at") != "2130-07-01T06:00:00Z" {
		t.Errorf("got %s", got.body)
	}
	owner.put(path, envelope("job", "", job(attributes{"schedule": "2130-07-01T08:00:00"}))).want(200)
	if got := owner.get(path).want(200); got.attribute("timezone") != nil || got.attribute("next_run_at") != "2130-07-01T08:00:00Z" {
		t.Errorf("without a zone: %s", got.body)
	}
	owner.put(path, envelope("job", "", job(attributes{"schedule": "2130-07-01T08:00:00Z", "timezone": "Asia/Tokyo"}))).want(200)
	if got := owner.get(path).want(200); got.attribute("next_run_at") != "2130-07-01T08:00:00Z" {
		t.Errorf("an offset wins: %s", got.body)
	}
	for zone, detail := range map[string]string{"Europe/Berln": "the nearest is Europe/Berlin", "Local": "IANA time zone", "9999": "IANA time zone"} {
		t.Run(zone, func(t *testing.T) {
			refused := owner.in(t).post(jobsPath, envelope("job", unique("job"), job(attributes{"timezone": zone}))).want(400)
			if !refused.contains(detail) || !refused.contains("/data/attributes/timezone") {
				t.Errorf("%s", refused.body)
			}
		})
	}
	owner.post(jobsPath, envelope("job", unique("job"), job(attributes{"schedule": "9999-12-31T23:59:59", "timezone": "Pacific/Honolulu"}))).want(400)
}

func TestPreview_Timezone(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	got := owner.preview("2130-07-01T08:00", "&timezone=Europe/Berlin").want(200)
	if !got.contains(`"next":["2130-07-01T06:00:00Z"]`) || !got.contains(`"next_local":["2130-07-01T08:00:00+02:00"]`) {
		t.Errorf("got %s", got.body)
	}
	if got := owner.preview("2130-07-01T08:00", "").want(200); !got.contains(`"next_local":["2130-07-01T08:00:00Z"]`) {
		t.Errorf("in UTC: %s", got.body)
	}
	if got := owner.preview("30 2 * * *", "&timezone=Europe/Berlin").want(200); !got.contains(`"clock_change":{"at":"`) || !got.contains(`"around_local":["`) {
		t.Errorf("without the change of the clock: %s", got.body)
	}
	if got := owner.preview("0 8 * * *", "&timezone=Asia/Tokyo").want(200); !got.contains(`"clock_change":null`) {
		t.Errorf("a clock that stays: %s", got.body)
	}
	if got := owner.preview("0 8 * * *", "&timezone=").want(400); !got.contains("IANA time zone") || got.contains("nearest") {
		t.Errorf("an empty zone: %s", got.body)
	}
	if got := owner.preview("0 8 * * *", "&timezone=Europe/Berln").want(400); !got.contains("the nearest is Europe/Berlin.") {
		t.Errorf("got %s", got.body)
	}
}
