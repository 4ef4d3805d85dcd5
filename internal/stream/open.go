package stream

import (
	"bufio"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
	"github.com/signalbox/signalbox/internal/fault"
)

// Recheck authenticates a caller again.
type Recheck = func(context.Context) (accounts.Caller, error)

// Open upgrades a request to a socket, or returns an error before anything was sent. recheck authenticates the caller
// again, after the hub has begun to receive changes of the caller's key.
func (h *Hub) Open(w http.ResponseWriter, r *http.Request, caller accounts.Caller, wanted connections.Subscription, recheck Recheck) error {
	if r.ProtoMajor != 1 || !websocket.IsWebSocketUpgrade(r) {
		return notAnUpgrade("Connection: Upgrade and Upgrade: websocket over HTTP/1.1 are needed")
	}
	return h.admit(r, caller, recheck, false, func(ctx context.Context, reserved reservation) error {
		return h.open(ctx, w, r, reserved, wanted)
	})
}

// admit reserves a place, authenticates the caller again and opens a connection in that place.
func (h *Hub) admit(r *http.Request, caller accounts.Caller, recheck Recheck, follower bool, open func(context.Context, reservation) error) error {
	reserved, err := h.reserve(caller, follower)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.stopped, cancel)()
	caller, err = recheck(ctx)
	if err == nil {
		reserved.credential.confirm(reserved, caller)
		reserved.role = caller.Role
		err = open(ctx, reserved)
	}
	if err == nil {
		return nil
	}
	h.release(reserved.subs, reserved.credential, reserved.follower)
	switch {
	case errors.Is(err, errLeft): // nobody would read an answer
		return nil
	case h.stopped.Err() != nil:
		return stopping()
	}
	return err
}

func (h *Hub) open(ctx context.Context, w http.ResponseWriter, r *http.Request, reserved reservation, wanted connections.Subscription) error {
	begin, err := h.beginning(ctx, reserved, wanted)
	if err != nil {
		return err
	}
	ws, err := h.upgrade(w, r)
	if err != nil {
		return err
	}
	s := h.newSocket(reserved, begin, ws.NetConn())
	s.ws, s.allTopics = ws, wanted.AllTopics
	s.connection = connections.New(s.subs.account, wanted.Peer, h.now())
	s.alive()
	s.setHandlers()
	h.meter.SocketOpened(begin.how)
	// Use a new goroutine, because the request's goroutine has a large stack that an idle socket would keep.
	go s.run(begin.events, reserved.reconnects)
	return nil
}

// newSocket returns a socket on a connection.
func (h *Hub) newSocket(reserved reservation, begin beginning, conn net.Conn) *socket {
	s := &socket{hub: h, subs: reserved.subs, credential: reserved.credential, role: reserved.role, conn: newConnection(conn),
		next: begin.next, seq: begin.seq, unsent: begin.text}
	opened := h.opened.Add(1)
	s.tick = uint16(opened % heartbeatTicks) //nolint:gosec // it is less than heartbeatTicks
	s.shard = &s.subs.shards[int(opened)%len(h.workers)]
	s.expires.Store(h.maxAge())
	return s
}

// run adds the socket to its shard and reads until the connection ends. events is how many events the first frames
// have. reconnects is the subscribers' counter at the reservation; if it has grown, this socket must reconnect too.
func (s *socket) run(events int, reconnects int64) {
	s.shard.add(s)
	if s.subs.reconnects.Load() != reconnects {
		s.reconnectSoon()
	}
	s.hub.flush(s)
	s.hub.meter.EventsSent(events)
	s.hub.mu.Lock()
	stopping := s.hub.stopping
	s.hub.mu.Unlock()
	switch { // Stop closes only the sockets that were added before
	case s.hub.stopped.Err() != nil:
		s.cut(cutAtStop())
	case stopping:
		s.end(shuttingDown())
	}
	s.read()
}

// maxAge returns when a socket that opens now is too old, with jitter, so that sockets do not all close together.
func (h *Hub) maxAge() int64 {
	if h.MaxAge <= 0 {
		return math.MaxInt64
	}
	early := rand.Int64N(int64(h.MaxAge)/5 + 1) //nolint:gosec // spreading needs no secrecy
	return h.clock() + int64(h.MaxAge) - early
}

// errLeft means that the peer disconnected during the handshake.
var errLeft = errors.New("the peer left during the handshake")

// newUpgrader returns an upgrader with a small read buffer and no write buffer, because the hub writes the frames.
func newUpgrader() websocket.Upgrader {
	return websocket.Upgrader{
		HandshakeTimeout: 5 * time.Second, ReadBufferSize: readBuffer, WriteBufferPool: &sync.Pool{},
		CheckOrigin: func(*http.Request) bool { return true }, // the API checks the origin if a cookie authenticates
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
}

// upgrade upgrades a request to a WebSocket.
func (h *Hub) upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	hijacker := &hijackable{ResponseWriter: w}
	header := w.Header().Clone()
	header.Del("Connection") // the upgrade sets it
	ws, err := h.upgrader.Upgrade(hijacker, r, header)
	switch {
	case err == nil:
		return ws, nil
	case hijacker.hijacked:
		return nil, errLeft
	}
	return nil, notAnUpgrade(err.Error())
}

func notAnUpgrade(detail string) error {
	return fault.New(fault.Validation, "This is a WebSocket endpoint, and the request does not open a WebSocket: %s.", detail)
}

// hijackable hijacks the connection of a response writer that is wrapped.
type hijackable struct {
	http.ResponseWriter
	hijacked bool
}

// Hijack implements http.Hijacker.
func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.hijacked = err == nil
	return conn, buffers, err
}
