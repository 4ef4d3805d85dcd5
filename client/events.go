package signalbox

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/client/loglevel"
)

// The names of events. A plural name means that many resources may have changed.
const (
	// EventConnected is not a change. It is the first event of a stream, and the first after each interruption.
	EventConnected = "connected"

	EventFlagChanged    = "flag_changed"
	EventFlagDeleted    = "flag_deleted"
	EventFlagsChanged   = "flags_changed"
	EventConfigChanged  = "config_changed"
	EventConfigDeleted  = "config_deleted"
	EventConfigsChanged = "configs_changed"
	EventLoggerChanged  = "logger_changed"
	EventLoggerDeleted  = "logger_deleted"
	EventGroupChanged   = "group_changed"
	EventGroupDeleted   = "group_deleted"
	EventLoggersChanged = "loggers_changed"

	// The following events are sent only with [EventParams.AllTopics].
	EventJobChanged         = "job_changed"
	EventJobDeleted         = "job_deleted"
	EventJobFailing         = "job.failing"
	EventJobLate            = "job.late"
	EventJobRecovered       = "job.recovered"
	EventEnvironmentChanged = "environment_changed"
	EventEnvironmentDeleted = "environment_deleted"
	EventKeyChanged         = "api_key_changed"
	EventUserChanged        = "user_changed"
)

const (
	// maxSilence ends a connection without any frame; the server sends a heartbeat every 30 seconds.
	maxSilence = 75 * time.Second
	// stableAfter is how long a connection must last to reset the backoff.
	stableAfter = 10 * time.Second
	// maxEventBytes is larger than any event.
	maxEventBytes = 64 << 10
)

// Event is a change in the account, or [EventConnected].
type Event struct {
	// Name is what happened, such as [EventFlagChanged].
	Name string `json:"event"`
	// ID is the resource's id; empty when many may have changed.
	ID string `json:"id,omitempty"`
	// Level is the base level of a logger that changed; None when it inherits.
	Level loglevel.Level `json:"level,omitzero"`
	// Seq is the number of the change in the account; see [EventParams.Since].
	Seq int64 `json:"seq"`
	// Server is the server and its version, such as "signalbox/1.4.0". Only [EventConnected] has it.
	Server string `json:"server,omitempty"`
	// Resumed is set on [EventConnected] when no event was missed. If it is not set, reload everything that you have read
	// before.
	Resumed bool `json:"resumed,omitempty"`
}

// EventParams configure a stream.
type EventParams struct {
	// Since resumes after the change with this number; nil starts with new changes.
	Since *int64
	// Service and Environment name the follower in the list of connections; both may be empty.
	Service, Environment string
	// AllTopics adds the events of jobs and their health, environments, keys and users, which running services do not need.
	AllTopics bool
	// OnDisconnect, if set, is called with the reason before every attempt to reconnect.
	OnDisconnect func(error)
	// Once ends the stream with its first connection, for callers that decide themselves when to reconnect.
	Once bool
}

// EventsAPI streams the changes of the account.
type EventsAPI struct{ transport *transport }

// Follow streams the changes of the account as they happen, every event once and in order. It reconnects and resumes
// when the connection is lost; [EventConnected] says whether events were missed. It ends with an error when ctx is
// done, when the server rejects the request, or, with [EventParams.Once], when the connection is lost.
func (a EventsAPI) Follow(ctx context.Context, params EventParams) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{transport: a.transport, since: params.Since, query: params.query(), yield: yield}
		for attempt := 1; ; attempt++ {
			began := time.Now()
			err := f.follow(ctx)
			if f.stopped {
				return
			}
			if ctx.Err() != nil || params.Once || isFinal(err) {
				yield(Event{}, errors.Join(context.Cause(ctx), err))
				return
			}
			if params.OnDisconnect != nil {
				params.OnDisconnect(err)
			}
			if time.Since(began) > stableAfter {
				attempt = 1
			}
			if err := a.transport.wait(ctx, a.transport.reconnectPause(attempt, err)); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// reconnectPause returns how long to wait before reconnecting a stream.
func (t *transport) reconnectPause(attempt int, err error) time.Duration {
	policy := RetryPolicy{MinWait: 200 * time.Millisecond, MaxWait: 10 * time.Second}
	pause := policy.backoff(attempt, t.random())
	if apiErr, ok := errors.AsType[*APIError](err); ok {
		pause += apiErr.RetryAfter
	}
	return pause
}

// isFinal reports whether reconnecting cannot help.
func isFinal(err error) bool {
	apiErr, ok := errors.AsType[*APIError](err)
	return isUntrusted(err) || ok && apiErr.StatusCode < http.StatusInternalServerError &&
		apiErr.StatusCode != http.StatusTooManyRequests && apiErr.StatusCode != http.StatusRequestTimeout
}

// follower is the state of a stream across its connections.
type follower struct {
	transport *transport
	since     *int64
	query     url.Values // besides since
	yield     func(Event, error) bool
	stopped   bool // the caller left the loop
}

// follow opens one connection and yields its events until it ends. It returns the reason.
func (f *follower) follow(ctx context.Context) error {
	conn, err := f.transport.openStream(ctx, f.query, f.since)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	conn.SetReadLimit(maxEventBytes)
	conn.SetPingHandler(func(payload string) error {
		_ = conn.SetReadDeadline(time.Now().Add(maxSilence)) // an error here also ends the read
		return conn.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(time.Second))
	})
	for !f.stopped {
		if err := f.receive(conn); err != nil {
			return &connectionError{streamRequest().name(), err}
		}
	}
	return nil
}

