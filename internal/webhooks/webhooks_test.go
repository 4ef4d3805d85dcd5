package webhooks

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
)

func noon() time.Time { return time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC) }

func TestOutcome_Judge(t *testing.T) {
	t.Parallel()
	now := noon()
	since := func(ago time.Duration) *time.Time { return new(now.Add(-ago)) }
	for name, test := range map[string]struct {
		outcome  Outcome
		random   float64
		want     DeliveryStatus
		after    time.Duration
		disables bool
	}{
		"success":                  {Outcome{Attempt: 1, Status: 204}, 0.5, Delivered, 0, false},
		"success after five days":  {Outcome{Attempt: 8, Status: 200, FailingSince: since(200 * time.Hour)}, 0.5, Delivered, 0, false},
		"no answer":                {Outcome{Attempt: 1}, 0.5, Waiting, 5 * time.Second, false},
		"redirect":                 {Outcome{Attempt: 1, Status: 302}, 0.5, Waiting, 5 * time.Second, false},
		"least jitter":             {Outcome{Attempt: 2, Status: 500}, 0, Waiting, 270 * time.Second, false},
		"most jitter":              {Outcome{Attempt: 2, Status: 500}, 1, Waiting, 330 * time.Second, false},
		"third":                    {Outcome{Attempt: 3, Status: 500}, 0.5, Waiting, 30 * time.Minute, false},
		"seventh":                  {Outcome{Attempt: 7, Status: 500}, 0.5, Waiting, 10 * time.Hour, false},
		"eighth":                   {Outcome{Attempt: 8, Status: 500}, 0.5, Failed, 0, false},
		"gone":                     {Outcome{Attempt: 1, Status: 410}, 0.5, Failed, 0, true},
		"busy":                     {Outcome{Attempt: 1, Status: 429, RetryAfter: "90"}, 0.5, Waiting, 90 * time.Second, false},
		"down for long":            {Outcome{Attempt: 1, Status: 503, RetryAfter: "999999999"}, 0.5, Waiting, 24 * time.Hour, false},
		"retry sooner than ours":   {Outcome{Attempt: 2, Status: 503, RetryAfter: "1"}, 0.5, Waiting, 5 * time.Minute, false},
		"retry of another status":  {Outcome{Attempt: 1, Status: 500, RetryAfter: "90"}, 0.5, Waiting, 5 * time.Second, false},
		"nearly five days":         {Outcome{Attempt: 1, Status: 500, FailingSince: since(119 * time.Hour)}, 0.5, Waiting, 5 * time.Second, false},
		"five days of failures":    {Outcome{Attempt: 1, Status: 500, FailingSince: since(120 * time.Hour)}, 0.5, Failed, 0, true},
		"date in Retry-After":      {Outcome{Attempt: 1, Status: 429, RetryAfter: "Fri, 01 May 2026 12:02:00 GMT"}, 0.5, Waiting, 2 * time.Minute, false},
		"nonsense in Retry-After":  {Outcome{Attempt: 1, Status: 429, RetryAfter: "soon"}, 0.5, Waiting, 5 * time.Second, false},
		"success with Retry-After": {Outcome{Attempt: 1, Status: 200, RetryAfter: "90"}, 0.5, Delivered, 0, false},
	} {
		t.Run(name, func(t *testing.T) {
			test.outcome.At = now
			got := test.outcome.Judge(test.random)
			after := time.Duration(0)
			if !got.Next.IsZero() {
				after = got.Next.Sub(now)
			}
			if got.Status != test.want || after != test.after || (got.Disable != "") != test.disables {
				t.Errorf("%+v, %s later", got, after)
			}
		})
	}
}

