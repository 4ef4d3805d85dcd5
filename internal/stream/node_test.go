package stream_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

const (
	// soon is how long an immediate event may take on a busy machine.
	soon = 20 * time.Second
	// unhurried is a long heartbeat interval. Sockets are still checked ten times a second, but
	// no peer seems silent on a busy machine.
	unhurried = 6 * time.Second
)

// atBest checks that the fastest of five attempts takes at most the given time. A busy machine
// may slow some attempts, but not all.
func atBest(t *testing.T, most time.Duration, attempt func() time.Duration) {
	t.Helper()
	quickest := attempt()
	for range 4 {
		if quickest <= most {
			return
		}
		quickest = min(quickest, attempt())
	}
	if quickest > most {
		t.Errorf("the quickest of five attempts took %s", quickest)
	}
}

// message is any frame of the server.
type message struct {
	Type   string  `json:"type"`
	Event  string  `json:"event"`
	ID     string  `json:"id"`
	Level  *string `json:"level"`
	Seq    int64   `json:"seq"`
	Server string  `json:"server"`
	text   string
}

// testNode is a node with its first account, and a second connection to its database.
type testNode struct {
	*apptest.Node
	database storetest.Database
	db       *store.DB
	account  string
	http     *http.Client
}

func newTestNode(t testing.TB, database storetest.Database, change ...func(*settings.Settings)) *testNode {
	t.Helper()
	return testNodeOf(t, database, apptest.Start(t, database, change...))
}

func testNodeOf(t testing.TB, database storetest.Database, node *apptest.Node) *testNode {
	t.Helper()
	n := &testNode{Node: node, database: database, db: database.Open(t), http: &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}}
	t.Cleanup(n.http.CloseIdleConnections)
	n.account = n.call(t, http.MethodGet, "/api/v1/accounts/current", "", http.StatusOK).id(t)
	return n
}

// answer is the body of a response.
type answer string

func (a answer) id(t testing.TB) string {
	t.Helper()
	return a.read(t).Data.ID
}

type document struct {
	Data struct {
		ID         string
		Attributes map[string]any
	}
}

func (a answer) read(t testing.TB) document {
	t.Helper()
	var found document
	if err := json.Unmarshal([]byte(a), &found); err != nil {
		t.Fatal(err)
	}
	return found
}

// call makes a request with the owner's key.
func (n *testNode) call(t testing.TB, method, path, body string, want int) answer {
	t.Helper()
	status, text := n.send(t, method, path, body)
	if status != want {
		t.Fatalf("%s %s got %d: %s", method, path, status, text)
	}
	return answer(text)
}

func (n *testNode) send(t testing.TB, method, path, body string) (int, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, n.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+n.Key)
	response, err := n.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

// awaitReady waits until the node accepts requests.
func (n *testNode) awaitReady(t testing.TB) {
	t.Helper()
	storetest.Wait(t, soon, "the node is ready", func() bool {
		status, _ := n.send(t, http.MethodGet, "/api/readiness", "")
		return status == http.StatusOK
	})
}

// makeFlag creates a flag through the API.
func (n *testNode) makeFlag(t testing.TB, id string) {
	t.Helper()
	n.call(t, http.MethodPost, "/api/v1/flags", fmt.Sprintf(`{"data":{"id":%q,"type":"flag","attributes":{"type":"BOOLEAN","default":false}}}`, id), http.StatusCreated)
}

// record writes changes of any kind in one transaction, as the products do.
func (n *testNode) record(t testing.TB, several ...changes.Change) {
	t.Helper()
	if err := n.write(t.Context(), several...); err != nil {
		t.Fatal(err)
	}
}

func (n *testNode) write(ctx context.Context, several ...changes.Change) error {
	return n.db.Write(ctx, n.account, func(ctx context.Context, tx *store.Tx) error {
		for _, change := range several {
			if err := tx.RecordChanges(ctx, n.account, change); err != nil {
				return err
			}
		}
		return nil
	})
}

