package webhooks

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/naming"
)

// routingHeader has the routing key of PagerDuty. It is sent in the body.
const routingHeader = "X-Routing-Key"

const (
	// listedEvents is how many events of one message are listed.
	listedEvents = 10
	// maxLine and maxText bound what people read. Discord takes 2000 characters.
	maxLine = 280
	maxText = 1900
)

// lines returns a message in plain text: a line for each event, or for several a title and the first ones.
func (c Content) lines() []string {
	if len(c.Events) == 1 && c.Total <= 1 {
		return []string{sentence(c.Events[0])}
	}
	lines := []string{fmt.Sprintf("%d events of %s: %s", c.Total, c.Group, c.types())}
	for _, event := range c.Events[:min(listedEvents, len(c.Events))] {
		lines = append(lines, "• "+sentence(event))
	}
	if more := c.Total - min(listedEvents, len(c.Events)); more > 0 {
		lines = append(lines, fmt.Sprintf("… and %d more", more))
	}
	return lines
}

// types returns the types of the listed events, the most frequent first.
func (c Content) types() string {
	byType := map[string]int{}
	for _, event := range c.Events {
		byType[event.Type]++
	}
	types := slices.SortedFunc(maps.Keys(byType), func(a, b string) int { return cmp.Or(byType[b]-byType[a], strings.Compare(a, b)) })
	if len(types) == 1 {
		return types[0]
	}
	return strings.Join(types, ", ")
}

// sentence says what happened, in one line.
func sentence(event Told) string {
	data, subject := event.Data, label(event.Data.Kind)+" "+event.Data.Key
	switch event.Type {
	case JobFailing, JobLate, JobRecovered:
		return line("%s %s. %s", subject, map[string]string{JobFailing: "is failing", JobLate: "is late", JobRecovered: "has recovered"}[event.Type], data.Detail)
	case JobReminder:
		return line("%s is still %s. %s", subject, data.Action, data.Detail)
	case RunFailed:
		return line("A run of %s failed with %s. %s", strings.ToLower(subject[:1])+subject[1:], data.Reason, data.Detail)
	case ServiceSilent:
		if data.Environment != "" {
			subject += " in " + data.Environment
		}
		return line("%s is silent. %s", subject, data.Detail)
	case UsageExhausted, Test:
		return line("%s", data.Detail)
	case LevelExpired:
		return line("The temporary level of %s expired%s", strings.ToLower(subject[:1])+subject[1:], summarized(data))
	}
	who := "Signalbox"
	if data.Actor != nil {
		who = data.Actor.Name
	}
	return line("%s: %s by %s%s", subject, data.Action, who, summarized(data))
}

// summarized returns the first sentences of a summary, after a colon.
func summarized(data Data) string {
	const listed = 3
	var texts []string
	for _, each := range data.Summary[:min(listed, len(data.Summary))] {
		texts = append(texts, each.String())
	}
	if len(texts) == 0 {
		return "."
	}
	if more := len(data.Summary) - listed; more > 0 {
		texts = append(texts, fmt.Sprintf("%d more", more))
	}
	return ": " + strings.Join(texts, "; ") + "."
}

// label returns a kind as people read it.
func label(kind string) string {
	text := naming.Words(kind)
	return strings.ToUpper(text[:min(1, len(text))]) + text[min(1, len(text)):]
}

// line returns a formatted text in one line of bounded length, without hidden characters.
func line(format string, args ...any) string {
	text := naming.Printable(strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	if len(text) > maxLine {
		text = trimmed(text, maxLine) + "…"
	}
	return text
}

// text returns a message whose lines were made safe for a chat system.
func (c Content) text(escape func(string) string) string {
	lines := c.lines()
	for i := range lines {
		lines[i] = escape(lines[i])
	}
	text := strings.Join(lines, "\n")
	if link := c.link(); link != "" {
		return trimmed(text, maxText-len(link)) + "\n" + link
	}
	return trimmed(text, maxText)
}

// link returns the page about the event, or "" if there are several.
func (c Content) link() string {
	if len(c.Events) == 1 {
		return c.Events[0].Data.URL
	}
	return ""
}

// slackMessage escapes the three characters that Slack reads.
func slackMessage(content Content) any {
	escape := strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	return map[string]any{"text": content.text(escape.Replace)}
}

// discordMessage escapes markdown and mentions nobody.
func discordMessage(content Content) any {
	return map[string]any{"content": content.text(markdown().Replace), "allowed_mentions": map[string]any{"parse": []string{}}}
}

func markdown() *strings.Replacer {
	var pairs []string
	for _, each := range "\\*_~`|>[]#" {
		pairs = append(pairs, string(each), `\`+string(each))
	}
	return strings.NewReplacer(pairs...)
}

// teamsMessage returns an adaptive card, as workflows of Microsoft Teams take it.
func teamsMessage(content Content) any {
	blocks := []any{}
	for i, each := range content.lines() {
		block := map[string]any{"type": "TextBlock", "text": markdown().Replace(each), "wrap": true}
		if i == 0 {
			block["weight"] = "Bolder"
		}
		blocks = append(blocks, block)
	}
	card := map[string]any{"$schema": "http://adaptivecards.io/schemas/adaptive-card.json", "type": "AdaptiveCard", "version": "1.4", "body": blocks}
	if link := content.link(); link != "" {
		card["actions"] = []any{map[string]any{"type": "Action.OpenUrl", "title": "Open", "url": link}}
	}
	return map[string]any{"type": "message", "attachments": []any{map[string]any{"contentType": "application/vnd.microsoft.card.adaptive", "content": card}}}
}

// pagerDutyMessage returns an event of PagerDuty's Events API v2. All events of one job have one incident, which the job's
// recovery resolves.
func pagerDutyMessage(webhook Webhook, routingKey string, event Told) any {
	action, severity := "trigger", "info"
	switch event.Type {
	case JobRecovered:
		action = "resolve"
	case JobFailing, JobReminder, RunFailed, UsageExhausted:
		severity = "error"
	case JobLate, ServiceSilent:
		severity = "warning"
	}
	incident := "signalbox/" + webhook.Account + "/" + event.Data.Kind + "/" + event.Data.Key + "/" + event.Data.Environment
	message := map[string]any{"routing_key": routingKey, "event_action": action, "dedup_key": trimmed(incident, 255), "client": "Signalbox",
		"payload": map[string]any{"summary": trimmed(sentence(event), 1024), "source": "signalbox", "severity": severity, "timestamp": event.At.Format(time.RFC3339Nano),
			"component": event.Data.Key, "class": event.Type, "custom_details": map[string]any{"detail": event.Data.Detail, "action": event.Data.Action, "run": event.Data.Run}}}
	if event.Data.URL != "" {
		message["client_url"] = event.Data.URL
	}
	return message
}