// receive reads one frame and yields its event.
func (f *follower) receive(conn *websocket.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(maxSilence)); err != nil {
		return err
	}
	_, text, err := conn.ReadMessage()
	if err != nil {
		return err
	}
	if string(text) == "ping" {
		return conn.WriteMessage(websocket.TextMessage, []byte("pong"))
	}
	event, err := f.decode(text)
	if err != nil || event.Name == "" { // a frame of a newer server
		return err
	}
	f.stopped = !f.yield(event, nil)
	return nil
}

// decode returns the event in a frame and records its number to resume after. An event without a number gets the number
// of the previous event. An unknown level becomes None.
func (f *follower) decode(text []byte) (Event, error) {
	var frame struct {
		Event
		Type  string `json:"type"`
		Level any    `json:"level"`
		Seq   *int64 `json:"seq"`
	}
	if err := json.Unmarshal(text, &frame); err != nil {
		return Event{}, fmt.Errorf("a frame is not a Signalbox event: %w", err)
	}
	event := frame.Event
	if name, ok := frame.Level.(string); ok {
		event.Level, _ = loglevel.Parse(name)
	}
	if frame.Type == EventConnected {
		event.Name = EventConnected
		event.Resumed = f.since != nil && frame.Seq != nil && *f.since == *frame.Seq
	}
	if event.Name != "" && frame.Seq != nil {
		f.since = frame.Seq
	}
	if f.since != nil {
		event.Seq = *f.since
	}
	return event, nil
}

func streamRequest() request {
	return request{method: http.MethodGet, root: "/api/ws/v1", segments: []string{"events"}}
}

// query returns the parameters of the stream, except since, which changes with every event.
func (p EventParams) query() url.Values {
	query := url.Values{}
	for name, value := range map[string]string{"service": p.Service, "environment": p.Environment} {
		if value != "" {
			query.Set(name, value)
		}
	}
	if p.AllTopics {
		query.Set("topics", "all")
	}
	return query
}

// openStream opens a connection. A nil since starts with new changes; any other resumes after that change.
func (t *transport) openStream(ctx context.Context, query url.Values, since *int64) (*websocket.Conn, error) {
	dialer := t.dialer()
	r := streamRequest()
	target := "ws" + strings.TrimPrefix(t.base, "http") + r.path()
	if since != nil {
		query.Set("since", strconv.FormatInt(*since, 10))
	}
	if len(query) > 0 {
		target += "?" + query.Encode()
	}
	header := http.Header{"User-Agent": {t.userAgent}}
	t.authenticate(header)
	conn, response, err := dialer.DialContext(ctx, target, header) //nolint:bodyclose // the library has read it
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, websocket.ErrBadHandshake) && response != nil:
		body, _ := io.ReadAll(response.Body) // the library keeps its first bytes
		return nil, newAPIError(r, response, body)
	}
	return nil, &connectionError{r.name(), err}
}

// dialer connects like the HTTP client. It uses a copy of the TLS configuration without HTTP/2, which a WebSocket cannot
// use.
func (t *transport) dialer() websocket.Dialer {
	dialer := websocket.Dialer{HandshakeTimeout: t.timeout, ReadBufferSize: 1 << 10, WriteBufferSize: 256}
	inner, ok := t.http.Transport.(*http.Transport)
	if !ok {
		dialer.Proxy = http.ProxyFromEnvironment
		return dialer
	}
	own := inner.Clone()
	if own.TLSClientConfig != nil {
		own.TLSClientConfig.NextProtos = nil
	}
	dialer.Proxy, dialer.TLSClientConfig, dialer.NetDialContext = own.Proxy, own.TLSClientConfig, own.DialContext
	return dialer
}
