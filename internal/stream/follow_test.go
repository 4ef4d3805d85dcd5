package stream_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/stream"
)

// follower is an open event stream.
type follower struct {
	t        testing.TB
	response *http.Response
	lines    *bufio.Reader
}

// tryFollow opens an event stream, or returns the status of the refusal. last may be empty.
func (s *stage) tryFollow(query, last string) (*follower, int) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), 9*soon)
	s.t.Cleanup(cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.server.URL+"/?"+query, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if last != "" {
		request.Header.Set("Last-Event-ID", last)
	}
	response, err := s.server.Client().Do(request)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() { _ = response.Body.Close() })
	if response.StatusCode != http.StatusOK {
		return nil, response.StatusCode
	}
	f := &follower{t: s.t, response: response, lines: bufio.NewReader(response.Body)}
	if block := f.block(); block != "retry: 1000" {
		s.t.Errorf("the stream begins with %q", block)
	}
	return f, http.StatusOK
}

// follow opens an event stream of production.
func (s *stage) follow(more, last string) *follower {
	s.t.Helper()
	f, status := s.tryFollow("follow=production"+more, last)
	if f == nil {
		s.t.Fatalf("refused with %d", status)
	}
	return f
}

// block returns the lines up to the next empty line, or what ended the stream.
func (f *follower) block() string {
	var lines []string
	for {
		line, err := f.lines.ReadString('\n')
		if err != nil {
			return err.Error()
		}
		if line == "\n" {
			return strings.Join(lines, "\n")
		}
		lines = append(lines, strings.TrimSuffix(line, "\n"))
	}
}

// next returns the next event, without the comments before it.
func (f *follower) next() string {
	for {
		if block := f.block(); block != ":" {
			return block
		}
	}
}

// refetch returns the event that an event stream sends for a sequence number.
func refetch(seq int64) string {
	return fmt.Sprintf("id: %d\ndata: {\"type\":\"refetchEvaluation\",\"etag\":\"%d\"}", seq, seq)
}

func (f *follower) expect(wanted ...int64) {
	f.t.Helper()
	for _, seq := range wanted {
		if got := f.next(); got != refetch(seq) {
			f.t.Errorf("got %q, want %q", got, refetch(seq))
		}
	}
}

// ends checks that the stream ends as a response ends, possibly after further events.
func (f *follower) ends() {
	f.t.Helper()
	for {
		switch got := f.next(); {
		case got == io.EOF.Error():
			return
		case !strings.HasPrefix(got, "id: "):
			f.t.Errorf("it ended with %q", got)
			return
		}
	}
}

// overEach runs a test over the protocols that browsers use.
func overEach(t *testing.T, options stream.Options, run func(s *stage)) {
	t.Helper()
	for name, start := range map[string]func(*httptest.Server){
		"HTTP 1": (*httptest.Server).Start,
		"TLS":    (*httptest.Server).StartTLS,
		"HTTP 2": func(server *httptest.Server) {
			server.EnableHTTP2 = true
			server.StartTLS()
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			run(newStage(t, options, start))
		})
	}
}

func TestFollow_Headers(t *testing.T) {
	t.Parallel()
	overEach(t, stream.Options{}, func(s *stage) {
		f := s.follow("", "")
		for name, want := range map[string]string{
			"Content-Type": "text/event-stream", "Cache-Control": "no-cache, no-transform", "X-Accel-Buffering": "no",
			"Content-Encoding": "", "Content-Length": "",
		} {
			if got := f.response.Header.Get(name); got != want {
				s.t.Errorf("%s is %q, want %q", name, got, want)
			}
		}
		if f.response.Header.Get("Date") == "" || len(f.response.TransferEncoding) > 0 {
			s.t.Errorf("got %v and %v", f.response.Header, f.response.TransferEncoding)
		}
	})
}

func TestFollow_Events(t *testing.T) {
	t.Parallel()
	overEach(t, stream.Options{Join: time.Millisecond}, func(s *stage) {
		s.commit(flagChange("before"))
		f := s.follow("", "")
		f.expect(1) // at once: public providers do not evaluate again after a reconnect
		s.commit(flagChange("a"))
		f.expect(2)
		s.commit(changes.Change{Kind: "config", Key: "c", Action: changes.Updated}, changes.Change{Kind: "flag", Key: "d", Action: changes.Cascaded})
		seq := s.commit(changes.Change{Kind: "flag", Key: changes.AllKeys, Action: changes.Updated})
		f.expect(seq)
		_ = f.response.Body.Close()
		storetest.Wait(s.t, soon, "the stream is gone", func() bool { return count(&s.closed, "peer").Load() == 1 })
	})
}

