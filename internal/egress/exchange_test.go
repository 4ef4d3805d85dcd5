package egress_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/egress"
)

// short is a timeout that a test can wait for.
const short = 20 * time.Millisecond

// received returns the bytes of one request as the server received them.
func received(t *testing.T, request egress.Request, path string) string {
	t.Helper()
	texts := make(chan string, 1)
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		var text bytes.Buffer
		if readRequest(bufio.NewReader(io.TeeReader(conn, &text))) {
			texts <- text.String()
			_, _ = io.WriteString(conn, "HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n")
		}
	})
	request.URL = strings.Replace(path, "HOST", server.Addr().String(), 1)
	do(t, localClient(t), request)
	return strings.ReplaceAll(<-texts, server.Addr().String(), "HOST")
}

func TestDo_RequestBytes(t *testing.T) {
	for _, c := range []struct {
		url     string
		request egress.Request
		want    string
	}{
		{"http://HOST", egress.Request{Method: "GET"}, "GET / HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\n\r\n"},
		{"http://HOST?a=b#part", egress.Request{Method: "DELETE"}, "DELETE /?a=b HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\n\r\n"},
		{"http://HOST/a%2Fb/ü?q=ä b&c=%20+", egress.Request{Method: "GET"}, "GET /a%2Fb/%C3%BC?q=%C3%A4%20b&c=%20+ HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\n\r\n"},
		{"http://HOST/", egress.Request{Method: "POST"}, "POST / HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\nContent-Length: 0\r\n\r\n"},
		{"http://HOST/", egress.Request{Method: "GET", Body: "x"}, "GET / HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\nContent-Length: 1\r\n\r\nx"},
		{
			"http://HOST/",
			egress.Request{Method: "PUT", Body: "hello", Headers: []egress.Header{{Name: "x-odd-CASE", Value: "1"}, {Name: "host", Value: "other.test"}, {Name: "X-Odd-Case", Value: "ü"}, {Name: "user-agent", Value: "mine"}}},
			"PUT / HTTP/1.1\r\nHost: other.test\r\nx-odd-CASE: 1\r\nX-Odd-Case: ü\r\nuser-agent: mine\r\nContent-Length: 5\r\n\r\nhello",
		},
		{
			"http://HOST/",
			egress.Request{Method: "GET", Headers: []egress.Header{{Name: "Host", Value: "first.test"}, {Name: "HOST", Value: "last.test"}}},
			"GET / HTTP/1.1\r\nHost: last.test\r\nUser-Agent: signalbox/test\r\n\r\n",
		},
		{"http://HOST//a?", egress.Request{Method: "GET"}, "GET //a? HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\n\r\n"},
		{"http://me:pass%20word@HOST/", egress.Request{Method: "GET"}, "GET / HTTP/1.1\r\nHost: HOST\r\nUser-Agent: signalbox/test\r\nAuthorization: Basic bWU6cGFzcyB3b3Jk\r\n\r\n"},
		{
			"http://me:password@HOST/",
			egress.Request{Method: "GET", Headers: []egress.Header{{Name: "authorization", Value: "Bearer x"}}},
			"GET / HTTP/1.1\r\nHost: HOST\r\nauthorization: Bearer x\r\nUser-Agent: signalbox/test\r\n\r\n",
		},
	} {
		t.Run(c.request.Method+" "+c.url, func(t *testing.T) {
			if diff := cmp.Diff(c.want, received(t, c.request, c.url)); diff != "" {
				t.Errorf("differs (-want +got):\n%s", diff)
			}
		})
	}
}

func TestDo_LargeBody(t *testing.T) {
	body := strings.Repeat("0123456789abcdef", 1<<16) + "."
	text := received(t, egress.Request{Method: "POST", Body: body, Timeout: time.Minute}, "http://HOST/")
	if _, got, _ := strings.Cut(text, "\r\n\r\n"); got != body {
		t.Errorf("%d bytes of %d", len(got), len(body))
	}
}

