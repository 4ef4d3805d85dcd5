package webhooks

import (
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/rawjson"
	"github.com/signalbox/signalbox/internal/summary"
)

// The types of events that are not changes. Events of jobs are changes of their health in the history, except
// reminders.
const (
	JobFailing     = "job.failing"
	JobLate        = "job.late"
	JobRecovered   = "job.recovered"
	JobReminder    = "job.reminder"
	RunFailed      = "run.failed"
	LevelExpired   = "level.expired"
	ServiceSilent  = "service.silent"
	UsageExhausted = "usage.exhausted"
	Test           = "webhook.test"
)

const (
	changePrefix = "change."
	kindHealth   = "job_health" // changes of a job's health have the types job.…
)

// changeKinds returns the kinds of resources whose changes have an event type, such as change.flag.
func changeKinds() []string {
	return []string{"account", "account_settings", "api_key", "config", "context", "context_type", "environment", "flag", "invitation", "job", "link",
		"log_group", "logger", "service", "session", "user", "user_settings", Kind}
}

// Types returns the type of every event.
func Types() []string {
	types := []string{JobFailing, JobLate, JobRecovered, JobReminder, RunFailed}
	for _, kind := range changeKinds() {
		types = append(types, changePrefix+kind)
	}
	return append(types, LevelExpired, ServiceSilent, UsageExhausted, Test)
}

// Event is something that happened in an account.
type Event struct {
	Account string
	// ID is unique in the account; nothing with the same id happens twice.
	ID string
	At time.Time
	// Types has the type, and a second one if the event is also of a more general type.
	Types []string
	Data  Data
	// Environments are the environments that the event is about. With Everywhere, or without any, it is
	// about all.
	Environments []string
	Everywhere   bool
	// Host is the destination that the event is about, for messages that join events; "" for none.
	Host string
}

// Data is the content of an event.
type Data struct {
	Kind        string             `json:"kind"`
	Key         string             `json:"key"`
	Action      string             `json:"action,omitempty"`
	Environment string             `json:"environment,omitempty"`
	Actor       *changes.Actor     `json:"actor,omitempty"`
	Note        string             `json:"note,omitempty"`
	Seq         int64              `json:"seq,omitempty"`
	Diff        rawjson.Patch      `json:"diff,omitempty"`
	Summary     []summary.Sentence `json:"summary,omitempty"`
	Cause       *Cause             `json:"cause,omitempty"`
	Detail      string             `json:"detail,omitempty"`
	// Of a failed run.
	Run     string `json:"run,omitempty"`
	Reason  string `json:"failure_reason,omitempty"`
	Attempt int    `json:"attempt,omitempty"`
	Final   *bool  `json:"final,omitempty"`
	// Omitted has the members that were left out because the body would have been too large.
	Omitted []string `json:"omitted,omitempty"`
	URL     string   `json:"url,omitempty"` // into the console
}

// Cause is what led to a change.
type Cause struct {
	Type string `json:"type"`
	ID   string `json:"id,omitempty"`
}

// ofChange returns the event of a recorded change, without its content, which is expensive to compute.
func ofChange(c changes.Change) Event {
	event := Event{Account: c.Account, ID: "change:" + strconv.FormatInt(c.Seq, 10), At: c.CreatedAt, Types: []string{changePrefix + c.Kind}, Host: c.Host,
		Data: Data{Kind: c.Kind, Key: c.Key, Action: string(c.Action), Actor: &c.Actor, Seq: c.Seq}}
	switch {
	case c.Kind == kindHealth:
		event.Types, event.Data.Kind = []string{"job." + string(c.Action)}, "job"
	case c.Action == changes.Expired:
		event.Types = []string{LevelExpired, changePrefix + c.Kind}
	}
	if c.Note != nil {
		event.Data.Note = *c.Note
	}
	event.Environments, event.Everywhere = touched(c)
	return event
}

// describe adds the content of a change.
func (e *Event) describe(c changes.Change) {
	switch {
	case c.Reverts != nil:
		e.Data.Cause = &Cause{"revert", strconv.FormatInt(*c.Reverts, 10)}
	case c.Action == changes.Expired:
		e.Data.Cause = &Cause{Type: "expiry"}
	case c.Action == changes.Cascaded:
		e.Data.Cause = &Cause{Type: "cascade"}
	case c.Action == changes.Discovered:
		e.Data.Cause = &Cause{Type: "report"}
	}
	if c.Kind == kindHealth {
		e.describeHealth(c)
		return
	}
	if c.Kind == "user_settings" { // only their owner may read them
		return
	}
	e.Data.Diff, e.Data.Summary = rawjson.Diff(c.Before, c.After), summary.Of(c)
}

