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
	reader   *bufio.Reader // reads from incoming

	idleSince time.Time
	reusable  bool        // whether another exchange may follow
	stop      func() bool // detaches the context of the exchange

	// These are created once, because creating them for every exchange would allocate.
	abort func()
	peek  func(fd uintptr) bool
	quiet bool // the result of peek
}

func newConn(raw *net.TCPConn, to endpoint) *conn {
	c := &conn{Conn: raw, raw: raw, endpoint: to}
	c.incoming.conn = c
	c.reader = bufio.NewReader(&c.incoming)
	c.abort = c.close
	c.peek = func(fd uintptr) bool { c.quiet = nothingToRead(fd); return true }
	c.system, _ = raw.SyscallConn() // fails only on a closed connection
	return c
}

// handshake performs the TLS handshake. The end of the context aborts it.
func (c *conn) handshake(ctx context.Context) error {
	config := c.endpoint.tls.Clone()
	config.ServerName = c.endpoint.host
	config.ClientSessionCache = sessions{c.endpoint.account, config.ClientSessionCache}
	secured := tls.Client(c.raw, config)
	c.Conn = secured
	return secured.HandshakeContext(ctx)
}

// begin starts an exchange. It ends at the deadline or with the context.
func (c *conn) begin(ctx context.Context, deadline time.Time) {
	_ = c.SetDeadline(deadline) // fails only on a closed connection, where the exchange will fail too
	c.stop = context.AfterFunc(ctx, c.abort)
	c.reusable = false
}

// end finishes an exchange, and reports whether the connection can be used for another one.
func (c *conn) end() bool {
	running := c.stop()
	return running && c.reusable && c.isUsedUp() && c.SetDeadline(time.Time{}) == nil
}

// isUsedUp reports whether no bytes were read beyond the answer. Such bytes would become the start of the next answer. TLS
// also reads ahead: with a deadline in the past, Read returns only bytes that TLS already has.
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

// isQuiet reports whether the idle connection is still open and the peer has sent nothing.
func (c *conn) isQuiet() bool {
	c.quiet = false
	return c.system != nil && c.system.Read(c.peek) == nil && c.quiet
}

// close closes the connection at once, without the closing message of TLS. Running reads and writes return an error.
func (c *conn) close() { _ = c.raw.Close() }

// errHeadersTooLarge is the error of an answer whose headers do not end.
var errHeadersTooLarge = errors.New("the answer's headers are larger than 64 KiB")

// incoming reads from a connection. While headers are read, a limit applies.
type incoming struct {
	conn  *conn
	limit int   // how many bytes may still come
	reads int   // of the body
	bytes int64 // of the body, with the framing of chunks
	err   error // the error that ended the stream
}

// Limits of the work that an answer may cause beside its content. A server that sends single bytes, in packets or chunks of
// their own, would otherwise keep a processor busy for as long as the job may run.
const (
	freeReads    = 16 << 10 // a stream of 15 minutes may send single bytes 18 times a second
	bytesPerRead = 64       // from then on
	freeFraming  = 1 << 20
	maxFraming   = 4 // bytes received for each byte of content
)

// isWasteful reports whether the body takes too many reads or too much framing for its content.
func (i *incoming) isWasteful(content int64) bool {
	return int64(i.reads) > freeReads+content/bytesPerRead || i.bytes > freeFraming+maxFraming*content
}

func (i *incoming) Read(p []byte) (n int, err error) {
	if i.limit > 0 {
		n, err = i.conn.Read(p[:min(len(p), i.limit)])
		i.limit -= n
		i.reads++
		i.bytes += int64(n)
	} else {
		err = errHeadersTooLarge
	}
	if err != nil {
		i.err = err
	}
	return n, err
}

// cause returns the reason why an answer could not be read: the error that ended the stream, or else err.
func (i *incoming) cause(err error) error {
	switch {
	case i.err == nil:
		return err
	case errors.Is(i.err, io.EOF):
		return io.ErrUnexpectedEOF
	}
	return i.err
}
