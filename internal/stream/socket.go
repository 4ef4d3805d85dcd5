package stream

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/connections"
)

const (
	readBuffer  = 128      // peers send only "pong" and control frames
	readLimit   = 4 << 10  // the largest message that a peer may send
	writeBuffer = 32 << 10 // the size of the kernel's send buffer
	maxPortion  = 16 << 10 // how many bytes are offered to the kernel at once
	maxReplies  = 1 << 10  // how many bytes are queued for a peer that sends pings and does not read
)

// ending says why a socket is closed. If code is 0, no close frame is sent. metric is a label.
type ending struct {
	code   int
	reason string
	metric string
}

func broken() ending    { return ending{metric: "broken"} }
func silent() ending    { return ending{metric: "silent"} }
func cutAtStop() ending { return ending{metric: "shutdown"} }

func endedByPeer(code int) ending {
	if code == websocket.CloseNoStatusReceived { // this code must not be sent
		code = websocket.CloseNormalClosure
	}
	return ending{code, "", "peer"}
}

func shuttingDown() ending {
	return ending{websocket.CloseServiceRestart, "This node is shutting down. Connect again with since.", "shutdown"}
}

func keyEnded() ending {
	return ending{websocket.ClosePolicyViolation, "The API key has been revoked or has expired.", "key"}
}

func rightsReduced() ending {
	return ending{websocket.ClosePolicyViolation, "The API key has fewer rights now. Connect again.", "key"}
}

func sessionEnded() ending {
	return ending{websocket.ClosePolicyViolation, "The session has ended. Sign in again.", "session"}
}

// socket is one open connection: an event socket, or an OFREP event stream.
type socket struct {
	hub        *Hub
	subs       *subscribers
	credential *credential
	role       accounts.Role   // of the caller who opened it
	ws         *websocket.Conn // nil for an event stream
	follows    *following      // nil for an event socket
	conn       connection
	shard      *shard
	index      int    // in the shard, guarded by the shard's lock
	tick       uint16 // the tick of the heartbeat interval at which the heartbeat is sent

	allTopics  bool
	connection *connections.Connection // its entry in the list of connections; nil for an event stream

	lastRead atomic.Int64 // the hub's clock when the peer last sent anything
	expires  atomic.Int64 // the hub's clock when the socket is too old

	mu sync.Mutex
	// next is the position of the first frame not yet taken. seq is the largest sequence number taken.
	next, seq int64
	unsent    []byte // is sent before any frame of the log
	waiting   bool   // a goroutine waits for the peer to read
	closing   bool   // nothing is sent after unsent
	ending    ending
}

// flush offers unsent frames to the kernel without waiting, and returns how many events the kernel accepted.
func (s *socket) flush(log *eventLog, w *frameWriter) (sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting {
		s.checkPosition(log)
		return 0
	}
	for {
		text, events := s.take(log, w)
		if len(text) == 0 {
			s.endFollowing()
			return sent
		}
		sent += events
		n, err := w.try(s.conn, text)
		if n == len(text) && err == nil {
			s.delivered()
			continue
		}
		s.unsent = append([]byte(nil), text[n:]...)
		if err != nil && !errors.Is(err, errFull) {
			s.conn.cut() // the reading goroutine notices
			return sent
		}
		s.waiting = true
		s.startWaiting()
		return sent
	}
}

// take returns the bytes to send next: first the unsent ones, then frames of the log.
func (s *socket) take(log *eventLog, w *frameWriter) (text []byte, events int) {
	s.checkPosition(log)
	text, s.unsent = append(w.buffer[:0], s.unsent...), nil
	switch {
	case s.closing:
	case s.follows != nil:
		text, events = s.takeRefetch(log, text)
	default:
		text, events = s.takeEvents(log, text)
	}
	w.buffer = text
	return text, events
}

// takeEvents appends the next frames of the log for an event socket.
func (s *socket) takeEvents(log *eventLog, text []byte) (_ []byte, events int) {
	for ; s.next < log.end() && len(text) < maxPortion; s.next++ {
		each := &log.frames[s.next-log.first]
		if each.text == nil || !s.advance(each) || each.other && !s.allTopics {
			continue
		}
		text = append(text, each.text...)
		events += each.events
	}
	return text, events
}

// advance moves the socket's sequence number to a frame, and reports whether the frame is new to the socket.
func (s *socket) advance(to *frame) bool {
	if to.restart {
		s.seq = 0
	} else if to.seq <= s.seq && to.seq > 0 {
		return false
	}
	s.seq = max(s.seq, to.seq)
	return true
}

// checkPosition closes the socket if the log dropped frames that the socket needs and that no summary replaces.
func (s *socket) checkPosition(log *eventLog) {
	switch {
	case s.next >= log.first:
	case s.next >= log.summarized:
		s.next = log.first
	default:
		s.queueClose(ending{websocket.CloseTryAgainLater, "Events were read too slowly. Connect again with since.", "slow_reader"})
	}
}

