package signalbox

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/loglevel"
)

// connection is how a test server treats a connection: it rejects it, or sends frames and closes it.
type connection struct {
	rejectWith int
	frames     []string
	// awaits is what the client must send before the server closes the connection.
	awaits string
	// stays leaves closing the connection to the client.
	stays bool
}

// eventServer handles a list of connections; the last is repeated.
type eventServer struct {
	*httptest.Server
	t *testing.T

	mu      sync.Mutex
	list    []connection
	queries []string
}

func newEventServer(t *testing.T, list ...connection) *eventServer {
	t.Helper()
	p := &eventServer{t: t, list: list}
	p.Server = httptest.NewServer(p)
	t.Cleanup(p.Close)
	return p
}

// ServeHTTP handles the next connection.
func (p *eventServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.Lock()
	p.queries = append(p.queries, r.URL.RawQuery)
	now := p.list[min(len(p.queries), len(p.list))-1]
	p.mu.Unlock()
	if r.URL.Path != "/api/ws/v1/events" || r.Header.Get("Authorization") != "Bearer sk_api_secret" {
		p.t.Errorf("got %s with %q", r.URL, r.Header.Get("Authorization"))
	}
	if now.rejectWith != 0 {
		w.WriteHeader(now.rejectWith)
		_, _ = fmt.Fprintf(w, `{"errors":[{"status":"%d","code":"unauthorized","title":"T","detail":"No.","meta":{}}]}`, now.rejectWith)
		return
	}
	upgrader := websocket.Upgrader{}
	conn, err := upgrader.Upgrade(w, r, nil)
	if err != nil {
		p.t.Error(err)
		return
	}
	defer conn.Close()
	for _, frame := range now.frames {
		if conn.WriteMessage(websocket.TextMessage, []byte(frame)) != nil {
			return
		}
	}
	if now.stays {
		_, _, _ = conn.ReadMessage()
	}
	if now.awaits != "" {
		if _, text, err := conn.ReadMessage(); err != nil || string(text) != now.awaits {
			p.t.Errorf("the client sent %q, %v", text, err)
		}
	}
}

func (p *eventServer) client(t *testing.T) (*Client, *pauses) {
	t.Helper()
	recorded := &pauses{}
	client, err := New(p.URL, "sk_api_secret", func(t *transport) { t.wait, t.random = recorded.wait, func() float64 { return 0 } })
	if err != nil {
		t.Fatal(err)
	}
	return client, recorded
}

// follow collects events until there are enough, or an error.
func follow(ctx context.Context, client *Client, params EventParams, enough int) (got []Event, err error) {
	for event, err := range client.Events.Follow(ctx, params) {
		if err != nil {
			return got, err
		}
		if got = append(got, event); len(got) == enough {
			return got, nil
		}
	}
	return got, errors.New("the stream ended without an error")
}

func TestFollow_ResumesAfterDisconnect(t *testing.T) {
	t.Parallel()
	server := newEventServer(t,
		connection{frames: []string{`{"type":"connected","seq":7,"server":"x"}`, `ping`, `{"event":"flag_changed","id":"f","seq":9}`}, awaits: "pong"},
		connection{rejectWith: http.StatusServiceUnavailable},
		connection{frames: []string{`{"type":"connected","seq":9}`, `{"event":"logger_changed","id":"l","level":"DEBUG","seq":10}`, `{"news":true}`, `{"event":"flags_changed","seq":12}`}},
		connection{frames: []string{`{"type":"connected","seq":3}`}},
	)
	client, recorded := server.client(t)
	var lost []error
	got, err := follow(t.Context(), client, EventParams{OnDisconnect: func(err error) { lost = append(lost, err) }}, 6)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Name: EventConnected, Seq: 7, Server: "x"}, {Name: EventFlagChanged, ID: "f", Seq: 9},
		{Name: EventConnected, Seq: 9, Resumed: true}, {Name: EventLoggerChanged, ID: "l", Level: loglevel.Debug, Seq: 10}, {Name: EventFlagsChanged, Seq: 12},
		{Name: EventConnected, Seq: 3}, // not resumed
	}
	if diff := testenv.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := []string{"", "since=9", "since=9", "since=12"}; !slices.Equal(server.queries, want) {
		t.Errorf("it asked for %q", server.queries)
	}
	if len(lost) != 3 || len(recorded.taken) != 3 {
		t.Errorf("it lost %v and paused %v", lost, recorded.taken)
	}
}

