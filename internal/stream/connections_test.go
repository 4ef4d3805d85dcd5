package stream_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// connected lists the open connections as texts.
func (n *testNode) connected(t testing.TB) (shown []string) {
	t.Helper()
	var page struct {
		Data []struct {
			Attributes struct {
				Service, Environment *string
				Client, Node         string
				ConnectedAt          time.Time `json:"connected_at"`
				Seq                  int64
			}
		}
	}
	if err := json.Unmarshal([]byte(n.call(t, http.MethodGet, "/api/v1/connections", "", http.StatusOK)), &page); err != nil {
		t.Fatal(err)
	}
	for _, each := range page.Data {
		said := each.Attributes
		text := said.Client + " " + strconv.FormatInt(said.Seq, 10)
		for _, member := range []*string{said.Service, said.Environment} {
			if member != nil {
				text += " " + *member
			}
		}
		if age := time.Since(said.ConnectedAt); age < 0 || age > soon || said.Node == "" {
			t.Errorf("got %+v", said)
		}
		shown = append(shown, text)
	}
	return shown
}

// TestConnections_OfAllNodes: every node lists the connections of all nodes until they close.
func TestConnections_OfAllNodes(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		n := newTestNode(t, database)
		nodes := []*testNode{n}
		if database.Kind == "postgres" {
			nodes = append(nodes, testNodeOf(t, database, anotherNode(t, database)))
		}
		said := n.openWith(t, url.Values{"api_key": {n.Key}, "service": {"checkout"}, "environment": {"production"}})
		silent := nodes[len(nodes)-1].open(t, "")
		begin := strconv.FormatInt(said.next().Seq, 10)
		for _, node := range nodes {
			storetest.Wait(t, soon, "both are listed", func() bool { return len(node.connected(t)) == 2 })
		}
		const client = "Go-http-client/1.1 "
		got := n.connected(t)
		if got[0] != client+begin && got[1] != client+begin {
			t.Errorf("got %q", got)
		}
		if want := client + begin + " checkout production"; got[0] != want && got[1] != want {
			t.Errorf("got %q, want %q", got, want)
		}
		_ = silent.Close()
		storetest.Wait(t, soon, "one is listed", func() bool { return len(n.connected(t)) == 1 })
		n.makeFlag(t, "made")
		storetest.Wait(t, soon, "the event is noted", func() bool { return n.connected(t)[0] != got[0] && n.connected(t)[0] != got[1] })
	})
}

// TestTopics_All: events of jobs, environments and keys go only to sockets that ask for all
// topics.
func TestTopics_All(t *testing.T) {
	t.Parallel()
	n := newTestNode(t, storetest.New(t, "sqlite"))
	since := n.head(t)
	all := n.openWith(t, url.Values{"api_key": {n.Key}, "topics": {"all"}})
	few := n.open(t, "")
	all.next()
	few.next()
	n.call(t, http.MethodPost, "/api/v1/environments", `{"data":{"id":"qa","attributes":{"name":"QA"}}}`, http.StatusCreated)
	key := n.makeKey(t, "").id
	n.call(t, http.MethodDelete, "/api/v1/api_keys/"+key, "", http.StatusNoContent)
	n.call(t, http.MethodDelete, "/api/v1/environments/qa", "", http.StatusNoContent)
	n.makeFlag(t, "made")
	end := n.head(t)
	want := []string{event("environment_changed", "qa", end-4), event("api_key_changed", key, end-3), event("api_key_changed", key, end-2),
		event("environment_deleted", "qa", end-1), event("flag_changed", "made", end)}
	all.expect(want...)
	few.expect(want[4])
	// Resuming sockets get the same, from the log and from the history.
	for range 2 {
		resumed := n.openWith(t, url.Values{"api_key": {n.Key}, "topics": {"all"}, "since": {strconv.FormatInt(since, 10)}})
		resumed.next()
		resumed.expect(want...)
		again := n.open(t, strconv.FormatInt(since, 10))
		again.next()
		again.expect(want[4])
		for _, each := range []*peer{all, few, resumed, again} {
			_ = each.Close()
		}
	}
}
