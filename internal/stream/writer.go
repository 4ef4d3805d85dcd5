package stream

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

// tlsPiece plus the overhead of TLS fits into the 2 KiB that every writable Unix socket accepts.
const tlsPiece = 2<<10 - 128

// errFull means that the kernel accepts no more bytes for a socket at the moment.
var errFull = errors.New("the socket's buffer is full")

// connection is a connection that can be written to without waiting.
type connection struct {
	net.Conn
	inner net.Conn        // the connection below TLS; equal to Conn without TLS
	raw   syscall.RawConn // of the TCP connection; nil if there is none
	tls   bool
}

func newConnection(conn net.Conn) connection {
	c := connection{Conn: conn, inner: conn}
	if secured, is := conn.(*tls.Conn); is {
		c.tls, c.inner = true, secured.NetConn()
	}
	if tcp, is := c.inner.(*net.TCPConn); is {
		_ = tcp.SetWriteBuffer(writeBuffer)
		c.raw, _ = tcp.SyscallConn()
	}
	return c
}

// cut closes the connection at once. Closing with TLS would first wait for the peer to read a notification.
func (c connection) cut() { _ = c.inner.Close() }

// close closes the connection, with TLS's notification if the kernel accepts it at once.
func (c connection) close() {
	if c.tls && c.raw != nil && isWritable(c.raw) {
		_ = c.Close()
	}
	c.cut()
}

// frameWriter writes to sockets without waiting. If every idle socket had its own goroutine and queue, it would use half
// as much memory again.
type frameWriter struct {
	buffer []byte // for frames that are sent together
	text   []byte
	n      int
	err    error
	// write is the method writeNow as a function value. It is created once, which saves an allocation per write.
	write func(fd uintptr) bool
}

func newFrameWriter() *frameWriter {
	w := &frameWriter{}
	w.write = w.writeNow
	return w
}

// try offers bytes to the kernel and returns how many it accepted. errFull means that the rest must wait.
func (w *frameWriter) try(c connection, text []byte) (int, error) {
	if c.raw == nil {
		return 0, errFull
	}
	w.text, w.n, w.err = text, 0, nil
	if c.tls {
		return w.tryTLS(c)
	}
	if err := c.raw.Write(w.write); err != nil {
		return w.n, err
	}
	return w.n, w.err
}

// tryTLS offers pieces while the socket is writable. If the machine is out of socket memory, a write waits all the
// same; the deadline then breaks the connection.
func (w *frameWriter) tryTLS(c connection) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }() // a later writer may wait
	for w.n < len(w.text) {
		if !isWritable(c.raw) {
			return w.n, errFull
		}
		n, err := c.Write(w.text[w.n:min(w.n+tlsPiece, len(w.text))])
		w.n += n
		if err != nil {
			return w.n, err
		}
	}
	return w.n, nil
}
