// Package load sends the same HTTP request over many kept-alive connections
// and counts the answers. It parses no more than it must, so that the server
// is what is measured.
package load

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// Target is a request to repeat.
type Target struct {
	Address string // host:port
	Path    string
	Header  http.Header
}

// Rate sends the request over a number of connections for a time and gives the
// answers per second. An answer that is not 200 ends it.
func Rate(ctx context.Context, target Target, connections int, duration time.Duration) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, duration)
	defer cancel()
	var answers atomic.Int64
	failures := make([]error, connections)
	started := time.Now()
	var workers sync.WaitGroup
	for i := range connections {
		workers.Go(func() {
			failures[i] = repeat(ctx, target, &answers)
			if failures[i] != nil {
				cancel()
			}
		})
	}
	workers.Wait()
	took := time.Since(started)
	return float64(answers.Load()) / took.Seconds(), errors.Join(failures...)
}

func repeat(ctx context.Context, target Target, answers *atomic.Int64) error {
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", target.Address)
	if err != nil {
		return err
	}
	defer conn.Close()
	request := target.bytes()
	reader := bufio.NewReaderSize(conn, 64<<10)
	for ctx.Err() == nil {
		if _, err := conn.Write(request); err != nil {
			return err
		}
		if err := readAnswer(reader); err != nil {
			return err
		}
		answers.Add(1)
	}
	return nil
}

func (t Target) bytes() []byte {
	var text bytes.Buffer
	fmt.Fprintf(&text, "GET %s HTTP/1.1\r\nHost: %s\r\n", t.Path, t.Address)
	_ = t.Header.Write(&text) // a buffer takes everything
	text.WriteString("\r\n")
	return text.Bytes()
}

// readAnswer reads one response that has a Content-Length.
func readAnswer(reader *bufio.Reader) error {
	status, err := reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	if !bytes.HasPrefix(status, []byte("HTTP/1.1 200")) {
		return fmt.Errorf("the server answered %q", status)
	}
	length := -1
	for {
		line, err := reader.ReadSlice('\n')
		if err != nil {
			return err
		}
		if len(line) <= 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(":")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(value))); err != nil {
				return err
			}
		}
	}
	if length < 0 {
		return errors.New("the server's answer has no Content-Length")
	}
	_, err = reader.Discard(length)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return err
}
