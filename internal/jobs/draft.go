package jobs

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

// Limits of one job.
const (
	maxName        = 200
	maxDescription = 2000
	maxHeaders     = 100
	maxCACert      = 65536
	maxBody        = 1 << 20
	defaultTimeout = 30
)

var successPattern = regexp.MustCompile(`^([1-5][0-9]{2}|[1-5][xX]{2})$`)

// Draft is the job that a caller asks for, not yet validated.
type Draft struct {
	Key         optional.Value[string]
	Name        optional.Value[string]
	Description optional.Value[string]
	Enabled     optional.Value[bool]
	Type        optional.Value[string]
	Schedule    optional.Value[string]
	// Instant is the schedule parsed as a date and time, if it is one.
	Instant       optional.Value[Instant]
	Timezone      optional.Value[string]
	Concurrency   optional.Value[string]
	Overlap       optional.Value[string]
	Retry         optional.Value[RetryDraft]
	Alerts        optional.Value[AlertsDraft] // null: no events
	Configuration optional.Value[ConfigurationDraft]
	// ConfigurationID is the id of the stored configuration, if the draft Restores.
	ConfigurationID string
	// Restores says that the draft is an earlier state of the job: a one-off job
	// whose instant has passed is restored disabled.
	Restores bool
	Problems fault.Problems // starts with the problems found while reading the input
}

// ConfigurationDraft is the configuration that a caller asks for, not yet validated.
type ConfigurationDraft struct {
	Method        optional.Value[string]
	URL           optional.Value[string]
	Headers       []HeaderDraft
	SuccessStatus optional.Value[string]
	TLSVerify     optional.Value[bool]
	CACert        optional.Value[string]
	Body          optional.Value[string]
	Timeout       optional.Value[float64]
}

// draft returns the draft of a stored configuration.
func (c Configuration) draft() ConfigurationDraft {
	draft := ConfigurationDraft{Method: optional.Of(c.plain.Method), URL: optional.Of(c.plain.URL), SuccessStatus: optional.Of(c.plain.SuccessStatus),
		TLSVerify: optional.Of(c.plain.TLSVerify), Timeout: optional.Of(float64(c.plain.Timeout))}
	for _, header := range c.plain.Headers {
		draft.Headers = append(draft.Headers, HeaderDraft{Header: header, NameAt: "headers", ValueAt: "headers"})
	}
	if c.plain.CACert != nil {
		draft.CACert = optional.Of(*c.plain.CACert)
	}
	if c.plain.Body != nil {
		draft.Body = optional.Of(*c.plain.Body)
	}
	return draft
}

// HeaderDraft is a header and the pointers of its name and value below the
// configuration.
type HeaderDraft struct {
	Header

	NameAt, ValueAt string
}

// validate checks every rule that does not need the database, and adds to the
// draft's problems.
func (d *Draft) validate(key string) (Job, timetable) {
	job := Job{Key: key, Name: d.Name.Or(""), Description: d.Description.Pointer(), Enabled: d.Enabled.Or(true),
		Type: HTTP, Concurrency: Allow, Schedule: strings.TrimSpace(d.Schedule.Or("")), Timezone: d.zone()}
	d.checkTexts()
	d.policies(&job)
	times, broken := readSchedule(job.Schedule, d.Instant.Pointer(), (*Zones)(nil).Load(job.Timezone))
	if broken != "" {
		d.Problems.Attribute("schedule", "%s", broken)
	}
	if configuration, sent := d.Configuration.Get(); sent {
		job.Configuration = d.configuration(configuration)
	} else {
		d.Problems.Attribute("configuration", "is required: it says what the job sends")
	}
	return job, times
}

// zone checks the time zone and returns it; nil is UTC.
func (d *Draft) zone() *string {
	name, named := d.Timezone.Get()
	if !named {
		return nil
	}
	if broken := checkZone(name); broken != "" {
		d.Problems.Attribute("timezone", "%s", broken)
		return nil
	}
	return &name
}

func (d *Draft) checkTexts() {
	naming.RequireName(&d.Problems, d.Name, maxName)
	naming.CheckDescription(&d.Problems, "description", d.Description.Or(""), maxDescription)
	if d.Type.Or(HTTP) != HTTP {
		d.Problems.Attribute("type", "must be %q: there is no other type of job", HTTP)
	}
	if d.Concurrency.Or(Allow) != Allow {
		d.Problems.Attribute("concurrency_policy", "must be %q: there is no other policy", Allow)
	}
}