func TestAnswer(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct{ body, want string }{
		"text":         {"thanks", "thanks"},
		"NUL":          {"a\x00b", "a\uFFFDb"},
		"not UTF-8":    {"a\xffb", "a\uFFFDb"},
		"many NULs":    {strings.Repeat("\x00", 5000), strings.Repeat("\uFFFD", 341)},
		"a whole rune": {strings.Repeat("x", 1023) + "é", strings.Repeat("x", 1023)},
	} {
		t.Run(name, func(t *testing.T) {
			if got := Answer(test.body); got == nil || *got != test.want {
				t.Errorf("got %v", got)
			}
		})
	}
	if Answer("") != nil {
		t.Error("no body is an answer")
	}
}

func TestSubscription_Match(t *testing.T) {
	t.Parallel()
	change := func(c changes.Change) Event { return ofChange(c) }
	flag := changes.Change{Kind: "flag", Key: "checkout", Action: changes.Updated, Before: json.RawMessage(`{"name":"a","environments":{"production":{"enabled":true}},"updated_at":"1"}`)}
	production, base, created := flag, flag, flag
	production.After = json.RawMessage(`{"name":"a","environments":{"production":{"enabled":false}},"updated_at":"2"}`)
	base.After = json.RawMessage(`{"name":"b","environments":{"production":{"enabled":true}}}`)
	created.Before, created.After = nil, production.After
	removed := changes.Change{Kind: "logger", Key: "a/b", Action: changes.Expired, Before: json.RawMessage(`{"environments":{"staging":{}}}`), After: json.RawMessage(`{"environments":{}}`)}
	failing := changes.Change{Kind: "job_health", Key: "nightly", Action: "failing"}
	test := Tested(Webhook{ID: "w"}, changes.System(), "1", noon())
	for name, test := range map[string]struct {
		events []string
		filter Filter
		event  Event
		want   string
	}{
		"all":                              {[]string{"*"}, Filter{}, change(failing), "job.failing"},
		"name":                             {[]string{"job.failing"}, Filter{}, change(failing), "job.failing"},
		"another name":                     {[]string{"job.late"}, Filter{}, change(failing), ""},
		"prefix":                           {[]string{"job.*"}, Filter{}, change(failing), "job.failing"},
		"another prefix":                   {[]string{"change.*"}, Filter{}, change(failing), ""},
		"change":                           {[]string{"change.flag"}, Filter{}, change(base), "change.flag"},
		"expired level":                    {[]string{"*"}, Filter{}, change(removed), LevelExpired},
		"expired level as a change":        {[]string{"change.*"}, Filter{}, change(removed), "change.logger"},
		"environment":                      {[]string{"*"}, Filter{Environments: []string{"production"}}, change(production), "change.flag"},
		"another environment":              {[]string{"*"}, Filter{Environments: []string{"staging"}}, change(production), ""},
		"removed from another environment": {[]string{"*"}, Filter{Environments: []string{"production"}}, change(removed), ""},
		"base value":                       {[]string{"*"}, Filter{Environments: []string{"staging"}}, change(base), "change.flag"},
		"created":                          {[]string{"*"}, Filter{Environments: []string{"staging"}}, change(created), "change.flag"},
		"no environment":                   {[]string{"*"}, Filter{Environments: []string{"staging"}}, change(failing), "job.failing"},
		"id":                               {[]string{"*"}, Filter{IDs: []string{"other", "night*"}}, change(failing), "job.failing"},
		"id as it is":                      {[]string{"*"}, Filter{IDs: []string{"nightly"}}, change(failing), "job.failing"},
		"beginning of an id":               {[]string{"*"}, Filter{IDs: []string{"night"}}, change(failing), ""},
		"another id":                       {[]string{"*"}, Filter{IDs: []string{"day*"}}, change(failing), ""},
		"id with a slash":                  {[]string{"*"}, Filter{IDs: []string{"a*"}}, change(removed), LevelExpired},
		"silent":                           {[]string{"*"}, Filter{Environments: []string{"staging"}}, Silent("a", "shop", "production", noon(), noon()), ""},
		"test":                             {[]string{"*", Test}, Filter{}, test, ""},
		"run":                              {[]string{"run.failed"}, Filter{}, FailedRun{Job: "nightly"}.Event(), RunFailed},
		"usage":                            {[]string{"usage.*"}, Filter{}, Exhausted("a", "2026-05", "", noon()), UsageExhausted},
		"reminder":                         {[]string{"job.*"}, Filter{}, Reminder("a", "nightly", "", "late", "", noon()), JobReminder},
	} {
		t.Run(name, func(t *testing.T) {
			got, matched := Subscription{Events: test.events, Filter: test.filter}.match(test.event)
			if got != test.want || matched != (test.want != "") {
				t.Errorf("%q %v, want %q", got, matched, test.want)
			}
		})
	}
}

