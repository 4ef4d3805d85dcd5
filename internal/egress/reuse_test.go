package egress_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
)

const ok = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestReuse_SecondRequest(t *testing.T) {
	server := listen(t, "127.0.0.1:0", answering(ok))
	client := localClient(t)
	first := do(t, client, get(server.url()))
	second := do(t, client, get(server.url()))
	if n := server.connections.Load(); n != 1 || first.Timings.Connect == 0 || second.Timings.Connect != 0 || second.Timings.FirstByte == 0 {
		t.Errorf("%d connections: %+v, then %+v", n, first.Timings, second.Timings)
	}
}

func TestReuse_NotAfterLastAnswer(t *testing.T) {
	for name, answer := range map[string]string{
		"close":         "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n",
		"HTTP/1.0":      "HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n",
		"another":       ok + "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled",
		"more than all": ok + "!",
		"upgrade":       "HTTP/1.1 101 Switching Protocols\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answering(answer))
			client := localClient(t)
			for range 2 {
				if result := do(t, client, get(server.url())); result.Body == "smuggled" {
					t.Errorf("%s: an answer to no request was taken for one", name)
				}
			}
			if n := server.connections.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestReuse_UnsolicitedAnswer(t *testing.T) {
	said, next := make(chan struct{}), make(chan struct{})
	var first sync.Once
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for readRequest(reader) {
			_, _ = io.WriteString(conn, ok)
			first.Do(func() {
				<-next
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nsmuggled")
				close(said)
			})
		}
	})
	client := localClient(t)
	do(t, client, get(server.url()))
	close(next)
	<-said
	if result := do(t, client, get(server.url())); result.Body != "ok" || server.connections.Load() != 2 {
		t.Errorf("%q over %d connections", result.Body, server.connections.Load())
	}
}

// TestDo_AtMostOnce checks requests that http.Transport would repeat when a kept connection fails.
func TestDo_AtMostOnce(t *testing.T) {
	for _, request := range []egress.Request{
		{Method: http.MethodGet},
		{Method: http.MethodPost, Headers: []egress.Header{{Name: "Idempotency-Key", Value: "1"}}},
		{Method: http.MethodPut, Body: "x", Headers: []egress.Header{{Name: "X-Idempotency-Key", Value: "1"}}},
	} {
		t.Run(request.Method, func(t *testing.T) {
			var requests atomic.Int64
			server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
				reader := bufio.NewReader(conn)
				for readRequest(reader) && requests.Add(1) != 2 {
					_, _ = io.WriteString(conn, ok)
				}
			})
			request.URL = server.url()
			client := localClient(t)
			do(t, client, request)
			fails(t, client, request, egress.ConnectionError)
			if requests.Load() != 2 || server.connections.Load() != 1 {
				t.Errorf("%d requests over %d connections", requests.Load(), server.connections.Load())
			}
		})
	}
}

func TestReuse_ClosedByPeer(t *testing.T) {
	closed := make(chan struct{})
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		answeringOnce(ok)(conn)
		_ = conn.Close()
		closed <- struct{}{}
	})
	client := localClient(t)
	for range 20 {
		do(t, client, get(server.url()))
		<-closed
	}
	if n := server.connections.Load(); n != 20 {
		t.Errorf("%d connections", n)
	}
}

func TestPool_ClosesExpired(t *testing.T) {
	closed := make(chan struct{})
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		answering(ok)(conn)
		close(closed)
	})
	client := localClient(t)
	egress.SetIdleTime(client, time.Millisecond)
	do(t, client, get(server.url()))
	<-closed
}

func TestClient_Close(t *testing.T) {
	closed := make(chan struct{}, 2)
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		answering(ok)(conn)
		closed <- struct{}{}
	})
	client := localClient(t)
	do(t, client, get(server.url()))
	client.Close()
	<-closed
	do(t, client, get(server.url())) // the client still works, but keeps no connection
	<-closed
	client.Close()
}

func TestDo_Concurrent(t *testing.T) {
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		reader := bufio.NewReader(conn)
		for {
			request, err := http.ReadRequest(reader)
			if err != nil {
				return
			}
			body, _ := io.ReadAll(request.Body)
			answer := http.Response{StatusCode: http.StatusOK, ProtoMajor: 1, ProtoMinor: 1, ContentLength: int64(len(body)), Body: io.NopCloser(bytes.NewReader(body))}
			if answer.Write(conn) != nil {
				return
			}
		}
	})
	client := localClient(t)
	var workers sync.WaitGroup
	for worker := range 16 {
		workers.Go(func() {
			for i := range 20 {
				text := make([]byte, 1+worker*4000+i)
				text[0] = byte(worker)
				result, err := client.Do(t.Context(), egress.Request{Method: "POST", URL: server.url(), Body: string(text), Timeout: time.Minute})
				if err != nil || result.BodyBytes != int64(len(text)) || result.Body[0] != byte(worker) {
					t.Errorf("%d bytes, %v", result.BodyBytes, err)
					return
				}
			}
		})
	}
	workers.Wait()
	// If the answer to a large body comes before the body is known to be sent completely, the connection is closed.
	if n := server.connections.Load(); n > 16*20/4 {
		t.Errorf("%d connections for 16 workers with 20 requests each", n)
	}
}
