package egress_test

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
)

// names is a resolver with prepared answers, one per lookup. The last answer is repeated.
type names struct {
	mu      sync.Mutex
	answers map[string][][]netip.Addr
}

func (n *names) LookupNetIP(ctx context.Context, _, host string) ([]netip.Addr, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	answers := n.answers[host]
	if len(answers) == 0 {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	if len(answers) > 1 {
		n.answers[host] = answers[1:]
	}
	return answers[0], ctx.Err()
}

func addrs(texts ...string) []netip.Addr {
	var list []netip.Addr
	for _, text := range texts {
		list = append(list, netip.MustParseAddr(text))
	}
	return list
}

func networks(texts ...string) []netip.Prefix {
	var list []netip.Prefix
	for _, text := range texts {
		list = append(list, netip.MustParsePrefix(text))
	}
	return list
}

func newClient(t *testing.T, options egress.Options) *egress.Client {
	t.Helper()
	client := egress.New(options)
	egress.SetIdleTime(client, time.Hour) // a busy machine may pause for longer than the usual second
	t.Cleanup(client.Close)
	return client
}

// localClient returns a client that may connect to this machine.
func localClient(t *testing.T) *egress.Client {
	t.Helper()
	return newClient(t, egress.Options{Allow: networks("127.0.0.0/8", "::1/128"), UserAgent: "signalbox/test"})
}

// peer is a TCP server that handles every connection with a function and counts the connections.
type peer struct {
	net.Listener
	connections atomic.Int64
	bytes       atomic.Int64
	handlers    sync.WaitGroup
}

// listen starts a peer. handle may be nil. When handle returns, its connection is closed.
func listen(t *testing.T, address string, handle func(net.Conn)) *peer {
	t.Helper()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Listener: listener}
	p.handlers.Go(func() { p.accept(handle) })
	t.Cleanup(func() {
		listener.Close()
		p.handlers.Wait()
	})
	return p
}

func (p *peer) accept(handle func(net.Conn)) {
	for {
		conn, err := p.Accept()
		if err != nil {
			return
		}
		p.connections.Add(1)
		p.handlers.Go(func() {
			defer conn.Close()
			if handle == nil {
				n, _ := io.Copy(io.Discard, conn)
				p.bytes.Add(n)
				return
			}
			handle(conn)
		})
	}
}

func (p *peer) url() string { return "http://" + p.Addr().String() + "/" }

func (p *peer) port() string {
	_, port, _ := net.SplitHostPort(p.Addr().String())
	return port
}

// answering returns a handler that answers every request with the same text.
func answering(text string) func(net.Conn) {
	return func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for readRequest(reader) {
			if _, err := io.WriteString(conn, text); err != nil {
				return
			}
		}
	}
}

// answeringOnce returns a handler that answers one request and closes the connection.
func answeringOnce(text string) func(net.Conn) {
	return func(conn net.Conn) {
		if readRequest(bufio.NewReader(conn)) {
			_, _ = io.WriteString(conn, text)
		}
	}
}

func readRequest(reader *bufio.Reader) bool {
	request, err := http.ReadRequest(reader)
	if err != nil {
		return false
	}
	_, err = io.Copy(io.Discard, request.Body)
	return err == nil
}

func get(url string) egress.Request {
	return egress.Request{Method: http.MethodGet, URL: url, Timeout: time.Minute}
}

func do(t *testing.T, client *egress.Client, request egress.Request) egress.Result {
	t.Helper()
	result, err := client.Do(t.Context(), request)
	if err != nil {
		t.Fatalf("%s: %v", request.URL, err)
	}
	return result
}

// runsOut makes a request that times out in the given phase. If a busy machine does not reach the phase in time, it
// repeats with a longer timeout.
func runsOut(t *testing.T, request egress.Request, phase string) {
	t.Helper()
	for request.Timeout = short; ; request.Timeout *= 2 {
		failure := fails(t, localClient(t), request, egress.Timeout)
		if failure.Detail == "The time ran out while "+phase+"." {
			return
		}
		if request.Timeout > 10*time.Second {
			t.Errorf("got %q, want it while %s", failure.Detail, phase)
			return
		}
	}
}

// fails makes a request that must fail, and returns the error.
func fails(t *testing.T, client *egress.Client, request egress.Request, want egress.Reason) egress.Error {
	t.Helper()
	result, err := client.Do(t.Context(), request)
	failure, ok := errors.AsType[*egress.Error](err)
	if !ok {
		t.Fatalf("%s: %v with status %d, want %s", request.URL, err, result.Status, want)
	}
	if failure.Reason != want {
		t.Fatalf("%s: %s (%s), want %s", request.URL, failure.Reason, failure.Detail, want)
	}
	return *failure
}
