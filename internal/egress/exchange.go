package egress

import (
	"cmp"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// inlineBody is the size up to which a body travels with the headers in one write. Sending a larger one may block until
// the server reads it, so the answer is awaited meanwhile: a server may refuse a large body before it has read it.
const inlineBody = 32 << 10

// exchange sends a request and reads the answer into a result.
func (c *conn) exchange(memory *scratch, body string, result *Result) error {
	sent := c.send(memory, body)
	if sent.failed() {
		return &failure{sending, sent.err}
	}
	err := c.receive(memory, result, sent.started)
	if !sent.finished() {
		// The answer came, or the time ran out, before all was sent. What is left of the request must not be sent on
		// this connection as if it were another one.
		c.close()
		sent.wait()
	}
	if sent.err == nil {
		return err
	}
	c.reusable = false
	if err != nil && result.Status == 0 {
		return &failure{sending, firstOf(err, sent.err)}
	}
	return err
}

// firstOf gives the cause of a failed exchange when both directions failed: what was read last tells a deadline from a
// connection that was closed because of it.
func firstOf(received, sent error) error {
	if errors.Is(received, os.ErrDeadlineExceeded) {
		return os.ErrDeadlineExceeded
	}
	return sent
}

// outgoing is a request being written.
type outgoing struct {
	started time.Time
	done    chan error // nil when the request was written at once
	err     error
}

// send writes a request: at once when it is small, else beside what follows.
func (c *conn) send(memory *scratch, body string) *outgoing {
	sent := &outgoing{started: time.Now()}
	if len(body) <= inlineBody {
		sent.err = c.write(memory, body)
		return sent
	}
	sent.done = make(chan error, 1)
	go func() { sent.done <- c.write(memory, body) }()
	return sent
}

// write writes a request in pieces, the first one with the headers, so that a large body is not copied whole.
func (c *conn) write(memory *scratch, body string) error {
	for {
		n := min(len(body), inlineBody)
		memory.head = append(memory.head, body[:n]...)
		body = body[n:]
		if _, err := c.Write(memory.head); err != nil || body == "" {
			return err
		}
		memory.head = memory.head[:0]
	}
}

// failed tells whether writing failed so that no answer can be expected. When the server hung up, it may have said why
// before.
func (o *outgoing) failed() bool {
	return errors.Is(o.err, os.ErrDeadlineExceeded)
}

// finished tells whether all was written, or failed to be.
func (o *outgoing) finished() bool {
	if o.done == nil {
		return true
	}
	select {
	case o.err = <-o.done:
		o.done = nil
		return true
	default:
		return false
	}
}

// wait ends writing on a connection that was closed for it.
func (o *outgoing) wait() { o.err = cmp.Or(<-o.done, net.ErrClosed) }

// receive reads the answer. The connection is reusable when the answer ended where it plainly said it would.
func (c *conn) receive(memory *scratch, result *Result, sent time.Time) error {
	memory.heads = memory.heads[:0]
	c.incoming.limit, c.incoming.heads = headerLimit, &memory.heads
	if _, err := c.reader.Peek(1); err != nil {
		return &failure{waiting, err}
	}
	result.Timings.FirstByte = time.Since(sent)
	answer, err := c.readHeaders() //nolint:bodyclose // see readBody
	if err != nil {
		return &failure{waiting, c.incoming.cause(err)}
	}
	c.incoming.limit, c.incoming.heads = -1, nil
	plain := isPlain(answer, memory.heads[:len(memory.heads)-c.reader.Buffered()])
	result.Status = answer.StatusCode
	result.Header = flat(answer.Header)
	complete, err := readBody(answer, memory, result)
	if err != nil {
		return &failure{receiving, err}
	}
	c.reusable = complete && plain && len(answer.Trailer) == 0 && c.incoming.err == nil
	return nil
}

// readHeaders reads the answer up to its body, past interim answers.
func (c *conn) readHeaders() (*http.Response, error) {
	for {
		answer, err := http.ReadResponse(c.reader, nil)
		if err != nil {
			return nil, err
		}
		if answer.StatusCode < 100 {
			return nil, errors.New("the answer's status is not valid")
		}
		if answer.StatusCode >= 200 || answer.StatusCode == http.StatusSwitchingProtocols {
			return answer, nil
		}
	}
}

// readBody keeps the first part of a body and counts the rest. It tells whether it came to the end. The body is not
// closed: that would read a body without end to its end.
func readBody(answer *http.Response, memory *scratch, result *Result) (complete bool, err error) {
	if length := answer.ContentLength; length > 0 {
		result.Body = make([]byte, 0, min(length, keptBody))
	}
	for {
		n, err := answer.Body.Read(memory.body[:min(int64(len(memory.body)), countedBody-result.BodyBytes)])
		room := keptBody - len(result.Body)
		result.Body = append(result.Body, memory.body[:min(n, room)]...)
		result.Truncated = result.Truncated || n > room
		result.BodyBytes += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case result.BodyBytes >= countedBody:
			return false, nil
		}
	}
}

// flat gives headers as a result has them. Text that is not UTF-8 is kept with replacement characters.
func flat(headers http.Header) map[string]string {
	all := make(map[string]string, len(headers))
	for name, values := range headers {
		value := values[0]
		if len(values) > 1 {
			value = strings.Join(values, ", ")
		}
		all[lowered(name)] = strings.ToValidUTF8(value, "\uFFFD")
	}
	return all
}

// lowered is strings.ToLower without making anew what most answers have.
func lowered(name string) string {
	switch name {
	case "Content-Type":
		return "content-type"
	case "Content-Length":
		return "content-length"
	case "Content-Encoding":
		return "content-encoding"
	case "Cache-Control":
		return "cache-control"
	case "Connection":
		return "connection"
	case "Date":
		return "date"
	case "Server":
		return "server"
	}
	return strings.ToLower(name)
}