func TestFollow_JoinsChanges(t *testing.T) {
	t.Parallel()
	const join = 400 * time.Millisecond
	overEach(t, stream.Options{Join: join, Heartbeat: unhurried}, func(s *stage) {
		f := s.follow("", "")
		f.expect(0)
		s.commit(flagChange("first"))
		began := time.Now()
		f.expect(1)
		at := time.Now()
		var seq int64
		for range 100 {
			seq = s.commit(flagChange("more"))
		}
		got := f.next()
		switch since := time.Since(began); {
		case since < join-50*time.Millisecond:
			s.t.Errorf("the second event came %s after the first change", since)
		case got != refetch(seq) && time.Since(at) < join: // a pause of the machine may split the changes
			s.t.Errorf("got %q, want one event for the changes up to %d", got, seq)
		}
	})
}

func TestFollow_Resumes(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Replay: 5})
	s.commit(flagChange("1"), changes.Change{Kind: "config", Key: "2"}, changes.Change{Kind: "config", Key: "3"})
	next := func(f *follower) string { // after all that the stream began with
		seq := s.commit(flagChange("next"))
		got := f.next()
		_ = f.response.Body.Close()
		if got == refetch(seq) {
			return "nothing"
		}
		return got
	}
	for _, c := range []struct {
		last, want string
	}{
		{"3", "nothing"}, {"1", refetch(4)}, {"5", "nothing"}, {"99", refetch(6)}, {"-1", refetch(7)}, {"0", refetch(8)}, {"x", refetch(9)}, {"", refetch(10)},
	} {
		if got := next(s.follow("", c.last)); got != c.want {
			t.Errorf("after %q got %q, want %q", c.last, got, c.want)
		}
	}
	s.commit(changes.Change{Kind: "config", Key: "c"})
	for _, kept := range []bool{true, false} { // other streams keep the log, which then answers
		if kept {
			s.follow("", "").next()
		}
		seq := s.head()
		if got := next(s.follow("", fmt.Sprint(seq-1))); got != "nothing" {
			t.Errorf("after a change of a config got %q", got)
		}
		s.commit(changes.Change{Kind: "config", Key: "c"})
	}
}

func (s *stage) head() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(len(s.history[here]))
}

func TestFollow_RewoundHistory(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: unhurried, Reconnect: time.Hour, Replay: 1})
	s.commit(flagChange("a"), flagChange("b"))
	f := s.follow("", "")
	f.expect(2)
	s.rewind(0)
	f.expect(0)
	s.commit(flagChange("c"))
	f.expect(1)
	s.follow("", "1").expect(1) // the number may be of the lost history
}

func TestFollow_MissedChanges(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: unhurried, Reconnect: 100 * time.Millisecond})
	f := s.follow("", "")
	f.expect(0)
	s.Missed(here, 7)
	f.expect(7)
	f.ends() // a missed change may have ended its key
}

func TestFollow_Heartbeat(t *testing.T) {
	t.Parallel()
	overEach(t, stream.Options{Heartbeat: 60 * time.Millisecond}, func(s *stage) {
		f := s.follow("", "")
		f.expect(0)
		for range 5 { // it stays open although its peer sends nothing
			if got := f.block(); got != ":" {
				s.t.Fatalf("got %q", got)
			}
		}
	})
}

func TestFollow_KeyEnds(t *testing.T) {
	t.Parallel()
	expires := time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
	keyChange := func(s *stage, environment string) {
		after := fmt.Sprintf(`{"status":"ACTIVE","access":"evaluate","scopes":{"environments":[%q]},"expires_at":%q}`, environment, expires)
		s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Updated, After: []byte(after)})
	}
	for name, end := range map[string]func(s *stage){
		"revoked": func(s *stage) {
			s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Revoked, After: keyDocument(s.t, accounts.Revoked, nil)})
		},
		"deleted":             func(s *stage) { s.commit(changes.Change{Kind: accounts.KindKey, Key: "k", Action: changes.Deleted}) },
		"expired":             func(s *stage) { s.ahead.Store(int64(2 * time.Hour)) },
		"another environment": func(s *stage) { keyChange(s, "staging") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			overEach(t, stream.Options{Heartbeat: unhurried}, func(s *stage) {
				f := s.follow("&key=k&access=evaluate&expires="+expires, "")
				f.expect(0)
				keyChange(s, "production") // a rename, for example
				s.commit(flagChange("f"))
				f.expect(2)
				end(s)
				f.ends()
				storetest.Wait(s.t, soon, "the end is counted", func() bool { return count(&s.closed, "key").Load() == 1 })
			})
		})
	}
}

