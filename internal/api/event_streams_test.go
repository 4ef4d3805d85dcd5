package api_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// eventTime is how long an event may take on a busy machine.
const eventTime = 20 * time.Second

// streamURL returns the URL of the event stream that the key is offered.
func (c client) streamURL(options ...option) string {
	c.t.Helper()
	streams := c.ofrep("", `{}`, options...).want(200).members()["eventStreams"].([]any)
	stream := streams[0].(map[string]any)
	if len(streams) != 1 || stream["type"] != "sse" || stream["inactivityDelaySec"] != 120.0 {
		c.t.Errorf("got %v", streams)
	}
	return stream["url"].(string)
}

// eventStream is an open event stream.
type eventStream struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Scanner
}

// stream opens an event stream, whatever the answer is.
func (c client) stream(target string, options ...option) *eventStream {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 3*eventTime)
	c.t.Cleanup(cancel)
	wanted := request{header: http.Header{}}
	for _, option := range options {
		option(&wanted)
	}
	sent, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		c.t.Fatal(err)
	}
	sent.Header = wanted.header
	response, err := c.http.Do(sent)
	if err != nil {
		c.t.Fatal(err)
	}
	f := &eventStream{t: c.t, response: response, lines: bufio.NewScanner(response.Body)}
	c.t.Cleanup(func() { _ = response.Body.Close() })
	return f
}

func (f *eventStream) close() { _ = f.response.Body.Close() }

// refused checks the status of an answer that is no stream, and returns its text.
func (f *eventStream) refused(status int) string {
	f.t.Helper()
	text, err := io.ReadAll(io.LimitReader(f.response.Body, 1<<10))
	if err != nil || f.response.StatusCode != status {
		f.t.Fatalf("got %d, want %d: %s (%v)", f.response.StatusCode, status, text, err)
	}
	return string(text)
}

// next returns the id of the next event, or -1 at the end of the stream.
func (f *eventStream) next() int {
	f.t.Helper()
	if f.response.StatusCode != http.StatusOK {
		f.t.Fatalf("got %d", f.response.StatusCode)
	}
	for f.lines.Scan() {
		id, isID := strings.CutPrefix(f.lines.Text(), "id: ")
		if !isID {
			continue
		}
		want := fmt.Sprintf(`data: {"type":"refetchEvaluation","etag":%q}`, id)
		if !f.lines.Scan() || f.lines.Text() != want {
			f.t.Fatalf("got %q, want %q", f.lines.Text(), want)
		}
		seq, err := strconv.Atoi(id)
		if err != nil {
			f.t.Fatal(err)
		}
		return seq
	}
	return -1
}

// reaches waits for an event about a change or a later one.
func (f *eventStream) reaches(seq int) {
	f.t.Helper()
	for {
		switch got := f.next(); {
		case got < 0:
			f.t.Fatalf("the stream ended before the change %d: %v", seq, f.lines.Err())
		case got >= seq:
			return
		}
	}
}

// ends checks that the stream ends within a second, possibly after further events.
func (f *eventStream) ends(since time.Time) {
	f.t.Helper()
	for seq := f.next(); seq >= 0; {
		seq = f.next()
	}
	if took := time.Since(since); took > time.Second {
		f.t.Logf("it ended only after %s", took) // a busy machine
	}
	if err := f.lines.Err(); err != nil {
		f.t.Errorf("it ended with %v", err)
	}
}

func TestEventStream_FollowsFlags(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		path := owner.makeFlag("followed", nil)
		page := owner.evaluator()
		f := page.stream(page.streamURL())
		f.reaches(owner.seq()) // at once
		for _, value := range []bool{true, false} {
			owner.put(path, envelope("", "", boolean(value, nil))).want(200)
			seq := owner.seq()
			f.reaches(seq)
			got := page.post(ofrepPath+fmt.Sprintf("?flagConfigEtag=%d", seq), `{}`).want(200)
			if !got.contains(fmt.Sprintf(`"value":%t`, value)) {
				t.Errorf("got %s", got.body)
			}
		}
		f.close()
		again := page.stream(page.streamURL(), with("Last-Event-ID", fmt.Sprint(owner.seq())))
		owner.delete(path).want(204)
		again.reaches(owner.seq())
	})
}

