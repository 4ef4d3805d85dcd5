package stream_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/stream"
	"github.com/signalbox/signalbox/internal/suite"
)

// stuck opens a socket whose peer stops reading after the handshake.
func (s *stage) stuck(query string) net.Conn {
	s.t.Helper()
	conn := s.ask(query)
	response, err := http.ReadResponse(bufio.NewReaderSize(conn, 16), nil)
	if err != nil || response.StatusCode != http.StatusSwitchingProtocols {
		s.t.Fatalf("got %v, %v", response, err)
	}
	_ = response.Body.Close()
	return conn
}

// startWithSmallBuffers starts a server whose connections are full after a few events.
func startWithSmallBuffers(server *httptest.Server) {
	server.Config.ConnState = func(conn net.Conn, state http.ConnState) {
		if tcp, ok := conn.(*net.TCPConn); ok && state == http.StateNew {
			_ = tcp.SetWriteBuffer(4 << 10) // the test waits longer without
		}
	}
	server.Start()
}

// ask sends the request for a socket over a connection with small buffers.
func (s *stage) ask(query string) net.Conn {
	s.t.Helper()
	dialer := net.Dialer{}
	conn, err := dialer.DialContext(s.t.Context(), "tcp", s.server.Listener.Addr().String())
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = conn.Close() })
	if err := conn.(*net.TCPConn).SetReadBuffer(4 << 10); err != nil {
		s.t.Fatal(err)
	}
	if s.server.TLS != nil {
		conn = tls.Client(conn, &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // the test's own server
	}
	_, err = fmt.Fprintf(conn, "GET /?%s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", query)
	if err != nil {
		s.t.Fatal(err)
	}
	return conn
}

// flood commits enough events to fill the kernel's buffers of all sockets that are not read.
func (s *stage) flood() {
	for range 1500 {
		s.commit(flagChange(strings.Repeat("x", 200)))
	}
}

// readers are sockets that are read without delay. Every worker of the hub serves one of them,
// so progress of all readers means progress of all workers.
type readers struct {
	*stage
	peers    []*peer
	progress []atomic.Int64
	reading  sync.WaitGroup
}

func (s *stage) readers() *readers {
	r := &readers{stage: s}
	for range runtime.GOMAXPROCS(0) {
		p, _ := s.open("")
		r.peers = append(r.peers, p)
	}
	r.progress = make([]atomic.Int64, len(r.peers))
	return r
}

// follow reads all events from number 1 until the flag named last.
func (r *readers) follow(last string) {
	for i, p := range r.peers {
		r.reading.Go(func() {
			for seq := int64(1); ; seq++ {
				got, err := p.read(soon)
				if err != nil || got.Seq != seq {
					p.t.Errorf("got %v, %v, want %d", got.text, err, seq)
					return
				}
				if r.progress[i].Store(seq); got.ID == last {
					return
				}
			}
		})
	}
}

// behind returns how many events the slowest reader has not read.
func (r *readers) behind(seq int64) (most int64) {
	for i := range r.progress {
		most = max(most, seq-r.progress[i].Load())
	}
	return most
}

func TestSlowReader_ClosedWith1013AndResumes(t *testing.T) {
	t.Parallel()
	const queue = 64
	s := newStage(t, stream.Options{Queue: queue, Replay: 1 << 20})
	slow, _ := s.open("")
	quick := s.readers()
	quick.follow("last")
	events, sockets := int64(0), int64(1+len(quick.peers))
	// Bytes in the kernel's buffer for the slow socket count as sent. With this many unsent
	// events, the slow socket is certainly far beyond its queue.
	for unsent := int64(0); unsent < (10+sockets)*queue; unsent = events*sockets - s.sent.Load() {
		storetest.Wait(t, soon, "the quick ones keep up", func() bool { return quick.behind(events) < queue/4 })
		events = s.commit(flagChange(strings.Repeat("x", 200)))
	}
	events = s.commit(flagChange("last"))
	last := int64(0)
	for {
		got, err := slow.read(soon)
		if err != nil {
			if closed, is := errors.AsType[*websocket.CloseError](err); !is || closed.Code != websocket.CloseTryAgainLater {
				t.Fatalf("it ended with %v", err)
			}
			break
		}
		if got.Seq != last+1 {
			t.Fatalf("after %d came %s", last, got.text)
		}
		last = got.Seq
	}
	if last == 0 || last == events {
		t.Errorf("it was closed after %d of %d events", last, events)
	}
	quick.reading.Wait()
	slow, _ = s.open(sinceQuery(fmt.Sprint(last)))
	for ; last < events; last++ {
		if got := slow.next(); got.Seq != last+1 {
			t.Fatalf("after %d came %s", last, got.text)
		}
	}
	storetest.Wait(t, soon, "it is counted", func() bool { return count(&s.closed, "slow_reader").Load() == 1 })
}

