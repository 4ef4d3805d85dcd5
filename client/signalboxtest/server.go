package signalboxtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/client/live"
)

// Server is a fake server for boxes. It serves snapshots and events, and keeps reports for the test. It checks no key and
// stores nothing.
type Server struct {
	// URL is the server's base URL. Every key is accepted.
	URL string

	t        testing.TB
	stop     func()
	mu       sync.Mutex
	contents *contents
	sockets  map[*websocket.Conn]bool
	reports  map[string][]json.RawMessage
}

// NewServer runs a fake server until the end of the test.
func NewServer(t testing.TB, values ...Values) *Server {
	t.Helper()
	s := &Server{t: t, contents: newContents(), sockets: map[*websocket.Conn]bool{}, reports: map[string][]json.RawMessage{}}
	s.contents.set(t, values)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /api/v1/snapshots/{environment}", s.snapshot)
	mux.HandleFunc("GET /api/ws/v1/events", s.events)
	mux.HandleFunc("POST /api/v1/{kind}/bulk", s.report)
	running := httptest.NewServer(mux)
	s.URL = running.URL
	s.stop = sync.OnceFunc(func() {
		s.disconnect()
		running.Close()
	})
	t.Cleanup(s.stop)
	return s
}

// Close ends the server before the test ends, as an outage.
func (s *Server) Close() { s.stop() }

// Options connect a box to the server: live.Start(ctx, server.Options()...).
func (s *Server) Options() []live.Option {
	return []live.Option{live.WithURL(s.URL), live.WithKey("sk_api_of-a-fake-server"), live.WithEnvironment(Environment), live.WithoutCache()}
}

// Set changes values and sends events to connected boxes.
func (s *Server) Set(values ...Values) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.contents.set(s.t, values)
	for conn := range s.sockets {
		for _, name := range []string{"flags_changed", "loggers_changed", "configs_changed"} {
			_ = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"event":%q,"seq":%d}`, name, s.contents.seq)) // the box may be gone
		}
	}
}

// Reports returns the bodies of reports of a kind: "flags", "loggers", "contexts" or "metrics".
func (s *Server) Reports(kind string) []json.RawMessage {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.reports[kind])
}

func (s *Server) disconnect() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for conn := range s.sockets {
		_ = conn.Close() // the box may be gone
	}
}

func (s *Server) snapshot(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	etag := fmt.Sprintf(`"%d"`, s.contents.seq)
	w.Header().Set("ETag", etag)
	if r.Header.Get("If-None-Match") == etag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/vnd.api+json")
	_ = json.NewEncoder(w).Encode(s.contents.snapshot()) // the reader may be gone
}

// events sends the current seq first. A box whose seq is older loads the snapshot again.
func (s *Server) events(w http.ResponseWriter, r *http.Request) {
	conn, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	defer conn.Close()
	s.mu.Lock()
	err = conn.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"type":"connected","seq":%d,"server":"signalboxtest"}`, s.contents.seq))
	s.sockets[conn] = true
	s.mu.Unlock()
	for err == nil {
		_, _, err = conn.ReadMessage()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.sockets, conn)
}

func (s *Server) report(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	kind := r.PathValue("kind")
	s.reports[kind] = append(s.reports[kind], body)
	if kind == "metrics" {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	fmt.Fprint(w, `{"registered":1}`)
}
