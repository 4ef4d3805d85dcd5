package egress_test

import (
	"bufio"
	"errors"
	"io"
	"net"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
)

const next = "HTTP/1.1 299 Next\r\nContent-Length: 4\r\n\r\nnext"

// fuzzed is a server that answers the first request with fuzzed bytes and all others with a fixed answer.
type fuzzed struct {
	net.Listener
	answer atomic.Pointer[[]byte]
}

func (f *fuzzed) accept() {
	for {
		conn, err := f.Accept()
		if err != nil {
			return
		}
		go f.serve(conn)
	}
}

// serve ends soon if no request comes, because an answer may last until the connection is closed.
func (f *fuzzed) serve(conn net.Conn) {
	defer conn.Close()
	reader := bufio.NewReader(conn)
	for readRequest(reader) {
		if answer := f.answer.Swap(nil); answer != nil {
			_, _ = conn.Write(*answer)
		} else {
			_, _ = io.WriteString(conn, next)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Millisecond))
	}
}

// FuzzAnswer checks that any bytes from a server become an answer or an *Error, within the limits, and never a part of the
// next answer.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{
		ok, "", "garbage", ok + smuggled, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "HTTP/1.1 100 \r\n\r\nHTTP/1.1 101 \r\n\r\n",
		"HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2;a\r\nok\r\n0\r\nX: y\r\n\r\n",
		"HTTP/1.1 204 \r\nContent-Length: 2\r\n\r\nok", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\n X: y\nContent-Length: 2\r\n\r\nok",
	} {
		f.Add([]byte(text))
	}
	var listenConfig net.ListenConfig
	listener, err := listenConfig.Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { listener.Close() })
	server := &fuzzed{Listener: listener}
	go server.accept()
	f.Fuzz(func(t *testing.T, answer []byte) {
		client := localClient(t)
		request := get("http://" + listener.Addr().String())
		server.answer.Store(&answer)
		result, err := client.Do(t.Context(), request)
		if _, is := errors.AsType[*egress.Error](err); err != nil && !is {
			t.Errorf("%T %v", err, err)
		}
		if len(result.Body) > 64<<10 || result.BodyBytes < int64(len(result.Body)) || err == nil && result.Status < 100 {
			t.Errorf("%+v", result)
		}
		// The server may close a kept connection at this moment. Then there is no answer.
		if result, err = client.Do(t.Context(), request); result.Status != 0 && (err != nil || result.Status != 299 || result.Body != "next") {
			t.Errorf("%+v, %v", result, err)
		}
	})
}
