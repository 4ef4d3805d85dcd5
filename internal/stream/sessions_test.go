package stream_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// signIn opens a session with the owner's key, and returns its cookie and its id.
func (n *testNode) signIn(t *testing.T) (cookie, id string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, n.URL+"/api/v1/sessions", strings.NewReader(`{"api_key":"`+n.Key+`"}`))
	if err != nil {
		t.Fatal(err)
	}
	response, err := n.http.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	if len(response.Cookies()) != 1 {
		t.Fatalf("got %d without a session", response.StatusCode)
	}
	for _, session := range n.sessions(t) {
		id = max(id, session) // the newest session has the largest id
	}
	return response.Cookies()[0].String(), id
}

func (n *testNode) sessions(t *testing.T) (ids []string) {
	t.Helper()
	for _, part := range strings.Split(string(n.call(t, http.MethodGet, "/api/v1/sessions", "", http.StatusOK)), `{"id":"`)[1:] {
		id, _, _ := strings.Cut(part, `"`)
		ids = append(ids, id)
	}
	return ids
}

// listen opens a socket with a session, as a browser does on the console's own pages.
func (n *testNode) listen(t *testing.T, cookie string) *websocket.Conn {
	t.Helper()
	at, err := url.Parse(n.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.Scheme, at.Path = "ws", "/api/ws/v1/events"
	conn, response, err := websocket.DefaultDialer.DialContext(t.Context(), at.String(), http.Header{"Cookie": {cookie}, "Origin": {n.URL}})
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	t.Cleanup(func() { _ = conn.Close() })
	if _, text, err := conn.ReadMessage(); err != nil || !strings.Contains(string(text), "connected") {
		t.Fatalf("got %s, %v", text, err)
	}
	return conn
}

// TestSession_EndClosesSockets: the end of a session closes its sockets, also on another node.
func TestSession_EndClosesSockets(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		here := newTestNode(t, database)
		nodes := []*testNode{here}
		if database.URL != "" { // several nodes share PostgreSQL
			there := *here
			there.Node = anotherNode(t, database)
			nodes = append(nodes, &there)
		}
		cookie, id := here.signIn(t)
		kept, _ := here.signIn(t)
		var ended, open []*websocket.Conn
		for _, node := range nodes {
			ended, open = append(ended, node.listen(t, cookie)), append(open, node.listen(t, kept))
		}
		here.call(t, http.MethodDelete, "/api/v1/sessions/"+id, "", http.StatusNoContent)
		for _, conn := range ended {
			var err error
			for err == nil { // a heartbeat may come first
				_, _, err = conn.ReadMessage()
			}
			if !websocket.IsCloseError(err, websocket.ClosePolicyViolation) || !strings.Contains(err.Error(), "session has ended") {
				t.Errorf("got %v", err)
			}
		}
		if err := here.write(t.Context(), flagChange("f")); err != nil {
			t.Fatal(err)
		}
		for _, conn := range open {
			var text []byte
			var err error
			for err == nil && !strings.Contains(string(text), "flag_changed") {
				_, text, err = conn.ReadMessage()
			}
			if err != nil {
				t.Error(err)
			}
		}
	})
}
