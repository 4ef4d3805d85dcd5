package egress_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

func TestAccountsDoNotShareConnections(t *testing.T) {
	t.Parallel()
	again(t, func() error {
		server := listen(t, "127.0.0.1:0", answering(ok))
		client := localClient(t)
		for i, account := range []string{"one", "other", "", "other", "one"} {
			request := get(server.url())
			request.Account = account
			do(t, client, request)
			if n := server.connections.Load(); n != int64(min(i+1, 3)) {
				return fmt.Errorf("%d connections after request %d", n, i+1)
			}
		}
		return nil
	})
}

// bodiesIgnored is a server that reads no bodies: it takes them for requests, and answers those when the next one has come.
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

// TestABodyThatWasTakenForARequestGivesNobodyItsAnswer: the requests with bodies that servers often do not read are the
// last ones of their connections, and the others' next ones are of the same account.
func TestABodyThatWasTakenForARequestGivesNobodyItsAnswer(t *testing.T) {
	t.Parallel()
	smuggled := "GET /smuggled HTTP/1.1\r\nHost: x\r\n\r\n"
	for _, c := range []struct {
		first egress.Request
		kept  bool
	}{
		{egress.Request{Method: "GET", Body: smuggled}, false},
		{egress.Request{Method: "DELETE", Body: smuggled}, false},
		{egress.Request{Method: "OPTIONS", Body: smuggled}, false},
		{egress.Request{Method: "POST", Body: smuggled, Headers: []egress.Header{{Name: "expect", Value: "100-continue"}}}, false},
		{egress.Request{Method: "GET"}, true},
		{egress.Request{Method: "DELETE"}, true},
	} {
		again(t, func() error {
			server := listen(t, "127.0.0.1:0", bodiesIgnored)
			client := localClient(t)
			c.first.URL, c.first.Account = server.url(), "one"
			do(t, client, c.first)
			for _, account := range []string{"other", "one"} {
				second := get(server.url() + "own")
				second.Account = account
				if result := do(t, client, second); string(result.Body) != "GET /own HTTP/1.1" {
					t.Errorf("%s: account %s got %q", c.first.Method, account, result.Body)
				}
			}
			if n := server.connections.Load(); (n == 2) != c.kept {
				return fmt.Errorf("%s: %d connections", c.first.Method, n)
			}
			return nil
		})
	}
}
