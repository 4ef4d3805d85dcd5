package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// history records the answers and events that the clients of a schedule received.
type history struct {
	urls   []string
	small  string // the key of an account on the free plan
	target *sink
	kept   acknowledged
	pace   time.Duration // of the clients
	ended  chan struct{}
	all    sync.WaitGroup

	mu       sync.Mutex
	values   map[string]int // by flag: the last acknowledged value
	tried    map[string]int // by flag: the last value that was sent
	writes   int
	refusals int
	slots    int              // writes that the account on the free plan was allowed
	full     int              // and those that its plan refused
	heard    map[int64]string // by seq: the events that the socket received
	loaded   []gap            // changes without events, because the socket made the client load everything
	broken   []string         // broken promises
}

// gap is the part of an account's changes that comes after one number, up to another.
type gap struct{ after, to int64 }

// sequence parses the number of a change; the empty text is 0.
func sequence(text string) int64 {
	number, _ := strconv.ParseInt(text, 10, 64)
	return number
}

// newHistory starts the clients of a schedule.
func newHistory(t *testing.T, urls []string, small string, target *sink) *history {
	t.Helper()
	h := &history{urls: urls, small: small, target: target, pace: 5 * time.Millisecond, ended: make(chan struct{}),
		values: map[string]int{}, tried: map[string]int{}, heard: map[int64]string{}}
	revoked := h.revokedKey(t)
	for i := range 3 {
		h.all.Go(func() { h.runJobs(i) })
		h.all.Go(func() { h.writeFlags(i) })
		h.all.Go(h.useQuotas)
	}
	h.all.Go(h.listen)
	h.all.Go(h.watchQuotas)
	h.all.Go(func() { h.useRevoked(revoked) })
	return h
}

// stop ends the clients.
func (h *history) stop() {
	close(h.ended)
	h.all.Wait()
}

// each calls fn again and again until the end, with each node in turn.
func (h *history) each(interval time.Duration, fn func(client *http.Client, url string, i int)) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 5 * time.Second}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := 0; ; i++ {
		select {
		case <-h.ended:
			return
		case <-tick.C:
			fn(client, h.urls[i%len(h.urls)], i)
		}
	}
}

// runJobs creates jobs that run now, and requests runs of another job.
func (h *history) runJobs(writer int) {
	h.each(4*h.pace, func(client *http.Client, url string, i int) {
		if i%4 == 0 {
			if id, err := post(client, url+"/api/v1/jobs", newJob(fmt.Sprintf("now-%d-%d", writer, i), "now", h.target.URL)); err == nil {
				h.kept.note(&h.kept.jobs, id)
			}
			return
		}
		if id, err := post(client, url+"/api/v1/jobs/always/actions/run", ""); err == nil {
			h.kept.note(&h.kept.runs, id)
		}
	})
}

// writeFlags replaces the flag of this writer, with a higher number each time.
func (h *history) writeFlags(writer int) {
	key := fmt.Sprint("flag-", writer)
	h.each(3*h.pace, func(client *http.Client, url string, i int) {
		h.mu.Lock()
		h.tried[key] = i
		h.mu.Unlock()
		method, path := http.MethodPut, "/api/v1/flags/"+key
		if _, made := h.value(key); !made {
			method, path = http.MethodPost, "/api/v1/flags"
		}
		status, body := ask(client, method, url+path, ownerKey,
			fmt.Sprintf(`{"data":{"type":"flag","id":%q,"attributes":{"type":"NUMERIC","name":"n","default":%d}}}`, key, i))
		h.mu.Lock()
		defer h.mu.Unlock()
		switch {
		case status == http.StatusOK, status == http.StatusCreated:
			h.values[key], h.writes = i, h.writes+1
		case status == http.StatusConflict && method == http.MethodPost: // an attempt without an answer has created it
			h.values[key] = 0
		case status >= 400 && status != http.StatusServiceUnavailable:
			h.broken = append(h.broken, fmt.Sprintf("a write got %d %s", status, body))
		case status != 0:
			h.refusals++
		}
	})
}

func (h *history) value(key string) (int, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, made := h.values[key]
	return value, made
}