func TestPlan(t *testing.T) {
	t.Parallel()
	reverts := int64(3)
	made := []changes.Change{
		{Account: "a", Seq: 7, Kind: "flag", Key: "f", Action: changes.Updated, CreatedAt: noon(), Before: json.RawMessage(`{"name":"x"}`), After: json.RawMessage(`{"name":"y"}`), Reverts: &reverts, Note: new("why")},
		{Account: "a", Seq: 8, Kind: "user_settings", Key: "u", Action: changes.Updated, CreatedAt: noon(), Before: json.RawMessage(`{"private":1}`), After: json.RawMessage(`{"private":2}`)},
		{Account: "a", Seq: 9, Kind: "job_health", Key: "j", Action: "failing", CreatedAt: noon(), Host: "x.test:443", After: json.RawMessage(`{"detail":"It failed.","run":"r"}`)},
	}
	subscriptions := []Subscription{{ID: "w1", Format: Standard, Events: []string{"*"}, Lane: "a:h"}, {ID: "w2", Format: Slack, Events: []string{"job.*"}, Lane: "a:s"}}
	planned := Plan(subscriptions, made, []Event{FailedRun{Account: "a", Run: "r", Job: "j", Host: "x.test:443", Reason: "TIMEOUT", Final: true, At: noon()}.Event()})
	if len(planned) != 4 {
		t.Fatalf("%d events", len(planned))
	}
	data := planned[0].Event.Data
	if *data.Cause != (Cause{"revert", "3"}) || len(data.Diff) != 1 || len(data.Summary) != 1 || data.Note != "why" || data.Seq != 7 {
		t.Errorf("%+v", data)
	}
	if private := planned[1].Event.Data; private.Diff != nil || private.Summary != nil {
		t.Errorf("settings of a person are told: %+v", private)
	}
	health := planned[2]
	if health.Event.Data.Detail != "It failed." || health.Event.Data.Run != "r" || len(health.Deliveries) != 2 {
		t.Errorf("%+v", health)
	}
	if chat := health.Deliveries[1]; chat.Group != "host x.test:443" || !chat.DueAt.Equal(noon().Add(30*time.Second)) {
		t.Errorf("%+v", chat)
	}
	if again := Plan(subscriptions, made, nil); again[2].Deliveries[0].ID != health.Deliveries[0].ID || again[2].StoredID != health.StoredID {
		t.Error("the ids are not functions of webhook and event")
	}
	if ids := []string{health.Deliveries[0].ID, health.Deliveries[1].ID, health.StoredID, planned[0].Deliveries[0].ID}; len(slices.Compact(slices.Sorted(slices.Values(ids)))) != 4 {
		t.Errorf("ids repeat: %s", ids)
	}
}

func TestPlan_LargeChangeKeepsNoDiff(t *testing.T) {
	t.Parallel()
	after := json.RawMessage(`{"name":"` + strings.Repeat("x", 1<<20) + `"}`)
	change := changes.Change{Account: "a", Seq: 1, Kind: "config", Key: "c", Action: changes.Updated, Actor: changes.System(), Before: json.RawMessage(`{"name":"y"}`), After: after}
	planned := Plan([]Subscription{{ID: "w", Format: Standard, Events: []string{"*"}, Lane: "a:h"}}, []changes.Change{change}, nil)
	stored, err := json.Marshal(planned[0].Event.Data)
	if err != nil || len(stored) > maxBody || !slices.Contains(planned[0].Event.Data.Omitted, "diff") {
		t.Errorf("%d bytes are stored, %v are omitted, %v", len(stored), planned[0].Event.Data.Omitted, err)
	}
}

