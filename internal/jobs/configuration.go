package jobs

import (
	"bytes"
	"encoding/json"
	"net"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/hosts"
)

// Redacted stands for what is secret.
const Redacted = "<redacted>"

// Header is one header of a job's request.
type Header struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Plain is a configuration with its secrets, as it is sent, sealed and given
// to those who may read the job.
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

// Configuration is what a job sends. Written as JSON it shows no secret: only
// Plain does, so that whoever means to show them has to say so.
type Configuration struct{ plain Plain }

// NewConfiguration holds a configuration that was validated before.
func NewConfiguration(plain Plain) Configuration { return Configuration{plain} }

// Plain gives the configuration with its secrets.
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

// Timeout is how long the exchange may take.
func (c Configuration) Timeout() time.Duration { return time.Duration(c.plain.Timeout) * time.Second }

// Equal tells whether two configurations send the same.
func (c Configuration) Equal(other Configuration) bool {
	mine, mineErr := json.Marshal(c.Plain())
	theirs, theirsErr := json.Marshal(other.Plain())
	return mineErr == nil && theirsErr == nil && bytes.Equal(mine, theirs)
}

// Succeeds tells whether a response's status is the wanted one.
func (c Configuration) Succeeds(status int) bool {
	wanted := c.plain.SuccessStatus
	text := []byte{byte('0' + status/100%10), byte('0' + status/10%10), byte('0' + status%10)}
	if strings.HasSuffix(wanted, "xx") {
		return len(wanted) == 3 && wanted[0] == text[0]
	}
	return wanted == string(text)
}

// Request is what a run shows of the request it sent.
type Request struct {
	Method  string   `json:"method"`
	URL     string   `json:"url"`
	Headers []Header `json:"headers"`
	Body    *string  `json:"body"`
}

// Snapshot is the request without the values of its headers.
func (c Configuration) Snapshot() *Request {
	request := &Request{Method: c.plain.Method, URL: redactURL(c.plain.URL), Body: c.plain.Body, Headers: make([]Header, len(c.plain.Headers))}
	for i, header := range c.plain.Headers {
		request.Headers[i] = Header{Name: header.Name, Value: Redacted}
	}
	return request
}

// Host is what the request goes to, as host:port, however the URL spells it:
// the bound of requests to a host must not be multiplied by spellings.
func (c Configuration) Host() string {
	target, err := url.Parse(c.plain.URL)
	if err != nil {
		return ""
	}
	port := target.Port()
	if number, err := strconv.Atoi(port); err == nil {
		port = strconv.Itoa(number) // 080 is 80
	}
	switch {
	case port != "":
	case strings.EqualFold(target.Scheme, "https"):
		port = "443"
	default:
		port = "80"
	}
	return net.JoinHostPort(hosts.Canonical(target.Hostname()), port)
}

// MarshalJSON writes the configuration for the history: without header values,
// user information and the values of the query, and with the size of a body in
// its place. A hash would give away a body that can be guessed.
func (c Configuration) MarshalJSON() ([]byte, error) {
	snapshot := c.Snapshot()
	recorded := struct {
		Method        string   `json:"method"`
		URL           string   `json:"url"`
		Headers       []Header `json:"headers"`
		SuccessStatus string   `json:"success_status"`
		TLSVerify     bool     `json:"tls_verify"`
		CACert        *string  `json:"ca_cert"`
		BodyBytes     int      `json:"body_bytes"`
		Timeout       int      `json:"timeout"`
	}{snapshot.Method, redactQuery(snapshot.URL), snapshot.Headers, c.plain.SuccessStatus, c.plain.TLSVerify, c.plain.CACert, 0, c.plain.Timeout}
	if c.plain.Body != nil {
		recorded.BodyBytes = len(*c.plain.Body)
	}
	return json.Marshal(recorded)
}

// redactURL hides user information.
func redactURL(text string) string {
	target, err := url.Parse(text)
	if err != nil || target.User == nil {
		return text
	}
	start := strings.Index(text, "//") + 2
	end := len(text)
	if path := strings.IndexAny(text[start:], "/?#"); path >= 0 {
		end = start + path
	}
	return text[:start] + Redacted + text[start+strings.LastIndexByte(text[start:end], '@'):]
}

// redactQuery hides what follows the path, but for the names of parameters.
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
