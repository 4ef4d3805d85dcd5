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

// jobHeaders returns the configuration of a job and its headers, if they are a list. Each header has a value, or a reference
// to one in valueFrom.
func jobHeaders(job attributes) (configuration attributes, headers []attributes, ok bool) {
	if json.Unmarshal(job["configuration"], &configuration) != nil || configuration == nil {
		return nil, nil, false
	}
	if json.Unmarshal(configuration["headers"], &headers) != nil {
		return nil, nil, false
	}
	return configuration, headers, len(headers) > 0
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

// withHeaders returns a job whose configuration has these headers.
func withHeaders(job, configuration attributes, headers []attributes) attributes {
	configuration["headers"] = raw(headers)
	job = maps.Clone(job)
	job["configuration"] = raw(configuration)
	return job
}

// withSecrets returns the attributes of a resource with the values that its headers refer to. A value that cannot be read
// is redacted.
func (p *Plan) withSecrets(resource Resource, current attributes) (attributes, error) {
	configuration, headers, is := jobHeaders(resource.Attributes)
	if resource.Kind != "job" || !is {
		return resource.Attributes, nil
	}
	_, stored, _ := jobHeaders(current)
	var problems []error
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
	return withHeaders(resource.Attributes, configuration, headers), errors.Join(problems...)
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

// storedValue returns a header's value on the server; nil if there is none or it may not be read. A job may have several
// headers with one name: the second in a file is the second on the server.
func storedValue(stored, earlier []attributes, name string) json.RawMessage {
	candidates, at := named(stored, name), len(named(earlier, name))
	if at >= len(candidates) || candidates[at].text("value") == redacted {
		return nil
	}
	return candidates[at]["value"]
}

// hide replaces the values of headers, so that a plan can be shown. A changed value gets a different replacement.
func hide(before, after attributes) (attributes, attributes) {
	_, old, _ := jobHeaders(before)
	return hidden(before, nil), hidden(after, old)
}

func hidden(job attributes, old []attributes) attributes {
	configuration, headers, is := jobHeaders(job)
	if !is {
		return job
	}
	for _, header := range headers {
		text := "<hidden>"
		isSame := func(other attributes) bool { return rawjson.Same(other["value"], header["value"]) }
		if old != nil && !slices.ContainsFunc(named(old, header.text("name")), isSame) {
			text = "<hidden, another value>"
		}
		header["value"] = raw(text)
	}
	return withHeaders(job, configuration, headers)
}
