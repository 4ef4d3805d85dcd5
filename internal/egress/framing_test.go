package egress_test

import (
	"fmt"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

func TestReuse_AfterPlainAnswer(t *testing.T) {
	t.Parallel()
	for name, answer := range map[string]string{
		"a length":             ok,
		"no body":              "HTTP/1.1 204 No Content\r\n\r\n",
		"no body, told":        "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
		"not modified":         "HTTP/1.1 304 Not Modified\r\nETag: \"x\"\r\n\r\n",
		"chunks":               "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"chunks with extras":   "HTTP/1.1 200 OK\r\ntransfer-encoding: Chunked\r\n\r\n2;a=\"b\"\r\nok\r\n0;c\r\n\r\n",
		"interim answers":      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n" + ok,
		"text of other sorts":  "HTTP/1.1 200 Très: bien\r\nX-Tab: a\tb\r\nX-Latin: \xe9\r\nX-None:\r\nContent-Length:2  \r\n\r\nok",
		"an empty reason":      "HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n",
		"keep-alive":           "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
		"headers of many KiB":  "HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 50<<10) + "\r\nContent-Length: 2\r\n\r\nok",
		"a body of many reads": "HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n" + strings.Repeat("x", 300_000),
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answering(answer))
			client := localClient(t)
			for range 3 {
				do(t, client, get(server.url()))
			}
			if n := server.connections.Load(); n != 1 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

// TestReuse_NotAfterOddAnswer: a connection is not reused after an answer that is not HTTP/1.1, has trailers, or has an
// inconsistent length, even if the answer is accepted. How net/http finds the end of an answer is tested there.
func TestReuse_NotAfterOddAnswer(t *testing.T) {
	t.Parallel()
	status, chunked := "HTTP/1.1 200 OK\r\n", "Transfer-Encoding: chunked\r\n"
	for name, answer := range map[string]string{
		"HTTP/1.0 keep-alive":      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/1.0 with chunks":     "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 12\r\n" + chunked + "\r\n2\r\nok\r\n0\r\n\r\n",
		"HTTP/1.2":                 "HTTP/1.2 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"HTTP/2.0":                 "HTTP/2.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
		"two lengths":              status + "Content-Length: 2\r\nContent-Length: 0\r\n\r\nok",
		"two lengths in one":       status + "Content-Length: 2, 2\r\n\r\nok",
		"a positive length":        status + "Content-Length: +2\r\n\r\nok",
		"a negative length":        status + "Content-Length: -2\r\n\r\nok",
		"an empty length":          status + "Content-Length:\r\n\r\nok",
		"a hexadecimal length":     status + "Content-Length: 0x2\r\n\r\nok",
		"a huge length":            status + "Content-Length: 18446744073709551618\r\n\r\nok",
		"chunks twice":             status + chunked + chunked + "\r\n2\r\nok\r\n0\r\n\r\n",
		"chunks and identity":      status + "Transfer-Encoding: chunked, identity\r\n\r\n2\r\nok\r\n0\r\n\r\n",
		"chunks with a tab":        status + "Transfer-Encoding: \x0bchunked\r\nContent-Length: 2\r\n\r\nok",
		"a CR in a value":          status + "X: y\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\nok",
		"a NUL in a value":         status + "X: y\x00\r\nContent-Length: 2\r\n\r\nok",
		"two CR at an end":         status + "Content-Length: 2\r\r\n\r\nok",
		"a line without a colon":   status + "X\r\nContent-Length: 2\r\n\r\nok",
		"a line without a name":    status + ": y\r\nContent-Length: 2\r\n\r\nok",
		"204 with a length":        "HTTP/1.1 204 No Content\r\nContent-Length: 2\r\n\r\n",
		"204 with chunks":          "HTTP/1.1 204 No Content\r\n" + chunked + "\r\n",
		"204 with a body":          "HTTP/1.1 204 No Content\r\n\r\nok",
		"304 with a length":        "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\n",
		"304 with a body":          "HTTP/1.1 304 Not Modified\r\nContent-Length: 2\r\n\r\nok",
		"101 with a length":        "HTTP/1.1 101 Switching Protocols\r\nContent-Length: 2\r\n\r\n",
		"a trailer":                status + chunked + "\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
		"a trailer that was told":  status + "Trailer: X\r\n" + chunked + "\r\n2\r\nok\r\n0\r\nX: y\r\n\r\n",
		"a trailer with a length":  status + chunked + "\r\n2\r\nok\r\n0\r\nContent-Length: 2\r\n\r\n",
		"a trailer without CR":     status + chunked + "\r\n2\r\nok\r\n0\r\nX: y\n\n\r\n\r\n",
		"a long trailer":           status + chunked + "\r\n0\r\nX: " + strings.Repeat("y", 100<<10) + "\r\n\r\n",
		"a chunk without CR":       status + chunked + "\r\n2\nok\r\n0\r\n\r\n",
		"a chunk's extra with CR":  status + chunked + "\r\n2;a\rb\r\nok\r\n0\r\n\r\n",
		"a chunk longer than told": status + chunked + "\r\n2\r\nok!\r\n0\r\n\r\n",
		"a negative chunk":         status + chunked + "\r\n-2\r\nok\r\n0\r\n\r\n",
		"a chunk of 0x2":           status + chunked + "\r\n0x2\r\nok\r\n0\r\n\r\n",
		"a chunk of 17 digits":     status + chunked + "\r\n10000000000000002\r\nok\r\n0\r\n\r\n",
		"more behind chunks":       status + chunked + "\r\n2\r\nok\r\n0\r\n\r\n\r\n",
		"a status of 99":           "HTTP/1.1 099 OK\r\nContent-Length: 0\r\n\r\n",
		"a status of +20":          "HTTP/1.1 +20 OK\r\nContent-Length: 0\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answering(answer))
			client := localClient(t)
			for range 2 {
				_, _ = client.Do(t.Context(), get(server.url())) // whether the answer is accepted does not matter here
			}
			if n := server.connections.Load(); n != 2 {
				t.Errorf("%d connections", n)
			}
		})
	}
}

