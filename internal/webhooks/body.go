package webhooks

import (
	"encoding/json"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// maxBody is the size in bytes of the largest body.
const maxBody = 20 << 10

// Message is a request to a webhook's target.
type Message struct {
	URL     string
	Headers []Header
	Body    string
}

// Told is an event as it appears in a message.
type Told struct {
	Type string
	At   time.Time
	Data Data
}

// Content is the content of a message: one event, or the first of several joined events.
type Content struct {
	Events []Told
	Total  int    // how many events were joined, the listed ones included
	Group  string // the host or the kind that the joined events share
}

// Composer builds messages.
type Composer struct {
	// PublicURL is where people reach the console; "" if it is not known.
	PublicURL string
}

// Compose builds the message of a delivery that is sent at a time.
func (c Composer) Compose(webhook Webhook, delivery string, content Content, at time.Time) (Message, error) {
	for i := range content.Events {
		content.Events[i].Data.URL = c.link(content.Events[i].Data)
	}
	headers := make([]Header, 0, len(webhook.Headers)+4)
	routingKey := ""
	for _, header := range webhook.Headers {
		if webhook.Format == PagerDuty && strings.EqualFold(header.Name, routingHeader) {
			routingKey = header.Value
			continue
		}
		headers = append(headers, header)
	}
	body, err := render(webhook, routingKey, content)
	if err != nil {
		return Message{}, err
	}
	signature, err := webhook.Secrets.Sign(delivery, at, body)
	if err != nil {
		return Message{}, err
	}
	headers = append(headers, Header{"webhook-id", delivery}, Header{"webhook-timestamp", strconv.FormatInt(at.Unix(), 10)}, Header{"webhook-signature", signature},
		Header{"Content-Type", "application/json"})
	return Message{URL: webhook.URL, Headers: headers, Body: string(body)}, nil
}

func render(webhook Webhook, routingKey string, content Content) ([]byte, error) {
	switch webhook.Format {
	case Slack:
		return encode(slackMessage(content))
	case Discord:
		return encode(discordMessage(content))
	case Teams:
		return encode(teamsMessage(content))
	case PagerDuty:
		return encode(pagerDutyMessage(webhook, routingKey, content.Events[0]))
	case Standard:
	}
	return standardBody(content.Events[0])
}

// standardBody returns the body of Standard Webhooks.
func standardBody(event Told) ([]byte, error) {
	_, body, err := fitting(event)
	return body, err
}

// fitting returns an event whose body is not too large, and the body. A body that would be too large loses its diff, then its
// summary, and then the end of its detail.
func fitting(event Told) (Told, []byte, error) {
	reduce := []func(*Data){
		func(*Data) {},
		func(d *Data) { d.Diff, d.Omitted = nil, append(d.Omitted, "diff") },
		func(d *Data) { d.Summary, d.Omitted = nil, append(d.Omitted, "summary") },
		func(d *Data) { d.Detail, d.Note, d.URL = trimmed(d.Detail, 2<<10), trimmed(d.Note, 2<<10), "" },
	}
	for _, step := range reduce {
		step(&event.Data)
		body, err := encode(struct {
			Type      string    `json:"type"`
			Timestamp time.Time `json:"timestamp"`
			Data      Data      `json:"data"`
		}{event.Type, event.At, event.Data})
		if err != nil || len(body) <= maxBody {
			return event, body, err
		}
	}
	return event, nil, fmt.Errorf("the body of %s %q has more than %d bytes", event.Type, event.Data.Key, maxBody)
}

func encode(value any) ([]byte, error) {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(value); err != nil {
		return nil, fmt.Errorf("encoding a message: %w", err)
	}
	return []byte(strings.TrimSuffix(text.String(), "\n")), nil
}

// trimmed returns at most limit bytes of a text, and does not cut characters.
func trimmed(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	for limit > 0 && !utf8.RuneStart(text[limit]) {
		limit--
	}
	return text[:limit]
}

// link returns the page of the console about an event, or "".
func (c Composer) link(data Data) string {
	if c.PublicURL == "" {
		return ""
	}
	pages := map[string]string{"job": "/jobs/", "flag": "/flags/", "logger": "/loggers/", "log_group": "/log-groups/", "config": "/configs/", Kind: "/webhooks/"}
	lists := map[string]string{"environment": "/environments", "api_key": "/keys", "user": "/people", "invitation": "/people", "service": "/services", "usage": "/plan"}
	switch page, list := pages[data.Kind], lists[data.Kind]; {
	case page != "" && data.Action != "deleted" && data.Key != "*":
		return c.PublicURL + page + url.PathEscape(data.Key)
	case list != "":
		return c.PublicURL + list
	}
	return c.PublicURL + "/history"
}
