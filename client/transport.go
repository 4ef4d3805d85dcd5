package signalbox

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

const (
	mediaType = "application/vnd.api+json"
	// maxErrorBody limits how much of an error response is read. Any proxy may have sent it.
	maxErrorBody = 1 << 20
)

// transport sends all requests of a client.
type transport struct {
	base          string // without a slash at its end
	authorization string // the header of an API key
	session       string // the token of a signed-in person
	userAgent     string
	http          *http.Client
	timeout       time.Duration
	lenient       bool   // the server may ignore unknown members and parameters
	note          string // the note of writes without one
	retry         RetryPolicy
	wait          func(context.Context, time.Duration) error
	random        func() float64 // in [0, 1)
}

// request is one call of the API.
type request struct {
	method string
	root   string // the start of the path; empty is /api/v1
	// segments follow root. They are not yet percent-encoded.
	segments   []string
	query      url.Values
	body       any     // encoded as JSON unless nil
	ifMatch    *string // the precondition of a write, or nil
	repeatable bool    // a POST that is safe to repeat
	once       string  // the Idempotency-Key: the server carries out the POST once, however often it is sent
	note       string  // the reason, for the history
	opens      *string // receives the session that the server opens, unless nil
	// ifNoneMatch is the ETag of the caller's copy; empty for none.
	ifNoneMatch string
}

// answer is a successful response.
type answer struct {
	etag    string
	body    []byte
	session string // the token of a session that the server opened
}

// WriteOption configures one write.
type WriteOption func(*request)

// IfMatch makes the server reject the write unless the resource still has this ETag; see [IsVersionMismatch]. Items of a
// list have no ETag: Get the resource first.
func IfMatch(etag string) WriteOption {
	return func(r *request) { r.ifMatch = &etag }
}

// DryRun makes the server check and run the write, limits and rules included, and then roll it back. The result is the same
// as without DryRun, but nothing is changed.
func DryRun() WriteOption {
	return func(r *request) { r.ask("dry_run", "true") }
}

// Once makes the server carry out a POST at most once in 24 hours, however often it is sent with the same key of 1 to 255
// characters. The client makes a key for each call; choose one yourself if the call may be repeated after a restart.
func Once(key string) WriteOption {
	return func(r *request) { r.once = key }
}

// Note stores the reason for a write in the history, in up to 500 characters.
func Note(text string) WriteOption {
	return func(r *request) { r.note = text }
}

// ask adds a query parameter.
func (r *request) ask(name, value string) {
	query := url.Values{name: {value}}
	maps.Copy(query, r.query)
	r.query = query
}

// with returns the request with options applied.
func (r request) with(options []WriteOption) request {
	for _, option := range options {
		option(&r)
	}
	return r
}

// name returns the call as error messages show it.
func (r request) name() string { return "signalbox: " + r.method + " " + r.path() }

func (r request) path() string {
	var path strings.Builder
	path.WriteString(cmp.Or(r.root, "/api/v1"))
	for _, segment := range r.segments {
		path.WriteString("/" + escape(segment))
	}
	return path.String()
}

// escape percent-encodes a path segment. "." and ".." are encoded too: cleaning a path would remove them.
func escape(segment string) string {
	if segment == "." || segment == ".." {
		return strings.ReplaceAll(segment, ".", "%2E")
	}
	return strings.ReplaceAll(url.QueryEscape(segment), "+", "%20")
}

// check rejects requests that would reach another resource than the intended one.
func (r request) check() error {
	if slices.Contains(r.segments, "") {
		return fmt.Errorf("%s: an id is empty", r.name())
	}
	if r.ifMatch != nil && *r.ifMatch == "" {
		return fmt.Errorf("%s: IfMatch needs an ETag; items of a list have none, so Get the resource first", r.name())
	}
	return nil
}

// call sends a request with retries, decodes the response into result unless result is nil, and returns the ETag.
func (t *transport) call(ctx context.Context, r request, result any) (etag string, err error) {
	if err := r.check(); err != nil {
		return "", err
	}
	var body []byte
	if r.body != nil {
		if body, err = encode(r.body); err != nil {
			return "", fmt.Errorf("%s: encoding the request: %w", r.name(), err)
		}
	}
	got, err := t.repeat(ctx, r, body)
	if r.opens != nil {
		*r.opens = got.session
	}
	if err != nil || result == nil {
		return got.etag, err
	}
	if err := json.Unmarshal(got.body, result); err != nil {
		return "", fmt.Errorf("%s: %w: %w", r.name(), ErrNotSignalbox, err)
	}
	return got.etag, nil
}

