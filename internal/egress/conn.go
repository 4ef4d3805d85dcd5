package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"time"
)

// conn is one connection, used for one exchange at a time.
type conn struct {
	net.Conn // TLS, or the TCP connection itself
	raw      *net.TCPConn
	system   syscall.RawConn
	endpoint endpoint
	incoming incoming
	reader   *bufio.Reader // of incoming

	idleSince time.Time
	reusable  bool        // after the exchange
	stop      func() bool // detaches the context of the exchange

	// Made once, because they would be allocated for every exchange.
	abort func()
	peek  func(fd uintptr) bool
	quiet bool // what peek found
}

func newConn(raw *net.TCPConn, to endpoint) *conn {
	c := &conn{Conn: raw, raw: raw, endpoint: to}
	c.incoming.conn = c
	c.reader = bufio.NewReader(&c.incoming)
	c.abort = c.close
	c.peek = func(fd uintptr) bool { c.quiet = nothingToRead(fd); return true }
	c.system, _ = raw.SyscallConn() // fails on a closed connection only
	return c
}

// handshake starts TLS. The context ends it.
func (c *conn) handshake(ctx context.Context) error {
	config := c.endpoint.tls.Clone()
	config.ServerName = c.endpoint.host
	config.ClientSessionCache = sessions{c.endpoint.account, config.ClientSessionCache}
	secured := tls.Client(c.raw, config)
	c.Conn = secured
	return secured.HandshakeContext(ctx)
}

// begin starts an exchange that ends at a deadline or with the context.
func (c *conn) begin(ctx context.Context, deadline time.Time) {
	_ = c.SetDeadline(deadline) // fails on a closed connection only, and so will the exchange
	c.stop = context.AfterFunc(ctx, c.abort)
	c.reusable = false
}

// end finishes an exchange and reports whether another one may follow on the connection.
func (c *conn) end() bool {
	running := c.stop()
	return running && c.reusable && c.isUsedUp() && c.SetDeadline(time.Time{}) == nil
}

// isUsedUp reports whether nothing was read beyond the answer: such bytes would be taken for the start of the next answer.
// TLS reads ahead too. With a deadline in the past, it returns only bytes that it holds already.
func (c *conn) isUsedUp() bool {
	if c.reader.Buffered() > 0 {
		return false
	}
	if c.endpoint.tls == nil {
		return true
	}
	past := time.Unix(1, 0)
	if c.SetReadDeadline(past) != nil {
		return false
	}
	var one [1]byte
	n, err := c.Read(one[:])
	return n == 0 && errors.Is(err, os.ErrDeadlineExceeded)
}

// isQuiet reports whether the peer has neither closed the connection nor sent anything while it was idle.
func (c *conn) isQuiet() bool {
	c.quiet = false
	return c.system != nil && c.system.Read(c.peek) == nil && c.quiet
}

// close closes the connection at once, without the goodbye of TLS. Running reads and writes get an error.
func (c *conn) close() { _ = c.raw.Close() }

// errHeadersTooLarge ends an answer with endless headers.
var errHeadersTooLarge = errors.New("the answer's headers are larger than 64 KiB")

// incoming reads from a connection, up to a limit while headers are read.
type incoming struct {
	conn  *conn
	limit int   // bytes that may still come
	err   error // why the stream ended
}

func (i *incoming) Read(p []byte) (n int, err error) {
	if i.limit > 0 {
		n, err = i.conn.Read(p[:min(len(p), i.limit)])
		i.limit -= n
	} else {
		err = errHeadersTooLarge
	}
	if err != nil {
		i.err = err
	}
	return n, err
}

// cause returns why an answer could not be read: the error that ended the stream, if there is one, or err.
func (i *incoming) cause(err error) error {
	switch {
	case i.err == nil:
		return err
	case errors.Is(i.err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return i.err
}