// queueClose queues a close frame, which is the last thing that is sent.
func (s *socket) queueClose(why ending) {
	if s.closing {
		return
	}
	s.closing, s.ending = true, why
	s.expires.Store(s.hub.clock() + int64(s.hub.CloseTimeout)) // for a peer that never reads the close frame
	if s.follows != nil {                                      // the end of the response is all that the peer gets
		return
	}
	s.unsent = appendFrame(s.unsent, websocket.CloseMessage, websocket.FormatCloseMessage(why.code, why.reason))
}

// delivered bounds the wait for the peer's answer after the close frame was sent.
func (s *socket) delivered() {
	s.endFollowing()
	if s.follows == nil && s.closing && s.unsent == nil {
		_ = s.conn.SetReadDeadline(time.Now().Add(s.hub.closeReplyTimeout())) // fails only if the socket is already closed
	}
}

// wait writes to a slow reader until the reader has caught up or the connection is closed.
func (s *socket) wait() {
	w := newFrameWriter()
	for {
		s.mu.Lock()
		s.delivered()
		text, events := s.take(s.subs.log.Load(), w)
		s.waiting = len(text) > 0 // if false, the worker serves the socket again
		s.mu.Unlock()
		if len(text) == 0 {
			return
		}
		if err := s.write(text); err != nil {
			s.conn.cut()
			return
		}
		s.hub.meter.EventsSent(events)
	}
}

// write writes to a slow reader. A peer of an event stream never shows that it is alive, so its time to read is bounded.
func (s *socket) write(text []byte) error {
	if s.follows != nil {
		_ = s.conn.SetWriteDeadline(time.Now().Add(time.Duration(s.hub.silenceLimit()))) // fails only if the connection is already closed
	}
	_, err := s.conn.Write(text)
	if err == nil && s.follows != nil {
		_ = s.conn.SetWriteDeadline(time.Time{})
	}
	return err
}

// isAllowed reports whether the key or session of the socket still works, and allows what the socket receives. An event
// socket ends when the key's role is below the one with which the socket was opened.
func (s *socket) isAllowed(now time.Time) bool {
	rights := s.credential.rights.Load()
	switch {
	case !s.credential.isValid(now):
		return false
	case s.follows != nil:
		return rights.RequireEvaluation(s.follows.environment) == nil
	}
	return rights.RequireFullAccess() == nil && rights.Role.Covers(s.role)
}

// send sends a heartbeat or an answer before later events. If the peer does not read, the text is dropped.
func (s *socket) send(text []byte) {
	s.mu.Lock()
	if !s.closing && len(s.unsent) < maxReplies {
		s.unsent = append(s.unsent, text...)
	}
	s.mu.Unlock()
	s.hub.flush(s)
}

// end closes the socket after the unsent bytes are sent.
func (s *socket) end(why ending) {
	s.mu.Lock()
	s.queueClose(why)
	s.mu.Unlock()
	s.hub.flush(s)
}

// reconnectSoon makes the peer reconnect at a random time.
func (s *socket) reconnectSoon() {
	moment := s.hub.clock() + rand.Int64N(int64(s.hub.Reconnect)) //nolint:gosec // spreading needs no secrecy
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.expires.Store(min(s.expires.Load(), moment))
	}
}

// expire closes a socket that is too old. If the peer has not read the close frame, it cuts the connection.
func (s *socket) expire() {
	s.mu.Lock()
	closing := s.closing
	s.mu.Unlock()
	if closing {
		s.cut(broken())
		return
	}
	s.end(ending{websocket.CloseServiceRestart, "This connection has reached its age limit. Connect again with since.", "age"})
}

// cut closes the socket at once.
func (s *socket) cut(why ending) {
	s.mu.Lock()
	if !s.closing {
		s.closing, s.ending = true, why
	}
	s.unsent = nil
	s.mu.Unlock()
	s.conn.cut()
}

// read reads until the connection ends.
func (s *socket) read() {
	why := s.receive()
	s.conn.close()
	s.cut(why)
	s.hub.remove(s)
}

// receive reads until the peer has gone or the connection is closed. A message from the peer only shows that the peer is alive.
func (s *socket) receive() ending {
	if s.follows != nil {
		return s.untilLeft()
	}
	for {
		if _, _, err := s.ws.NextReader(); err != nil {
			return broken()
		}
		s.alive()
	}
}

func (s *socket) alive() { s.lastRead.Store(s.hub.clock()) }

// setHandlers sets the handlers of control frames. Answers are queued, because nothing may be written inside a frame.
func (s *socket) setHandlers() {
	s.ws.SetReadLimit(readLimit)
	s.ws.SetPingHandler(func(payload string) error {
		s.alive()
		s.send(appendFrame(nil, websocket.PongMessage, []byte(payload)))
		return nil
	})
	s.ws.SetPongHandler(func(string) error { s.alive(); return nil })
	s.ws.SetCloseHandler(func(code int, _ string) error { s.end(endedByPeer(code)); return nil })
}