// TestDo_LargeBodyNotCopied is not parallel, because it measures the allocations of the whole process.
func TestDo_LargeBodyNotCopied(t *testing.T) {
	const size, times = 1 << 20, 8
	server := listen(t, "127.0.0.1:0", answering(ok))
	client := localClient(t)
	request := egress.Request{Method: "POST", URL: server.url(), Body: strings.Repeat("x", size), Timeout: time.Minute}
	do(t, client, request)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for range times {
		do(t, client, request)
	}
	runtime.ReadMemStats(&after)
	if each := (after.TotalAlloc - before.TotalAlloc) / times; each > size/2 {
		t.Errorf("%d bytes are allocated for a body of %d", each, size)
	}
}

func TestDo_InvalidRequest(t *testing.T) {
	server := listen(t, "127.0.0.1:0", nil)
	at := "http://user:secret@" + server.Addr().String()
	header := func(name, value string) egress.Request {
		return egress.Request{Method: "GET", URL: at, Headers: []egress.Header{{Name: name, Value: value}}}
	}
	for want, request := range map[string]egress.Request{
		"URL is not valid":                          {Method: "GET", URL: "http://user:secret@[::1/"},
		"no valid host":                             {Method: "GET", URL: "http://:80/"},
		"no valid port":                             {Method: "GET", URL: "http://user:secret@127.0.0.1:99999/"},
		"neither http nor https":                    {Method: "GET", URL: "ftp://user:secret@127.0.0.1/"},
		"method is not valid":                       {Method: "GET / HTTP/1.1\r\nX: y\r\n\r\nGET", URL: at},
		`header is not valid: "X\r\nY"`:             header("X\r\nY", "secret"),
		`header is not valid: "X-Token"`:            header("X-Token", "secret\r\nY: z"),
		"host is not valid":                         header("Host", "a b/secret"),
		"Content-Length is the connection's own":    header("Content-Length", "1"),
		"Transfer-encoding is the connection's own": header("Transfer-encoding", "chunked"),
	} {
		t.Run(want, func(t *testing.T) {
			failure := fails(t, localClient(t), request, egress.ConnectionError)
			if !strings.Contains(failure.Detail, want) || strings.Contains(failure.Detail, "secret") {
				t.Errorf("got %q, want %q in it and no secret", failure.Detail, want)
			}
		})
	}
	if n := server.connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestDo_Result(t *testing.T) {
	chunked := "HTTP/1.1 201 Created\r\nTransfer-Encoding: chunked\r\nTrailer: X-End\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX-End: 1\r\n\r\n"
	for name, c := range map[string]struct {
		answer string
		want   egress.Result
	}{
		"length":     {"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-Many: a\r\nx-many: b\r\n\r\nok", egress.Result{Status: 200, Body: "ok", BodyBytes: 2, Header: map[string]string{"content-length": "2", "x-many": "a, b"}}},
		"chunked":    {chunked, egress.Result{Status: 201, Body: "abcde", BodyBytes: 5, Header: map[string]string{}}},
		"to the end": {"HTTP/1.0 500 No\r\n\r\nall of it", egress.Result{Status: 500, Body: "all of it", BodyBytes: 9, Header: map[string]string{}}},
		"no body":    {"HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", egress.Result{Status: 304, Header: map[string]string{"content-length": "10"}}},
		"gzip":       {"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\n\x1f\x8b\x00\xff", egress.Result{Status: 200, Body: "\x1f\x8b\x00\xff", BodyBytes: 4, Header: map[string]string{"content-length": "4", "content-encoding": "gzip"}}},
		"interim":    {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n", egress.Result{Status: 202, Header: map[string]string{"content-length": "0"}}},
		"upgrade":    {"HTTP/1.1 101 Switching Protocols\r\n\r\n", egress.Result{Status: 101, Header: map[string]string{}}},
		"bad text":   {"HTTP/1.1 299 Odd\r\nX-Odd: \xffz\r\nContent-Length: 0\r\n\r\n", egress.Result{Status: 299, Header: map[string]string{"content-length": "0", "x-odd": "\uFFFDz"}}},
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answeringOnce(c.answer))
			result := do(t, localClient(t), get(server.url()))
			if result.Timings.Total <= 0 || result.Timings.Connect <= 0 || result.Timings.FirstByte <= 0 || result.Timings.TLS != 0 {
				t.Errorf("%+v", result.Timings)
			}
			result.Timings = egress.Timings{}
			if diff := cmp.Diff(c.want, result); diff != "" {
				t.Errorf("%s:\n%s", name, diff)
			}
		})
	}
}

