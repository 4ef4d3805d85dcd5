package egress_test

import (
	"bufio"
	"errors"
	"net"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

// FuzzAnswer: whatever a server says is an answer or an *Error, and never more than its limits.
func FuzzAnswer(f *testing.F) {
	for _, text := range []string{ok, "", "garbage", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "HTTP/1.1 100 \r\n\r\nHTTP/1.1 101 \r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775807\r\n\r\nx"} {
		f.Add([]byte(text))
	}
	var listenConfig net.ListenConfig
	listener, err := listenConfig.Listen(f.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		f.Fatal(err)
	}
	defer listener.Close()
	answers := make(chan []byte)
	go func() {
		for answer := range answers {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			readRequest(bufio.NewReader(conn))
			_, _ = conn.Write(answer)
			_ = conn.Close()
		}
	}()
	defer close(answers)
	f.Fuzz(func(t *testing.T, answer []byte) {
		client := localClient(t)
		answers <- answer
		result, err := client.Do(t.Context(), get("http://"+listener.Addr().String()))
		if _, is := errors.AsType[*egress.Error](err); err != nil && !is {
			t.Errorf("%T %v", err, err)
		}
		if len(result.Body) > 64<<10 || result.BodyBytes < int64(len(result.Body)) || err == nil && result.Status < 100 {
			t.Errorf("%+v", result)
		}
	})
}
