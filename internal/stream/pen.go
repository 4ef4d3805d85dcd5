package stream

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"syscall"
	"time"
)

const (
	// piece is how much is given to TLS at once. Every Unix that says a socket
	// has room means 2 KiB at least; the rest is what TLS adds.
	piece = 2<<10 - 128
	// secureTimeout is far more than pieces take for which there is room.
	secureTimeout = time.Second
)

// errFull says that the kernel takes no more of a socket for now.
var errFull = errors.New("the socket's buffer is full")

// link is a connection that can be written to without waiting.
type link struct {
	conn net.Conn
	// inner is what conn writes to in the end; conn itself without TLS.
	inner net.Conn
	raw   syscall.RawConn // of the TCP connection; nil when there is none
	// secure tells that bytes go through TLS, which cannot take back half a
	// record: it is only written to when there is room.
	secure bool
}

func newLink(conn net.Conn) link {
	l := link{conn: conn, inner: conn}
	if secured, is := conn.(*tls.Conn); is {
		l.secure, l.inner = true, secured.NetConn()
	}
	if tcp, is := l.inner.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(writeBuffer) // what the kernel holds for a reader that stopped
		l.raw, _ = tcp.SyscallConn()
	}
	return l
}

// close ends the connection at once. TLS would first tell the peer, and wait
// for one that does not read.
func (l link) close() { _ = l.inner.Close() }

// part ends a connection whose peer has nothing more to say, and tells it so
// as TLS wants it. It may wait some seconds; close ends that.
func (l link) part() {
	if l.secure && l.raw != nil && hasRoom(l.raw) {
		_ = l.conn.Close()
	}
	l.close()
}

// pen is what writing needs for a moment. Workers have their own; others take
// one from the hub's case.
type pen struct {
	buffer []byte // for frames that go out together
	text   []byte
	n      int
	err    error
	// attempt is the method as a function, made once: a closure for every
	// write would be garbage for every socket and event.
	attempt func(fd uintptr) bool
}

func newPen() *pen {
	p := &pen{}
	p.attempt = p.write
	return p
}

func newCase() *sync.Pool { return &sync.Pool{New: func() any { return newPen() }} }

// try offers bytes to the kernel and gives how many it took. errFull means
// that it would take more later; another error is final.
func (p *pen) try(l link, text []byte) (int, error) {
	if l.raw == nil {
		return 0, errFull
	}
	p.text, p.n, p.err = text, 0, nil
	if l.secure {
		return p.trySecure(l)
	}
	if err := l.raw.Write(p.attempt); err != nil {
		return p.n, err
	}
	return p.n, p.err
}

// trySecure offers pieces, each only when the kernel has said that it has room
// for it. The deadline is for a machine that is out of memory for sockets,
// where the kernel says so and waits all the same; it breaks the connection.
func (p *pen) trySecure(l link) (int, error) {
	if err := l.conn.SetWriteDeadline(time.Now().Add(secureTimeout)); err != nil {
		return 0, err
	}
	// Whoever writes next may wait: the socket's own goroutine, or TLS itself
	// with an answer to what it read.
	defer func() { _ = l.conn.SetWriteDeadline(time.Time{}) }()
	for p.n < len(p.text) {
		if !hasRoom(l.raw) {
			return p.n, errFull
		}
		n, err := l.conn.Write(p.text[p.n:min(p.n+piece, len(p.text))])
		p.n += n
		if err != nil {
			return p.n, err
		}
	}
	return p.n, nil
}