func TestDo_BodyLimit(t *testing.T) {
	for _, size := range []int{64<<10 - 1, 64 << 10, 64<<10 + 1, 3 << 20} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answering(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", size, strings.Repeat("x", size))))
			result := do(t, localClient(t), get(server.url()))
			if len(result.Body) != min(size, 64<<10) || result.BodyBytes != int64(size) || result.Truncated != (size > 64<<10) {
				t.Errorf("%d: %d bytes kept, %d counted, truncated %v", size, len(result.Body), result.BodyBytes, result.Truncated)
			}
		})
	}
}

// TestDo_ReadsNoMoreThanAsked: the rest of a body is left, even if it never ends.
func TestDo_ReadsNoMoreThanAsked(t *testing.T) {
	server := listen(t, "127.0.0.1:0", answering("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1000\r\n"+strings.Repeat("x", 0x1000)+"\r\n"))
	request := get(server.url())
	request.ReadAtMost = 1000
	result := do(t, localClient(t), request)
	if result.Status != 200 || len(result.Body) != 1000 || result.BodyBytes != 1000 {
		t.Errorf("%d with %d bytes kept, %d counted", result.Status, len(result.Body), result.BodyBytes)
	}
}

func TestDo_MalformedAnswer(t *testing.T) {
	for name, c := range map[string]struct{ answer, want string }{
		"nothing":         {"", "waiting for the answer: the server closed the connection without an answer"},
		"garbage":         {"garbage\r\n\r\n", "malformed HTTP"},
		"SSH":             {"SSH-2.0-OpenSSH_9.2\r\n", "malformed HTTP"},
		"half a line":     {"HTTP/1.1 20", "in the middle of its answer"},
		"half a header":   {"HTTP/1.1 200 OK\r\nContent-Le", "in the middle of its answer"},
		"half a body":     {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", "reading the answer's body: the server closed the connection in the middle of its answer"},
		"half a chunk":    {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "in the middle of its answer"},
		"bad chunk":       {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nab", "chunk"},
		"bad length":      {"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab", "Content-Length"},
		"status 000":      {"HTTP/1.1 000 Zero\r\n\r\n", "status is not valid"},
		"huge header":     {"HTTP/1.1 200 OK\r\nX: " + strings.Repeat("x", 1<<20), "larger than 64 KiB"},
		"many headers":    {"HTTP/1.1 200 OK\r\n" + strings.Repeat("X: y\r\n", 1<<15), "larger than 64 KiB"},
		"endless interim": {strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 1<<14), "larger than 64 KiB"},
	} {
		t.Run(name, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", answeringOnce(c.answer))
			failure := fails(t, localClient(t), get(server.url()), egress.ConnectionError)
			if !strings.Contains(failure.Detail, c.want) || len(failure.Detail) > 500 {
				t.Errorf("got %q, want %q in it", failure.Detail, c.want)
			}
		})
	}
}

