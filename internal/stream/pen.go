package stream

import (
	"crypto/tls"
	"errors"
	"net"
	"sync"
	"syscall"
)

// errFull says that the kernel takes no more of a socket for now.
var errFull = errors.New("the socket's buffer is full")

// link is a connection that can be written to without waiting.
type link struct {
	conn net.Conn
	raw  syscall.RawConn // of the TCP connection; nil when there is none
	// secure tells that bytes go through TLS, which cannot take back half a
	// record: it is only written to when there is room.
	secure bool
}

func newLink(conn net.Conn) link {
	l := link{conn: conn}
	inner := conn
	if secured, is := conn.(*tls.Conn); is {
		l.secure, inner = true, secured.NetConn()
	}
	if tcp, is := inner.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(writeBuffer) // what the kernel holds for a reader that stopped
		l.raw, _ = tcp.SyscallConn()
	}
	return l
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

func (p *pen) trySecure(l link) (int, error) {
	if !hasRoom(l.raw) {
		return 0, errFull
	}
	return l.conn.Write(p.text)
}
