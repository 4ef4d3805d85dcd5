package jobs

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/jobs/cron"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

// right returns a draft that breaks no rule, changed by a test.
func right(change func(*Draft, *ConfigurationDraft)) *Draft {
	draft := &Draft{Key: optional.Of("job"), Name: optional.Of("Job"), Schedule: optional.Of("* * * * *")}
	configuration := ConfigurationDraft{URL: optional.Of("http://example.com/")}
	change(draft, &configuration)
	draft.Configuration = optional.Of(configuration)
	return draft
}

// places returns the pointers of the problems of a draft.
func places(draft *Draft) []string {
	naming.CheckID(&draft.Problems, draft.Key, naming.MaxKey, "job")
	draft.validate(draft.Key.Or(""))
	var found []string
	switch err := draft.Problems.Err().(type) { //nolint:errorlint // the two types of Problems.Err
	case *fault.Error:
		found = append(found, err.Source.Path)
	case fault.Errors:
		for _, each := range err {
			found = append(found, each.Source.Path)
		}
	}
	return found
}

// header returns a header as the first of an array.
func header(name, value string) []HeaderDraft {
	return []HeaderDraft{{Header{name, value}, "headers/0/name", "headers/0/value"}}
}

// Each rule is checked on both sides of its boundary.
func TestDraft_Boundaries(t *testing.T) {
	t.Parallel()
	text := strings.Repeat
	for name, c := range map[string]struct {
		inside, outside func(*Draft, *ConfigurationDraft)
		at              string
	}{
		"key": {func(d *Draft, _ *ConfigurationDraft) { d.Key = optional.Of("0" + text("._-", 66) + "x") },
			func(d *Draft, _ *ConfigurationDraft) { d.Key = optional.Of("0" + text("x", 200)) }, "/data/id"},
		"name": {func(d *Draft, _ *ConfigurationDraft) { d.Name = optional.Of(text("é", 200)) },
			func(d *Draft, _ *ConfigurationDraft) { d.Name = optional.Of(text("é", 201)) }, "name"},
		"no name": {func(d *Draft, _ *ConfigurationDraft) { d.Name = optional.Of("x") },
			func(d *Draft, _ *ConfigurationDraft) { d.Name = optional.Null[string]() }, "name"},
		"description": {func(d *Draft, _ *ConfigurationDraft) { d.Description = optional.Of(text("é", 2000)) },
			func(d *Draft, _ *ConfigurationDraft) { d.Description = optional.Of(text("é", 2001)) }, "description"},
		"schedule": {func(d *Draft, _ *ConfigurationDraft) { d.Schedule = optional.Of(" nOw ") },
			func(d *Draft, _ *ConfigurationDraft) { d.Schedule = optional.Of("now!") }, "schedule"},
		"url": {func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://h/" + text("é", 2039)) },
			func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://h/" + text("é", 2040)) }, "configuration/url"},
		"host": {func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://" + text("é", 253)) },
			func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://" + text("é", 254)) }, "configuration/url"},
		"port": {func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://h:65535") },
			func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of("http://h:65536") }, "configuration/url"},
		"body": {func(_ *Draft, c *ConfigurationDraft) { c.Body = optional.Of(text("é", 1<<19)) },
			func(_ *Draft, c *ConfigurationDraft) { c.Body = optional.Of(text("é", 1<<19) + "x") }, "configuration/body"},
		"timeout": {func(_ *Draft, c *ConfigurationDraft) { c.Timeout = optional.Of(1.0) },
			func(_ *Draft, c *ConfigurationDraft) { c.Timeout = optional.Of(0.999) }, "configuration/timeout"},
		"whole timeout": {func(_ *Draft, c *ConfigurationDraft) { c.Timeout = optional.Of(2.0) },
			func(_ *Draft, c *ConfigurationDraft) { c.Timeout = optional.Of(2.5) }, "configuration/timeout"},
		"status": {func(_ *Draft, c *ConfigurationDraft) { c.SuccessStatus = optional.Of("599") },
			func(_ *Draft, c *ConfigurationDraft) { c.SuccessStatus = optional.Of("600") }, "configuration/success_status"},
		"lowest status": {func(_ *Draft, c *ConfigurationDraft) { c.SuccessStatus = optional.Of("100") },
			func(_ *Draft, c *ConfigurationDraft) { c.SuccessStatus = optional.Of("099") }, "configuration/success_status"},
		"header name": {func(_ *Draft, c *ConfigurationDraft) { c.Headers = header(text("x", 200), "") },
			func(_ *Draft, c *ConfigurationDraft) { c.Headers = header(text("x", 201), "") }, "configuration/headers/0/name"},
		"header value": {func(_ *Draft, c *ConfigurationDraft) { c.Headers = header("X", text("é", 8192)) },
			func(_ *Draft, c *ConfigurationDraft) { c.Headers = header("X", text("é", 8193)) }, "configuration/headers/0/value"},
		"characters of values": {func(_ *Draft, c *ConfigurationDraft) { c.Headers = header("X", "\t ~é") },
			func(_ *Draft, c *ConfigurationDraft) { c.Headers = header("X", "\x1f") }, "configuration/headers/0/value"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if found := places(right(c.inside)); len(found) != 0 {
				t.Errorf("what is allowed is refused at %v", found)
			}
			if found := places(right(c.outside)); len(found) != 1 || found[0] != c.at {
				t.Errorf("what is not allowed is refused at %v, want %s", found, c.at)
			}
		})
	}
}

