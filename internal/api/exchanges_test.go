package api_test

import (
	"bufio"
	"compress/gzip"
	"fmt"
	"net"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

// answering returns a sink's answer with a header and a body.
func answering(body string, headers ...string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		for i := 0; i+1 < len(headers); i += 2 {
			w.Header().Add(headers[i], headers[i+1])
		}
		_, _ = w.Write([]byte(body))
	}
}

// rawServer answers every connection with bytes, once it has read a request,
// and closes it.
func rawServer(t testing.TB, answer string) string {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				_, _ = conn.Write([]byte(answer))
			}
			_ = conn.Close()
		}
	}()
	t.Cleanup(func() { _ = listener.Close(); <-done })
	return "http://" + listener.Addr().String() + "/"
}

func TestRun_Request(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t)
	run := owner.ran(owner.makeJob("plain", sendingTo(sink.url()+"a%20b?q=1&r=%2F#fragment", nil)))
	got := sink.take(t)
	if got.Method != http.MethodPost || got.RequestURI != "/a%20b?q=1&r=%2F" || got.body != "" || got.ContentLength != 0 {
		t.Errorf("got %s %s with %q", got.Method, got.RequestURI, got.body)
	}
	if got.Header.Get("X-Signalbox-Run") != run.data().ID || got.Header.Get("X-Signalbox-Job") != "plain" ||
		!strings.HasPrefix(got.UserAgent(), "signalbox/") || got.Header.Get("Accept-Encoding") != "" ||
		!regexp.MustCompile(`^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$`).MatchString(got.Header.Get("Traceparent")) {
		t.Errorf("got %v", got.Header)
	}

	own := owner.ran(owner.makeJob("own", sendingTo(strings.Replace(sink.url(), "http://", "http://me:p%40ss@", 1), attributes{
		"method": "PUT", "body": "{\"ä\": \x00}", "headers": []attributes{
			{"name": "user-agent", "value": "mine"}, {"name": "X-Signalbox-Run", "value": "r"}, {"name": "x-signalbox-job", "value": "j"},
			{"name": "traceparent", "value": "t"}, {"name": "Host", "value": "other.example:81"}, {"name": "Content-Type", "value": "application/json"},
			{"name": "X-Twice", "value": "1"}, {"name": "X-Twice", "value": "2"}, {"name": "X-Empty", "value": ""}, {"name": "X-Ünï"[:2], "value": "ünï"},
		}})))
	got = sink.take(t)
	if got.Method != http.MethodPut || got.body != "{\"ä\": \x00}" || got.Host != "other.example:81" {
		t.Errorf("got %s to %s with %q", got.Method, got.Host, got.body)
	}
	want := http.Header{"User-Agent": {"mine"}, "X-Signalbox-Run": {"r"}, "X-Signalbox-Job": {"j"}, "Traceparent": {"t"},
		"Content-Type": {"application/json"}, "X-Twice": {"1", "2"}, "X-Empty": {""}, "X-": {"ünï"}, "Content-Length": {"9"},
		"Authorization": {"Basic bWU6cEBzcw=="}}
	if difference := cmp.Diff(want, got.Header); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
	if own.text("status") != "SUCCEEDED" || own.member("request.url") != strings.Replace(sink.url(), "http://", "http://<redacted>@", 1) ||
		own.member("request.body") != "{\"ä\": \x00}" || own.contains("p%40ss") || own.contains("bWU6cEBzcw") || own.contains("mine") {
		t.Errorf("got %s", own.body)
	}
	for _, header := range own.member("request.headers").([]any) {
		if header.(map[string]any)["value"] != "<redacted>" {
			t.Errorf("got %v", header)
		}
	}
}

