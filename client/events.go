package signalbox

import (
	"context"
	"crypto/tls"
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

// The names of events. Those in the plural say that many may have changed.
const (
	// EventConnected is no change: it tells that the stream begins, or goes on
	// after it was interrupted.
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
)

const (
	// streamSilence is how long a stream may be silent: the server sends
	// something every 30 seconds.
	streamSilence = 75 * time.Second
	// streamLasted is how long a connection must live to count as good.
	streamLasted = 10 * time.Second
	// maxEvent is more than any event has.
	maxEvent = 64 << 10
)

// Event is something that happened in the account.
type Event struct {
	// Name is what happened, such as [EventFlagChanged].
	Name string `json:"event"`
	// ID is the resource's; empty when many may have changed.
	ID string `json:"id,omitempty"`
	// Level is the base level of a logger that changed; none when it inherits.
	Level loglevel.Level `json:"level,omitzero"`
	// Seq is the number of the change in the account; see [EventParams].
	Seq int64 `json:"seq"`
	// Resumed is set on [EventConnected] when nothing was missed. When it is
	// not, whatever was read before is to be read again.
	Resumed bool `json:"resumed,omitempty"`
}

// EventParams choose where a stream begins.
type EventParams struct {
	// Since is the number of the last event that is known; the stream goes on
	// after it. Nil begins now.
	Since *int64
	// OnDisconnect is told why a connection ended or was not made, before the
	// next one is tried. It may be nil.
	OnDisconnect func(error)
}

// EventsAPI is the stream of what happens in the account.
type EventsAPI struct{ transport *transport }

// Follow gives what happens in the account as it happens, every event once and
// in order. A connection that is lost is made again, and the stream goes on
// where it was: an event [EventConnected] tells whether anything was missed.
// It ends when the context does, or when the server refuses for good, with the
// error.
func (a EventsAPI) Follow(ctx context.Context, params EventParams) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		f := &follower{transport: a.transport, since: params.Since, yield: yield}
		for attempt := 1; ; attempt++ {
			began := time.Now()
			err := f.connection(ctx)
			if f.left {
				return
			}
			if ctx.Err() != nil || final(err) {
				yield(Event{}, errors.Join(context.Cause(ctx), err))
				return
			}
			if params.OnDisconnect != nil {
				params.OnDisconnect(err)
			}
			if time.Since(began) > streamLasted {
				attempt = 1
			}
			if err := a.transport.wait(ctx, a.transport.pauseBefore(attempt, err)); err != nil {
				yield(Event{}, err)
				return
			}
		}
	}
}

// pauseBefore is how long to wait before the stream is connected again.
func (t *transport) pauseBefore(attempt int, err error) time.Duration {
	policy := RetryPolicy{MinWait: 200 * time.Millisecond, MaxWait: 10 * time.Second}
	pause := policy.backoff(attempt, t.random())
	if refusal, is := errors.AsType[*APIError](err); is {
		pause += refusal.RetryAfter
	}
	return pause
}

// final tells whether connecting again cannot help.
func final(err error) bool {
	if _, distrusted := errors.AsType[*tls.CertificateVerificationError](err); distrusted {
		return true
	}
	refusal, is := errors.AsType[*APIError](err)
	return is && refusal.StatusCode < http.StatusInternalServerError &&
		refusal.StatusCode != http.StatusTooManyRequests && refusal.StatusCode != http.StatusRequestTimeout
}

// follower is a stream over all its connections.
type follower struct {
	transport *transport
	since     *int64
	yield     func(Event, error) bool
	left      bool // whoever followed has enough
}

// connection follows the stream until the connection ends, and gives why.
func (f *follower) connection(ctx context.Context) error {
	conn, err := f.transport.openStream(ctx, f.since)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	conn.SetReadLimit(maxEvent)
	conn.SetPingHandler(func(payload string) error {
		_ = conn.SetReadDeadline(time.Now().Add(streamSilence)) // it fails when the connection has ended, which reading notices
		return conn.WriteControl(websocket.PongMessage, []byte(payload), time.Now().Add(time.Second))
	})
	for !f.left {
		if err := f.receive(conn); err != nil {
			return &connectionError{streamRequest().name(), err}
		}
	}
	return nil
}

// receive takes one frame.
func (f *follower) receive(conn *websocket.Conn) error {
	if err := conn.SetReadDeadline(time.Now().Add(streamSilence)); err != nil {
		return err
	}
	_, text, err := conn.ReadMessage()
	if err != nil {
		return err
	}
	if string(text) == "ping" {
		return conn.WriteMessage(websocket.TextMessage, []byte("pong"))
	}
	event, err := f.understand(text)
	if err != nil || event.Name == "" { // what a later version may send
		return err
	}
	f.left = !f.yield(event, nil)
	return nil
}

// understand makes an event of a frame, and notes its number as the one to go
// on after. One without a number has that of the event before it, and a level
// that this version does not know is none.
func (f *follower) understand(text []byte) (Event, error) {
	var frame struct {
		Event
		Type  string `json:"type"`
		Level any    `json:"level"`
		Seq   *int64 `json:"seq"`
	}
	if err := json.Unmarshal(text, &frame); err != nil {
		return Event{}, fmt.Errorf("a frame is not one of Signalbox's: %w", err)
	}
	event := frame.Event
	if name, is := frame.Level.(string); is {
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

// openStream opens a connection, which goes on after a number unless that is nil.
func (t *transport) openStream(ctx context.Context, since *int64) (*websocket.Conn, error) {
	dialer := t.dialer()
	r := streamRequest()
	target := "ws" + strings.TrimPrefix(t.base, "http") + r.path()
	if since != nil {
		target += "?" + url.Values{"since": {strconv.FormatInt(*since, 10)}}.Encode()
	}
	conn, response, err := dialer.DialContext(ctx, target, http.Header{"Authorization": {t.authorization}, "User-Agent": {t.userAgent}}) //nolint:bodyclose // the library has read it
	switch {
	case err == nil:
		return conn, nil
	case errors.Is(err, websocket.ErrBadHandshake) && response != nil:
		body, _ := io.ReadAll(response.Body) // the library keeps the beginning
		return nil, newAPIError(r, response, body)
	}
	return nil, &connectionError{r.name(), err}
}

// dialer connects as the HTTP client does. The configuration is a copy: the
// original changes when it is first used, and offers HTTP/2, over which this
// kind of stream cannot be opened.
func (t *transport) dialer() websocket.Dialer {
	dialer := websocket.Dialer{HandshakeTimeout: t.timeout, ReadBufferSize: 1 << 10, WriteBufferSize: 256}
	inner, is := t.http.Transport.(*http.Transport)
	if !is {
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
