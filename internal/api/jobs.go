package api

import (
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jobs"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/optional"
)

func jobResource() resource[jobs.Job, jobs.Draft, jobs.Filter] {
	return describe(jobs.Kind, func(job jobs.Job) (string, any) { return job.Key, job.Show() }, jobFilter, jobDraft)
}

func jobFilter(c *call) jobs.Filter {
	return jobs.Filter{Search: c.query.Search(), Enabled: c.query.FilterBool("enabled"), LastStatus: runStatus(c, "last_status"),
		Health: oneOf(c, "health", jobs.HealthStates()...)}
}

func jobDraft(envelope *jsonapi.Envelope) jobs.Draft {
	attributes := envelope.Attributes
	draft := jobs.Draft{
		Key:         envelope.ID,
		Name:        attributes.String("name"),
		Description: attributes.String("description"),
		Enabled:     attributes.Bool("enabled"),
		Type:        attributes.String("type"),
		Schedule:    attributes.String("schedule"),
		Timezone:    attributes.String("timezone"),
		Concurrency: attributes.String("concurrency_policy"),
		Overlap:     attributes.String("overlap"),
		Retry:       jobRetry(attributes),
		Alerts:      jobAlerts(attributes),
		Restores:    envelope.Restores,
	}
	if envelope.Restores {
		draft.ConfigurationID = attributes.String("configuration_id").Or("")
	} else {
		draft.Configuration = jobConfiguration(attributes)
	}
	if slices.Contains(attributes.Names(), "environments") {
		attributes.Know("environments") // it is not refused as unknown, but with the reason below
		attributes.Refuse("environments", "must be left out: jobs have no environments, and this job would run everywhere. Make one job for each environment")
	}
	draft.Instant = scheduleInstant(draft.Schedule.Or(""))
	draft.Problems = envelope.Done()
	return draft
}

// scheduleInstant reads a schedule that is a date and time.
func scheduleInstant(schedule string) optional.Value[jobs.Instant] {
	schedule = strings.TrimSpace(schedule)
	if at, isTime := jsonapi.ParseTime(schedule); isTime {
		return optional.Of(jobs.Instant{At: at, Local: !jsonapi.HasOffset(schedule)})
	}
	return optional.Value[jobs.Instant]{}
}

func jobRetry(attributes *jsonapi.Object) optional.Value[jobs.RetryDraft] {
	object, sent := attributes.Object("retry", `{"max_attempts": 3}`).Get()
	if !sent {
		return optional.Value[jobs.RetryDraft]{}
	}
	object.Unknown("max_attempts", "delay_seconds", "backoff", "max_delay_seconds", "on", "statuses")
	return optional.Of(jobs.RetryDraft{
		MaxAttempts: object.Number("max_attempts"),
		Delay:       object.Number("delay_seconds"),
		Backoff:     object.String("backoff"),
		MaxDelay:    object.Number("max_delay_seconds"),
		On:          object.Strings("on"),
		Statuses:    object.Strings("statuses"),
	})
}

// jobAlerts reads the thresholds at which a job's health becomes an event; null means no such events.
func jobAlerts(attributes *jsonapi.Object) optional.Value[jobs.AlertsDraft] {
	value := attributes.Object("alerts", `{"after_failures": 2}`)
	object, sent := value.Get()
	switch {
	case value.IsNull():
		return optional.Null[jobs.AlertsDraft]()
	case !sent:
		return optional.Value[jobs.AlertsDraft]{}
	}
	object.Unknown("after_failures", "recover_after", "late_after_seconds", "no_success_for_seconds", "remind_every_seconds")
	return optional.Of(jobs.AlertsDraft{
		AfterFailures: object.Number("after_failures"),
		RecoverAfter:  object.Number("recover_after"),
		LateAfter:     object.Number("late_after_seconds"),
		NoSuccessFor:  object.Number("no_success_for_seconds"),
		RemindEvery:   object.Number("remind_every_seconds"),
	})
}