func TestRun_RecordedBody(t *testing.T) {
	t.Parallel()
	const kept = 64 << 10
	zipped := new(strings.Builder)
	writer := gzip.NewWriter(zipped)
	_, _ = writer.Write([]byte("unzipped"))
	_ = writer.Close()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for name, c := range map[string]struct {
			body, want string
			truncated  bool
		}{
			"nothing":                         {"", "", false},
			"text":                            {"grüße", "grüße", false},
			"markup":                          {`<a href="x">&</a>`, `<a href="x">&</a>`, false},
			"exactly what is kept":            {strings.Repeat("x", kept), strings.Repeat("x", kept), false},
			"a byte more":                     {strings.Repeat("x", kept+1), strings.Repeat("x", kept), true},
			"a megabyte":                      {strings.Repeat("0123456789", 100_000), strings.Repeat("0123456789", 100_000)[:kept], true},
			"a character across the cut":      {strings.Repeat("x", kept-1) + "ä!", strings.Repeat("x", kept-1), true},
			"bytes that are no text":          {"a\xff\xfeb\xc3", "a\uFFFDb\uFFFD", false},
			"bytes that grow":                 {strings.Repeat("x\xff", kept/2), strings.Repeat("x\uFFFD", kept/4), true},
			"NUL":                             {"a\x00b", "a\x00b", false},
			"NUL in what is compressed":       {strings.Repeat("\x00", 5000), strings.Repeat("\x00", 5000), false},
			"what cannot be compressed":       {zipped.String(), strings.ToValidUTF8(zipped.String(), "\uFFFD"), false},
			"characters that JSON may escape": {"\u2028\u2029\ufeff\U0001F600", "\u2028\u2029\ufeff\U0001F600", false},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				owner := owner.in(t)
				sink := newSink(t, answering(c.body, "Content-Type", "application/octet-stream"))
				run := owner.ran(owner.makeJob(unique("answer"), sendingTo(sink.url(), nil)))
				body, _ := run.member("result.body").(string)
				if body != c.want || !utf8.ValidString(body) || len(body) > kept {
					t.Errorf("got %d bytes %.40q, want %d bytes %.40q", len(body), body, len(c.want), c.want)
				}
				if run.member("result.body_truncated") != c.truncated || run.member("result.body_bytes") != float64(len(c.body)) || run.text("status") != "SUCCEEDED" {
					t.Errorf("got %v of %v bytes: %.300s", run.member("result.body_truncated"), run.member("result.body_bytes"), run.body)
				}
				if ids := owner.get(runsPath + "?filter[job]=" + run.text("job")).want(200).ids(); len(ids) != 1 {
					t.Errorf("the list has %v", ids)
				}
			})
		}
	})
}

func TestRun_RecordedHeaders(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("v", 60_000)
	owner := newOwner(t, "pro")
	run := owner.ran(owner.makeJob("odd", sendingTo(rawServer(t, "HTTP/1.1 200 OK\r\nX-MIXED-case: 1\r\nset-cookie: a=1\r\nSet-Cookie: b=2\r\nX-Latin: caf\xe9\r\n"+
		"X-Empty:\r\nX-Long: "+long+"\r\nContent-Encoding: gzip\r\nContent-Length: 8\r\n\r\nnot gzip"), nil)))
	want := map[string]any{"x-mixed-case": "1", "set-cookie": "a=1, b=2", "x-latin": "caf\uFFFD", "x-empty": "", "x-long": long,
		"content-encoding": "gzip", "content-length": "8"}
	if difference := cmp.Diff(want, run.member("result.headers")); difference != "" {
		t.Errorf("want (-), got (+):\n%.3000s", difference)
	}
	if run.member("result.body") != "not gzip" || run.member("result.body_bytes") != 8.0 {
		t.Errorf("got %s", run.body)
	}
	timings := run.member("result.timings").(map[string]any)
	if timings["total_ms"].(float64) < timings["first_byte_ms"].(float64) {
		t.Errorf("got %v", timings)
	}
}

func TestRun_ResponseIsNoHTTP(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, answer := range map[string]string{
		"nothing":                "",
		"noise":                  "\x00\x01\x02\xff\r\n\r\n",
		"a line with NUL":        "HTTP/1.1 200 OK\r\nbad\x00header\x1b[31m\xff\r\n\r\n",
		"a name with NUL":        "HTTP/1.1 200 OK\r\nX\x00Y: 1\r\n\r\n",
		"a body that breaks off": "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort",
		"a bad chunk":            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\x00\r\n",
		"endless headers":        "HTTP/1.1 200 OK\r\n" + strings.Repeat("X-Padding: "+strings.Repeat("y", 1000)+"\r\n", 3000) + "\r\n",
		"a status like a word":   "HTTP/1.1 fine\r\n\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run := owner.in(t).ran(owner.in(t).makeJob(unique("noise"), sendingTo(rawServer(t, answer), nil)))
			requireRun(t, run, map[string]any{"status": "FAILED", "failure_reason": "CONNECTION_ERROR", "result": nil})
			if text := run.text("error"); text == "" || strings.ContainsAny(text, "\x00\x1b") {
				t.Errorf("the error is %q", text)
			}
		})
	}
}

