package manifest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

const (
	// stored is the reference to the value that a header has on the server.
	storedReference = "stored"
	envPrefix       = "env:"
	redacted        = "<redacted>"
)

// header is a header of a job, with a value or a reference to one.
type header struct {
	Name      string  `json:"name"`
	Value     *string `json:"value,omitempty"`
	ValueFrom string  `json:"valueFrom,omitempty"`
}

// jobHeaders returns the configuration of a job and its headers, if they are a list.
func jobHeaders(job attributes) (configuration attributes, headers []header, ok bool) {
	if json.Unmarshal(job["configuration"], &configuration) != nil || configuration == nil {
		return nil, nil, false
	}
	if json.Unmarshal(configuration["headers"], &headers) != nil {
		return nil, nil, false
	}
	return configuration, headers, len(headers) > 0
}

// withHeaders returns a job whose configuration has these headers.
func withHeaders(job, configuration attributes, headers []header) attributes {
	configuration["headers"] = raw(headers)
	job = maps.Clone(job)
	job["configuration"] = raw(configuration)
	return job
}

// withSecrets returns the attributes of a resource with the values that its headers refer to.
func (p *Plan) withSecrets(resource Resource, current attributes) (attributes, error) {
	configuration, headers, is := jobHeaders(resource.Attributes)
	if resource.Kind != "job" || !is || !slices.ContainsFunc(headers, func(h header) bool { return h.ValueFrom != "" }) {
		return resource.Attributes, nil
	}
	for i := range headers {
		value, err := p.valueOf(headers[i], current)
		if err != nil {
			return nil, fmt.Errorf("the header %q: %w", headers[i].Name, err)
		}
		headers[i].Value, headers[i].ValueFrom = value, ""
	}
	return withHeaders(resource.Attributes, configuration, headers), nil
}

// valueOf returns the value of a header.
func (p *Plan) valueOf(h header, current attributes) (*string, error) {
	variable, isVariable := strings.CutPrefix(h.ValueFrom, envPrefix)
	switch {
	case h.ValueFrom == "":
		return h.Value, nil
	case h.Value != nil:
		return nil, fmt.Errorf("it has a value and valueFrom; only one may be there")
	case isVariable:
		value := p.options.Variable(variable)
		if value == "" {
			return nil, fmt.Errorf("the variable %s is not set", variable)
		}
		return &value, nil
	case h.ValueFrom == storedReference:
		_, headers, _ := jobHeaders(current)
		at := slices.IndexFunc(headers, func(stored header) bool { return strings.EqualFold(stored.Name, h.Name) })
		if at < 0 || headers[at].Value == nil || *headers[at].Value == redacted {
			return nil, fmt.Errorf("the server has no value for it that this key may read; say valueFrom: env:NAME")
		}
		return headers[at].Value, nil
	default:
		return nil, fmt.Errorf("valueFrom must be env:NAME, or %s for the value that the server has", storedReference)
	}
}

// hide replaces the values of headers, so that a plan can be shown. A changed one is told apart.
func hide(before, after attributes) (attributes, attributes) {
	_, old, _ := jobHeaders(before)
	return hidden(before, nil), hidden(after, old)
}

func hidden(job attributes, old []header) attributes {
	configuration, headers, is := jobHeaders(job)
	if !is {
		return job
	}
	for i, each := range headers {
		text := "<hidden>"
		if old != nil && each.Value != nil && !slices.ContainsFunc(old, func(h header) bool {
			return strings.EqualFold(h.Name, each.Name) && h.Value != nil && *h.Value == *each.Value
		}) {
			text = "<hidden, another value>"
		}
		headers[i].Value = &text
	}
	return withHeaders(job, configuration, headers)
}
