package stream_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestOpen_FirstFrame(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	first := n.open(t, "").next()
	want := fmt.Sprintf(`{"type":"connected","seq":%d,"server":%q}`, n.head(t), first.Server)
	if first.text != want || first.Server == "" {
		t.Errorf("got %s, want %s", first.text, want)
	}
}

func TestEvents_EveryKind(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	p := n.open(t, "")
	p.next()
	base := n.head(t)
	level := []byte(`{"name":"a","level":"DEBUG","environments":{}}`)
	n.record(t,
		changes.Change{Kind: "flag", Key: "f", Action: changes.Created},
		changes.Change{Kind: "flag", Key: "f", Action: changes.Deleted},
		changes.Change{Kind: "flag", Key: changes.AllKeys, Action: changes.Discovered},
		changes.Change{Kind: "config", Key: "c", Action: changes.Updated},
		changes.Change{Kind: "config", Key: "c", Action: changes.Deleted},
		changes.Change{Kind: "config", Key: changes.AllKeys, Action: changes.Cascaded},
		changes.Change{Kind: "logger", Key: "a.b", Action: changes.Updated, After: level},
		changes.Change{Kind: "logger", Key: "a.c", Action: changes.Expired, After: []byte(`{"level":null}`)},
		changes.Change{Kind: "logger", Key: "a.b", Action: changes.Deleted, Before: level},
		changes.Change{Kind: "logger", Key: "a.b", Action: changes.Cascaded, After: level},
		changes.Change{Kind: "environment", Key: "e", Action: changes.Updated},
		changes.Change{Kind: "logger", Key: changes.AllKeys, Action: changes.Cascaded},
		changes.Change{Kind: "log_group", Key: `<"ö">`, Action: changes.Updated},
		changes.Change{Kind: "log_group", Key: "g", Action: changes.Deleted},
	)
	p.expect(
		event("flag_changed", "f", base+1), event("flag_deleted", "f", base+2), bulk("flags_changed", base+3),
		event("config_changed", "c", base+4), event("config_deleted", "c", base+5), bulk("configs_changed", base+6),
		fmt.Sprintf(`{"event":"logger_changed","id":"a.b","level":"DEBUG","seq":%d}`, base+7),
		fmt.Sprintf(`{"event":"logger_changed","id":"a.c","level":null,"seq":%d}`, base+8),
		event("logger_deleted", "a.b", base+9), bulk("loggers_changed", base+12),
		fmt.Sprintf(`{"event":"group_changed","id":"<\"ö\">","seq":%d}`, base+13), event("group_deleted", "g", base+14),
	)
	// A socket that was away gets the same events from the history.
	again := n.open(t, strconv.FormatInt(base, 10))
	if got := again.next(); got.Seq != base {
		t.Errorf("it does not go on after %d: %s", base, got.text)
	}
	again.expect(event("flag_changed", "f", base+1), event("flag_deleted", "f", base+2), bulk("flags_changed", base+3),
		event("config_changed", "c", base+4), event("config_deleted", "c", base+5), bulk("configs_changed", base+6),
		fmt.Sprintf(`{"event":"logger_changed","id":"a.b","level":"DEBUG","seq":%d}`, base+7))
}

func TestEvents_ChangeIsReadable(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := newTestNode(t, database)
		p := n.open(t, "")
		p.next()
		var making sync.WaitGroup
		defer making.Wait() // the event may arrive before the response
		making.Go(func() {
			for i := range 20 {
				n.makeFlag(t, fmt.Sprint("f-", i))
			}
		})
		for i := range 20 {
			id := fmt.Sprint("f-", i)
			if got := p.next(); got.Event != "flag_changed" || got.ID != id {
				t.Fatalf("got %s, want %s", got.text, id)
			}
			n.call(t, http.MethodGet, "/api/v1/flags/"+id, "", http.StatusOK)
		}
	})
}

func TestEvents_OneForReport(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	p := n.open(t, "")
	p.next()
	report := `{"flags":[{"id":"a","type":"BOOLEAN","default":true},{"id":"b","type":"BOOLEAN","default":true}]}`
	n.call(t, http.MethodPost, "/api/v1/flags/bulk", report, http.StatusOK)
	p.expect(bulk("flags_changed", n.head(t)))
	n.call(t, http.MethodPost, "/api/v1/flags/bulk", report, http.StatusOK) // refreshes sources only
	n.makeFlag(t, "c")
	p.expect(event("flag_changed", "c", n.head(t)))
}

func TestEvents_OwnAccountOnly(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	node := *n.Node
	node.Key = n.Account(t, "Stranger", "pro")
	stranger := *n
	stranger.Node = &node
	stranger.account = stranger.call(t, http.MethodGet, "/api/v1/accounts/current", "", http.StatusOK).id(t)
	mine, theirs := n.open(t, ""), stranger.open(t, "")
	mine.next()
	theirs.next()
	stranger.makeFlag(t, "theirs")
	n.makeFlag(t, "mine")
	mine.expect(event("flag_changed", "mine", n.head(t)))
	theirs.expect(event("flag_changed", "theirs", stranger.head(t)))
}

func TestOpen_KeyInQueryOrHeader(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	for name, each := range map[string]struct {
		query  url.Values
		header http.Header
		status int
	}{
		"in the query":      {url.Values{"api_key": {n.Key}}, nil, http.StatusSwitchingProtocols},
		"in the header":     {nil, http.Header{"Authorization": {"Bearer " + n.Key}}, http.StatusSwitchingProtocols},
		"with an origin":    {url.Values{"api_key": {n.Key}}, http.Header{"Origin": {"https://elsewhere.example"}}, http.StatusSwitchingProtocols},
		"to another host":   {url.Values{"api_key": {n.Key}}, http.Header{"Host": {"flags.localhost"}}, http.StatusSwitchingProtocols},
		"nowhere":           {nil, nil, http.StatusUnauthorized},
		"empty":             {url.Values{"api_key": {""}}, nil, http.StatusUnauthorized},
		"of nobody":         {url.Values{"api_key": {"sk_api_nobody"}}, nil, http.StatusUnauthorized},
		"of nobody, header": {nil, http.Header{"Authorization": {"Bearer sk_api_nobody"}}, http.StatusUnauthorized},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), n.target(each.query), each.header)
			if response == nil || response.StatusCode != each.status {
				t.Fatalf("got %v, %v", response, err)
			}
			defer response.Body.Close()
			if response.Header.Get("X-Request-Id") == "" {
				t.Error("it has no request id")
			}
			if conn == nil {
				if response.Header.Get("Content-Type") != "application/vnd.api+json" {
					t.Errorf("it is refused as %s", response.Header.Get("Content-Type"))
				}
				return
			}
			defer conn.Close()
			if got := (&peer{Conn: conn, t: t}).next(); got.Type != "connected" {
				t.Errorf("got %s", got.text)
			}
		})
	}
}

func TestOpen_NoHandshake(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	status, text := n.send(t, http.MethodGet, "/api/ws/v1/events", "")
	if status != http.StatusBadRequest {
		t.Errorf("got %d: %s", status, text)
	}
}

func TestSocket_AnswersPing(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	p := n.open(t, "")
	p.next()
	answered := make(chan string, 1)
	p.SetPongHandler(func(payload string) error {
		answered <- payload
		return nil
	})
	if err := p.WriteControl(websocket.PingMessage, []byte("are you there"), time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = p.read(soon) }()
	select {
	case got := <-answered:
		if got != "are you there" {
			t.Errorf("got %q", got)
		}
	case <-time.After(soon):
		t.Error("no answer")
	}
	_ = p.Close()
}