// head returns the account's last sequence number.
func (n *testNode) head(t testing.TB) int64 {
	t.Helper()
	heads, err := n.db.Heads(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return heads[n.account]
}

// madeKey is an API key.
type madeKey struct{ id, secret string }

func (n *testNode) makeKey(t testing.TB, more string) madeKey {
	t.Helper()
	made := n.call(t, http.MethodPost, "/api/v1/api_keys", `{"data":{"type":"api_key","attributes":{"name":"k"`+more+`}}}`, http.StatusCreated).read(t)
	return madeKey{id: made.Data.ID, secret: made.Data.Attributes["key"].(string)}
}

// peer is an open socket.
type peer struct {
	*websocket.Conn
	t testing.TB
}

// target returns the URL of the event socket.
func (n *testNode) target(query url.Values) string {
	return "ws" + strings.TrimPrefix(n.URL, "http") + "/api/ws/v1/events?" + query.Encode()
}

// open opens a socket until the end of the test. since may be empty.
func (n *testNode) open(t testing.TB, since string) *peer {
	t.Helper()
	query := url.Values{"api_key": {n.Key}}
	if since != "" {
		query.Set("since", since)
	}
	return n.openWith(t, query)
}

func (n *testNode) openWith(t testing.TB, query url.Values) *peer {
	t.Helper()
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), n.target(query), nil)
	if err != nil {
		t.Fatalf("opening a socket: %v (%v)", err, response)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	return &peer{Conn: conn, t: t}
}

// next returns the next frame that is not a heartbeat.
func (p *peer) next() message {
	p.t.Helper()
	got, err := p.read(soon)
	if err != nil {
		p.t.Fatalf("reading a frame: %v", err)
	}
	return got
}

func (p *peer) read(within time.Duration) (message, error) {
	if err := p.SetReadDeadline(time.Now().Add(within)); err != nil {
		return message{}, err
	}
	for {
		kind, text, err := p.ReadMessage()
		switch {
		case err != nil:
			return message{}, err
		case kind != websocket.TextMessage:
			return message{}, fmt.Errorf("a frame of kind %d", kind)
		case string(text) == "ping":
			continue
		}
		got := message{text: string(text)}
		return got, json.Unmarshal(text, &got)
	}
}

// expect compares the next frames with texts.
func (p *peer) expect(texts ...string) {
	p.t.Helper()
	for _, want := range texts {
		if got := p.next(); got.text != want {
			p.t.Errorf("got %s, want %s", got.text, want)
		}
	}
}

// ends checks that the socket is closed with a code, possibly after further events.
func (p *peer) ends(code int, within time.Duration) {
	p.t.Helper()
	for {
		_, err := p.read(within)
		if err == nil {
			continue
		}
		if closed, is := errors.AsType[*websocket.CloseError](err); !is || closed.Code != code {
			p.t.Errorf("it ended with %v, want %d", err, code)
		}
		return
	}
}

// event returns the text of an event about one resource.
func event(name, id string, seq int64) string {
	return fmt.Sprintf(`{"event":%q,"id":%q,"seq":%d}`, name, id, seq)
}

// bulk returns the text of an event without an id.
func bulk(name string, seq int64) string { return fmt.Sprintf(`{"event":%q,"seq":%d}`, name, seq) }

// everything returns the events that make a client load everything again.
func everything(seq int64) []string {
	return []string{bulk("flags_changed", seq), bulk("configs_changed", seq), bulk("loggers_changed", seq)}
}

// anotherNode starts a second node on the same database.
func anotherNode(t testing.TB, database storetest.Database, change ...func(*settings.Settings)) *apptest.Node {
	t.Helper()
	return apptest.Start(t, database, append([]func(*settings.Settings){func(s *settings.Settings) { s.Name = "other" }}, change...)...)
}
