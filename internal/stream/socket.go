package stream

import (
	"errors"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gorilla/websocket"
)

const (
	// readBuffer holds what peers send: "pong", and control frames.
	readBuffer = 128
	// readLimit is the largest message that a peer may send.
	readLimit = 4 << 10
	// writeBuffer bounds what the kernel keeps for a reader that stopped.
	writeBuffer = 32 << 10
	// portion is how much is offered to the kernel at once.
	portion = 16 << 10
	// maxAnswers bounds what waits for a peer that sends pings and reads no
	// answers.
	maxAnswers = 1 << 10
	// parting is how long a peer may take to accept the close frame, and what
	// waits before it.
	parting = 10 * time.Second
	// farewell is how long a peer may take to answer that it closes.
	farewell = 2 * time.Second
)

// ending says why a socket is closed: what the peer is told and what is counted.
type ending struct {
	code   int
	reason string
	metric string
}

// The reasons there are. A peer that is silent is told nothing: it is not there.
func endedByPeer(code int) ending { return ending{answerable(code), "", "peer"} }
func broken() ending              { return ending{metric: "broken"} }
func silent() ending              { return ending{metric: "silent"} }
func cutAtStop() ending           { return ending{metric: "shutdown"} }

func tooSlow() ending {
	return ending{websocket.CloseTryAgainLater, "Events were read too slowly. Connect again with since.", "slow_reader"}
}

func tooOld() ending {
	return ending{websocket.CloseServiceRestart, "This connection has reached its age limit. Connect again with since.", "age"}
}

func shuttingDown() ending {
	return ending{websocket.CloseServiceRestart, "This node is shutting down. Connect again with since.", "shutdown"}
}

func keyEnded() ending {
	return ending{websocket.ClosePolicyViolation, "The API key has been revoked or has expired.", "key"}
}

// answerable is the code that a close frame may repeat.
func answerable(code int) int {
	if code == websocket.CloseNoStatusReceived {
		return websocket.CloseNormalClosure
	}
	return code
}

// socket is one open connection.
type socket struct {
	hub   *Hub
	room  *room
	key   *credential
	ws    *websocket.Conn
	link  link
	shard *shard
	slot  int32
	turn  uint16 // of the ticks of a heartbeat, the one on which it is due

	heard atomic.Int64 // the hub's clock when the peer last sent anything
	until atomic.Int64 // the hub's clock when it is too old

	mu sync.Mutex
	// next is the position of the first frame that was not taken, seq the
	// largest number that was.
	next, seq int64
	unsent    []byte // goes before any frame
	waiting   bool   // a goroutine waits for the peer to read
	closing   bool   // nothing follows unsent
	ending    ending
}

// flush offers the socket what it has not been given yet, and gives the number
// of events it took. It never waits.
func (s *socket) flush(log *view, p *pen) (sent int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting {
		s.checkPace(log)
		return 0
	}
	for {
		text, events := s.gather(log, p)
		if len(text) == 0 {
			return sent
		}
		sent += events
		n, err := p.try(s.link, text)
		if n == len(text) && err == nil {
			s.delivered()
			continue
		}
		s.unsent = append([]byte(nil), text[n:]...)
		s.blocked(err)
		return sent
	}
}

// gather takes what goes out next: what was left, then the frames of the log.
func (s *socket) gather(log *view, p *pen) (text []byte, events int) {
	s.checkPace(log)
	text = p.buffer[:0]
	if s.unsent != nil {
		text, s.unsent = append(text, s.unsent...), nil
	}
	if s.closing {
		p.buffer = text
		return text, 0
	}
	for ; s.next < log.end() && len(text) < portion; s.next++ {
		each := &log.frames[s.next-log.first]
		if each.restart {
			s.seq = 0
		} else if each.seq <= s.seq && each.seq > 0 {
			continue
		}
		s.seq = max(s.seq, each.seq)
		text = append(text, each.text...)
		events += each.events
	}
	p.buffer = text
	return text, events
}

// checkPace closes the socket when the log has moved on without it, unless it
// was the workers who did not keep up.
func (s *socket) checkPace(log *view) {
	switch {
	case s.next >= log.first:
	case s.next >= log.summed:
		s.next = log.first
	default:
		s.say(tooSlow())
	}
}