// disablePassed disables a restored one-off job whose instant has passed, as a revert
// must not cause another run.
func (d *Draft) disablePassed(before Job, job *Job, times timetable, now time.Time) {
	if d.Restores && times.isOver(now) && !keepsTime(before, *job) {
		job.Enabled = false
	}
}

// checkTime refuses an instant in the past for an enabled job.
func (d *Draft) checkTime(times timetable, enabled bool, now time.Time) {
	if rule := times.passed(now); enabled && rule != "" {
		d.Problems.Attribute("schedule", "%s", rule)
	}
}

// warnRare warns of a cron expression that fires less than once a year, such as one for February 29.
func (d *Draft) warnRare(times timetable, now time.Time) {
	const year = 366 * 24 * time.Hour
	if times.cron == nil {
		return
	}
	first := times.first(now)
	if second, again := times.cron.Next(first); !again || second.Sub(first) > year {
		d.Problems.Warn(fault.Attribute("schedule"), "schedule fires less than once a year: at %s, and then not before %s.",
			first.Format(time.RFC3339), second.Format(time.RFC3339))
	}
}

func (d *Draft) configuration(c ConfigurationDraft) Configuration {
	plain := Plain{
		Method:        strings.ToUpper(c.Method.Or("POST")),
		URL:           c.URL.Or(""),
		Headers:       d.headers(c.Headers),
		SuccessStatus: strings.ToLower(c.SuccessStatus.Or("2xx")),
		TLSVerify:     c.TLSVerify.Or(true),
		CACert:        c.CACert.Pointer(),
		Body:          c.Body.Pointer(),
		Timeout:       int(math.Min(c.Timeout.Or(defaultTimeout), math.MaxInt32)),
	}
	seconds := c.Timeout.Or(defaultTimeout)
	d.require(slices.Contains([]string{"GET", "POST", "PUT", "PATCH", "DELETE"}, plain.Method), "method", "must be GET, POST, PUT, PATCH or DELETE")
	d.refuse("url", hosts.URLRule(plain.URL))
	d.require(successPattern.MatchString(plain.SuccessStatus), "success_status",
		"must be a status from 100 to 599, or a class: 1xx, 2xx, 3xx, 4xx or 5xx")
	d.require(len(c.Body.Or("")) <= maxBody, "body", "must have at most %d bytes", maxBody)
	d.require(seconds >= 1 && seconds == math.Trunc(seconds), "timeout", "must be a whole number of seconds, 1 or more")
	if plain.CACert != nil {
		d.refuse("ca_cert", checkCACert(*plain.CACert))
	}
	return NewConfiguration(plain)
}

// require adds a problem with the rule of a member of the configuration unless the rule is kept.
func (d *Draft) require(kept bool, member, rule string, args ...any) {
	if !kept {
		d.Problems.Attribute("configuration/"+member, rule, args...)
	}
}

// refuse adds a problem if a member of the configuration breaks a rule; "" is no rule.
func (d *Draft) refuse(member, rule string) { d.require(rule == "", member, "%s", rule) }

// headers checks headers and returns them.
func (d *Draft) headers(drafts []HeaderDraft) []Header {
	if len(drafts) > maxHeaders {
		d.require(false, "headers", "must have at most %d entries", maxHeaders)
		return nil
	}
	headers := make([]Header, len(drafts))
	named := 0
	for i, draft := range drafts {
		headers[i] = draft.Header
		d.refuse(draft.NameAt, hosts.HeaderNameRule(draft.Name))
		d.refuse(draft.ValueAt, hosts.HeaderValueRule(draft.Value))
		if strings.EqualFold(draft.Name, "Host") {
			named++
			d.require(named == 1 && hosts.IsHeader(draft.Value), draft.ValueAt, "must be one host name in ASCII, with a port or without, and given once")
		}
	}
	return headers
}

// checkCACert returns the rule that a list of certificates in PEM breaks, or "".
func checkCACert(text string) string {
	if utf8.RuneCountInString(text) > maxCACert {
		return fmt.Sprintf("must have at most %d characters", maxCACert)
	}
	rule := "must have at least one certificate in PEM"
	for block, rest := pem.Decode([]byte(text)); block != nil; block, rest = pem.Decode(rest) {
		if _, err := x509.ParseCertificate(block.Bytes); block.Type != "CERTIFICATE" || len(block.Headers) > 0 || err != nil {
			return "must have certificates only, each in a PEM block CERTIFICATE without headers"
		}
		rule = ""
	}
	return rule
}
