package stream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/background"
	"github.com/signalbox/signalbox/internal/connections"
)

// following holds the fields that only event streams have.
type following struct {
	environment string
	response    *response // of a stream over HTTP/2; nil over HTTP/1
}

// Follow answers a request with an OFREP event stream, or returns an error before anything was sent. Over HTTP/1 it
// takes the connection over and returns at once; over HTTP/2 it returns when the stream has ended. recheck is as for Open.
func (h *Hub) Follow(w http.ResponseWriter, r *http.Request, caller accounts.Caller, wanted connections.Following, recheck Recheck) error {
	return h.admit(r, caller, recheck, true, func(ctx context.Context, reserved reservation) error {
		begin, err := h.beginFollowing(ctx, reserved, wanted.LastEventID)
		if err != nil {
			return err
		}
		setStreamHeaders(w.Header())
		if r.ProtoMajor == 1 {
			return h.followConnection(w, r, reserved, begin, wanted.Environment)
		}
		return h.followResponse(w, r, reserved, begin, wanted.Environment)
	})
}

// setStreamHeaders makes proxies pass every event on at once.
func setStreamHeaders(header http.Header) {
	header.Set("Content-Type", "text/event-stream")
	header.Set("Cache-Control", "no-cache, no-transform")
	header.Set("X-Accel-Buffering", "no")
}

// followConnection makes an HTTP/1 connection an event stream. The stream has no length and no chunks: it ends with
// the connection.
func (h *Hub) followConnection(w http.ResponseWriter, r *http.Request, reserved reservation, begin beginning, environment string) error {
	header := w.Header()
	header.Set("Date", time.Now().UTC().Format(http.TimeFormat))
	header.Set("Connection", "close")
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return fmt.Errorf("taking over the connection of an event stream: %w", err)
	}
	if err := conn.SetDeadline(time.Time{}); err != nil { // the server's deadlines are for requests
		_ = conn.Close()
		return errLeft
	}
	begin.text = append(responseHead(r, header), begin.text...)
	s := h.newSocket(reserved, begin, conn)
	s.follows = &following{environment: environment}
	s.conn.giveUpAfter(time.Duration(h.silenceLimit()))
	h.meter.SocketOpened(begin.how)
	go s.run(begin.events, reserved.reconnects) // as for sockets
	return nil
}

// responseHead returns the head of a successful response.
func responseHead(r *http.Request, header http.Header) []byte {
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/%d.%d 200 OK\r\n", r.ProtoMajor, r.ProtoMinor)
	_ = header.Write(&head) // a buffer takes everything
	head.WriteString("\r\n")
	return head.Bytes()
}

// followResponse serves an event stream over HTTP/2, where streams share a connection.
func (h *Hub) followResponse(w http.ResponseWriter, r *http.Request, reserved reservation, begin beginning, environment string) error {
	control := http.NewResponseController(w)
	if err := errors.Join(control.SetReadDeadline(time.Time{}), control.SetWriteDeadline(time.Time{})); err != nil {
		return fmt.Errorf("preparing an event stream: %w", err)
	}
	w.WriteHeader(http.StatusOK)
	answer := &response{w: w, control: control, left: r.Context().Done(), wake: background.NewBell(), done: make(chan struct{})}
	s := h.newSocket(reserved, begin, answer)
	s.follows = &following{environment: environment, response: answer}
	h.meter.SocketOpened(begin.how)
	s.run(begin.events, reserved.reconnects)
	return nil
}

// untilLeft waits until the peer of an event stream has gone, or the connection is closed.
func (s *socket) untilLeft() ending {
	if answer := s.follows.response; answer != nil {
		answer.serve(s.wait)
		return ending{metric: "peer"}
	}
	var ignored [64]byte // peers send nothing
	for {
		if _, err := s.conn.Read(ignored[:]); errors.Is(err, io.EOF) {
			return ending{metric: "peer"}
		} else if err != nil {
			return broken()
		}
	}
}

// startWaiting makes a goroutine write to a slow reader. A response over HTTP/2 has one already.
func (s *socket) startWaiting() {
	if s.follows != nil && s.follows.response != nil {
		s.follows.response.wake.Ring()
		return
	}
	s.hub.sockets.Go(s.wait)
}

// endFollowing closes an event stream that is to end, once nothing is unsent. The reading goroutine then closes the
// connection. The caller holds the lock.
func (s *socket) endFollowing() {
	if s.follows != nil && s.closing && s.unsent == nil {
		_ = s.conn.SetReadDeadline(time.Now()) // fails only if the connection is already closed
	}
}

// response is an event stream over HTTP/2 in the form of a connection. Only the goroutine of the request writes to it.
type response struct {
	net.Conn // nil: addresses are not used
	w        http.ResponseWriter
	control  *http.ResponseController
	left     <-chan struct{} // is closed when the peer has gone
	wake     background.Bell // rings when there is something to write
	done     chan struct{}   // is closed when the response must end

	mu      sync.Mutex
	ended   bool
	writing bool
}

// serve calls write when there is something to write, until the peer has gone or the response must end.
func (r *response) serve(write func()) {
	for {
		select {
		case <-r.left:
			return
		case <-r.done:
			return
		case <-r.wake:
			write()
		}
	}
}

// Write sends bytes at once.
func (r *response) Write(text []byte) (int, error) {
	if !r.setWriting(true) {
		return 0, net.ErrClosed
	}
	defer r.setWriting(false)
	n, err := r.w.Write(text)
	return n, errors.Join(err, r.control.Flush())
}

// setWriting notes whether a write is under way. It returns false if the response must end.
func (r *response) setWriting(writing bool) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.writing = writing
	return !r.ended
}

// SetWriteDeadline bounds the writes.
func (r *response) SetWriteDeadline(at time.Time) error { return r.control.SetWriteDeadline(at) }

// SetReadDeadline ends the response: event streams set it only to a time that has passed.
func (r *response) SetReadDeadline(time.Time) error { return r.end(false) }

// Close ends the response, even if its peer does not read.
func (r *response) Close() error { return r.end(true) }

func (r *response) end(interrupt bool) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.ended {
		r.ended = true
		close(r.done)
	}
	if interrupt && r.writing { // so the request's goroutine has not ended yet
		return r.control.SetWriteDeadline(time.Now())
	}
	return nil
}
