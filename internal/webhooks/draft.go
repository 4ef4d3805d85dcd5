package webhooks

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/hosts"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/optional"
)

// Draft is the webhook that a caller asks for, not yet validated.
type Draft struct {
	ID       optional.Value[string] // of a new webhook; the server chooses one if it is not sent
	Name     optional.Value[string]
	URL      optional.Value[string]
	Format   optional.Value[string]
	Events   optional.Value[[]string]
	Filter   optional.Value[FilterDraft]
	Headers  []HeaderDraft
	Enabled  optional.Value[bool]
	Problems fault.Problems // starts with the problems found while reading the input
}

// FilterDraft is the filter that a caller asks for, not yet validated.
type FilterDraft struct{ Environments, IDs optional.Value[[]string] }

// HeaderDraft is a header and the pointers of its name and value below the attributes.
type HeaderDraft struct {
	Header

	NameAt, ValueAt string
}

// validate checks every rule of a draft and returns the webhook.
func (d *Draft) validate() Webhook {
	naming.RequireName(&d.Problems, d.Name, maxName)
	webhook := Webhook{Name: d.Name.Or(""), URL: d.URL.Or(""), Format: Format(d.Format.Or(string(Standard))), Events: d.events(), Filter: d.filter(),
		Headers: d.headers(), Enabled: d.Enabled.Or(true)}
	if rule := hosts.URLRule(webhook.URL); rule != "" {
		d.Problems.Attribute("url", "%s", rule)
	}
	if !slices.Contains(Formats(), webhook.Format) {
		d.Problems.Attribute("format", "must be standard, slack, teams, discord or pagerduty")
	}
	if webhook.Format == PagerDuty && !slices.ContainsFunc(webhook.Headers, isRoutingKey) {
		d.Problems.Attribute("headers", "must have %s, the routing key of the service in PagerDuty", routingHeader)
	}
	return webhook
}

// newID returns the id of a new webhook: the one that was sent, as files for apply have it, or a new one.
func (d *Draft) newID() string {
	sent := strings.ToLower(d.ID.Or(""))
	if sent == "" {
		return uuid.Must(uuid.NewV7()).String()
	}
	if id, err := uuid.Parse(sent); err != nil || id.String() != sent {
		d.Problems.Add(fault.New(fault.Validation, "id must be a UUID such as 01928c3e-7b1a-7c55-b2a4-9a3a4f6d2f10, or left out.").At(fault.Pointer("/data/id")))
	}
	return sent
}

func isRoutingKey(header Header) bool {
	return strings.EqualFold(header.Name, routingHeader) && header.Value != ""
}

// events checks the names of events, and returns each once.
func (d *Draft) events() (events []string) {
	names := d.Events.Or(nil)
	if len(names) == 0 || len(names) > maxPatterns {
		d.Problems.Attribute("events", `is required and must list 1 to %d types of events, such as ["job.failing", "change.*"], or ["*"]`, maxPatterns)
		return nil
	}
	for i, name := range names {
		if rule := eventRule(name); rule != "" {
			d.Problems.Attribute("events/"+strconv.Itoa(i), "%s", rule)
		}
		if !slices.Contains(events, name) {
			events = append(events, name)
		}
	}
	return events
}

// eventRule returns the rule that a name of events breaks, or "".
func eventRule(name string) string {
	known := Types()
	if name == "*" || slices.Contains(known, name) {
		return ""
	}
	if prefix, isPrefix := strings.CutSuffix(name, "*"); isPrefix && strings.HasSuffix(prefix, ".") &&
		slices.ContainsFunc(known, func(each string) bool { return strings.HasPrefix(each, prefix) }) {
		return ""
	}
	rule := "must be the type of an event, such as job.failing, a prefix such as change.*, or *"
	if nearest := naming.Nearest(name, known); nearest != "" {
		rule += "; the nearest is " + nearest
	}
	return rule
}

func (d *Draft) filter() Filter {
	draft := d.Filter.Or(FilterDraft{})
	filter := Filter{Environments: draft.Environments.Or(nil), IDs: draft.IDs.Or(nil)}
	for member, patterns := range map[string][]string{"filter/environments": filter.Environments, "filter/ids": filter.IDs} {
		if len(patterns) > maxPatterns {
			d.Problems.Attribute(member, "must have at most %d entries", maxPatterns)
		}
		for i, pattern := range patterns {
			if !naming.Fits(pattern, 1, maxPattern) {
				d.Problems.Attribute(member+"/"+strconv.Itoa(i), "must have 1 to %d characters", maxPattern)
			}
		}
	}
	patterns := 0
	for i, glob := range filter.IDs {
		if isPattern(glob) {
			patterns += len(glob)
		}
		if _, err := path.Match(glob, ""); err != nil {
			d.Problems.Attribute("filter/ids/"+strconv.Itoa(i), `must be an id or a pattern with *, ? and [a-z], such as "nightly-*"`)
		}
	}
	if patterns > maxPatternText {
		d.Problems.Attribute("filter/ids", "must have at most %d characters in patterns with * and ?; ids without them do not count", maxPatternText)
	}
	return filter
}

// headers checks headers and returns them.
func (d *Draft) headers() []Header {
	if len(d.Headers) > maxHeaders {
		d.Problems.Attribute("headers", "must have at most %d entries", maxHeaders)
		return nil
	}
	headers := make([]Header, len(d.Headers))
	for i, draft := range d.Headers {
		headers[i] = draft.Header
		rule := hosts.HeaderNameRule(draft.Name)
		if ours := []string{"webhook-id", "webhook-timestamp", "webhook-signature", "content-type"}; slices.Contains(ours, strings.ToLower(draft.Name)) {
			rule = "must not be a header that every message has: " + strings.Join(ours, ", ")
		}
		if rule != "" {
			d.Problems.Attribute(draft.NameAt, "%s", rule)
		}
		if rule := hosts.HeaderValueRule(draft.Value); rule != "" {
			d.Problems.Attribute(draft.ValueAt, "%s", rule)
		}
		if strings.EqualFold(draft.Name, "Host") && !hosts.IsHeader(draft.Value) {
			d.Problems.Attribute(draft.ValueAt, "must be one host name in ASCII, with a port or without")
		}
	}
	return headers
}
