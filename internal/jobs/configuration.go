package jobs

import (
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/hosts"
)

// Redacted replaces secrets that are shown or recorded.
const Redacted = hosts.Redacted

// Header is one header of a job's request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Plain is a configuration with its secrets. It is sent, stored encrypted, and shown
// to callers who may replace the job.
type Plain struct {
	Method        string   `json:"method"`
	URL           string   `json:"url"`
	Headers       []Header `json:"headers"`
	SuccessStatus string   `json:"success_status"`
	TLSVerify     bool     `json:"tls_verify"`
	CACert        *string  `json:"ca_cert"`
	Body          *string  `json:"body"`
	Timeout       int      `json:"timeout"` // seconds
}

// Configuration is the request that a job sends. Its JSON has no secrets; Plain
// returns them.
type Configuration struct{ plain Plain }

// NewConfiguration wraps a plain configuration, which must be valid.
func NewConfiguration(plain Plain) Configuration { return Configuration{plain} }

// Plain returns the configuration with its secrets.
func (c Configuration) Plain() Plain {
	if c.plain.Headers == nil {
		c.plain.Headers = []Header{}
	}
	return c.plain
}

// Size returns the approximate size of the configuration in memory.
func (c Configuration) Size() int {
	const overhead = 500
	size := overhead + len(c.plain.URL)
	for _, header := range c.plain.Headers {
		size += len(header.Name) + len(header.Value)
	}
	for _, text := range []*string{c.plain.Body, c.plain.CACert} {
		if text != nil {
			size += len(*text)
		}
	}
	return size
}

// Timeout returns how long the exchange may take.
func (c Configuration) Timeout() time.Duration { return time.Duration(c.plain.Timeout) * time.Second }

// Equal reports whether two configurations are the same, secrets included.
func (c Configuration) Equal(other Configuration) bool {
	return reflect.DeepEqual(c.Plain(), other.Plain())
}

// Succeeds reports whether the status of a response counts as success.
func (c Configuration) Succeeds(status int) bool {
	return matchesStatus(c.plain.SuccessStatus, status)
}

// Request is the part of a sent request that its run shows.
type Request struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []Header `json:"headers"`
	Body    *string  `json:"body"`
}

// Snapshot returns the request without secrets.
func (c Configuration) Snapshot() *Request {
	shown := c.plain.redacted()
	return &Request{Method: shown.Method, URL: shown.URL, Headers: shown.Headers, Body: shown.Body}
}

// redacted returns the configuration without the values of its headers and the
// user information of its URL.
func (p Plain) redacted() Plain {
	headers := make([]Header, len(p.Headers))
	for i, header := range p.Headers {
		headers[i] = Header{Name: header.Name, Value: Redacted}
	}
	p.URL, p.Headers = hosts.RedactUser(p.URL), headers
	return p
}

// Host returns the destination as host:port.
func (c Configuration) Host() string { return hosts.Destination(c.plain.URL) }

// MarshalJSON writes the configuration for the history: without header values, user
// information and query values, and with the size of the body instead of the body.
// A hash of the body would confirm a guess.
func (c Configuration) MarshalJSON() ([]byte, error) {
	snapshot := c.Snapshot()
	recorded := struct {
		Plain

		Body      any `json:"body,omitempty"` // hides Plain.Body
		BodyBytes int `json:"body_bytes"`
	}{Plain: c.plain}
	recorded.URL, recorded.Headers = redactQuery(snapshot.URL), snapshot.Headers
	if c.plain.Body != nil {
		recorded.BodyBytes = len(*c.plain.Body)
	}
	return json.Marshal(recorded)
}

// redactQuery redacts the query and the fragment of a URL, except parameter names.
func redactQuery(text string) string {
	text, fragment, hasFragment := strings.Cut(text, "#")
	text, query, _ := strings.Cut(text, "?")
	if query != "" {
		parts := strings.Split(query, "&")
		for i, part := range parts {
			name, _, named := strings.Cut(part, "=")
			if parts[i] = Redacted; named {
				parts[i] = name + "=" + Redacted
			}
		}
		text += "?" + strings.Join(parts, "&")
	}
	if hasFragment && fragment != "" {
		text += "#" + Redacted
	}
	return text
}
