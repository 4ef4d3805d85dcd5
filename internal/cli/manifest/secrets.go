package manifest

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/internal/rawjson"
)

const (
	// storedReference is the reference to the header's value on the server.
	storedReference = "stored"
	envPrefix       = "env:"
	redacted        = "<redacted>"
)

// headersOf returns the headers of a job or a webhook, if they are a list, and the object that has them: the configuration of a
// job, or the webhook itself. Each header has a value, or a reference to one in valueFrom.
func headersOf(resource attributes) (holder attributes, headers []attributes, ok bool) {
	holder = resource
	if text, isJob := resource["configuration"]; isJob {
		holder = nil
		if json.Unmarshal(text, &holder) != nil || holder == nil {
			return nil, nil, false
		}
	}
	if json.Unmarshal(holder["headers"], &headers) != nil {
		return nil, nil, false
	}
	return holder, headers, len(headers) > 0
}

// named returns the headers with a name.
func named(headers []attributes, name string) (found []attributes) {
	for _, header := range headers {
		if strings.EqualFold(header.text("name"), name) {
			found = append(found, header)
		}
	}
	return found
}

// withHeaders returns a job or a webhook with these headers.
func withHeaders(resource, holder attributes, headers []attributes) attributes {
	holder, resource = maps.Clone(holder), maps.Clone(resource)
	holder["headers"] = raw(headers)
	if _, isJob := resource["configuration"]; !isJob {
		return holder
	}
	resource["configuration"] = raw(holder)
	return resource
}

// withSecrets returns the attributes of a resource with the values that its headers refer to. A value that cannot be read
// is redacted.
func (p *Plan) withSecrets(resource Resource, current attributes) (attributes, error) {
	if !hasHeaders(resource.Kind) {
		return resource.Attributes, nil
	}
	resolved, problem := p.withURL(resource.Attributes, current)
	holder, headers, is := headersOf(resolved)
	if !is {
		return resolved, problem
	}
	_, stored, _ := headersOf(current)
	problems := []error{problem}
	for i, header := range headers {
		if header.text("valueFrom") == "" {
			continue
		}
		name := header.text("name")
		value, err := p.valueOf(header, storedValue(stored, headers[:i], name))
		if err != nil {
			value, problems = raw(redacted), append(problems, fmt.Errorf("the header %q: %w", name, err))
		}
		header["value"] = value
		delete(header, "valueFrom")
	}
	return withHeaders(resolved, holder, headers), errors.Join(problems...)
}

// hasHeaders reports whether resources of a kind have headers, whose values are secrets.
func hasHeaders(kind string) bool { return kind == "job" || kind == "webhook" }

// withURL returns a webhook with the URL that it refers to. A URL that cannot be read is redacted.
func (p *Plan) withURL(webhook, current attributes) (attributes, error) {
	var reference attributes
	if json.Unmarshal(webhook["url"], &reference) != nil || reference == nil {
		return webhook, nil //nolint:nilerr // a text is a URL, and the server refuses anything else
	}
	value, err := p.valueOf(reference, current["url"])
	if err != nil {
		value, err = raw(redacted), fmt.Errorf("url: %w", err)
	}
	webhook = maps.Clone(webhook)
	webhook["url"] = value
	return webhook, err
}

// isChat reports whether a webhook's format is that of a chat, whose URLs are as good as passwords.
func isChat(webhook attributes) bool {
	return slices.Contains([]string{"slack", "teams", "discord"}, webhook.text("format"))
}

// valueOf returns the value that a header refers to. stored is the header's value on the server; nil for none.
func (p *Plan) valueOf(header attributes, stored json.RawMessage) (json.RawMessage, error) {
	reference := header.text("valueFrom")
	variable, isVariable := strings.CutPrefix(reference, envPrefix)
	switch {
	case !empty(header["value"]):
		return nil, fmt.Errorf("it has both value and valueFrom; remove one")
	case isVariable:
		value := p.options.Variable(variable)
		if value == "" {
			return nil, fmt.Errorf("the variable %s is not set", variable)
		}
		return raw(value), nil
	case reference == storedReference && stored == nil:
		return nil, fmt.Errorf("the server has no value for it that this key may read; use valueFrom: env:NAME")
	case reference == storedReference:
		return stored, nil
	default:
		return nil, fmt.Errorf("valueFrom must be env:NAME, or %s for the value that the server has", storedReference)
	}
}

// storedValue returns a header's value on the server; nil if there is none or it may not be read. There may be several
// headers with one name: the second in a file is the second on the server.
func storedValue(stored, earlier []attributes, name string) json.RawMessage {
	candidates, at := named(stored, name), len(named(earlier, name))
	if at >= len(candidates) || candidates[at].text("value") == redacted {
		return nil
	}
	return candidates[at]["value"]
}

// hide replaces the values of headers and the URLs of chats, so that a plan can be shown. A changed value gets a different
// replacement.
func hide(before, after attributes) (attributes, attributes) {
	_, old, _ := headersOf(before)
	shownBefore, shownAfter := hidden(before, nil), hidden(after, old)
	if isChat(before) || isChat(after) {
		shownBefore, shownAfter = hiddenURL(shownBefore, before["url"]), hiddenURL(shownAfter, before["url"])
	}
	return shownBefore, shownAfter
}

// hiddenURL replaces the URL of a webhook. old is the URL before a change; nil for none.
func hiddenURL(webhook attributes, old json.RawMessage) attributes {
	if webhook == nil {
		return nil
	}
	text := "<hidden>"
	if old != nil && !rawjson.Same(old, webhook["url"]) {
		text = "<hidden, another value>"
	}
	webhook = maps.Clone(webhook)
	webhook["url"] = raw(text)
	return webhook
}

func hidden(resource attributes, old []attributes) attributes {
	holder, headers, is := headersOf(resource)
	if !is {
		return resource
	}
	for _, header := range headers {
		text := "<hidden>"
		isSame := func(other attributes) bool { return rawjson.Same(other["value"], header["value"]) }
		if old != nil && !slices.ContainsFunc(named(old, header.text("name")), isSame) {
			text = "<hidden, another value>"
		}
		header["value"] = raw(text)
	}
	return withHeaders(resource, holder, headers)
}
