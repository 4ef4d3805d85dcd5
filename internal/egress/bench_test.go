package egress_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
)

// smallAnswers returns a server that allocates nothing. It treats every read as one request.
func smallAnswers(b *testing.B) string {
	var config net.ListenConfig
	listener, err := config.Listen(b.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	var handlers sync.WaitGroup
	b.Cleanup(func() { listener.Close(); handlers.Wait() })
	handlers.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			handlers.Go(func() { answerAll(conn) })
		}
	})
	return "http://" + listener.Addr().String()
}

func answerAll(conn net.Conn) {
	defer conn.Close()
	request := make([]byte, 4<<10)
	answer := []byte("HTTP/1.1 200 OK\r\nDate: Mon, 02 Nov 2026 15:04:05 GMT\r\nContent-Length: 2\r\nContent-Type: text/plain\r\n\r\nok")
	for {
		if _, err := conn.Read(request); err != nil {
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}

// BenchmarkDo shares its processors with the server. BenchmarkClientConn measures the plain version.
func BenchmarkDo(b *testing.B) {
	server := smallAnswers(b)
	client := egress.New(egress.Options{Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, UserAgent: "signalbox/bench"})
	b.Cleanup(client.Close)
	request := egress.Request{
		Method: http.MethodPost, URL: server + "/hook", Body: `{"hello":"world"}`, Timeout: 10 * time.Second,
		Headers: []egress.Header{{Name: "Content-Type", Value: "application/json"}, {Name: "X-Signalbox-Run", Value: "0199f8a0-0000-7000-8000-000000000000"}},
	}
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		ctx, cancel := context.WithCancel(b.Context())
		defer cancel()
		for pb.Next() {
			if result, err := client.Do(ctx, request); err != nil || result.Status != http.StatusOK {
				b.Error(result.Status, err)
				return
			}
		}
	})
}

// BenchmarkClientConn makes the same requests with a connection of the standard library that never repeats a request. It
// has no deadlines, timings or pool, unlike a Client. See docs/decisions/0015.
func BenchmarkClientConn(b *testing.B) {
	server := smallAnswers(b)
	transport := &http.Transport{DisableCompression: true}
	b.ReportAllocs()
	b.SetParallelism(16)
	b.RunParallel(func(pb *testing.PB) {
		var conn *http.ClientConn
		for pb.Next() {
			if conn == nil || conn.Err() != nil { // it closes itself if its goroutines wait long for a processor
				made, err := transport.NewClientConn(b.Context(), "http", strings.TrimPrefix(server, "http://"))
				if err != nil {
					b.Error(err)
					return
				}
				defer made.Close()
				conn = made
			}
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost, server+"/hook", strings.NewReader(`{"hello":"world"}`))
			if err != nil {
				b.Error(err)
				return
			}
			request.Header.Set("Content-Type", "application/json")
			request.Header.Set("X-Signalbox-Run", "0199f8a0-0000-7000-8000-000000000000")
			answer, err := conn.RoundTrip(request)
			if err != nil {
				continue
			}
			_, _ = io.Copy(io.Discard, answer.Body)
			_ = answer.Body.Close()
		}
	})
}