// After an outage, the feed reports thousands of changes at once.
func TestSlowReader_NotWhenNodeIsBehind(t *testing.T) {
	t.Parallel()
	for name, rewound := range map[string]bool{"an outage": false, "an outage that rewound the history": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newIdleStage(t, stream.Options{Queue: 16, Reconnect: time.Hour})
			s.commit(flagChange("before"))
			peers := make([]*peer, 20)
			for i := range peers {
				peers[i], _ = s.open("since=1")
			}
			if rewound {
				s.rewind(0)
			}
			last := int64(0)
			for range 1000 {
				last = s.commit(flagChange("f"))
			}
			s.Start(t.Context())
			for _, p := range peers {
				p.expect(everything(last)...)
			}
			// The node has caught up a moment later, when its workers are done.
			all := int64(len(peers) * len(everything(last)))
			storetest.Wait(t, soon, "everything is counted", func() bool { return s.sent.Load() == all })
			for range 100 { // afterward it works as usual
				last = s.commit(flagChange("g"))
				for _, p := range peers {
					p.expect(event("flag_changed", "g", last))
				}
			}
		})
	}
}

func TestSlowReader_CatchesUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Queue: 1 << 16})
	p, _ := s.open("")
	for range 3 {
		base := s.commit(flagChange("first"))
		s.flood()
		for seq := base; seq <= base+1500; seq++ {
			if got := p.next(); got.Seq != seq {
				t.Fatalf("got %s, want %d", got.text, seq)
			}
		}
	}
}

func TestStuckReader_SendingIsCut(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Queue: 16, Heartbeat: unhurried, CloseTimeout: 300 * time.Millisecond})
	s.flood()
	conn := s.stuck("since=0")
	ping := []byte{0x89, 0x80, 0, 0, 0, 0} // masked and without a payload
	for {
		if _, err := conn.Write(ping); err != nil {
			return
		}
		s.commit(flagChange("f")) // slowly enough for the workers to keep up
		select {
		case <-time.After(20 * time.Millisecond):
		case <-t.Context().Done():
			t.Fatal("it is never cut")
		}
	}
}

// crowd has the healthy sockets of a stage, and measures the delays of their events.
type crowd struct {
	*stage
	began  []time.Time
	delays []atomic.Int64 // by event and socket
	size   int
	got    atomic.Int64
	whole  chan struct{}
}

const measuredEvents = 10

func gather(ctx context.Context, s *stage, size int) *crowd {
	c := &crowd{stage: s, size: size, whole: make(chan struct{}, 1)}
	c.reset()
	for i := range size {
		p, _ := s.open("")
		go func() {
			for ctx.Err() == nil {
				got, err := p.read(5 * time.Minute)
				if err != nil {
					return
				}
				c.note(i, got)
			}
		}()
	}
	return c
}

func (c *crowd) reset() {
	c.began, c.delays = make([]time.Time, measuredEvents), make([]atomic.Int64, measuredEvents*c.size)
}

// note records when an event arrived. The id of the event is its number in the round.
func (c *crowd) note(socket int, got message) {
	var number int
	if _, err := fmt.Sscanf(got.ID, "round-%d", &number); err != nil {
		return
	}
	c.delays[number*c.size+socket].Store(int64(time.Since(c.began[number])))
	if c.got.Add(1)%int64(c.size) == 0 {
		c.whole <- struct{}{}
	}
}

// round sends events one after the other, and returns the 99th percentile of all delays.
func (c *crowd) round() time.Duration {
	for i := range measuredEvents {
		c.began[i] = time.Now()
		c.commit(flagChange(fmt.Sprint("round-", i)))
		select {
		case <-c.whole:
		case <-time.After(2 * soon):
			c.t.Fatal("not every healthy socket got the event")
		}
	}
	var all []int64
	for i := range c.delays {
		all = append(all, c.delays[i].Load())
	}
	slices.Sort(all)
	return time.Duration(all[len(all)*99/100])
}

// transports returns the ways in which clients connect to a node.
func transports() map[string]func(*httptest.Server) {
	return map[string]func(*httptest.Server){"plain": (*httptest.Server).Start, "TLS": (*httptest.Server).StartTLS}
}

// Rounds with and without stuck readers alternate, so that noise of the machine affects both.
// The short form has few sockets, so its delays are mostly noise: it finds only readers that
// block others. The long form finds smaller delays too.
func TestStuckReader_DelaysNobody(t *testing.T) {
	for name, start := range transports() {
		t.Run(name, func(t *testing.T) { stuckReadersDelayNobody(t, start) })
	}
}