func TestFollow_UnknownFrames(t *testing.T) {
	t.Parallel()
	server := newEventServer(t,
		connection{frames: []string{`{"type":"connected","seq":7}`, `{"event":"later_news"}`, `{"seq":99}`,
			`{"event":"logger_changed","id":"l","level":"NOTICE","seq":8}`, `{"event":"logger_changed","id":"l","level":{"name":"DEBUG"},"seq":9}`,
			`{"event":"logger_changed","id":"l","level":null}`}},
		connection{frames: []string{`{"type":"connected"}`}},
		connection{frames: []string{`{"type":"connected","seq":9}`}},
	)
	client, _ := server.client(t)
	got, err := follow(t.Context(), client, EventParams{}, 7)
	if err != nil {
		t.Fatal(err)
	}
	want := []Event{
		{Name: EventConnected, Seq: 7}, {Name: "later_news", Seq: 7},
		{Name: EventLoggerChanged, ID: "l", Seq: 8}, {Name: EventLoggerChanged, ID: "l", Seq: 9}, {Name: EventLoggerChanged, ID: "l", Seq: 9},
		{Name: EventConnected, Seq: 9}, {Name: EventConnected, Seq: 9, Resumed: true},
	}
	if diff := testenv.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if want := []string{"", "since=9", "since=9"}; !slices.Equal(server.queries, want) {
		t.Errorf("it asked for %q", server.queries)
	}
}

func TestFollow_Since(t *testing.T) {
	t.Parallel()
	server := newEventServer(t, connection{frames: []string{`{"type":"connected","seq":0}`}})
	client, _ := server.client(t)
	got, err := follow(t.Context(), client, EventParams{Since: new(int64(0))}, 1)
	if err != nil || !got[0].Resumed || server.queries[0] != "since=0" {
		t.Errorf("got %v, %v, asked for %q", got, err, server.queries)
	}
}

func TestFollow_FinalStatuses(t *testing.T) {
	t.Parallel()
	for status, isFinal := range map[int]bool{
		http.StatusUnauthorized: true, http.StatusBadRequest: true, http.StatusNotFound: true,
		http.StatusTooManyRequests: false, http.StatusInternalServerError: false, http.StatusBadGateway: false,
	} {
		t.Run(fmt.Sprint(status), func(t *testing.T) {
			server := newEventServer(t, connection{rejectWith: status}, connection{frames: []string{`{"type":"connected","seq":1}`}})
			client, _ := server.client(t)
			_, err := follow(t.Context(), client, EventParams{}, 1)
			refusal, is := errors.AsType[*APIError](err)
			if isFinal != is || is && refusal.StatusCode != status {
				t.Errorf("%d: got %v", status, err)
			}
		})
	}
}

func TestFollow_Canceled(t *testing.T) {
	t.Parallel()
	server := newEventServer(t, connection{frames: []string{`{"type":"connected","seq":1}`}, stays: true})
	client, _ := server.client(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	count := 0
	for event, err := range client.Events.Follow(ctx, EventParams{}) {
		if count++; count == 1 {
			if event.Name != EventConnected {
				t.Errorf("got %v", event)
			}
			time.AfterFunc(10*time.Millisecond, cancel)
			continue
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("got %v, %v", event, err)
		}
	}
	if count != 2 {
		t.Errorf("got %d items", count)
	}
}

func TestFollow_TLS(t *testing.T) {
	t.Parallel()
	server := &eventServer{t: t, list: []connection{{frames: []string{`{"type":"connected","seq":1}`}}}}
	server.Server = httptest.NewUnstartedServer(server)
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	trusting, err := New(server.URL, "sk_api_secret", WithHTTPClient(server.Client()))
	if err != nil {
		t.Fatal(err)
	}
	if got, err := follow(t.Context(), trusting, EventParams{}, 1); err != nil || got[0].Seq != 1 {
		t.Errorf("got %v, %v", got, err)
	}
	other, err := New(server.URL, "sk_api_secret")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := follow(t.Context(), other, EventParams{}, 1); err == nil {
		t.Error("a certificate of nobody is trusted")
	}
}

// TestFollow_Once: the stream ends with its connection, without another attempt.
func TestFollow_Once(t *testing.T) {
	t.Parallel()
	server := newEventServer(t, connection{frames: []string{`{"type":"connected","seq":7}`, `{"event":"flags_changed","seq":8}`}})
	client, recorded := server.client(t)
	got, err := follow(t.Context(), client, EventParams{Once: true}, 3)
	if len(got) != 2 || err == nil || len(recorded.taken) != 0 || len(server.queries) != 1 {
		t.Errorf("got %v, %v after %d connections", got, err, len(server.queries))
	}
}