func TestDo_FailureKeepsPartialResult(t *testing.T) {
	server := listen(t, "127.0.0.1:0", answeringOnce("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf"))
	result, err := localClient(t).Do(t.Context(), get(server.url()))
	if err == nil || result.Status != 200 || result.Body != "half" || result.Header["content-length"] != "10" {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestDo_Unreachable(t *testing.T) {
	reset := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		readRequest(bufio.NewReader(conn))
		_ = conn.(*net.TCPConn).SetLinger(0)
	})
	gone := listen(t, "127.0.0.1:0", nil)
	gone.Close()
	client := newClient(t, egress.Options{Allow: networks("127.0.0.0/8"), Resolver: &names{}})
	unknown := "The request failed while looking up the host's address: no such host."
	for name, c := range map[string]struct{ url, want string }{
		"reset":           {reset.url(), "The request failed while waiting for the answer: connection reset by peer."},
		"refused":         {gone.url(), "The request failed while connecting to " + gone.Addr().String() + ": connection refused."},
		"unknown":         {"http://nowhere.test/", unknown},
		"five numbers":    {"http://1.2.3.4.5/", unknown},
		"numbers too big": {"http://999.999.999.999/", unknown},
	} {
		t.Run(name, func(t *testing.T) {
			if failure := fails(t, client, get(c.url), egress.ConnectionError); failure.Detail != c.want {
				t.Errorf("got  %s\nwant %s", failure.Detail, c.want)
			}
		})
	}
}

// waitForEnd blocks until the peer has closed the connection.
func waitForEnd(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func TestTimeout_EveryPhase(t *testing.T) {
	slowly := func(text string) func(net.Conn) {
		return func(conn net.Conn) {
			_, _ = io.WriteString(conn, text)
			waitForEnd(conn)
		}
	}
	for want, handle := range map[string]func(net.Conn){
		"waiting for the answer":    slowly("HTTP/1.1 200 OK\r\nX-Slow"),
		"reading the answer's body": slowly("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nslow"),
	} {
		t.Run(want, func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", handle)
			runsOut(t, get(server.url()), want)
		})
	}
}

func TestTimeout_SlowServer(t *testing.T) {
	t.Parallel()
	for begin, more := range map[string]string{
		"HTTP/1.1 200 OK\r\n\r\n":                               "x",
		"HTTP/1.1 200 OK\r\nX: ":                                "x",
		"HTTP/1.1 100 Continue\r\n\r\n":                         "HTTP/1.1 100 Continue\r\n\r\n",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n": "1\r\nx\r\n",
	} {
		t.Run(fmt.Sprintf("%q", begin), func(t *testing.T) {
			server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
				_, _ = io.WriteString(conn, begin)
				tick := time.NewTicker(5 * time.Millisecond)
				defer tick.Stop()
				for range tick.C {
					if _, err := io.WriteString(conn, more); err != nil {
						return
					}
				}
			})
			request := get(server.url())
			request.Timeout = short
			result, err := localClient(t).Do(t.Context(), request)
			if failure, ok := errors.AsType[*egress.Error](err); !ok || failure.Reason != egress.Timeout || result.Timings.Total > 30*time.Second { // without a timeout it would never end
				t.Errorf("%q: %v after %v", begin, err, result.Timings.Total)
			}
		})
	}
}

func TestTimeout_ServerDoesNotRead(t *testing.T) {
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		<-t.Context().Done()
	})
	runsOut(t, egress.Request{Method: "POST", URL: server.url(), Body: strings.Repeat("x", 32<<20)}, "sending the request")
}

// hanging is a resolver that never answers.
type hanging struct{}

