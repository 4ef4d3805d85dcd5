package egress

import (
	"cmp"
	"errors"
	"io"
	"math"
	"net"
	"net/http"
	"os"
	"strings"
	"time"
)

// inlineBody is the size up to which a body is sent in one write with the headers. Sending a larger body may block until
// the server reads it. So a goroutine sends it, because a server may refuse a large body before reading it.
const inlineBody = 32 << 10

// exchange sends a request and reads the answer. It reads even if sending fails, because a server may answer before it
// closes the connection.
func (c *conn) exchange(memory *scratch, request Request, result *Result) error {
	started := time.Now()
	finish := c.send(memory, request.Body)
	err := c.receive(memory, result, started, cmp.Or(request.ReadAtMost, countedBody))
	if unsent := finish(); unsent != nil {
		c.reusable = false
		if err != nil && result.Status == 0 {
			if errors.Is(err, os.ErrDeadlineExceeded) {
				unsent = os.ErrDeadlineExceeded
			}
			return &failure{sending, unsent}
		}
	}
	return err
}

// send writes a request. Call finish after the answer: it returns an error if the request was not sent completely.
func (c *conn) send(memory *scratch, body string) (finish func() error) {
	if len(body) <= inlineBody {
		err := c.write(memory, body)
		return func() error { return err }
	}
	done := make(chan error, 1)
	go func() { done <- c.write(memory, body) }()
	return func() error {
		select {
		case err := <-done:
			return err
		default: // stop sending: later, the server would treat the rest as another request
			c.close()
			return cmp.Or(<-done, net.ErrClosed)
		}
	}
}

// write writes a request in pieces, the headers with the first one. So a large body is not copied as a whole.
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

// receive reads the answer and decides whether the connection can be reused.
func (c *conn) receive(memory *scratch, result *Result, sent time.Time, most int64) error {
	c.incoming.limit = headerLimit
	if _, err := c.reader.Peek(1); err != nil {
		return &failure{waiting, err}
	}
	result.Timings.FirstByte = time.Since(sent)
	answer, err := c.readHeaders() //nolint:bodyclose // see readBody
	if err != nil {
		return &failure{waiting, c.incoming.cause(err)}
	}
	c.incoming.limit = math.MaxInt
	c.incoming.reads, c.incoming.bytes = 0, 0
	result.Status = answer.StatusCode
	result.Header = flat(answer.Header)
	complete, err := c.readBody(answer, memory, result, most)
	if err != nil {
		return &failure{receiving, err}
	}
	c.reusable = complete && c.incoming.err == nil && endsPlainly(answer)
	return nil
}

// readHeaders reads the status line and the headers of the answer. It skips interim answers.
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

// readBody keeps the first part of a body, counts the rest up to most bytes, and reports whether it reached the end. It does not close the
// body, because closing would read further.
func (c *conn) readBody(answer *http.Response, memory *scratch, result *Result, most int64) (complete bool, err error) {
	var kept strings.Builder // clears no memory before it is written, and its string is no copy
	defer func() { result.Body = kept.String() }()
	if length := answer.ContentLength; length > 0 {
		kept.Grow(int(min(length, keptBody, most)))
	}
	for {
		n, err := answer.Body.Read(memory.body[:min(int64(len(memory.body)), most-result.BodyBytes)])
		capacity := keptBody - kept.Len()
		kept.Write(memory.body[:min(n, capacity)])
		result.Truncated = result.Truncated || n > capacity
		result.BodyBytes += int64(n)
		switch {
		case errors.Is(err, io.EOF):
			return true, nil
		case err != nil:
			return false, err
		case result.BodyBytes >= most, c.incoming.isWasteful(result.BodyBytes):
			result.Truncated = true
			return false, nil
		}
	}
}

// endsPlainly reports whether another answer may follow this one on its connection.
func endsPlainly(answer *http.Response) bool {
	if answer.ProtoMajor != 1 || answer.ProtoMinor != 1 || answer.Close || len(answer.Trailer) > 0 {
		return false
	}
	switch answer.StatusCode {
	case http.StatusSwitchingProtocols:
		return false
	case http.StatusNoContent, http.StatusNotModified: // these have no body, but a server that sends a length may send one
		return len(answer.TransferEncoding) == 0 && (answer.Header["Content-Length"] == nil || answer.Header.Get("Content-Length") == "0")
	}
	return true
}

// flat returns headers in the form of Result.Header. Bytes that are not UTF-8 become replacement characters.
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

// lowered is strings.ToLower without an allocation for the most common names.
func lowered(name string) string {
	for _, usual := range [...]string{"content-type", "content-length", "content-encoding", "cache-control", "connection", "date", "server"} {
		if strings.EqualFold(name, usual) {
			return usual
		}
	}
	return strings.ToLower(name)
}
