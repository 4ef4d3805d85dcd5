package live

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gorilla/websocket"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
)

// bubbleServer is a server in a synctest bubble, whose clock stands still while a goroutine works. Connections are
// pipes.
type bubbleServer struct {
	accepting chan net.Conn
	closed    chan struct{}
	http      http.Server

	mu       sync.Mutex
	snapshot signalbox.Snapshot
	away     bool
	etag     string // of the snapshot
	noSocket bool   // sockets are refused
	silent   bool   // no heartbeats
	hung     bool   // no answers
	conns    []net.Conn
	sockets  int // opened so far

	unmodified int // answers with 304
}

func startBubbleServer(t *testing.T, snapshot signalbox.Snapshot) *bubbleServer {
	t.Helper()
	s := &bubbleServer{snapshot: snapshot, accepting: make(chan net.Conn), closed: make(chan struct{})}
	s.http.Handler = s
	go func() { _ = s.http.Serve(s) }()
	t.Cleanup(func() { s.setAway(true); s.http.Close() })
	return s
}

// options let a box connect to the server.
func (s *bubbleServer) options(more ...Option) []Option {
	transport := &http.Transport{DialContext: s.dial}
	return append([]Option{WithURL("http://server"), WithKey("k"), WithEnvironment("production"), WithoutCache(), quietly(),
		WithClientOptions(signalbox.WithHTTPClient(&http.Client{Transport: transport}))}, more...)
}

// box returns a box that has loaded everything.
func (s *bubbleServer) box(t *testing.T) *Box {
	t.Helper()
	box, err := Start(t.Context(), s.options()...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close(context.WithoutCancel(t.Context())) })
	synctest.Wait()
	if state := box.State(); state.Status != Live || state.Polling {
		t.Fatalf("the state is %s", state)
	}
	return box
}

func (s *bubbleServer) dial(context.Context, string, string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.away {
		return nil, errors.New("connection refused")
	}
	here, there := net.Pipe()
	s.conns = append(s.conns, here)
	go func() { s.accepting <- there }()
	return here, nil
}

// Accept returns the next connection.
func (s *bubbleServer) Accept() (net.Conn, error) {
	select {
	case conn := <-s.accepting:
		return conn, nil
	case <-s.closed:
		return nil, net.ErrClosed
	}
}

// Addr completes net.Listener.
func (s *bubbleServer) Addr() net.Addr { return &net.TCPAddr{} }

// Close ends Accept.
func (s *bubbleServer) Close() error { close(s.closed); return nil }

// setAway cuts all connections and refuses new ones, or accepts connections again.
func (s *bubbleServer) setAway(away bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.away = away
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}

// change changes the server under its lock.
func (s *bubbleServer) change(do func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	do()
}

// ServeHTTP answers the requests of a box.
func (s *bubbleServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	hung := s.hung
	s.mu.Unlock()
	switch {
	case hung:
		_, _ = io.Copy(io.Discard, r.Body) // the server notices a client that left after the body
		<-r.Context().Done()
	case strings.HasSuffix(r.URL.Path, "/events"):
		s.serveEvents(w, r)
	case r.Method == http.MethodGet:
		s.serveSnapshot(w, r)
	case strings.Contains(r.URL.Path, "/metrics/"):
		w.WriteHeader(http.StatusAccepted)
	default:
		_, _ = w.Write([]byte(`{"registered":0}`))
	}
}

// serveSnapshot sends the snapshot, or 304 if the peer has it.
func (s *bubbleServer) serveSnapshot(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Header().Set("Signalbox-Seq", strconv.FormatInt(s.snapshot.Seq, 10))
	if s.etag != "" {
		w.Header().Set("ETag", s.etag)
	}
	if since := s.snapshot.StaleSince; since != nil {
		w.Header().Set("Age", strconv.Itoa(int(time.Since(*since).Seconds())))
	}
	if s.etag != "" && r.Header.Get("If-None-Match") == s.etag {
		s.unmodified++
		w.WriteHeader(http.StatusNotModified)
		return
	}
	text, _ := json.Marshal(s.snapshot)
	_, _ = w.Write(text)
}

// serveEvents sends heartbeats until the peer is gone.
func (s *bubbleServer) serveEvents(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	refused := s.noSocket
	s.mu.Unlock()
	if refused {
		w.WriteHeader(http.StatusNotFound)
		return
	}
	socket, err := new(websocket.Upgrader).Upgrade(w, r, nil)
	if err != nil {
		return
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for err == nil {
			_, _, err = socket.ReadMessage()
		}
	}()
	s.mu.Lock()
	s.sockets++
	hello := fmt.Appendf(nil, `{"type":"connected","seq":%d}`, s.snapshot.Seq)
	s.mu.Unlock()
	for frame := hello; ; frame = s.heartbeat() {
		if frame != nil {
			_ = socket.WriteMessage(websocket.TextMessage, frame) // a peer that is gone ends the loop below
		}
		select {
		case <-gone:
			socket.Close()
			return
		case <-time.After(30 * time.Second):
		}
	}
}

func (s *bubbleServer) heartbeat() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.silent {
		return nil
	}
	return []byte("ping")
}

// pass lets time pass in the bubble.
func pass(d time.Duration) {
	time.Sleep(d) //nolint:forbidigo // in a synctest bubble
	synctest.Wait()
}