// revokedKey creates a key, uses it at every node and revokes it.
func (h *history) revokedKey(t *testing.T) string {
	t.Helper()
	n := &node{url: h.urls[0]}
	key := n.viewerKey(t)
	for _, url := range h.urls { // so that every node has the key in memory
		if status, body := ask(http.DefaultClient, http.MethodGet, url+"/api/v1/accounts/current", key, ""); status != http.StatusOK {
			t.Fatalf("got %d %s", status, body)
		}
	}
	var listed struct {
		Data []struct {
			ID         string
			Attributes struct{ Name string }
		}
	}
	got, err := (&exchange{url: n.url, method: http.MethodGet, path: "/api/v1/api_keys", key: ownerKey}).send()
	if err == nil {
		err = json.Unmarshal([]byte(got.body), &listed)
	}
	at := slices.IndexFunc(listed.Data, func(key struct {
		ID         string
		Attributes struct{ Name string }
	}) bool {
		return key.Attributes.Name == "services"
	})
	if err != nil || at < 0 {
		t.Fatalf("got %s, %v", got.body, err)
	}
	if _, err := post(http.DefaultClient, n.url+"/api/v1/api_keys/"+listed.Data[at].ID+"/actions/revoke", ""); err != nil {
		t.Fatal(err)
	}
	return key
}

// useRevoked tries the revoked key at every node.
func (h *history) useRevoked(key string) {
	h.each(10*h.pace, func(client *http.Client, url string, _ int) {
		if status, body := ask(client, http.MethodGet, url+"/api/v1/accounts/current", key, ""); status == http.StatusOK {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.broken = append(h.broken, "a revoked key was accepted: "+body)
		}
	})
}

// listen holds an event socket at one node after the other, and resumes where it was.
func (h *history) listen() {
	since := ""
	for i := 0; ; i++ {
		select {
		case <-h.ended:
			return
		default:
		}
		url := "ws" + strings.TrimPrefix(h.urls[i%len(h.urls)], "http") + "/api/ws/v1/events?topics=all&api_key=" + ownerKey
		if since != "" {
			url += "&since=" + since
		}
		dialer := websocket.Dialer{HandshakeTimeout: 5 * time.Second}
		socket, _, err := dialer.Dial(url, nil) //nolint:bodyclose // the socket owns it
		if err != nil {
			<-time.After(20 * time.Millisecond)
			continue
		}
		since = h.follow(socket, since)
		_ = socket.Close()
	}
}

// follow reads events until the socket ends, and returns the number of the last one.
func (h *history) follow(socket *websocket.Conn, since string) string {
	for {
		_ = socket.SetReadDeadline(time.Now().Add(3 * time.Second)) // so that the loop ends for a frozen node, and notices the end of the test
		var frame struct {
			Type, ID string
			Seq      json.Number
		}
		if err := socket.ReadJSON(&frame); err != nil {
			return since
		}
		seq, err := frame.Seq.Int64()
		if err != nil {
			continue // a heartbeat
		}
		h.mu.Lock()
		if frame.Type == "connected" {
			if frame.Seq.String() != since { // the client has to load everything up to seq
				h.loaded = append(h.loaded, gap{sequence(since), seq})
			}
		} else {
			h.heard[seq] = frame.ID
		}
		h.mu.Unlock()
		since = frame.Seq.String()
	}
}

// check compares the history with the database.
func (h *history) check(t *testing.T, db *sql.DB, upTo time.Time) figures {
	t.Helper()
	storetest.Wait(t, patience, "nothing waits or runs", func() bool {
		return number(t, db, `SELECT count(*) FROM runs WHERE status IN ('PENDING', 'RUNNING')`) == 0
	})
	h.kept.check(t, db, h.target)
	for key, value := range h.values {
		stored := number(t, db, `SELECT CAST(base AS integer) FROM flags WHERE key = $1`, key)
		if stored < value || stored > h.tried[key] {
			t.Errorf("the flag %s is %d; %d was acknowledged, and %d was sent last", key, stored, value, h.tried[key])
		}
	}
	h.checkEvents(t, db)
	h.checkQuotas(t, db)
	fired, coalesced := checkInstants(t, db, upTo)
	for _, each := range h.broken {
		t.Error(each)
	}
	return figures{Jobs: len(h.kept.jobs), Runs: len(h.kept.runs), Writes: h.writes, Events: len(h.heard), Instants: fired, Coalesced: coalesced,
		Slots: h.slots, Full: h.full, Refusals: h.refusals}
}

// checkEvents looks for changes of flags that the socket neither received nor was told to load. The last changes may be
// missing, because the socket may have ended before them.
func (h *history) checkEvents(t *testing.T, db *sql.DB) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT seq FROM changes WHERE kind = 'flag' ORDER BY seq`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	last := slices.Max(append(slices.Collect(maps.Keys(h.heard)), 0))
	for rows.Next() {
		var seq int64
		if err := rows.Scan(&seq); err != nil {
			t.Fatal(err)
		}
		_, heard := h.heard[seq]
		if !heard && seq <= last && !slices.ContainsFunc(h.loaded, func(g gap) bool { return seq > g.after && seq <= g.to }) {
			t.Errorf("the event of change %d was lost", seq)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}
