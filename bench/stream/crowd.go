package stream

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// crowd has many connections that wait for the same events. One goroutine per
// connection counts its events.
type crowd struct {
	event  string // a text that each event has once, after a colon
	conns  []net.Conn
	wanted int64
	// got counts the events of the current change.
	got     atomic.Int64
	began   atomic.Int64 // UnixNano of the first event
	ended   atomic.Int64
	done    chan struct{}
	failure chan error
	running sync.WaitGroup
	leaving atomic.Bool
}

// reached has the times when a change reached the first and the last connection.
type reached struct{ first, last time.Time }

// connect opens count connections, a few at a time. They come from several loopback addresses, so that ports do not run out.
func connect(ctx context.Context, address string, to contender, count int) (*crowd, error) {
	path, err := to.path(ctx, address)
	if err != nil {
		return nil, err
	}
	c := &crowd{event: to.event, conns: make([]net.Conn, count), wanted: int64(count), failure: make(chan error, 1)}
	const openers = 16
	failures := make([]error, openers)
	var opening sync.WaitGroup
	for opener := range openers {
		opening.Go(func() {
			for i := opener; i < count && failures[opener] == nil; i += openers {
				failures[opener] = c.join(ctx, i, address, path, to.hello)
			}
		})
	}
	opening.Wait()
	if err := errors.Join(failures...); err != nil {
		c.leave()
		return nil, err
	}
	return c, nil
}

func (c *crowd) join(ctx context.Context, i int, address, path, hello string) error {
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, byte(1+i/20_000))}}
	conn, err := dialer.DialContext(ctx, "tcp", address)
	if err != nil {
		return err
	}
	c.conns[i] = conn
	_, err = fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"+
		"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n", path, address)
	if err != nil {
		return err
	}
	reader := bufio.NewReaderSize(conn, 1<<10)
	if err := until(reader, "\r\n"); err != nil {
		return err
	}
	if err := until(reader, hello); err != nil {
		return err
	}
	c.running.Go(func() { c.follow(reader) })
	return nil
}

// until skips to the line or the frame that contains a text.
func until(reader *bufio.Reader, text string) error {
	if text == "\r\n" {
		for {
			line, err := reader.ReadSlice('\n')
			if err != nil {
				return err
			}
			if len(line) == len(text) {
				return nil
			}
		}
	}
	var seen []byte
	for !bytes.Contains(seen, []byte(text)) {
		one, err := reader.ReadByte()
		if err != nil {
			return fmt.Errorf("no %s in %q: %w", text, seen, err)
		}
		seen = append(seen, one)
	}
	return nil
}

// follow counts the events of one connection by the text of crowd.event, which works with every framing.
func (c *crowd) follow(reader *bufio.Reader) {
	for {
		text, err := reader.ReadSlice(':')
		if err != nil {
			if !c.leaving.Load() {
				select {
				case c.failure <- fmt.Errorf("a connection ended: %w", err):
				default:
				}
			}
			return
		}
		_ = text
		next, err := reader.Peek(len(c.event))
		if err == nil && string(next) == c.event {
			c.count()
		}
	}
}

func (c *crowd) count() {
	switch c.got.Add(1) {
	case 1:
		c.began.Store(time.Now().UnixNano())
		if c.wanted == 1 {
			c.finish()
		}
	case c.wanted:
		c.finish()
	}
}

func (c *crowd) finish() {
	c.ended.Store(time.Now().UnixNano())
	close(c.done)
}

// expect resets the counts before a change.
func (c *crowd) expect() {
	c.got.Store(0)
	c.done = make(chan struct{})
}

func (c *crowd) wait(ctx context.Context) (reached, error) {
	select {
	case <-c.done:
		return reached{time.Unix(0, c.began.Load()), time.Unix(0, c.ended.Load())}, nil
	case err := <-c.failure:
		return reached{}, err
	case <-ctx.Done():
		return reached{}, ctx.Err()
	case <-time.After(30 * time.Second):
		return reached{}, fmt.Errorf("only %d of %d connections were told", c.got.Load(), c.wanted)
	}
}

func (c *crowd) leave() {
	c.leaving.Store(true)
	for _, conn := range c.conns {
		if conn != nil {
			_ = conn.Close()
		}
	}
	c.running.Wait()
}