func TestDo_EndlessBody(t *testing.T) {
	t.Parallel()
	for _, length := range []string{"", "Content-Length: 99999999999\r\n", "Transfer-Encoding: chunked\r\n"} {
		t.Run(fmt.Sprintf("%q", length), func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
				_, _ = io.WriteString(conn, "HTTP/1.1 200 OK\r\n"+length+"\r\n")
				block := strings.Repeat("x", 1<<20)
				if strings.HasPrefix(length, "Transfer") {
					block = fmt.Sprintf("%x\r\n%s\r\n", len(block), block)
				}
				for range 65 {
					_, _ = io.WriteString(conn, block)
				}
				waitForEnd(conn)
			})
			request := get(server.url())
			result := do(t, localClient(t), request)
			if result.Status != 200 || len(result.Body) != 64<<10 || result.BodyBytes != 64<<20 || !result.Truncated {
				t.Errorf("%q: %d with %d bytes kept, %d counted, truncated %v", length, result.Status, len(result.Body), result.BodyBytes, result.Truncated)
			}
			if result.Timings.Total >= request.Timeout {
				t.Errorf("%q: it took all of its time", length)
			}
		})
	}
}

// TestDo_BodyInSingleBytes: an answer in chunks of single bytes ends early, and counts as received.
func TestDo_BodyInSingleBytes(t *testing.T) {
	t.Parallel()
	server := listen(t, "127.0.0.1:0", func(peer net.Conn) {
		_, _ = io.WriteString(peer, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
		for chunks := strings.Repeat("1\r\nx\r\n", 10_000); ; {
			if _, err := io.WriteString(peer, chunks); err != nil {
				return
			}
		}
	})
	result := do(t, localClient(t), get(server.url()))
	if result.Status != 200 || result.BodyBytes < 64<<10 || result.BodyBytes > 1<<20 || !result.Truncated {
		t.Errorf("status %d, %d bytes, truncated: %t", result.Status, result.BodyBytes, result.Truncated)
	}
}

func TestIsWasteful(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		reads          int
		bytes, content int64
		want           bool
	}{
		"packets of single bytes":      {20_000, 20_000, 20_000, true},
		"few packets of single bytes":  {16_000, 16_000, 16_000, false},
		"a long stream of short lines": {1_000_000, 86_000_000, 80_000_000, false},
		"chunks of single bytes":       {1000, 6_000_000, 1_000_000, true},
		"chunks of ten bytes":          {1000, 1_500_000, 1_000_000, false},
		"large packets":                {46_000, 64 << 20, 64 << 20, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := egress.IsWasteful(c.reads, c.bytes, c.content); got != c.want {
				t.Errorf("got %t", got)
			}
		})
	}
}

// TestDo_RefusedMethods checks methods that are refused, because their answers do not end where the headers say.
func TestDo_RefusedMethods(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"HEAD", "CONNECT"} {
		t.Run(method, func(t *testing.T) {
			request := get("http://127.0.0.1:1/")
			request.Method = method
			if failure := fails(t, localClient(t), request, egress.ConnectionError); !strings.Contains(failure.Detail, "method is not valid") {
				t.Error(failure.Detail)
			}
		})
	}
}