func (hanging) LookupNetIP(ctx context.Context, _, _ string) ([]netip.Addr, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestTimeout_Lookup(t *testing.T) {
	request := get("http://slow.test/")
	request.Timeout = short
	client := newClient(t, egress.Options{Resolver: hanging{}})
	if failure := fails(t, client, request, egress.Timeout); failure.Detail != "The time ran out while looking up the host's address." {
		t.Error(failure.Detail)
	}
}

// TestDo_AnswerBeforeReset checks that the answer is read even if the server closes the connection while the request is
// sent.
func TestDo_AnswerBeforeReset(t *testing.T) {
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!")
	}) // closing with unread bytes resets the connection
	request := egress.Request{Method: "POST", URL: server.url(), Body: strings.Repeat("x", 32<<20), Timeout: time.Minute}
	if result := do(t, localClient(t), request); result.Status != 413 || result.Body != "no!" {
		t.Errorf("%d %q", result.Status, result.Body)
	}
}

func TestDo_EarlyAnswer(t *testing.T) {
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1))
		_, _ = io.WriteString(conn, "HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!")
		<-t.Context().Done() // it stops reading
	})
	request := egress.Request{Method: "POST", URL: server.url(), Body: strings.Repeat("x", 32<<20), Timeout: time.Minute}
	if result := do(t, localClient(t), request); result.Status != 413 || result.Body != "no!" {
		t.Errorf("%d %q", result.Status, result.Body)
	}
}

func TestCancel_ClosesConnection(t *testing.T) {
	for name, begin := range map[string]string{"before the answer": "", "within the body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nx"} {
		t.Run(name, func(t *testing.T) {
			quickest := time.Hour
			for i := 0; i < 20 && quickest > 100*time.Millisecond; i++ { // a busy machine may be slow, but not every time
				quickest = min(quickest, closedAfter(t, begin))
			}
			if quickest > 100*time.Millisecond {
				t.Errorf("the connection was closed after %v", quickest)
			}
		})
	}
}

// closedAfter cancels a request, and returns how long it takes until the connection is closed.
func closedAfter(t *testing.T, begin string) time.Duration {
	t.Helper()
	started, closed := make(chan struct{}), make(chan time.Time, 1)
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) {
		_, _ = io.WriteString(conn, begin)
		_, _ = conn.Read(make([]byte, 1))
		close(started)
		waitForEnd(conn)
		closed <- time.Now()
	})
	ctx, cancel := context.WithCancel(t.Context())
	var canceled time.Time
	go func() {
		<-started
		canceled = time.Now()
		cancel()
	}()
	_, err := localClient(t).Do(ctx, get(server.url()))
	failure, ok := errors.AsType[*egress.Error](err)
	if !ok || failure.Reason != egress.Canceled || !errors.Is(err, context.Canceled) {
		t.Errorf("%q: %v", begin, err)
	}
	return (<-closed).Sub(canceled)
}

func TestCancel_BeforeSending(t *testing.T) {
	server := listen(t, "127.0.0.1:0", nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := localClient(t).Do(ctx, get(server.url()))
	if failure, ok := errors.AsType[*egress.Error](err); !ok || failure.Reason != egress.Canceled || server.connections.Load() != 0 {
		t.Errorf("%v, %d connections", err, server.connections.Load())
	}
}

func TestTimeout_ContextDeadline(t *testing.T) {
	server := listen(t, "127.0.0.1:0", waitForEnd)
	ctx, cancel := context.WithTimeout(t.Context(), short)
	defer cancel()
	_, err := localClient(t).Do(ctx, get(server.url()))
	if failure, ok := errors.AsType[*egress.Error](err); !ok || failure.Reason != egress.Timeout {
		t.Error(err)
	}
}

func TestDial_BothFamilies(t *testing.T) {
	answer := answering("HTTP/1.1 204 No Content\r\n\r\n")
	four := listen(t, "127.0.0.1:0", answer)
	resolver := &names{answers: map[string][][]netip.Addr{"dual.test": {addrs("::1", "127.0.0.9", "127.0.0.1")}}}
	client := newClient(t, egress.Options{Allow: networks("127.0.0.0/8", "::1/128"), Resolver: resolver})
	if result := do(t, client, get("http://dual.test:"+four.port())); result.Status != http.StatusNoContent {
		t.Error(result.Status)
	}
}