func jobConfiguration(attributes *jsonapi.Object) optional.Value[jobs.ConfigurationDraft] {
	object, sent := attributes.Object("configuration", `{"method": "POST", "url": "https://example.com/hook"}`).Get()
	if !sent {
		return optional.Value[jobs.ConfigurationDraft]{}
	}
	object.Unknown("method", "url", "headers", "success_status", "tls_verify", "ca_cert", "body", "timeout")
	return optional.Of(jobs.ConfigurationDraft{
		Method:        object.String("method"),
		URL:           object.String("url"),
		Headers:       jobHeaders(object),
		SuccessStatus: object.String("success_status"),
		TLSVerify:     object.Bool("tls_verify"),
		CACert:        object.String("ca_cert"),
		Body:          object.Text("body"),
		Timeout:       object.Number("timeout"),
	})
}

// jobHeaders reads an array of {name, value}, or an object of names and values.
func jobHeaders(configuration *jsonapi.Object) []jobs.HeaderDraft {
	if text := configuration.Raw("headers").Or(nil); len(text) > 0 && text[0] == '{' {
		return jobHeadersByName(configuration)
	}
	var headers []jobs.HeaderDraft
	for i, item := range configuration.Items("headers", `{"name": "Accept", "value": "text/plain"}`) {
		headers = append(headers, jobHeader(item, i))
	}
	return headers
}

func jobHeader(item *jsonapi.Object, index int) jobs.HeaderDraft {
	name, named := item.String("name").Get()
	value, valued := item.Text("value").Get()
	if !named {
		item.Refuse("name", "is required")
	}
	if !valued {
		item.Refuse("value", "is required")
	}
	item.Unknown("name", "value")
	at := "headers/" + strconv.Itoa(index)
	return jobs.HeaderDraft{Header: jobs.Header{Name: name, Value: value}, NameAt: at + "/name", ValueAt: at + "/value"}
}

func jobHeadersByName(configuration *jsonapi.Object) []jobs.HeaderDraft {
	object, _ := configuration.Object("headers", `{"Accept": "text/plain"}`).Get()
	headers := make([]jobs.HeaderDraft, 0, len(object.Names()))
	for _, name := range object.Names() {
		value, valued := object.Text(name).Get()
		if !valued {
			object.Refuse(name, "must be a string")
		}
		at := "headers/" + fault.Escape(name)
		headers = append(headers, jobs.HeaderDraft{Header: jobs.Header{Name: name, Value: value}, NameAt: at, ValueAt: at})
	}
	return headers
}

func (a *API) jobStats(c *call) (reply, error) {
	days := c.query.Integer("days", 30, 1, 90)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	stats, err := a.Jobs.Stats(c.ctx(), c.caller, c.id, days)
	return one(http.StatusOK, jsonapi.Resource{ID: c.id, Type: jobs.KindStats, Attributes: stats}, err)
}

// runStats answers with the outcomes of all runs by hour.
func (a *API) runStats(c *call) (reply, error) {
	hours := c.query.Integer("hours", 24, 1, 168)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	stats, err := a.Jobs.RunStats(c.ctx(), c.caller, hours)
	return one(http.StatusOK, jsonapi.Resource{ID: current, Type: jobs.KindRunStats, Attributes: stats}, err)
}

func (a *API) previewSchedule(c *call) (reply, error) {
	schedule, zone, count := c.query.Text("schedule"), c.query.SentText("timezone"), c.query.Integer("count", 5, 1, 100)
	if err := c.query.Err(); err != nil {
		return reply{}, err
	}
	preview, err := a.Jobs.Preview(c.ctx(), schedule, scheduleInstant(schedule).Pointer(), zone, count)
	return one(http.StatusOK, jsonapi.Resource{ID: preview.Schedule, Type: jobs.KindPreview, Attributes: preview}, err)
}