// TestBox_Watchdog: a connection without heartbeats is replaced by a new one, and missed changes are loaded.
func TestBox_Watchdog(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		flag := func(seq int64, value string) signalbox.Snapshot {
			made := snapshotOf(map[string]flageval.Definition{"on": {Type: flageval.Boolean, Default: []byte(value)}})
			made.Seq = seq
			return made
		}
		server := startBubbleServer(t, flag(1, "false"))
		box := server.box(t)
		on := box.Bool("on", false)
		var states []string
		box.OnState(func(state State) { server.change(func() { states = append(states, state.Status.String()) }) })
		check := func(when, want string) {
			t.Helper()
			server.change(func() {
				if got := fmt.Sprint(server.sockets, " sockets, ", on.Get(t.Context()), " ", states); got != want {
					t.Errorf("%s: %s, not %s", when, got, want)
				}
			})
		}
		pass(10*time.Minute + 10*time.Second)
		check("with heartbeats", "1 sockets, false []")
		server.change(func() { server.silent, server.snapshot = true, flag(2, "true") })
		pass(64 * time.Second)
		check("74 s after the last", "1 sockets, false []")
		pass(3 * time.Second)
		check("77 s after the last", "2 sockets, true [STALE LIVE]")
	})
}

// temporary returns loggers with temporary levels: shop without another level, cart over a base level, and a group.
func temporary(until time.Time) signalbox.Snapshot {
	override := map[string]signalbox.LevelOverride{"production": {Level: loglevel.Trace, ExpiresAt: &until}}
	logger := func(key string, level loglevel.Level) signalbox.Logger {
		return signalbox.Logger{Resource: signalbox.Resource{ID: key}, Level: level, Managed: true}
	}
	shop, cart, mail := logger("shop", loglevel.Debug), logger("cart", loglevel.Error), logger("mail", loglevel.None)
	shop.LevelExpiresAt = &until
	cart.Environments = override
	mail.Group = new("g")
	return signalbox.Snapshot{Resource: signalbox.Resource{ID: "production"}, Seq: 1, Loggers: []signalbox.Logger{shop, cart, mail},
		LogGroups: []signalbox.LogGroup{{Resource: signalbox.Resource{ID: "g"}, Level: loglevel.Warn, Environments: override}}}
}

// levelsOf adds the loggers of a temporary snapshot to a box and returns a function that returns their
// levels.
func levelsOf(box *Box) func() string {
	framework, names := &recorder{map[string]loglevel.Level{}}, []string{"shop", "cart", "mail"}
	for _, name := range names {
		box.levels.add(framework, Logger{Name: name, Uses: loglevel.Info})
	}
	return func() string {
		box.levels.mu.Lock()
		defer box.levels.mu.Unlock()
		text := ""
		for _, name := range names {
			text += framework.levels[name].String() + " "
		}
		return text
	}
}

const (
	levelsSet   = "DEBUG TRACE TRACE "
	levelsEnded = " ERROR WARN " // shop is the code's again
)

// TestBox_LevelsEndWithoutServer: a temporary level ends on time although the server is away. While the server is
// there, its clock decides.
func TestBox_LevelsEndWithoutServer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := startBubbleServer(t, temporary(time.Now().Add(time.Hour)))
		box := server.box(t)
		levels := levelsOf(box)
		check := func(when, want string) {
			t.Helper()
			if got := levels(); got != want {
				t.Errorf("%s: %q, not %q", when, got, want)
			}
		}
		server.setAway(true)
		pass(time.Hour - time.Second)
		check("before their time", levelsSet)
		pass(time.Second)
		check("at their time", levelsEnded)
		server.setAway(false)
		pass(time.Minute)
		check("with a server whose clock is slow", levelsSet)
		server.setAway(true)
		pass(time.Second)
		check("without it", levelsEnded)
	})
}

// TestBox_LevelsEndOnHungConnection: the box asks a server that has not said that a level ended, and gives the
// connection up if there is no answer.
func TestBox_LevelsEndOnHungConnection(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := startBubbleServer(t, temporary(time.Now().Add(time.Hour)))
		box := server.box(t)
		levels := levelsOf(box)
		check := func(when, wantLevels string, wantStatus Status) {
			t.Helper()
			if got := levels(); got != wantLevels || box.State().Status != wantStatus {
				t.Errorf("%s: %q, %s", when, got, box.State())
			}
		}
		pass(time.Hour - time.Second)
		server.change(func() { server.silent, server.hung = true, true })
		pass(15 * time.Second)
		check("14 s after their time", levelsSet, Live)
		pass(2 * time.Second)
		check("16 s after their time", levelsEnded, Stale)
		server.change(func() { server.silent, server.hung = false, false })
		pass(2 * time.Minute)
		check("with a server whose clock is slow", levelsSet, Live)
	})
}

// TestBox_StartsWithoutEndedLevels: temporary levels that ended while the service was stopped are not
// used from the cache.
func TestBox_StartsWithoutEndedLevels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		text, err := json.Marshal(temporary(time.Now().Add(time.Hour)))
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), "kept.json")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		away := new(bubbleServer)
		away.setAway(true)
		for _, want := range []string{levelsSet, levelsEnded} {
			box, err := Start(t.Context(), away.options(WithBootstrap(file))...)
			if err != nil {
				t.Fatal(err)
			}
			if got := levelsOf(box)(); got != want {
				t.Errorf("got %q, not %q", got, want)
			}
			box.Close(t.Context())
			pass(time.Hour)
		}
	})
}