// shrink removes the parts of the content that no message can have, so that a change of megabytes is neither stored again
// nor read for each webhook.
func (e *Event) shrink() {
	if told, _, err := fitting(Told{e.Types[0], e.At, e.Data}); err == nil {
		e.Data = told.Data
	}
}

// describeHealth adds the history's details about a job's health.
func (e *Event) describeHealth(c changes.Change) {
	var after struct {
		Detail string `json:"detail"`
		Run    string `json:"run"`
	}
	if json.Unmarshal(c.After, &after) == nil {
		e.Data.Detail, e.Data.Run = after.Detail, after.Run
	}
}

// touched returns the environments in which a change has changed values, and whether it has changed anything
// else.
func touched(c changes.Change) (environments []string, everywhere bool) {
	if c.Kind == "environment" {
		return []string{c.Key}, false
	}
	before, after := map[string]json.RawMessage{}, map[string]json.RawMessage{}
	others := func(document json.RawMessage, values map[string]json.RawMessage) map[string]string {
		rest := map[string]string{}
		rawjson.Members(document, func(name string, value json.RawMessage) {
			switch name {
			case "environments":
				rawjson.Members(value, func(name string, value json.RawMessage) { values[name] = value })
			case "updated_at":
			default:
				rest[name] = string(value)
			}
		})
		return rest
	}
	was, is := others(c.Before, before), others(c.After, after)
	for name, value := range after {
		if string(before[name]) != string(value) {
			environments = append(environments, name)
		}
	}
	for name := range before {
		if _, kept := after[name]; !kept {
			environments = append(environments, name)
		}
	}
	slices.Sort(environments)
	return environments, len(was) != len(is) || !sameTexts(was, is)
}

func sameTexts(a, b map[string]string) bool {
	for name, text := range a {
		if other, has := b[name]; !has || other != text {
			return false
		}
	}
	return true
}

// FailedRun is a failed attempt of a job.
type FailedRun struct {
	Account, Run, Job, Host, Reason, Detail string
	Attempt                                 int
	Final                                   bool
	At                                      time.Time
}

// Event returns the event of a failed attempt.
func (r FailedRun) Event() Event {
	return Event{Account: r.Account, ID: "run:" + r.Run, At: r.At, Types: []string{RunFailed}, Host: r.Host,
		Data: Data{Kind: "job", Key: r.Job, Action: "failed", Run: r.Run, Reason: r.Reason, Attempt: r.Attempt, Final: &r.Final, Detail: r.Detail}}
}

// Reminder returns the event that a job is still failing or late.
func Reminder(account, job, host, state, detail string, at time.Time) Event {
	return Event{Account: account, ID: "reminder:" + job + ":" + strconv.FormatInt(at.UnixMicro(), 10), At: at, Types: []string{JobReminder}, Host: host,
		Data: Data{Kind: "job", Key: job, Action: state, Detail: detail}}
}

// Exhausted returns the event that an account has used up its runs of a month.
func Exhausted(account, period, detail string, at time.Time) Event {
	return Event{Account: account, ID: "usage:" + period, At: at, Types: []string{UsageExhausted},
		Data: Data{Kind: "usage", Key: period, Action: "exhausted", Detail: detail}}
}

// Silent returns the event that a service was neither connected nor reporting for an hour.
func Silent(account, service, environment string, lastSeen, at time.Time) Event {
	event := Event{Account: account, ID: "silent:" + service + ":" + environment + ":" + strconv.FormatInt(lastSeen.UnixMicro(), 10), At: at, Types: []string{ServiceSilent},
		Data: Data{Kind: "service", Key: service, Action: "silent", Environment: environment,
			Detail: fmt.Sprintf("No connection and no report since %s.", lastSeen.Format(time.RFC3339))}}
	if environment != "" {
		event.Environments = []string{environment}
	}
	return event
}

// Tested returns the event of a test.
func Tested(webhook Webhook, actor changes.Actor, id string, at time.Time) Event {
	return Event{Account: webhook.Account, ID: "test:" + id, At: at, Types: []string{Test},
		Data: Data{Kind: Kind, Key: webhook.ID, Action: "tested", Actor: &actor, Detail: "This is a test of the webhook " + webhook.Name + "."}}
}

