package stream_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/stream"
)

// stage is a hub on its own server with a history in memory. Its tests use times and sizes that
// a node does not have.
type stage struct {
	*stream.Hub
	t      testing.TB
	server *httptest.Server

	mu      sync.Mutex
	history map[string][]changes.Change
	floor   int64 // changes up to this number are removed
	broken  error
	calls   int                         // reads of the history
	asked   int                         // how often ChangedKinds was called
	during  func(context.Context) error // called while a socket is opened, before the second check of its key

	ahead atomic.Int64 // how far the clock of key expiries is ahead

	opened, closed sync.Map // word -> *atomic.Int64
	sent           atomic.Int64
}

const here = "account"

func newStage(t testing.TB, options stream.Options, start ...func(*httptest.Server)) *stage {
	t.Helper()
	s := newIdleStage(t, options, start...)
	s.Start(t.Context())
	return s
}

// newIdleStage returns a stage whose hub is not started.
func newIdleStage(t testing.TB, options stream.Options, start ...func(*httptest.Server)) *stage {
	t.Helper()
	s := &stage{t: t, history: map[string][]changes.Change{}}
	s.Hub = stream.New(s, s, s.now, options)
	s.server = httptest.NewUnstartedServer(http.HandlerFunc(s.serve))
	if len(start) == 0 {
		start = append(start, (*httptest.Server).Start)
	}
	start[0](s.server)
	t.Cleanup(func() {
		s.stop(2 * time.Second)
		s.server.Close()
	})
	return s
}

func (s *stage) now() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) }

func (s *stage) stop(within time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), within)
	defer cancel()
	s.Stop(ctx)
}

// serve accepts every request. The query names the account and the key.
func (s *stage) serve(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	caller := accounts.Caller{Account: here, KeyID: query.Get("key")}
	if query.Has("account") {
		caller.Account = query.Get("account")
	}
	if query.Has("expires") {
		at, _ := time.Parse(time.RFC3339Nano, query.Get("expires"))
		caller.ExpiresAt = &at
	}
	if query.Has("access") {
		caller.Access, caller.Environments = accounts.Access(query.Get("access")), []string{"production"}
	}
	var since *string
	if query.Has("since") {
		sent := query.Get("since")
		since = &sent
	}
	recheck := func(ctx context.Context) (accounts.Caller, error) {
		if s.during != nil {
			if err := s.during(ctx); err != nil {
				return accounts.Caller{}, err
			}
		}
		if query.Has("recheck") {
			at, err := time.Parse(time.RFC3339Nano, query.Get("recheck"))
			if err != nil {
				return accounts.Caller{}, fault.New(fault.Unauthorized, "It was revoked.")
			}
			caller.ExpiresAt = &at
		}
		return caller, nil
	}
	var err error
	if query.Has("follow") {
		err = s.Follow(w, r, caller, connections.Following{Environment: query.Get("follow"), LastEventID: r.Header.Get("Last-Event-ID")}, recheck)
	} else {
		err = s.Open(w, r, caller, connections.Subscription{Since: since, AllTopics: query.Get("topics") == "all"}, recheck)
	}
	switch {
	case fault.Is(err, fault.RateLimited):
		w.WriteHeader(http.StatusTooManyRequests)
	case fault.Is(err, fault.Unavailable):
		w.WriteHeader(http.StatusServiceUnavailable)
	case fault.Is(err, fault.Unauthorized):
		w.WriteHeader(http.StatusUnauthorized)
	case err != nil:
		w.WriteHeader(http.StatusBadRequest)
	}
}

// commit records changes and reports them to the hub, as the feed does.
func (s *stage) commit(several ...changes.Change) int64 {
	seq := int64(0)
	for _, change := range several {
		made := s.record(change)
		seq = made.Seq
		s.Hear(made)
	}
	return seq
}

// record records a change that the feed has not reported yet.
func (s *stage) record(change changes.Change) changes.Change {
	s.mu.Lock()
	defer s.mu.Unlock()
	change.Account, change.CreatedAt = here, time.Now()
	change.Seq = int64(len(s.history[here])) + 1
	s.history[here] = append(s.history[here], change)
	return change
}

// rewind removes the changes after a sequence number and tells the hub.
func (s *stage) rewind(to int64) {
	s.mu.Lock()
	was := int64(len(s.history[here]))
	s.history[here] = s.history[here][:to]
	s.mu.Unlock()
	s.Rewound(map[string]int64{here: was})
}

func flagChange(id string) changes.Change {
	return changes.Change{Kind: "flag", Key: id, Action: changes.Updated}
}

func (s *stage) Version(_ context.Context, account string) (int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.history[account])), s.broken
}

func (s *stage) EventsAfter(_ context.Context, account string, seq int64, limit int) ([]changes.Change, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	seq = max(seq, s.floor)
	all := s.history[account]
	return all[min(seq, int64(len(all))):min(seq+int64(limit), int64(len(all)))], s.broken
}

func (s *stage) ChangedKinds(_ context.Context, account string, since time.Time, _ ...string) (kinds []string, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked++
	for _, change := range s.history[account] {
		if !change.CreatedAt.Before(since) {
			kinds = append(kinds, change.Kind)
		}
	}
	return kinds, s.broken
}

func count(of *sync.Map, word string) *atomic.Int64 {
	found, _ := of.LoadOrStore(word, &atomic.Int64{})
	return found.(*atomic.Int64)
}

func (s *stage) SocketOpened(how string)    { count(&s.opened, how).Add(1) }
func (s *stage) SocketClosed(reason string) { count(&s.closed, reason).Add(1) }
func (s *stage) EventsSent(n int)           { s.sent.Add(int64(n)) }
func (s *stage) PushLag(time.Duration)      {}

// dial opens a socket, or returns nil and the status of the refusal.
func (s *stage) dial(query string) (*peer, int) {
	s.t.Helper()
	dialer := websocket.Dialer{NetDialContext: (&net.Dialer{}).DialContext}
	if client, ok := s.server.Client().Transport.(*http.Transport); ok {
		dialer.TLSClientConfig = client.TLSClientConfig
	}
	target := "ws" + strings.TrimPrefix(s.server.URL, "http") + "/?" + query
	conn, response, err := dialer.DialContext(s.t.Context(), target, nil)
	if err != nil {
		if response == nil {
			s.t.Fatal(err)
		}
		_ = response.Body.Close()
		return nil, response.StatusCode
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	return &peer{Conn: conn, t: s.t}, response.StatusCode
}

// open opens a socket and reads its first frame.
func (s *stage) open(query string) (*peer, message) {
	s.t.Helper()
	p, status := s.dial(query)
	if p == nil {
		s.t.Fatalf("refused with %d", status)
	}
	return p, p.next()
}

func keyDocument(t testing.TB, status accounts.Status, expires *time.Time) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(accounts.Key{Status: status, ExpiresAt: expires})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func sinceQuery(text string) string { return url.Values{"since": {text}}.Encode() }
