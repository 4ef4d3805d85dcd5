package stream_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

const flagNames = 30

// replica is a client that keeps a copy of the account's flags. It follows events, and loads
// everything when it must.
type replica struct {
	*testNode
	t      *testing.T
	flags  map[string]any
	since  int64 // -1 means not to resume
	events []string
	resync int
}

// writeFlags changes flags without a pause until the context ends.
func (n *testNode) writeFlags(ctx context.Context, t *testing.T) {
	for i := 0; ctx.Err() == nil; i++ {
		id := fmt.Sprint("f-", rand.IntN(flagNames))
		body := fmt.Sprintf(`{"data":{"id":%q,"type":"flag","attributes":{"type":"NUMERIC","default":%d}}}`, id, i)
		switch rand.IntN(4) {
		case 0:
			n.send(t, http.MethodDelete, "/api/v1/flags/"+id, "")
		case 1:
			n.send(t, http.MethodPost, "/api/v1/flags", body)
		default:
			n.send(t, http.MethodPut, "/api/v1/flags/"+id, body)
		}
	}
}

// load reads all flags.
func (r *replica) load() map[string]any {
	var list struct {
		Data []struct {
			ID         string
			Attributes map[string]any
		}
	}
	if err := json.Unmarshal([]byte(r.call(r.t, http.MethodGet, "/api/v1/flags", "", http.StatusOK)), &list); err != nil {
		r.t.Fatal(err)
	}
	flags := map[string]any{}
	for _, each := range list.Data {
		flags[each.ID] = each.Attributes["default"]
	}
	return flags
}

// apply applies a frame to the copy, and then remembers its sequence number.
func (r *replica) apply(got message) {
	switch got.Event {
	case "flag_changed":
		status, text := r.send(r.t, http.MethodGet, "/api/v1/flags/"+got.ID, "")
		delete(r.flags, got.ID)
		if status == http.StatusOK {
			r.flags[got.ID] = answer(text).read(r.t).Data.Attributes["default"]
		}
	case "flag_deleted":
		delete(r.flags, got.ID)
	case "flags_changed":
		r.flags = r.load()
	}
	if got.Event != "" {
		r.events = append(r.events, got.text)
	}
	if r.since >= 0 {
		r.since = max(r.since, got.Seq)
	}
}

// connect opens a socket that the test cuts at a random time.
func (r *replica) connect(cutAfter time.Duration) {
	query := url.Values{"api_key": {r.Key}}
	if r.since >= 0 {
		query.Set("since", strconv.FormatInt(r.since, 10))
	}
	conn, response, err := websocket.DefaultDialer.DialContext(r.t.Context(), r.target(query), nil)
	if err != nil {
		r.t.Fatal(err)
	}
	_ = response.Body.Close()
	cut := time.AfterFunc(cutAfter, func() { _ = conn.NetConn().Close() })
	defer cut.Stop()
	defer conn.Close()
	p := &peer{Conn: conn, t: r.t}
	for first := true; ; first = false {
		got, err := p.read(soon)
		if err != nil {
			return
		}
		if first && (got.Type != "connected" || r.since >= 0 && got.Seq != r.since) {
			r.resync++
		}
		r.apply(got)
	}
}

// finish follows the stream until it has received the last change.
func (r *replica) finish() {
	r.makeFlag(r.t, "last")
	var p *peer
	if r.since >= 0 {
		p = r.open(r.t, strconv.FormatInt(r.since, 10))
	} else {
		p = r.open(r.t, "")
	}
	p.next()
	for last := r.head(r.t); ; {
		got := p.next()
		r.apply(got)
		if got.Seq == last {
			return
		}
	}
}

// endure cuts a replica's connections while flags are written.
func (r *replica) endure() {
	writing, enough := context.WithCancel(r.t.Context())
	var writers sync.WaitGroup
	for range 2 {
		writers.Go(func() { r.writeFlags(writing, r.t) })
	}
	for range suite.Scale(20, 200) {
		r.connect(time.Duration(rand.Int64N(int64(30 * time.Millisecond))))
	}
	enough()
	writers.Wait()
	r.finish()
	if diff := cmp.Diff(r.load(), r.flags); diff != "" {
		r.t.Errorf("the copy differs from the server (-server +copy):\n%s", diff)
	}
}

func TestResume_KilledClientMissesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		r := &replica{testNode: newTestNode(t, database), t: t, flags: map[string]any{}}
		begin := r.head(t)
		r.since = begin
		r.endure()
		if r.resync > 0 {
			t.Errorf("%d times it could not resume", r.resync)
		}
		var want []string
		for seq := begin; seq < r.head(t); {
			portion, err := r.db.EventsAfter(t.Context(), r.account, seq, 1000)
			if err != nil {
				t.Fatal(err)
			}
			for _, change := range portion {
				if seq = change.Seq; change.Event() != "" {
					want = append(want, event(change.Event(), change.Key, change.Seq))
				}
			}
		}
		if diff := cmp.Diff(want, r.events); diff != "" {
			t.Errorf("the events of all connections are not the history's, each once and in order (-want +got):\n%.2000s", diff)
		}
		t.Logf("%d events", len(want))
	})
}

func TestResume_WithoutSinceConverges(t *testing.T) {
	t.Parallel()
	r := &replica{testNode: newTestNode(t, storetest.New(t, "sqlite")), t: t, flags: map[string]any{}, since: -1}
	r.endure()
}