func TestDraft_Problems(t *testing.T) {
	t.Parallel()
	right := func(change func(*Draft)) Draft {
		draft := Draft{Name: optional.Of("Ops"), URL: optional.Of("https://example.com/hook"), Events: optional.Of([]string{"job.*", "change.flag", "*"})}
		change(&draft)
		return draft
	}
	header := func(name, value string) []HeaderDraft {
		return []HeaderDraft{{Header{name, value}, "headers/0/name", "headers/0/value"}}
	}
	for name, test := range map[string]struct {
		change func(*Draft)
		want   string
	}{
		"right":            {func(*Draft) {}, ""},
		"no name":          {func(d *Draft) { d.Name = optional.Value[string]{} }, "name"},
		"no URL":           {func(d *Draft) { d.URL = optional.Value[string]{} }, "url"},
		"scheme":           {func(d *Draft) { d.URL = optional.Of("ftp://x") }, "url must be an absolute URL"},
		"format":           {func(d *Draft) { d.Format = optional.Of("irc") }, "format must be standard"},
		"no events":        {func(d *Draft) { d.Events = optional.Value[[]string]{} }, "events is required"},
		"unknown event":    {func(d *Draft) { d.Events = optional.Of([]string{"job.failed"}) }, "or *; the nearest is job.failing."},
		"unknown prefix":   {func(d *Draft) { d.Events = optional.Of([]string{"jobs.*"}) }, "events/0"},
		"prefix in a name": {func(d *Draft) { d.Events = optional.Of([]string{"job.fail*"}) }, "events/0"},
		"glob":             {func(d *Draft) { d.Filter = optional.Of(FilterDraft{IDs: optional.Of([]string{"[a"})}) }, "filter/ids/0"},
		"long globs": {func(d *Draft) {
			d.Filter = optional.Of(FilterDraft{IDs: optional.Of([]string{strings.Repeat("a", 250) + "*", strings.Repeat("b", 249) + "?"})})
		}, "filter/ids must have at most 500 characters in patterns"},
		"long ids": {func(d *Draft) {
			d.Filter = optional.Of(FilterDraft{IDs: optional.Of([]string{strings.Repeat("a", 250), strings.Repeat("b", 250), strings.Repeat("c", 250), "*"})})
		}, ""},
		"empty environment": {func(d *Draft) { d.Filter = optional.Of(FilterDraft{Environments: optional.Of([]string{""})}) }, "filter/environments/0"},
		"our header":        {func(d *Draft) { d.Headers = header("Webhook-Id", "x") }, "headers/0/name must not be a header that every message has"},
		"redacted":          {func(d *Draft) { d.Headers = header("X-A", "<redacted>") }, "headers/0/value"},
		"line break":        {func(d *Draft) { d.Headers = header("X-A", "a\nb") }, "headers/0/value"},
		"no routing key":    {func(d *Draft) { d.Format = optional.Of("pagerduty") }, "headers must have X-Routing-Key"},
		"routing key":       {func(d *Draft) { d.Format, d.Headers = optional.Of("pagerduty"), header("x-routing-key", "R0") }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			draft := right(test.change)
			draft.validate()
			err := draft.Problems.Err()
			if test.want == "" && err != nil || test.want != "" && (len(fault.All(err)) != 1 || !strings.Contains(err.Error(), test.want)) {
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

func TestTypes_EachCanBeSubscribedTo(t *testing.T) {
	t.Parallel()
	for _, name := range Types() {
		t.Run(name, func(t *testing.T) {
			if rule := eventRule(name); rule != "" {
				t.Errorf("%s %s", name, rule)
			}
		})
	}
}

// webhook returns a webhook of a format with a known secret.
func webhook(format Format) Webhook {
	return Webhook{ID: "w", Account: "a", URL: "https://example.com/hook", Format: format, Headers: []Header{{"X-Routing-Key", "R0"}, {"X-A", "b"}},
		Secrets: Secrets{Current: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"}}
}

func compose(t *testing.T, format Format, content Content) (Message, map[string]any) {
	t.Helper()
	message, err := Composer{PublicURL: "https://box.test"}.Compose(webhook(format), "id", content, noon())
	if err != nil {
		t.Fatal(err)
	}
	if len(message.Body) > maxBody {
		t.Fatalf("%d bytes", len(message.Body))
	}
	var body map[string]any
	if err := json.Unmarshal([]byte(message.Body), &body); err != nil {
		t.Fatal(err)
	}
	return message, body
}

func told(kind string, data Data) Told { return Told{Type: kind, At: noon(), Data: data} }

func TestCompose_Standard(t *testing.T) {
	t.Parallel()
	message, body := compose(t, Standard, Content{Events: []Told{told("job.failing", Data{Kind: "job", Key: "a b", Detail: "<b>"})}, Total: 1})
	want := `{"type":"job.failing","timestamp":"2026-05-01T12:00:00Z","data":{"kind":"job","key":"a b","detail":"<b>","url":"https://box.test/jobs/a%20b"}}`
	if message.Body != want {
		t.Errorf("%s", message.Body)
	}
	if body["type"] != "job.failing" || !slices.Contains(message.Headers, Header{"webhook-id", "id"}) || !slices.Contains(message.Headers, Header{"X-Routing-Key", "R0"}) {
		t.Errorf("%v", message.Headers)
	}
}

func TestCompose_LargeBodyLosesItsDiff(t *testing.T) {
	t.Parallel()
	large := json.RawMessage(`"` + strings.Repeat("x", 30<<10) + `"`)
	event := ofChange(changes.Change{Kind: "config", Key: "c", Action: changes.Created, CreatedAt: noon()})
	event.describe(changes.Change{Kind: "config", Key: "c", After: json.RawMessage(`{"value":` + string(large) + `}`)})
	_, body := compose(t, Standard, Content{Events: []Told{told("change.config", event.Data)}, Total: 1})
	data := body["data"].(map[string]any)
	if data["diff"] != nil || data["summary"] == nil || fmt.Sprint(data["omitted"]) != "[diff]" {
		t.Errorf("%v", data["omitted"])
	}
	_, body = compose(t, Standard, Content{Events: []Told{told("run.failed", Data{Kind: "job", Key: "j", Detail: strings.Repeat("é", 20<<10)})}, Total: 1})
	if detail := body["data"].(map[string]any)["detail"].(string); len(detail) != 2<<10 || strings.ContainsRune(detail, '\uFFFD') {
		t.Errorf("a detail of %d bytes", len(detail))
	}
}

func TestCompose_Chats(t *testing.T) {
	t.Parallel()
	one := Content{Events: []Told{told("job.failing", Data{Kind: "job", Key: "a<b>*", Detail: "A run failed,\nwith TIMEOUT."})}, Total: 1}
	many := Content{Group: "host x.test:443", Total: 1000}
	for i := range 51 {
		many.Events = append(many.Events, told("job.failing", Data{Kind: "job", Key: fmt.Sprintf("job-%d", i), Detail: strings.Repeat("long ", 100)}))
	}
	_, slack := compose(t, Slack, one)
	if slack["text"] != "Job a&lt;b&gt;* is failing. A run failed, with TIMEOUT.\nhttps://box.test/jobs/a%3Cb%3E%2A" {
		t.Errorf("%q", slack["text"])
	}
	_, discord := compose(t, Discord, one)
	if !strings.HasPrefix(discord["content"].(string), `Job a<b\>\* is failing.`) || discord["allowed_mentions"] == nil {
		t.Errorf("%q", discord["content"])
	}
	_, teams := compose(t, Teams, many)
	card := teams["attachments"].([]any)[0].(map[string]any)["content"].(map[string]any)
	if lines := card["body"].([]any); len(lines) != 12 || lines[0].(map[string]any)["text"] != "1000 events of host x.test:443: job.failing" || lines[11].(map[string]any)["text"] != "… and 990 more" {
		t.Errorf("%v", lines)
	}
	_, discord = compose(t, Discord, many)
	if text := discord["content"].(string); len(text) > 2000 || !strings.HasPrefix(text, "1000 events of host x.test:443") {
		t.Errorf("%d: %q", len(text), text)
	}
}

func TestCompose_PagerDuty(t *testing.T) {
	t.Parallel()
	message, failing := compose(t, PagerDuty, Content{Events: []Told{told(JobFailing, Data{Kind: "job", Key: "j"})}, Total: 1})
	_, recovered := compose(t, PagerDuty, Content{Events: []Told{told(JobRecovered, Data{Kind: "job", Key: "j"})}, Total: 1})
	if failing["routing_key"] != "R0" || failing["event_action"] != "trigger" || recovered["event_action"] != "resolve" || failing["dedup_key"] != recovered["dedup_key"] {
		t.Errorf("%v %v", failing, recovered)
	}
	if slices.ContainsFunc(message.Headers, isRoutingKey) || !slices.Contains(message.Headers, Header{"X-A", "b"}) {
		t.Errorf("%v", message.Headers)
	}
}

func TestSentence_EachType(t *testing.T) {
	t.Parallel()
	for _, name := range append(Types(), "*") {
		t.Run(name, func(t *testing.T) {
			text := sentence(told(name, Data{Kind: "log_group", Key: "k", Action: "updated", Reason: "TIMEOUT", Detail: "Detail.", Environment: "production"}))
			if text == "" || strings.Contains(text, "%!") || strings.Contains(text, "log_group") {
				t.Errorf("got %q", text)
			}
		})
	}
	if got := label(""); got != "" {
		t.Errorf("%q", got)
	}
}

func TestSecrets_Rotate(t *testing.T) {
	t.Parallel()
	before := Secrets{Current: newSecret()}
	after := before.rotate(noon())
	if len(before.Current) != len("whsec_")+44 || after.Current == before.Current {
		t.Errorf("%s, %s", before.Current, after.Current)
	}
	for at, want := range map[time.Duration]int{0: 2, 24*time.Hour - 1: 2, 24 * time.Hour: 1} {
		t.Run(at.String(), func(t *testing.T) {
			signature, err := after.Sign("id", noon().Add(at), []byte("{}"))
			if err != nil || len(strings.Fields(signature)) != want {
				t.Errorf("after %s: %q %v", at, signature, err)
			}
		})
	}
	again := after.rotate(noon().Add(time.Hour))
	for at, want := range map[time.Duration][]string{
		24*time.Hour - 1: {again.Current, after.Current, before.Current},
		24 * time.Hour:   {again.Current, after.Current},
		25 * time.Hour:   {again.Current},
	} {
		t.Run("rotated twice, after "+at.String(), func(t *testing.T) {
			if got := again.valid(noon().Add(at)); !slices.Equal(got, want) {
				t.Errorf("%d secrets sign, want %d", len(got), len(want))
			}
		})
	}
	for range 20 {
		again = again.rotate(noon().Add(time.Hour))
	}
	if got := again.valid(noon().Add(time.Hour)); len(got) != 1+maxReplaced {
		t.Errorf("%d secrets sign", len(got))
	}
	if _, err := (Secrets{Current: "whsec_%"}).Sign("id", noon(), nil); err == nil {
		t.Error("a broken secret signs")
	}
}

func TestRedactURL(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]string{
		"https://hooks.slack.com/services/T0/B0/secret": "https://hooks.slack.com/<redacted>",
		"https://user:pw@example.com":                   "https://example.com/<redacted>",
		"https://example.com/":                          "https://example.com",
		"https://example.com?token=x":                   "https://example.com/<redacted>",
		"http://example.com:81":                         "http://example.com:81",
		"https://%zz":                                   "<redacted>",
	} {
		t.Run(url, func(t *testing.T) {
			if got := redactURL(url); got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