func TestRun_SuccessStatus(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t, func(w http.ResponseWriter, r *http.Request) {
		status, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
		w.Header().Set("Location", "/200")
		w.WriteHeader(status)
	})
	for _, c := range []struct {
		wanted    any
		status    int
		succeeded bool
	}{
		{nil, 200, true}, {nil, 204, true}, {nil, 299, true}, {nil, 302, false}, {nil, 404, false}, {nil, 500, false},
		{"2xx", 201, true}, {"200", 201, false}, {"201", 201, true}, {"3xx", 301, true}, {"307", 307, true}, {"4xx", 404, true}, {"404", 404, true},
		{"5xx", 503, true}, {"5xx", 200, false}, {"1xx", 200, false}, {"599", 599, true},
	} {
		t.Run(fmt.Sprintf("%v answered %d", c.wanted, c.status), func(t *testing.T) {
			owner := owner.in(t)
			run := owner.ran(owner.makeJob(unique("status"), sendingTo(fmt.Sprint(sink.url(), c.status), attributes{"success_status": c.wanted, "method": "GET"})))
			want := map[string]any{"status": "SUCCEEDED", "failure_reason": nil, "error": nil}
			if !c.succeeded {
				want = map[string]any{"status": "FAILED", "failure_reason": "NON_SUCCESS_STATUS", "error": run.attribute("error")}
				if text, _ := run.attribute("error").(string); !strings.Contains(text, strconv.Itoa(c.status)) {
					t.Errorf("the error does not name the status: %s", run.body)
				}
			}
			requireRun(t, run, want)
			if run.member("result.status") != float64(c.status) {
				t.Errorf("%v, %d: got %s", c.wanted, c.status, run.body)
			}
			if c.status/100 == 3 && run.member("result.headers.location") != "/200" {
				t.Errorf("got %s", run.body)
			}
		})
	}
	if requests := len(sink.requests); requests != 17 {
		t.Errorf("%d requests came: redirects must not be followed", requests)
	}
}

func TestRun_FailureReasons(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newSink(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done() // an answer without an end
	})
	closed := newSink(t)
	closed.close()
	for name, c := range map[string]struct{ url, reason string }{
		"slow answer":      {sink.hold(), "TIMEOUT"},
		"endless body":     {sink.url(), "TIMEOUT"},
		"refused":          {closed.url(), "CONNECTION_ERROR"},
		"no such host":     {"http://no-such-host.invalid/", "CONNECTION_ERROR"},
		"plain, not TLS":   {strings.Replace(sink.url(), "http:", "https:", 1), "CONNECTION_ERROR"},
		"private":          {nowhere, "SSRF_BLOCKED"},
		"metadata":         {"http://169.254.169.254/latest/meta-data", "SSRF_BLOCKED"},
		"decimal":          {"http://167772161/", "SSRF_BLOCKED"},
		"this very server": {owner.node.URL + "/api/liveness", "SSRF_BLOCKED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := owner.in(t)
			timeout := 30 // seconds: no other reason has to hurry
			if c.reason == "TIMEOUT" {
				timeout = 1
			}
			began := time.Now()
			run := owner.ran(owner.makeJob(unique("failure"), sendingTo(c.url, attributes{"timeout": timeout})))
			requireRun(t, run, map[string]any{"status": "FAILED", "failure_reason": c.reason, "result": nil, "job_version": 1.0})
			requireDurations(t, run)
			if c.reason == "TIMEOUT" && run.attribute("run_duration_ms").(float64) < 1000 {
				t.Errorf("it ended before its time: %s after %s", run.body, time.Since(began))
			}
			if run.attribute("error") == nil || run.member("request.url") != c.url {
				t.Errorf("got %s", run.body)
			}
		})
	}
}

func TestRun_TLS(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	sink := newTLSSink(t)
	certificate := pemOf(t, sink)
	for name, c := range map[string]struct {
		more      attributes
		succeeded bool
	}{
		"not trusted":                     {nil, false},
		"its certificate trusted":         {attributes{"ca_cert": certificate}, true},
		"in a bundle":                     {attributes{"ca_cert": "a comment\n" + certificate + "\n" + certificate}, true},
		"not verified":                    {attributes{"tls_verify": false}, true},
		"not verified, with certificates": {attributes{"tls_verify": false, "ca_cert": certificate}, true},
	} {
		run := owner.ran(owner.makeJob(unique("tls"), sendingTo(sink.url(), c.more)))
		want := map[string]any{"status": "SUCCEEDED", "failure_reason": nil}
		if !c.succeeded {
			want = map[string]any{"status": "FAILED", "failure_reason": "CONNECTION_ERROR"}
		}
		t.Run(name, func(t *testing.T) { requireRun(t, run, want) })
	}
}
