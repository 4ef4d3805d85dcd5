package egress

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// conn is one connection, used for one exchange at a time.
type conn struct {
	net.Conn // the stream requests travel on: TLS, or the connection itself
	endpoint endpoint
	raw      *net.TCPConn
	records  *records // nil without TLS
	secured  *tls.Conn
	system   syscall.RawConn
	incoming incoming
	reader   *bufio.Reader

	idleSince time.Time
	stale     bool // it has waited too long
	quiet     bool // what peek found
	reusable  bool // after the exchange

	stop func() bool // lets go of the context
	// Made once, because they would be made anew for every exchange.
	abort func()
	peek  func(fd uintptr) bool
}

func newConn(raw *net.TCPConn, to endpoint) *conn {
	c := &conn{Conn: raw, endpoint: to, raw: raw}
	c.incoming.conn = c
	c.reader = bufio.NewReader(&c.incoming)
	c.abort = func() { _ = c.raw.Close() } // whoever reads or writes is told
	c.peek = func(fd uintptr) bool { c.quiet = nothingToRead(fd); return true }
	c.system, _ = raw.SyscallConn() // fails on a closed connection only
	return c
}

// secure agrees on TLS. The context ends it.
func (c *conn) secure(ctx context.Context, config *tls.Config, host string) error {
	config = config.Clone()
	config.ServerName = host
	config.ClientSessionCache = sessions{c.endpoint.account, config.ClientSessionCache}
	c.records = &records{TCPConn: c.raw}
	c.secured = tls.Client(c.records, config)
	c.Conn = c.secured
	return c.secured.HandshakeContext(ctx)
}

// isUsedUp tells whether all that was read from the connection was part of the answer. What is left over would be the
// start of the next one.
func (c *conn) isUsedUp() bool {
	return c.reader.Buffered() == 0 && (c.records == nil || c.records.areUsedUp(c.secured))
}

// isQuiet tells whether the peer has neither closed the connection nor said anything since it was kept. It was used up
// then and nothing has read from it, so what was said is in the socket.
func (c *conn) isQuiet() bool {
	if c.stale || c.system == nil {
		return false
	}
	c.quiet = false
	return c.system.Read(c.peek) == nil && c.quiet
}

// begin starts an exchange that ends at a deadline or with the context.
func (c *conn) begin(ctx context.Context, deadline time.Time) {
	_ = c.SetDeadline(deadline) // fails on a closed connection only, and so will the exchange
	c.stop = context.AfterFunc(ctx, c.abort)
	c.reusable = false
}

// end finishes an exchange and tells whether another one may follow on the connection.
func (c *conn) end() bool {
	untouched := c.stop()
	c.stop = nil
	return untouched && c.reusable && c.isUsedUp() && c.SetDeadline(time.Time{}) == nil
}

// close closes the connection without waiting for the peer.
func (c *conn) close() { _ = c.raw.Close() } // there is nothing left to lose

// errHeadersTooLarge ends an answer that does not come to its body.
var errHeadersTooLarge = errors.New("the answer's headers are larger than 64 KiB")

// incoming reads from the connection for the buffer. While headers are read it stops at their limit.
type incoming struct {
	conn  *conn
	limit int     // bytes that may still come; negative is any number
	heads *[]byte // gets what comes while there is a limit
	err   error
}

func (i *incoming) Read(p []byte) (n int, err error) {
	switch {
	case i.limit == 0:
		err = errHeadersTooLarge
	case i.limit > 0:
		n, err = i.conn.Read(p[:min(len(p), i.limit)])
		i.limit -= n
		*i.heads = append(*i.heads, p[:n]...)
	default:
		n, err = i.conn.Read(p)
	}
	if err != nil {
		i.err = err
	}
	return n, err
}

// cause is why an answer could not be read: what ended the stream, if anything did, because half an answer is never well
// formed.
func (i *incoming) cause(err error) error {
	if i.err == nil {
		return err
	}
	if errors.Is(i.err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return i.err
}