func TestDraft_InstantInThePast(t *testing.T) {
	t.Parallel()
	now := at(t, "2030-01-01T00:01:00Z")
	for name, c := range map[string]struct {
		instant string
		enabled bool
		refused bool
	}{
		"a minute late":              {"2030-01-01T00:00:00Z", true, false},
		"a microsecond more":         {"2029-12-31T23:59:59.999999Z", true, true},
		"a microsecond more, paused": {"2029-12-31T23:59:59.999999Z", false, false},
		"ahead":                      {"2099-01-01T00:00:00Z", true, false},
	} {
		t.Run(name, func(t *testing.T) {
			draft := &Draft{}
			instant := at(t, c.instant)
			draft.checkTime(timetable{instant: &instant}, c.enabled, now)
			if refused := draft.Problems.Err() != nil; refused != c.refused {
				t.Errorf("refused is %t", refused)
			}
		})
	}
	for name, times := range map[string]timetable{"now": {}, "recurring": {cron: &cron.Zoned{}}} {
		t.Run(name, func(t *testing.T) {
			draft := &Draft{}
			if draft.checkTime(times, true, now); draft.Problems.Err() != nil {
				t.Errorf("a schedule without an instant is late: %v", draft.Problems.Err())
			}
		})
	}
}

func TestTimetable_First(t *testing.T) {
	t.Parallel()
	now := at(t, "2030-01-01T00:01:00Z")
	for schedule, want := range map[string]string{
		"now": "2030-01-01T00:01:00Z", "* * * * *": "2030-01-01T00:02:00Z", "1 0 1 1 *": "2031-01-01T00:01:00Z",
		"2029-12-31T00:00:00Z": "2029-12-31T00:00:00Z",
	} {
		t.Run(schedule, func(t *testing.T) {
			var instant *Instant
			if parsed, err := time.Parse(time.RFC3339, schedule); err == nil {
				instant = &Instant{At: parsed}
			}
			times, readErr := readTimetable(schedule, instant, time.UTC)
			if first := times.first(now); readErr != nil || !first.Equal(at(t, want)) {
				t.Errorf("%s fires first at %s, want %s (%v)", schedule, first, want, readErr)
			}
		})
	}
}

// What looks like a date is not explained as a cron expression.
func TestTimetable_InvalidDates(t *testing.T) {
	t.Parallel()
	for schedule, want := range map[string]string{
		"2030-01-31": "the time is missing", "20300131": "the time is missing", "2030-01-31 08:00": "the time is missing", "2030-01-31T": "minutes are missing",
		"2030-02-30T00:00:00Z": "no such date or time", "2030-01-01T25:00Z": "no such date or time", "2030-01-01T00:00:00+1:00": "no such date or time",
		"2030": "field", "2030 01 31 * *": "2030",
	} {
		t.Run(schedule, func(t *testing.T) {
			if _, err := readTimetable(schedule, nil, time.UTC); err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("got %v, want %q", err, want)
			}
		})
	}
	if times, err := readTimetable("0001-01-01T00:00:00Z", &Instant{}, time.UTC); err != nil || !times.first(time.Now()).IsZero() {
		t.Errorf("the first moment there is fires at %s, %v", times.first(time.Now()), err)
	}
}

func TestCheckURL(t *testing.T) {
	t.Parallel()
	const malformed, scheme, port = "such as https://", "starts with http:// or https://", "must have a port from 1 to 65535"
	for url, want := range map[string]string{
		"":                          "is required",
		"http://example.com/a b":    "without spaces",
		"http://example.com/\x7f":   "without spaces",
		"http://example.com/%zz":    malformed,
		"http://u:%zz@example.com":  malformed,
		"http://[::1":               malformed,
		"http://::1/":               malformed,
		"http://::1]:80/":           malformed,
		"http://u:p@[::1/x?y#z":     malformed,
		"http://example.com:abc/":   malformed,
		"http://example.com:80x":    malformed,
		"http://u<:p@example.com/":  malformed,
		"http://exa<mple.com/":      "can be looked up",
		"http://example.com:65536":  port,
		"http://example.com:0":      port,
		"http:example.com":          scheme,
		"http:///path":              "must name a host",
		"://example.com":            scheme,
		":example":                  scheme,
		"example.com":               scheme,
		"ftp://example.com":         scheme,
		"http://[::1]:80/%20?a=%7":  "",
		"http://u:p%40@example.com": "",
	} {
		t.Run(fmt.Sprintf("%q", url), func(t *testing.T) {
			if got := hosts.URLRule(url); !strings.Contains(got, want) || (want == "") != (got == "") {
				t.Errorf("%q: got %q, want %q", url, got, want)
			}
		})
	}
	many := right(func(_ *Draft, c *ConfigurationDraft) { c.Headers = make([]HeaderDraft, maxHeaders+1) })
	many.validate("job")
	if refusals := fault.All(many.Problems.Err()); len(refusals) != 1 || refusals[0].Detail != "configuration/headers must have at most 100 entries." {
		t.Errorf("got %v", refusals)
	}
}