// encode returns a body as JSON. A rule keeps its spelling on the server, so > must not become an escape for HTML.
func encode(body any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(body)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// repeat sends a request until an attempt succeeds or the retry policy allows no more.
func (t *transport) repeat(ctx context.Context, r request, body []byte) (answer, error) {
	for attempt := 1; ; attempt++ {
		got, err := t.attempt(ctx, r, body)
		if err == nil {
			return got, nil
		}
		pause, again := t.retry.next(attempt, r, err, t.random())
		if !again || ctx.Err() != nil || endsWithin(ctx, pause) {
			return answer{}, err
		}
		if waitErr := t.wait(ctx, pause); waitErr != nil {
			return answer{}, errors.Join(waitErr, err)
		}
	}
}

// attempt sends a request once.
func (t *transport) attempt(ctx context.Context, r request, body []byte) (answer, error) {
	if t.timeout > 0 {
		cause := fmt.Errorf("no response within %s: %w", t.timeout, context.DeadlineExceeded)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, t.timeout, cause)
		defer cancel()
	}
	sent, err := t.newRequest(ctx, r, body)
	if err != nil {
		return answer{}, fmt.Errorf("%s: %w", r.name(), err)
	}
	response, err := t.http.Do(sent)
	if err != nil {
		return answer{}, &connectionError{r.name(), withoutURL(err)}
	}
	defer response.Body.Close()
	return receive(r, response)
}

func (t *transport) newRequest(ctx context.Context, r request, body []byte) (*http.Request, error) {
	target := t.base + r.path()
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	var reader io.Reader
	if body != nil {
		reader = bytes.NewReader(body)
	}
	sent, err := http.NewRequestWithContext(ctx, r.method, target, reader)
	if err != nil {
		return nil, err
	}
	t.authenticate(sent.Header)
	sent.Header.Set("User-Agent", t.userAgent)
	sent.Header.Set("Accept", mediaType)
	if body != nil {
		sent.Header.Set("Content-Type", mediaType)
	}
	if !t.lenient {
		sent.Header.Set("Prefer", "handling=strict")
	}
	if r.ifMatch != nil {
		sent.Header.Set("If-Match", *r.ifMatch)
	}
	if r.ifNoneMatch != "" {
		sent.Header.Set("If-None-Match", r.ifNoneMatch)
	}
	if r.once != "" {
		sent.Header.Set("Idempotency-Key", r.once)
	}
	if note := cmp.Or(r.note, t.note); note != "" && r.method != http.MethodGet {
		sent.Header.Set("Signalbox-Note", escape(note))
	}
	return sent, nil
}

// sessionCookie is the cookie of a session, and secureCookie is its name on a server behind TLS. A server reads one of the
// two, depending on its settings, so both are sent.
const (
	sessionCookie = "signalbox_session"
	secureCookie  = "__Host-" + sessionCookie
)

// authenticate sets the headers that identify the caller. With a session the server checks the origin, so the server's
// own origin is sent.
func (t *transport) authenticate(header http.Header) {
	if t.authorization != "" {
		header.Set("Authorization", t.authorization)
	}
	if t.session != "" {
		header.Set("Cookie", sessionCookie+"="+t.session+"; "+secureCookie+"="+t.session)
		header.Set("Origin", origin(t.base))
	}
}

// origin returns a URL without its path.
func origin(base string) string {
	scheme, rest, _ := strings.Cut(base, "://")
	host, _, _ := strings.Cut(rest, "/")
	return scheme + "://" + host
}

// receive reads a response. It returns an *APIError unless the response is a success.
func receive(r request, response *http.Response) (answer, error) {
	var reader io.Reader = response.Body
	success := response.StatusCode >= 200 && response.StatusCode < 300
	if !success {
		reader = io.LimitReader(reader, maxErrorBody)
	}
	body, err := io.ReadAll(reader)
	switch {
	case !success:
		return answer{}, newAPIError(r, response, body)
	case err != nil:
		return answer{}, &connectionError{r.name(), fmt.Errorf("reading the response: %w", err)}
	}
	got := answer{etag: response.Header.Get("ETag"), body: body}
	for _, cookie := range response.Cookies() {
		if cookie.Name == sessionCookie || cookie.Name == secureCookie {
			got.session = cookie.Value
		}
	}
	return got, nil
}

// connectionError is a request that got no complete response.
type connectionError struct {
	name string
	err  error
}

func (e *connectionError) Error() string { return e.name + ": " + e.err.Error() }

func (e *connectionError) Unwrap() error { return e.err }

// withoutURL unwraps the standard library's error, which would repeat the method and the URL.
func withoutURL(err error) error {
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		return wrapped.Err
	}
	return err
}
