// Package load sends the same HTTP request over many kept-alive connections and
// counts the answers. It parses as little as possible, so that it measures the
// server and not itself.
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
	"slices"
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
	Body    string // sent with POST when it is not empty
}

// Rate sends the request over a number of connections for a time and returns the
// answers per second. It fails at an answer that is not 200 or 304.
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

// Turns measures targets in turns, so that other load slows all of them equally, and returns the median rate of each.
func Turns(ctx context.Context, targets []Target, connections, rounds int, turn time.Duration) ([]float64, error) {
	rates := make([][]float64, len(targets))
	for range rounds {
		for i, target := range targets {
			rate, err := Rate(ctx, target, connections, turn)
			if err != nil {
				return nil, err
			}
			rates[i] = append(rates[i], rate)
		}
	}
	medians := make([]float64, len(targets))
	for i := range rates {
		slices.Sort(rates[i])
		medians[i] = rates[i][rounds/2]
	}
	return medians, nil
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
	method := http.MethodGet
	if t.Body != "" {
		method = http.MethodPost
	}
	fmt.Fprintf(&text, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, t.Path, t.Address)
	_ = t.Header.Write(&text) // writing to a buffer cannot fail
	if t.Body != "" {
		fmt.Fprintf(&text, "Content-Length: %d\r\n", len(t.Body))
	}
	text.WriteString("\r\n" + t.Body)
	return text.Bytes()
}

// readAnswer reads one response with a Content-Length, or a 304, which has no body.
func readAnswer(reader *bufio.Reader) error {
	status, err := reader.ReadSlice('\n')
	if err != nil {
		return err
	}
	length := -1
	switch {
	case bytes.HasPrefix(status, []byte("HTTP/1.1 304")):
		length = 0
	case !bytes.HasPrefix(status, []byte("HTTP/1.1 200")):
		return fmt.Errorf("the server answered %q", status)
	}
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
