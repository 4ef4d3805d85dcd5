package egress_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

func TestReuse_AccountsApart(t *testing.T) {
	t.Parallel()
	server := listen(t, "127.0.0.1:0", answering(ok))
	client := localClient(t)
	for i, account := range []string{"one", "other", "", "other", "one"} {
		request := get(server.url())
		request.Account = account
		do(t, client, request)
		if n := server.connections.Load(); n != int64(min(i+1, 3)) {
			t.Errorf("%d connections after request %d", n, i+1)
		}
	}
}

// bodiesIgnored is a server that does not read bodies. It treats a body as the next request, and answers it when a
// further request has come.
func bodiesIgnored(conn net.Conn) {
	reader := bufio.NewReader(conn)
	for {
		line, err := reader.ReadBytes('\n')
		for text := line; err == nil && string(text) != "\r\n"; {
			text, err = reader.ReadBytes('\n')
		}
		if bytes.Contains(line, []byte("/smuggled")) {
			_, err = reader.Peek(1)
		}
		if err != nil {
			return
		}
		line = bytes.TrimSpace(line)
		answer := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(line)), Body: io.NopCloser(bytes.NewReader(line))}
		if answer.Write(conn) != nil {
			return
		}
	}
}

// TestReuse_BodyTakenForRequest checks that a connection is not reused after a request with a body that servers often
// leave unread.
func TestReuse_BodyTakenForRequest(t *testing.T) {
	t.Parallel()
	smuggled := "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for name, c := range map[string]struct {
		first       egress.Request
		connections int64 // after two more requests: one of another account, one of the same
	}{
		"GET with a body":     {egress.Request{Method: "GET", Body: smuggled}, 3},
		"DELETE with a body":  {egress.Request{Method: "DELETE", Body: smuggled}, 3},
		"OPTIONS with a body": {egress.Request{Method: "OPTIONS", Body: smuggled}, 3},
		"POST that expects":   {egress.Request{Method: "POST", Body: smuggled, Headers: []egress.Header{{Name: "expect", Value: "100-continue"}}}, 3},
		"GET without":         {egress.Request{Method: "GET"}, 2},
		"DELETE without":      {egress.Request{Method: "DELETE"}, 2},
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", bodiesIgnored)
			client := localClient(t)
			c.first.URL, c.first.Account = server.url(), "one"
			do(t, client, c.first)
			for _, account := range []string{"other", "one"} {
				second := get(server.url() + "own")
				second.Account = account
				if result := do(t, client, second); result.Body != "GET /own HTTP/1.1" {
					t.Errorf("account %s got %q", account, result.Body)
				}
			}
			if n := server.connections.Load(); n != c.connections {
				t.Errorf("%d connections, want %d", n, c.connections)
			}
		})
	}
}