// Subscription is the part of a webhook that decides which events it gets.
type Subscription struct {
	ID     string
	Format Format
	Events []string
	Filter Filter
	Lane   string
}

// match returns the type under which a webhook gets an event, or false if the subscription does not match it. A test
// goes to one webhook only, whatever the webhook subscribes to, so no subscription matches it.
func (s Subscription) match(event Event) (string, bool) {
	if !s.Filter.passes(event) {
		return "", false
	}
	for _, name := range event.Types {
		if name != Test && slices.ContainsFunc(s.Events, func(pattern string) bool { return covers(pattern, name) }) {
			return name, true
		}
	}
	return "", false
}

// covers reports whether a name of a subscription, such as job.* or *, has a type.
func covers(pattern, name string) bool {
	if prefix, isPrefix := strings.CutSuffix(pattern, "*"); isPrefix {
		return strings.HasPrefix(name, prefix)
	}
	return pattern == name
}

func (f Filter) passes(event Event) bool {
	if len(f.IDs) > 0 && !slices.ContainsFunc(f.IDs, func(glob string) bool { return matches(glob, event.Data.Key) }) {
		return false
	}
	return len(f.Environments) == 0 || event.Everywhere || len(event.Environments) == 0 ||
		slices.ContainsFunc(event.Environments, func(name string) bool { return slices.Contains(f.Environments, name) })
}

// matches reports whether a glob matches an id. Unlike in paths, * also matches a slash.
func matches(glob, id string) bool {
	if !isPattern(glob) {
		return glob == id
	}
	const slash = "\x01" // an id has no control characters
	matched, err := path.Match(strings.ReplaceAll(glob, "/", slash), strings.ReplaceAll(id, "/", slash))
	return err == nil && matched
}

// isPattern reports whether a glob is more than an id.
func isPattern(glob string) bool { return strings.ContainsAny(glob, `*?[\`) }

// group returns the property that the events of a joined message share: the host, or else the kind.
func (e Event) group() string {
	if e.Host != "" {
		return "host " + e.Host
	}
	return e.Data.Kind
}

// Planned is an event with its deliveries.
type Planned struct {
	Event      Event
	StoredID   string // of the stored event
	Deliveries []PlannedDelivery
}

// PlannedDelivery is a new delivery.
type PlannedDelivery struct {
	ID, Webhook, Type, Lane string
	// Group is the host or the kind that the joined events of a message share; "" if the message has one
	// event.
	Group string
	DueAt time.Time
}

// Plan returns the deliveries of recorded changes and other events to the subscriptions of an account. Changes that no
// subscription matches cost no more than the match.
func Plan(subscriptions []Subscription, made []changes.Change, others []Event) (planned []Planned) {
	for _, change := range made {
		event := ofChange(change)
		deliveries := deliver(subscriptions, event)
		if len(deliveries) > 0 {
			event.describe(change)
			event.shrink()
			planned = append(planned, Planned{event, event.storedID(), deliveries})
		}
	}
	for _, event := range others {
		if deliveries := deliver(subscriptions, event); len(deliveries) > 0 {
			planned = append(planned, Planned{event, event.storedID(), deliveries})
		}
	}
	return planned
}

func deliver(subscriptions []Subscription, event Event) (deliveries []PlannedDelivery) {
	for _, subscription := range subscriptions {
		if name, matched := subscription.match(event); matched {
			deliveries = append(deliveries, subscription.deliver(event, name))
		}
	}
	return deliveries
}

// deliver returns the delivery of an event. A message that may join others waits for them.
func (s Subscription) deliver(event Event, name string) PlannedDelivery {
	planned := PlannedDelivery{ID: DeliveryID(s.ID, event.Account+"\n"+event.ID, event.At), Webhook: s.ID, Type: name, Lane: s.Lane, DueAt: event.At}
	if s.Format.Joins() && name != Test {
		planned.Group, planned.DueAt = event.group(), event.At.Add(joinFor)
	}
	return planned
}

// To returns the delivery of an event to one webhook, whatever the webhook subscribes to.
func (e Event) To(webhook Webhook) Planned {
	return Planned{e, e.storedID(), []PlannedDelivery{webhook.Subscription().deliver(e, e.Types[0])}}
}

func (e Event) storedID() string { return stableID(e.At, e.Account+"\n"+e.ID) }
