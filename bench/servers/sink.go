package servers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/signalbox/signalbox/bench/caller"
)

// SinkCommand is the argument that turns the bench program into the sink.
const SinkCommand = "serve-sink"

// Sink is a server that jobs call. It records the requests and their times.
type Sink struct{ *Server }

// Received has the requests that a sink received since its last reset.
type Received struct {
	Requests int              `json:"requests"`
	Times    map[string]int64 `json:"times,omitempty"` // by id: when its first request arrived, in nanoseconds
	Distinct int              `json:"distinct"`
}

// StartSink starts this program again as a sink.
func StartSink(ctx context.Context) (*Sink, error) {
	server, err := StartSelf(ctx, SinkCommand)
	return &Sink{server}, err
}

// URL returns the URL to call for an answer with a body of size bytes. With &fail=20, one request in 20 fails.
func (s *Sink) URL(size int) string {
	return fmt.Sprintf("http://%s/hook?bytes=%d", s.Address, size)
}

// HangingURL returns a URL that is never answered.
func (s *Sink) HangingURL() string { return fmt.Sprintf("http://%s/hang", s.Address) }

// Reset forgets the received requests.
func (s *Sink) Reset(ctx context.Context) error {
	_, err := Fetch(ctx, http.MethodPost, s.Address, "/reset", nil)
	return err
}

// Count returns how many requests and distinct ids were received.
func (s *Sink) Count(ctx context.Context) (Received, error) { return s.received(ctx, "/count") }

// Times returns when each id was first received.
func (s *Sink) Times(ctx context.Context) (Received, error) { return s.received(ctx, "/times") }

// WaitFor waits until a number of requests was received. It gives up when no request has arrived for 90 s.
func (s *Sink) WaitFor(ctx context.Context, requests int) error {
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	last, since := -1, time.Now()
	for {
		got, err := s.Count(ctx)
		switch {
		case err != nil || got.Requests >= requests:
			return err
		case got.Requests != last:
			last, since = got.Requests, time.Now()
		case time.Since(since) > 90*time.Second:
			return fmt.Errorf("only %d of %d requests came", got.Requests, requests)
		}
		<-tick.C
	}
}

func (s *Sink) received(ctx context.Context, path string) (Received, error) {
	var all Received
	text, err := Fetch(ctx, http.MethodGet, s.Address, path, nil)
	if err != nil {
		return all, err
	}
	return all, json.Unmarshal(text, &all)
}

// ServeSink runs the sink. It prints its address first.
func ServeSink(ctx context.Context, out io.Writer) error {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: newSinkHandler()}
	return server.Serve(listener)
}

type sinkHandler struct {
	mu       sync.Mutex
	requests int
	times    map[string]int64
}

func newSinkHandler() http.Handler {
	sink := &sinkHandler{times: map[string]int64{}}
	mux := http.NewServeMux()
	mux.HandleFunc("/hook", sink.receive)
	mux.HandleFunc("/hang", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /count", func(w http.ResponseWriter, _ *http.Request) { sink.report(w, false) })
	mux.HandleFunc("GET /times", func(w http.ResponseWriter, _ *http.Request) { sink.report(w, true) })
	mux.HandleFunc("POST /reset", sink.reset)
	return mux
}

func (s *sinkHandler) receive(w http.ResponseWriter, r *http.Request) {
	now := time.Now().UnixNano()
	_, _ = io.Copy(io.Discard, r.Body)
	count := s.note(r.Header.Get(caller.IDHeader), now)
	size, _ := strconv.Atoi(r.FormValue("bytes"))
	w.Header().Set("Content-Type", "text/plain")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	if every, _ := strconv.Atoi(r.FormValue("fail")); every > 0 && count%every == 0 {
		w.WriteHeader(http.StatusInternalServerError)
	}
	_, _ = w.Write(bytes.Repeat([]byte("x"), size))
}

// note records a request and returns how many there were.
func (s *sinkHandler) note(id string, now int64) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests++
	if _, again := s.times[id]; !again {
		s.times[id] = now
	}
	return s.requests
}

func (s *sinkHandler) report(w http.ResponseWriter, withTimes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := Received{Requests: s.requests, Distinct: len(s.times)}
	if withTimes {
		all.Times = s.times
	}
	_ = json.NewEncoder(w).Encode(all) // fails only if the client is gone
}

func (s *sinkHandler) reset(http.ResponseWriter, *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests, s.times = 0, map[string]int64{}
}
