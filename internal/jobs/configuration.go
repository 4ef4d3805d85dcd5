package jobs

import (
	"cmp"
	"encoding/json"
	"net"
	"net/url"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/hosts"
)

// Redacted replaces secrets that are shown or recorded.
const Redacted = "<redacted>"

// Header is one header of a job's request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Plain is a configuration with its secrets, as it is sent, stored encrypted and
// shown to those who may replace the job.
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

// Configuration is what a job sends. Its JSON has no secrets; whoever means to
// show them calls Plain.
type Configuration struct{ plain Plain }

// NewConfiguration returns a configuration that was validated before.
func NewConfiguration(plain Plain) Configuration { return Configuration{plain} }

// Plain returns the configuration with its secrets.
func (c Configuration) Plain() Plain {
	if c.plain.Headers == nil {
		c.plain.Headers = []Header{}
	}
	return c.plain
}

// Size returns about how many bytes of memory the configuration takes.
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

// Equal reports whether two configurations send the same.
func (c Configuration) Equal(other Configuration) bool {
	return reflect.DeepEqual(c.Plain(), other.Plain())
}

// Succeeds reports whether a response's status is a wanted one.
func (c Configuration) Succeeds(status int) bool {
	text := strconv.Itoa(status)
	class, isClass := strings.CutSuffix(c.plain.SuccessStatus, "xx")
	return text == c.plain.SuccessStatus || isClass && len(text) == 3 && text[:1] == class
}

// Request is what a run shows of the request it sent.
type Request struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []Header `json:"headers"`
	Body    *string  `json:"body"`
}

// Snapshot returns the request without the values of its headers.
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
	p.URL, p.Headers = hosts.ReplaceUser(p.URL, Redacted), headers
	return p
}

// Host returns the destination as host:port in one spelling, because the number
// of requests to a host is limited.
func (c Configuration) Host() string {
	target, err := url.Parse(c.plain.URL)
	if err != nil {
		return ""
	}
	port := target.Port()
	if number, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(number) // 080 is 80
	}
	standard := "80"
	if strings.EqualFold(target.Scheme, "https") {
		standard = "443"
	}
	return net.JoinHostPort(hosts.Canonical(target.Hostname()), cmp.Or(port, standard))
}

// MarshalJSON writes the configuration for the history: without header values,
// user information and the values of the query, and with the size of the body
// instead of it. A hash would reveal a body that can be guessed.
func (c Configuration) MarshalJSON() ([]byte, error) {
	snapshot := c.Snapshot()
	recorded := struct {
		Plain

		Body      any `json:"body,omitempty"` // hides that of Plain
		BodyBytes int `json:"body_bytes"`
	}{Plain: c.plain}
	recorded.URL, recorded.Headers = redactQuery(snapshot.URL), snapshot.Headers
	if c.plain.Body != nil {
		recorded.BodyBytes = len(*c.plain.Body)
	}
	return json.Marshal(recorded)
}

// redactQuery replaces what follows the path, except the names of parameters.
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
