package signalbox

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"
)

// stub is a server with prepared responses that records requests.
type stub struct {
	*httptest.Server

	mu      sync.Mutex
	replies []reply
	seen    []exchange
}

// reply is one response of a stub. The last one is repeated.
type reply struct {
	status int
	header map[string]string
	body   string
	cut    bool // break the connection instead
}

// exchange is one request to a stub.
type exchange struct {
	method, uri, body string
	header            http.Header
}

func newStub(t *testing.T, replies ...reply) *stub {
	t.Helper()
	s := &stub{replies: replies}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

// ServeHTTP sends the next reply.
func (s *stub) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.seen = append(s.seen, exchange{r.Method, r.RequestURI, string(body), r.Header})
	next := s.replies[min(len(s.seen), len(s.replies))-1]
	s.mu.Unlock()
	if next.cut {
		panic(http.ErrAbortHandler)
	}
	for name, value := range next.header {
		w.Header().Set(name, value)
	}
	w.WriteHeader(next.status)
	_, _ = io.WriteString(w, next.body)
}

func (s *stub) requests() []exchange {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.seen)
}

// only returns the one request that a test expects.
func (s *stub) only(t *testing.T) exchange {
	t.Helper()
	seen := s.requests()
	if len(seen) != 1 {
		t.Fatalf("the server was sent %d requests, not 1", len(seen))
	}
	return seen[0]
}

// pauses records the pauses of a client instead of waiting.
type pauses struct{ taken []time.Duration }

func (p *pauses) wait(_ context.Context, pause time.Duration) error {
	p.taken = append(p.taken, pause)
	return nil
}

// client returns a client that does not wait and whose random numbers are 0, so that every pause has its full length.
func (s *stub) client(t *testing.T, options ...Option) (*Client, *pauses) {
	t.Helper()
	recorded := &pauses{}
	options = append(options, func(t *transport) {
		t.wait, t.random = recorded.wait, func() float64 { return 0 }
	})
	client, err := New(s.URL, "sk_api_secret", options...)
	if err != nil {
		t.Fatal(err)
	}
	return client, recorded
}

const environmentBody = `{"data":{"id":"staging","type":"environment","attributes":{"name":"Staging","color":null,
	"classification":"STANDARD","managed":false,"created_at":"2030-01-02T03:04:05.678901Z","updated_at":"2030-01-02T03:04:05.678901Z"}}}`

func ok(body string) reply { return reply{status: http.StatusOK, body: body} }

func refused(status int, code Code) reply {
	return reply{status: status, body: `{"errors":[{"status":"0","code":"` + string(code) + `","title":"T","detail":"It is so.","meta":{}}]}`,
		header: map[string]string{"X-Request-Id": "r-1"}}
}