func stuckReadersDelayNobody(t *testing.T, start func(*httptest.Server)) {
	healthy, stuckOnes, rounds := suite.Scale(50, 1000), suite.Scale(10, 50), suite.Scale(1, 5)
	options := stream.Options{Queue: 1 << 20, Heartbeat: time.Hour} // no socket is dropped, even if it takes long
	clean, burdened := newStage(t, options, start), newStage(t, options, start)
	for range stuckOnes {
		burdened.stuck("")
	}
	burdened.flood()
	clean.flood()
	without, with := gather(t.Context(), clean, healthy), gather(t.Context(), burdened, healthy)
	without.round()
	with.round()
	ratio, limit := 0.0, suite.Scale(20.0, 1.5)
	for range 5 { // a busy machine may slow an attempt
		var withs, withouts []time.Duration
		for range rounds {
			withouts, withs = append(withouts, without.round()), append(withs, with.round())
		}
		slices.Sort(withs)
		slices.Sort(withouts)
		ratio = float64(withs[rounds/2]) / float64(withouts[rounds/2])
		t.Logf("fan-out to %d sockets, p99: %s, with %d stuck ones %s (%.2f times)", healthy, withouts[rounds/2], stuckOnes, withs[rounds/2], ratio)
		if ratio <= limit {
			break
		}
	}
	if ratio > limit {
		t.Errorf("stuck readers make the others wait %.2f times as long", ratio)
	}
	if slow := count(&burdened.closed, "slow_reader").Load(); slow > 0 {
		t.Errorf("%d of the stuck ones were closed already", slow)
	}
}

// inTime checks that do returns without waiting for a peer.
func inTime(t *testing.T, what string, do func()) {
	t.Helper()
	done := make(chan struct{})
	go func() {
		defer close(done)
		do()
	}()
	select {
	case <-done:
	case <-time.After(soon):
		t.Fatal(what + " waits for a peer that does not read")
	}
}

// The first frames of a resumed stream are larger than the kernel's buffer.
func TestStuckReader_DelaysNoRevocation(t *testing.T) {
	t.Parallel()
	for name, start := range transports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, stream.Options{Heartbeat: unhurried, Queue: 1 << 12, CloseTimeout: 500 * time.Millisecond}, start)
			s.flood()
			s.stuck("since=0&key=k")
			healthy, _ := s.open("since=1500&key=k")
			bystander, _ := s.open("since=1500&key=other")
			inTime(t, "the feed", func() {
				s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Revoked, After: keyDocument(t, accounts.Revoked, nil)})
				s.commit(flagChange("after"))
			})
			healthy.ends(websocket.ClosePolicyViolation, soon)
			bystander.expect(event("flag_changed", "after", 1502))
			ended := count(&s.closed, "key")
			storetest.Wait(t, soon, "the stuck one is cut as well", func() bool { return ended.Load() == 2 })
		})
	}
}

func TestStuckReader_DelaysNoStop(t *testing.T) {
	t.Parallel()
	for name, start := range transports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atBest(t, 3*time.Second, func() time.Duration {
				s := newStage(t, stream.Options{}, start)
				s.flood()
				for range 10 {
					s.stuck("since=0")
				}
				began := time.Now()
				inTime(t, "stopping", func() { s.stop(200 * time.Millisecond) })
				return time.Since(began)
			})
		})
	}
}

// A socket may be opening while Stop cuts the others.
func TestStop_SocketBeingOpened(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		answer func(context.Context) error
		status int
	}{
		"the store gives up":     {context.Context.Err, http.StatusServiceUnavailable},
		"it is opened after all": {func(context.Context) error { return nil }, http.StatusSwitchingProtocols},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atBest(t, 5*time.Second, func() time.Duration {
				s := newStage(t, stream.Options{})
				s.flood()
				opening := make(chan struct{})
				s.during = func(ctx context.Context) error {
					close(opening)
					<-ctx.Done()
					return each.answer(ctx)
				}
				conn := s.ask("since=0")
				<-opening
				began := time.Now()
				inTime(t, "stopping", func() { s.stop(100 * time.Millisecond) })
				took := time.Since(began)
				response, err := http.ReadResponse(bufio.NewReader(conn), nil)
				if err != nil {
					t.Fatal(err)
				}
				_ = response.Body.Close()
				if response.StatusCode != each.status {
					t.Errorf("it got %d", response.StatusCode)
				}
				return took
			})
		})
	}
}

func TestStuckReader_SilentIsCut(t *testing.T) {
	t.Parallel()
	for name, start := range transports() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			atBest(t, 4*time.Second, func() time.Duration { // takes longer if one socket waits for the other
				s := newStage(t, stream.Options{Heartbeat: 200 * time.Millisecond}, start)
				s.flood()
				for range 10 {
					s.stuck("since=0")
				}
				cut := count(&s.closed, "silent")
				began := time.Now()
				storetest.Wait(t, soon, "all are cut", func() bool { return cut.Load() == 10 })
				return time.Since(began)
			})
		})
	}
}
