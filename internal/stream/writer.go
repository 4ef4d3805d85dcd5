package stream

import (
	"crypto/tls"
	"errors"
	"net"
	"syscall"
	"time"
)

// tlsPiece plus the bytes that TLS adds fit into the 2 KiB that a writable Unix socket takes at least.
const tlsPiece = 2<<10 - 128

// errFull says that the kernel takes no more bytes for a socket for now.
var errFull = errors.New("the socket's buffer is full")

// connection can be written to without waiting.
type connection struct {
	net.Conn
	inner net.Conn        // the connection below TLS; Conn itself without TLS
	raw   syscall.RawConn // of the TCP connection; nil when there is none
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

// cut closes the connection at once. TLS would first wait for the peer to take a notification.
func (c connection) cut() { _ = c.inner.Close() }

// close closes the connection, with TLS's notification if the peer can take it.
func (c connection) close() {
	if c.tls && c.raw != nil && isWritable(c.raw) {
		_ = c.Close()
	}
	c.cut()
}

// frameWriter writes to sockets without waiting. With a goroutine and a queue of its own, an idle socket would take half
// as much memory again.
type frameWriter struct {
	buffer []byte // for frames that go out together
	text   []byte
	n      int
	err    error
	// write is the method writeNow as a function value, made once to save an allocation for every write.
	write func(fd uintptr) bool
}

func newFrameWriter() *frameWriter {
	w := &frameWriter{}
	w.write = w.writeNow
	return w
}

// try offers bytes to the kernel and returns how many it took. errFull means that the rest must wait.
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

// tryTLS offers pieces while the socket is writable. On a machine without socket memory a
// write waits all the same; the deadline then breaks the connection.
func (w *frameWriter) tryTLS(c connection) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
	defer func() { _ = c.SetWriteDeadline(time.Time{}) }() // the next writer may wait
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