// A token opens the stream of its key, for its environment, and nothing else.
func TestEventStream_Token(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	page := owner.evaluator()
	first := page.streamURL()
	if page.streamURL() != first {
		t.Error("the same key got two URLs")
	}
	others := []string{owner.evaluator().streamURL(), owner.streamURL(), owner.streamURL(with("X-Signalbox-Environment", "staging"))}
	for i, other := range others {
		if other == first || i > 0 && other == others[i-1] {
			t.Errorf("%d: another key or environment got the same URL", i)
		}
	}
	target, err := url.Parse(first)
	if err != nil {
		t.Fatal(err)
	}
	token := target.Query().Get("token")
	if strings.Contains(first, page.key) || target.Path != "/ofrep/v1/events" {
		t.Errorf("got %s", first)
	}
	for name, path := range map[string]string{
		"account": accountPath, "flags": flagsPath, "event socket": "/api/ws/v1/events?api_key=" + url.QueryEscape(token), "evaluation": ofrepPath,
	} {
		t.Run(name, func(t *testing.T) {
			method, body := http.MethodGet, ""
			if path == ofrepPath {
				method, body = http.MethodPost, `{}`
			}
			if got := page.in(t).as(token).send(method, path, body, offContract, inProduction(path)); got.status != 401 {
				t.Errorf("%s with the token got %d", path, got.status)
			}
		})
	}
	changed := strings.Replace(token, token[:1], string(token[0]+1), 1)
	for name, c := range map[string]struct{ query, want string }{
		"no token":         {"", "takes no API key"},
		"the key":          {"?token=" + page.key, "is not one of this server"},
		"the key by name":  {"?api_key=" + page.key, "takes no API key"},
		"a changed token":  {"?token=" + changed, "is not one of this server"},
		"half a token":     {"?token=" + token[:len(token)-4], "is not one of this server"},
		"another alphabet": {"?token=" + token + "%3D", "is not one of this server"},
	} {
		t.Run(name, func(t *testing.T) {
			page := page.in(t)
			got := page.stream(page.node.URL+"/ofrep/v1/events"+c.query, with("Origin", shop))
			if text := got.refused(401); !strings.Contains(text, c.want) || got.response.Header.Get("Access-Control-Allow-Origin") != "*" {
				t.Errorf("got %s with %v", text, got.response.Header)
			}
		})
	}
	if got := page.stream(page.node.URL+"/ofrep/v1/events", with("Authorization", "Bearer "+owner.key)).refused(401); !strings.Contains(got, "takes no API key") {
		t.Errorf("a key with full access got %s", got)
	}
}

func TestEventStream_Origins(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, c := range []struct {
		client client
		origin string
		want   string
	}{
		{owner.evaluator(), shop, "*"}, {owner.evaluator(shop), shop, shop}, {owner.evaluator(shop), "https://other.example", ""},
		{owner.evaluator(), "", ""}, {owner, shop, ""},
	} {
		t.Run(fmt.Sprintf("%q gets %q", c.origin, c.want), func(t *testing.T) {
			client := c.client.in(t)
			f := client.stream(client.streamURL(), with("Origin", c.origin))
			f.next()
			if got := f.response.Header.Get("Access-Control-Allow-Origin"); got != c.want {
				t.Errorf("for pages of %q got %q, want %q", c.origin, got, c.want)
			}
		})
	}
}

func TestEventStream_Head(t *testing.T) {
	t.Parallel()
	page := newOwner(t, "pro").evaluator()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodHead, page.streamURL(), nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := page.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != 200 {
		t.Errorf("got %d", response.StatusCode)
	}
}

// TestEventStream_KeyEnds: a stream ends with its key, on every node, and the token does not open another one.
func TestEventStream_KeyEnds(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		here := start(t, database)
		there := here
		if database.Kind == "postgres" {
			there = start(t, database, func(s *settings.Settings) { s.Name = "other" })
		}
		for name, each := range map[string]struct {
			do     func(owner client, key madeKey)
			status int
		}{
			"revoked": {endings[0].do, 401},
			"deleted": {endings[1].do, 401},
			"moved to another environment": {func(owner client, key madeKey) {
				owner.put(key.path, envelope("", "", attributes{"name": "k", "scopes": attributes{"environments": []string{"staging"}}})).want(200)
			}, 403},
		} {
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				key := here.in(t).makeKey(attributes{"access": "evaluate", "scopes": attributes{"environments": []string{"production"}}})
				page := there.in(t).as(key.secret)
				target := page.streamURL()
				f := page.stream(target)
				f.next()
				each.do(here.in(t), key)
				f.ends(time.Now())
				page.stream(target).refused(each.status)
			})
		}
	})
}

// TestEventStream_TokenExpires: a conditional request after the token's end has a new URL, and open streams stay open.
func TestEventStream_TokenExpires(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		owner := start(t, database, func(s *settings.Settings) { s.StreamTokenTTL = 3 * time.Second })
		path := owner.makeFlag("followed", nil)
		page := owner.evaluator()
		bulk := page.ofrep("", `{}`).want(200)
		target := page.streamURL()
		f := page.stream(target)
		f.next()
		eventually(t, eventTime, "the token has expired", func() bool {
			again := page.stream(target)
			defer again.close()
			return again.response.StatusCode == 401
		})
		if text := page.stream(target).refused(401); !strings.Contains(text, "has expired") || strings.Contains(text, target) {
			t.Errorf("got %s", text)
		}
		owner.put(path, envelope("", "", boolean(true, nil))).want(200)
		f.reaches(owner.seq())
		owner.put(path, envelope("", "", boolean(false, nil))).want(200)
		renewed := page.ofrep("", `{}`, with("If-None-Match", bulk.header.Get("ETag"))).want(200)
		if string(renewed.body) == string(bulk.body) {
			t.Errorf("the URL is the same: %s", renewed.body)
		}
		page.stream(page.streamURL()).next()
	})
}

