package stream

import (
	"bufio"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// handshakeTimeout is how long a peer may take to accept the answer.
const handshakeTimeout = 5 * time.Second

// Recheck authenticates a caller again.
type Recheck = func(context.Context) (accounts.Caller, error)

// Open turns a request into a socket, or refuses it; then nothing was sent.
// When it gives nil the connection is the hub's and the request is over. since
// is the number to resume after, as it was sent, or nil; recheck authenticates
// the caller again, once the hub hears of its key.
func (h *Hub) Open(w http.ResponseWriter, r *http.Request, caller accounts.Caller, since *string, recheck Recheck) error {
	if r.ProtoMajor != 1 || !websocket.IsWebSocketUpgrade(r) {
		return notAnUpgrade("Connection: Upgrade and Upgrade: websocket over HTTP/1.1 are needed")
	}
	taken, err := h.enter(caller)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	defer context.AfterFunc(h.over, cancel)()
	err = taken.key.check(ctx, recheck)
	if err == nil {
		err = h.open(ctx, w, r, taken, since)
	}
	if err == nil {
		return nil
	}
	h.giveUp(taken)
	switch {
	case errors.Is(err, errLeft): // there is nobody to tell
		return nil
	case h.over.Err() != nil:
		return leaving()
	}
	return err
}

func (h *Hub) open(ctx context.Context, w http.ResponseWriter, r *http.Request, taken place, since *string) error {
	begin, err := h.beginning(ctx, taken, since)
	if err != nil {
		return err
	}
	ws, err := upgrade(w, r)
	if err != nil {
		return err
	}
	h.admit(ws, taken, begin)
	return nil
}

// admit starts a socket. The goroutine that reads is a new one: that of the
// request has a large stack, which an idle socket would keep.
func (h *Hub) admit(ws *websocket.Conn, taken place, begin beginning) {
	s := &socket{hub: h, room: taken.room, key: taken.key, ws: ws, link: newLink(ws.NetConn()),
		next: begin.next, seq: begin.seq, unsent: begin.text}
	turn := h.turns.Add(1)
	s.turn = uint16(turn % beats) //nolint:gosec // it is less than beats
	s.shard = &s.room.shards[int(turn)%len(h.workers)]
	s.until.Store(h.oldest())
	s.alive()
	s.listen()
	h.meter.SocketOpened(begin.how)
	go s.start(begin.events, taken.renewals) // the place counts it
}

// start makes the socket known and reads. What was heard meanwhile is in the
// log, so the first flush misses nothing. events are those of the first frames,
// renewals those that the room had when the place was taken.
func (s *socket) start(events int, renewals int64) {
	s.shard.add(s)
	if s.room.renewals.Load() != renewals {
		s.renew()
	}
	s.hub.flush(s)
	s.hub.meter.EventsSent(events)
	switch { // the hub has dismissed, or cut, those it knew
	case s.hub.over.Err() != nil:
		s.cut(cutAtStop())
	case s.hub.ending():
		s.end(shuttingDown())
	}
	s.read()
}

func (h *Hub) ending() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopping
}

// oldest is when a socket that opens now is too old: a random moment of the
// last fifth, so that those that came together do not leave together.
func (h *Hub) oldest() int64 {
	if h.MaxAge <= 0 {
		return math.MaxInt64
	}
	early := rand.Int64N(int64(h.MaxAge)/5 + 1) //nolint:gosec // spreading needs no secrecy
	return h.clock() + int64(h.MaxAge) - early
}

// errLeft says that the peer went away during the handshake.
var errLeft = errors.New("the peer left during the handshake")

// upgrade makes a WebSocket of a request. The server's own buffers, 4 KiB
// each, are left to the garbage collector.
func upgrade(w http.ResponseWriter, r *http.Request) (*websocket.Conn, error) {
	taking := &hijackable{ResponseWriter: w}
	upgrader := websocket.Upgrader{
		HandshakeTimeout: handshakeTimeout, ReadBufferSize: readBuffer, WriteBufferPool: unusedPool{},
		CheckOrigin: func(*http.Request) bool { return true }, // a key is asked for, and no cookie is taken
		Error:       func(http.ResponseWriter, *http.Request, int, error) {},
	}
	ws, err := upgrader.Upgrade(taking, r, http.Header{"X-Request-Id": w.Header()["X-Request-Id"]})
	switch {
	case err == nil:
		return ws, nil
	case taking.taken:
		return nil, errLeft
	}
	return nil, notAnUpgrade(err.Error())
}

func notAnUpgrade(detail string) error {
	return fault.New(fault.Validation, "This is a WebSocket endpoint, and the request is not the beginning of one: %s.", detail)
}

// hijackable finds the connection behind the wrappers of a response.
type hijackable struct {
	http.ResponseWriter
	taken bool
}

// Hijack takes the connection.
func (h *hijackable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	conn, buffers, err := http.NewResponseController(h.ResponseWriter).Hijack()
	h.taken = err == nil
	return conn, buffers, err
}

// unusedPool keeps the library from making a write buffer for every socket:
// frames are written by the hub.
type unusedPool struct{}

// Get gives nothing.
func (unusedPool) Get() any { return nil }

// Put takes nothing.
func (unusedPool) Put(any) {}
