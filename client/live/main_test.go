package live

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/servertest"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestMain(m *testing.M) {
	code := servertest.Main(m)
	if left := testenv.Leaks("signalbox/client/live."); left != "" {
		fmt.Fprintln(os.Stderr, "goroutines are left:\n"+left)
		code = 1
	}
	os.Exit(code)
}

// fast shortens every pause, so that tests wait for little.
func fast(s *settings) {
	s.timing.minBackoff, s.timing.maxBackoff = 20*time.Millisecond, 100*time.Millisecond
	s.timing.poll, s.timing.save, s.timing.applied = 50*time.Millisecond, time.Millisecond, 50*time.Millisecond
}

// logText is a log that tests read.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write adds to the log.
func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logText) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *logText) option() Option {
	return WithLogger(slog.New(slog.NewTextHandler(l, nil)))
}

func quietly() Option { return WithLogger(slog.New(slog.NewTextHandler(io.Discard, nil))) }

// startBox runs a box at a URL until the end of the test.
func startBox(t *testing.T, url string, options ...Option) *Box {
	t.Helper()
	all := append([]Option{fast, WithURL(url), WithKey(servertest.OwnerKey), WithEnvironment("production"), WithService("shop"),
		WithCacheDir(t.TempDir()), quietly()}, options...)
	box, err := Start(t.Context(), all...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { box.Close(context.WithoutCancel(t.Context())) })
	return box
}

// readyBox returns a box that has loaded everything.
func readyBox(t *testing.T, url string, options ...Option) *Box {
	t.Helper()
	box := startBox(t, url, options...)
	waitReady(t, box)
	return box
}

func waitReady(t *testing.T, box *Box) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	if err := box.Ready(ctx); err != nil {
		t.Fatal(err)
	}
}

func waitStatus(t *testing.T, box *Box, want Status) {
	t.Helper()
	testenv.Wait(t, "the state "+want.String(), func() bool { return box.State().Status == want })
}

// setFlag creates or replaces a BOOLEAN flag that serves a value in production.
func setFlag(t *testing.T, client *signalbox.Client, key string, value bool) {
	t.Helper()
	draft := signalbox.FlagDraft{Type: flageval.Boolean, Default: []byte("false"), Managed: new(true),
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Default: fmt.Append(nil, value)}}}
	if _, err := client.Flags.Apply(t.Context(), key, draft); err != nil { // the box may report it at the same time
		t.Fatal(err)
	}
}

// wire forwards TCP connections to a server, and can cut and hold them.
type wire struct {
	URL    string
	target string

	mu    sync.Mutex
	conns map[net.Conn]bool
	held  chan struct{} // nil: nothing is held
	down  bool
}

func newWire(t *testing.T, url string) *wire {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{URL: "http://" + listener.Addr().String(), target: strings.TrimPrefix(url, "http://"), conns: map[net.Conn]bool{}}
	var running sync.WaitGroup
	running.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			running.Go(func() { w.forward(t.Context(), conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		w.cut()
		running.Wait()
	})
	return w
}

func (w *wire) forward(ctx context.Context, conn net.Conn) {
	defer conn.Close()
	server, err := new(net.Dialer).DialContext(ctx, "tcp", w.target)
	if err != nil {
		return
	}
	defer server.Close()
	if !w.register(conn, server) {
		return
	}
	done := make(chan struct{}, 2)
	for _, each := range [][2]net.Conn{{conn, server}, {server, conn}} {
		go func() {
			w.copy(each[0], each[1])
			done <- struct{}{}
		}()
	}
	<-done
}

// copy forwards bytes, unless they are held.
func (w *wire) copy(to, from net.Conn) {
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		if err != nil {
			return
		}
		w.mu.Lock()
		held := w.held
		w.mu.Unlock()
		if held != nil {
			<-held
		}
		if _, err := to.Write(buffer[:n]); err != nil {
			return
		}
	}
}

// register keeps connections for cut, unless the wire is down.
func (w *wire) register(conns ...net.Conn) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, conn := range conns {
		w.conns[conn] = true
	}
	return !w.down
}

// cut breaks all connections.
func (w *wire) cut() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for conn := range w.conns {
		conn.Close()
	}
	clear(w.conns)
}

// set takes the wire down or up from now on.
func (w *wire) set(down bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.down = down
}

// hold lets nothing through until the returned function is called.
func (w *wire) hold() (release func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	held := make(chan struct{})
	w.held = held
	return sync.OnceFunc(func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.held = nil
		close(held)
	})
}