// say makes a close frame the last thing that is sent.
func (s *socket) say(why ending) {
	if s.closing {
		return
	}
	s.closing, s.ending = true, why
	s.until.Store(s.hub.clock() + min(s.hub.patience(), int64(parting))) // for a peer that never takes it
	s.unsent = append(s.unsent, closeFrame(why.code, why.reason)...)
}

// delivered bounds the wait for the peer's answer once the close frame is out.
func (s *socket) delivered() {
	if s.closing && s.unsent == nil {
		_ = s.link.conn.SetReadDeadline(time.Now().Add(farewell)) // it fails when the socket is closed already
	}
}

// blocked leaves the rest to a goroutine that may wait, or ends a socket that
// is broken.
func (s *socket) blocked(err error) {
	if err != nil && !errors.Is(err, errFull) {
		s.link.close() // its reader notices
		return
	}
	s.waiting = true
	s.hub.sockets.Go(s.wait)
}

// wait writes to a peer that reads slowly until it has caught up. Closing the
// connection ends it.
func (s *socket) wait() {
	p := newPen()
	for {
		text, events, more := s.catchUp(p)
		if !more {
			return
		}
		if _, err := s.link.conn.Write(text); err != nil {
			s.link.close()
			return
		}
		s.hub.meter.EventsSent(events)
	}
}

// catchUp takes the next portion, or gives the socket back to its worker.
func (s *socket) catchUp(p *pen) (text []byte, events int, more bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.delivered()
	text, events = s.gather(s.room.log.Load(), p)
	s.waiting = len(text) > 0
	return text, events, s.waiting
}

// send puts a frame of the socket's own before the events that follow. A peer
// that does not read its answers gets no more of them.
func (s *socket) send(text []byte) {
	s.mu.Lock()
	if !s.closing && len(s.unsent) < maxAnswers {
		s.unsent = append(s.unsent, text...)
	}
	s.mu.Unlock()
	s.hub.flush(s)
}

// beat sends a heartbeat, unless the peer has something to read anyway.
func (s *socket) beat(text []byte) {
	s.mu.Lock()
	busy := s.waiting || s.unsent != nil
	s.mu.Unlock()
	if !busy {
		s.send(text)
	}
}

// end closes the socket after what it was given already.
func (s *socket) end(why ending) {
	s.mu.Lock()
	s.say(why)
	s.mu.Unlock()
	s.hub.flush(s)
}

// renew makes the peer connect again at a random moment, soon.
func (s *socket) renew() {
	moment := s.hub.clock() + rand.Int64N(int64(s.hub.Renewal)) //nolint:gosec // spreading needs no secrecy
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closing {
		s.until.Store(min(s.until.Load(), moment))
	}
}

// retire closes a socket that is too old, at once when it was closed before
// and its peer did not notice.
func (s *socket) retire() {
	s.mu.Lock()
	again := s.closing
	s.mu.Unlock()
	if again {
		s.cut(broken())
		return
	}
	s.end(tooOld())
}

// cut closes the socket at once.
func (s *socket) cut(why ending) {
	s.mu.Lock()
	if !s.closing {
		s.closing, s.ending = true, why
	}
	s.unsent = nil
	s.mu.Unlock()
	s.link.close()
}

// read takes what the peer sends, which matters only as a sign of life, until
// the connection ends.
func (s *socket) read() {
	for {
		if _, _, err := s.ws.NextReader(); err != nil {
			break
		}
		s.alive()
	}
	s.link.part()
	s.cut(broken())
	s.hub.leave(s)
}

func (s *socket) alive() { s.heard.Store(s.hub.clock()) }

// listen sets what control frames do. Answers go the way of all frames:
// nothing else may write between two halves of one.
func (s *socket) listen() {
	s.ws.SetReadLimit(readLimit)
	s.ws.SetPingHandler(func(payload string) error {
		s.alive()
		s.send(appendFrame(nil, websocket.PongMessage, []byte(payload)))
		return nil
	})
	s.ws.SetPongHandler(func(string) error {
		s.alive()
		return nil
	})
	s.ws.SetCloseHandler(func(code int, _ string) error {
		s.end(endedByPeer(code))
		return nil
	})
}