func TestFollow_KeyEndsWhileOpening(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 1, Heartbeat: unhurried})
	if _, status := s.tryFollow("follow=production&key=k&recheck=revoked", ""); status != http.StatusUnauthorized {
		t.Errorf("a key that was revoked meanwhile got %d", status)
	}
	s.follow("&key=k", "").expect(0) // the place is free again
}

func TestFollow_SharesLimitWithSockets(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 3, AccountSockets: 2})
	s.open("")
	first := s.follow("", "")
	for name, refused := range map[string]func() int{
		"a stream": func() int { _, status := s.tryFollow("follow=production", ""); return status },
		"a socket": func() int { _, status := s.dial(""); return status },
	} {
		if status := refused(); status != http.StatusTooManyRequests {
			t.Errorf("%s past the limit got %d", name, status)
		}
	}
	_ = first.response.Body.Close()
	storetest.Wait(t, soon, "there is a place again", func() bool {
		_, status := s.tryFollow("follow=production", "")
		return status == http.StatusOK
	})
}

// TestFollow_EvaluateKeyLeavesHalf: whoever sees a web page has its key, and could keep the account's services from connecting.
func TestFollow_EvaluateKeyLeavesHalf(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 9, AccountSockets: 4})
	s.follow("&key=page&access=evaluate", "")
	s.follow("&key=page&access=evaluate", "")
	if _, status := s.tryFollow("follow=production&key=page&access=evaluate", ""); status != http.StatusTooManyRequests {
		t.Errorf("a third stream of an evaluate key got %d", status)
	}
	s.open("")
	s.open("")
}

func TestFollow_StoreFails(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Sockets: 1})
	s.mu.Lock()
	s.broken = errors.New("no database")
	s.mu.Unlock()
	if _, status := s.tryFollow("follow=production", ""); status != http.StatusBadRequest {
		t.Errorf("got %d", status)
	}
	s.mu.Lock()
	s.broken = nil
	s.mu.Unlock()
	s.follow("", "").expect(0)
}

func TestFollow_StopEndsStreams(t *testing.T) {
	t.Parallel()
	overEach(t, stream.Options{}, func(s *stage) {
		var open []*follower
		for range 20 {
			f := s.follow("", "")
			f.expect(0)
			open = append(open, f)
		}
		s.stop(10 * time.Second)
		for _, f := range open {
			f.ends()
		}
		if closed := count(&s.closed, "shutdown").Load(); closed != 20 {
			s.t.Errorf("%d ended because of the shutdown", closed)
		}
	})
}

// A stream whose peer has stopped reading is closed, and delays no other stream.
func TestFollow_StuckReader(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Heartbeat: time.Second, Join: time.Nanosecond}, startWithSmallBuffers)
	healthy := s.follow("", "")
	newest := make(chan string, 1)
	go func() {
		got := healthy.next()
		for strings.HasPrefix(got, "id: ") {
			select {
			case newest <- got:
			default: // one is still unread
			}
			got = healthy.next()
		}
		close(newest)
	}()
	s.ask("follow=production")
	storetest.Wait(t, 6*soon, "the stuck stream is closed", func() bool {
		for range 200 {
			s.commit(flagChange("f"))
			if _, open := <-newest; !open {
				t.Fatal("the healthy stream is closed")
			}
		}
		return count(&s.closed, "broken").Load()+count(&s.closed, "slow_reader").Load() == 1
	})
	_ = healthy.response.Body.Close()
	for range newest {
	}
}

func TestFollow_MaxAge(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{MaxAge: 200 * time.Millisecond, Heartbeat: unhurried})
	s.follow("", "").ends()
}

// A change while a stream is being opened is in its first event, or follows it.
func TestFollow_ChangesWhileOpening(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Join: 50 * time.Millisecond})
	s.during = func(context.Context) error {
		s.commit(flagChange("meanwhile"), flagChange("again"))
		return nil
	}
	s.follow("", "").expect(2)
	s.follow("", "2").expect(4)
	f := s.follow("", "")
	f.expect(6)
	s.commit(flagChange("later"))
	f.expect(7)
}

// Sockets of the same account receive every event, whatever event streams join.
func TestFollow_SocketsReceiveEveryEvent(t *testing.T) {
	t.Parallel()
	s := newStage(t, stream.Options{Join: 50 * time.Millisecond})
	p, _ := s.open("")
	f := s.follow("", "")
	f.expect(0)
	const many = 200
	for range many {
		s.commit(flagChange("f"))
	}
	for seq := range int64(many) {
		p.expect(event("flag_changed", "f", seq+1))
	}
	for got := ""; got != refetch(many); {
		if got = f.next(); !strings.HasPrefix(got, "id: ") {
			t.Fatalf("it ended with %q", got)
		}
	}
}