// TestEventStream_OtherNodes: any node accepts the URL of any other, also after a restart, and tells of its changes.
func TestEventStream_OtherNodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		var here client
		t.Run("a first node", func(t *testing.T) { // the end of the test stops it
			here = start(t, database)
			here.makeFlag("followed", nil)
			here.key = here.evaluator().key
			here.key = here.streamURL()
		})
		target, err := url.Parse(here.key)
		if err != nil {
			t.Fatal(err)
		}
		restarted := start(t, database)
		nodes := []client{restarted}
		if database.Kind == "postgres" {
			nodes = append(nodes, start(t, database, func(s *settings.Settings) { s.Name = "other" }))
		}
		var open []*eventStream
		for _, node := range nodes {
			f := node.stream(node.node.URL + target.RequestURI())
			f.next()
			open = append(open, f)
		}
		for _, node := range nodes {
			node.put(flagsPath+"/followed", envelope("", "", boolean(true, nil))).want(200)
			node.put(flagsPath+"/followed", envelope("", "", boolean(false, nil))).want(200)
			seq := node.seq()
			for i, f := range open {
				f.reaches(seq)
				page := nodes[i]
				page.post(ofrepPath+fmt.Sprintf("?flagConfigEtag=%d", seq), `{}`, inProduction(ofrepPath)).want(200)
			}
		}
	})
}

func TestEventStream_FlagConfigEtag(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("f", nil)
	for etag, want := range map[string]int{
		"0": 200, "1": 200, `%221%22`: 200, "": 200, fmt.Sprint(owner.seq()): 200, "x": 400, "-1": 400, "1.5": 400, "99999999999999999999": 400,
		"999999999": 200, // of a history that the database no longer has
	} {
		t.Run(fmt.Sprintf("%q", etag), func(t *testing.T) {
			for _, each := range []string{ofrepPath, ofrepPath + "/f"} {
				got := owner.in(t).post(each+"?flagConfigEtag="+etag, `{}`, inProduction(each), offContract).want(want)
				if want == 400 && !got.contains("flagConfigEtag must be") {
					t.Errorf("got %s", got.body)
				}
			}
		})
	}
	owner.put(path, envelope("", "", boolean(true, nil))).want(200) // an unknown number must not hide later changes
	if got := owner.ofrep("f", `{}`).want(200); !got.contains(`"value":true`) {
		t.Errorf("got %s", got.body)
	}
}

func TestEventStream_SessionsGetNone(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	person := owner.join("VIEWER", "Person")
	got := person.post(ofrepPath, `{}`, inProduction(ofrepPath), with("Origin", owner.node.URL), with("Sec-Fetch-Site", "same-origin")).want(200)
	if got.contains("eventStreams") {
		t.Errorf("got %s", got.body)
	}
}

// output collects what a node logs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

func (o *output) contains(text string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	return bytes.Contains(o.text.Bytes(), []byte(text))
}

// startLogging is start for a node that logs.
func startLogging(t *testing.T, database storetest.Database, log *slog.Logger) client {
	t.Helper()
	instance, err := app.New(t.Context(), apptest.Settings(database), log, io.Discard, apptest.Quick)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := instance.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	return speakTo(t, &apptest.Node{App: instance, URL: "http://" + instance.Address(), Key: apptest.OwnerKey, Settings: apptest.Settings(database), Database: database})
}

// TestEventStream_TokenIsSecret: no log line, metric, change or error has the token.
func TestEventStream_TokenIsSecret(t *testing.T) {
	t.Parallel()
	logged := &output{}
	owner := startLogging(t, storetest.New(t, "sqlite"), slog.New(slog.NewJSONHandler(logged, &slog.HandlerOptions{Level: slog.LevelDebug})))
	owner.makeFlag("f", nil)
	page := owner.evaluator()
	target := page.streamURL()
	_, token, _ := strings.Cut(target, "=")
	f := page.stream(target)
	f.next()
	f.close()
	text := page.stream(target + "x").refused(401)
	shown := text + string(owner.get("/metrics").want(200).body) + string(owner.get(changesPath).want(200).body) +
		string(owner.get(keysPath).want(200).body) + string(owner.get("/api/v1/connections").want(200).body)
	eventually(t, eventTime, "the requests are logged", func() bool {
		return logged.contains(`"route":"GET /ofrep/v1/events","path":"/ofrep/v1/events","status":401`)
	})
	for part := range strings.SplitSeq(token, ".") {
		if strings.Contains(shown, part) {
			t.Errorf("a part of the token is in %s", shown)
		}
		if logged.contains(part) {
			t.Error("a part of the token is in the log")
		}
	}
	if !logged.contains(`"route":"GET /ofrep/v1/events","path":"/ofrep/v1/events","status":200`) {
		t.Error("the stream is not logged")
	}
}
