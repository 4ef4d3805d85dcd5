package e2e

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// interval is the pause between repetitions of a request that is expected to succeed soon. Tests cannot wait for the
// state of another process.
const interval = 20 * time.Millisecond

// exchange is one line of a script that sends a request.
type exchange struct {
	url, method, path, key string
	body                   string
	header                 http.Header
	certificates           *x509.CertPool
	within                 time.Duration
	until                  string
	status                 int
}

// answer is the response to a request.
type answer struct {
	line   string
	status int
	header http.Header
	body   string
}

const httpUsage = "usage: http [@NAME] [-key KEY] [-header 'A: b'] [-ca FILE] [-within DURATION] [-until TEXT] METHOD PATH [BODY] STATUS"

func sendHTTP(ts *testscript.TestScript, _ bool, args []string) {
	_, target, args := nodesOf(ts).named(ts, args)
	line := parseExchange(ts, target.url, args)
	got, err := line.settle()
	ts.Check(err)
	fmt.Fprint(ts.Stdout(), got.body)
	fmt.Fprintln(ts.Stderr(), got.line)
	for _, name := range slices.Sorted(maps.Keys(got.header)) {
		fmt.Fprintf(ts.Stderr(), "%s: %s\n", name, strings.Join(got.header[name], ", "))
	}
	if !strings.Contains(got.body, line.until) {
		ts.Fatalf("%s %s: the body has no %s", line.method, line.path, line.until)
	}
	if got.status != line.status {
		ts.Fatalf("%s %s: the status is %d, not %d", line.method, line.path, got.status, line.status)
	}
}

func parseExchange(ts *testscript.TestScript, url string, args []string) *exchange {
	line := &exchange{url: url, key: ts.Getenv("KEY"), header: http.Header{}}
	for len(args) > 1 && strings.HasPrefix(args[0], "-") {
		line.option(ts, args[0], args[1])
		args = args[2:]
	}
	if len(args) != 3 && len(args) != 4 {
		ts.Fatalf(httpUsage)
	}
	var err error
	line.method, line.path = args[0], args[1]
	line.status, err = strconv.Atoi(args[len(args)-1])
	ts.Check(err)
	if len(args) == 4 {
		line.body = args[2]
		if !strings.ContainsAny(args[2][:1], "{[<") {
			line.body = ts.ReadFile(args[2])
		}
		if line.header.Get("Content-Type") == "" {
			line.header.Set("Content-Type", "application/vnd.api+json")
		}
	}
	return line
}

func (e *exchange) option(ts *testscript.TestScript, name, value string) {
	var err error
	switch name {
	case "-key":
		e.key = value
	case "-header":
		header, content, _ := strings.Cut(value, ": ")
		e.header.Set(header, content)
	case "-within":
		e.within, err = time.ParseDuration(value)
	case "-until":
		e.until = value
	case "-ca":
		e.certificates = x509.NewCertPool()
		if !e.certificates.AppendCertsFromPEM([]byte(ts.ReadFile(value))) {
			err = errors.New("there is no certificate in " + value)
		}
		e.url = strings.Replace(e.url, "http:", "https:", 1)
	default:
		err = errors.New(httpUsage)
	}
	ts.Check(err)
}

var (
	setCookie = regexp.MustCompile(`(?m)^Set-Cookie: signalbox_session=([A-Za-z0-9_-]+);`)
	linkToken = regexp.MustCompile(`/(?:setup|join|reset)\?token=([A-Za-z0-9_-]+)`)
	shownKey  = regexp.MustCompile(`(sk_api_[A-Za-z0-9_-]{43})`)
)

// cookie sets a variable to the session cookie of the last response.
func cookie(ts *testscript.TestScript, _ bool, args []string) {
	capture(ts, "cookie NAME", setCookie, ts.ReadFile("stderr"), args)
}

// token sets a variable to the token of the link in stdout.
func token(ts *testscript.TestScript, _ bool, args []string) {
	capture(ts, "token NAME", linkToken, ts.ReadFile("stdout"), args)
}

// printedKey sets a variable to the key in stdout.
func printedKey(ts *testscript.TestScript, _ bool, args []string) {
	capture(ts, "printedkey NAME", shownKey, ts.ReadFile("stdout"), args)
}

func capture(ts *testscript.TestScript, usage string, pattern *regexp.Regexp, text string, args []string) {
	if len(args) != 1 {
		ts.Fatalf("usage: %s", usage)
	}
	match := pattern.FindStringSubmatch(text)
	if match == nil {
		ts.Fatalf("nothing matches %s", pattern)
	}
	ts.Setenv(args[0], match[1])
}

// settle repeats the request until its status is the expected one and its body
// has the expected text, or the time has passed. The last request is sent after that time, so a slow machine does
// not count against the server.
func (e *exchange) settle() (answer, error) {
	end := time.Now().Add(e.within)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for {
		last := !time.Now().Before(end)
		got, err := e.send()
		if err != nil || last || got.status == e.status && strings.Contains(got.body, e.until) {
			return got, err
		}
		<-tick.C
	}
}

// send makes one request on a connection of its own, as a terminal would.
func (e *exchange) send() (answer, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, e.method, e.url+e.path, strings.NewReader(e.body))
	if err != nil {
		return answer{}, err
	}
	maps.Copy(request.Header, e.header)
	if e.key != "" {
		request.Header.Set("Authorization", "Bearer "+e.key)
	}
	client := &http.Client{
		Transport: &http.Transport{
			DisableKeepAlives: true, DisableCompression: true, TLSClientConfig: &tls.Config{RootCAs: e.certificates},
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	response, err := client.Do(request)
	if err != nil {
		return answer{}, err
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return answer{response.Proto + " " + response.Status, response.StatusCode, response.Header, string(body)}, err
}
