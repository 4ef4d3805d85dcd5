package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// heartbeat is how often a node sends one.
const heartbeat = 2 * time.Second

// Many large reports by a key that may only read must delay neither small
// writes nor heartbeats, and must not cost a run. make soak checks the goals. The short form compares a write with the
// time of all reports, because without priorities a small write waits for all of them. It is not parallel: other tests
// would be measured as well.
func TestLoad_ReportsDelayNothing(t *testing.T) {
	for kind, goal := range map[string]time.Duration{"sqlite": 250 * time.Millisecond, "postgres": 100 * time.Millisecond} {
		t.Run(kind, func(t *testing.T) {
			database := storetest.New(t, kind)
			n := start(t, database, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8")
			db := database.Raw(t)
			release := n.holdRun(t, db)
			ctx, stop := context.WithCancel(t.Context())
			late := watchHeartbeats(ctx, t, db)
			began := time.Now()
			writes := n.writeWhile(t, n.report(t, suite.Scale(500, 3000)))
			loaded := time.Since(began)
			release()
			storetest.Wait(t, patience, "the run has succeeded", func() bool {
				return number(t, db, `SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'`) == 1
			})
			stop()
			latest, p99 := <-late, writes[len(writes)*99/100]
			t.Logf("%s of reports; %d small writes: p50 %s, p99 %s, max %s; a heartbeat was %s late", loaded, len(writes),
				writes[len(writes)/2], p99, writes[len(writes)-1], latest)
			if limit := suite.Scale(loaded/2, goal); p99 > limit {
				t.Errorf("the p99 of a small write is more than %s", limit)
			}
			if limit := suite.Scale(2*time.Second, time.Second); latest > limit {
				t.Errorf("a heartbeat was more than %s late", limit)
			}
		})
	}
}

// holdRun begins a run whose request is answered when release is called.
func (n *node) holdRun(t *testing.T, db *sql.DB) (release func()) {
	t.Helper()
	answered := make(chan struct{})
	release = sync.OnceFunc(func() { close(answered) })
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-answered }))
	t.Cleanup(target.Close)
	t.Cleanup(release)
	job := strings.Replace(newJob("held", "now", target.URL), `{"url"`, `{"timeout":900,"url"`, 1)
	if _, err := post(http.DefaultClient, n.url+"/api/v1/jobs", job); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, patience, "the run is in flight", func() bool {
		return number(t, db, `SELECT count(*) FROM runs WHERE status = 'RUNNING'`) == 1
	})
	return release
}

// watchHeartbeats returns, once ctx has ended, how late the latest heartbeat was.
func watchHeartbeats(ctx context.Context, t *testing.T, db *sql.DB) <-chan time.Duration {
	t.Helper()
	longest := make(chan time.Duration, 1)
	go func() {
		tick := time.NewTicker(interval)
		defer tick.Stop()
		last, since, late := 0, time.Now(), time.Duration(0)
		for ctx.Err() == nil {
			beat := last
			_ = db.QueryRowContext(ctx, `SELECT beat FROM worker_nodes`).Scan(&beat) // a query that fails is repeated
			late = max(late, time.Since(since)-heartbeat)
			if beat != last {
				last, since = beat, time.Now()
			}
			<-tick.C
		}
		longest <- late
	}()
	return longest
}

// report lets each of 60 services report a number of flags, with a key that may only read, and
// closes the channel when all were answered.
func (n *node) report(t *testing.T, flags int) <-chan struct{} {
	t.Helper()
	const services = 60
	key := n.viewerKey(t)
	var reporting sync.WaitGroup
	for service := range services {
		items := make([]string, flags)
		for i := range items {
			items[i] = fmt.Sprintf(`{"id":"flag-%d","type":"BOOLEAN","default":false,"service":"service-%d","environment":"production"}`, i, service)
		}
		body := `{"flags":[` + strings.Join(items, ",") + `]}`
		reporting.Go(func() {
			got, err := (&exchange{url: n.url, method: http.MethodPost, path: "/api/v1/flags/bulk", key: key, body: body}).send()
			if err != nil || got.status != http.StatusOK {
				t.Errorf("a report got %s %s, %v", got.line, got.body, err)
			}
		})
	}
	done := make(chan struct{})
	go func() {
		reporting.Wait()
		close(done)
	}()
	return done
}

func (n *node) viewerKey(t *testing.T) string {
	t.Helper()
	got, err := (&exchange{url: n.url, method: http.MethodPost, path: "/api/v1/api_keys", key: ownerKey,
		body: `{"data":{"type":"api_key","attributes":{"name":"services","role":"VIEWER"}}}`}).send()
	var made struct {
		Data struct{ Attributes struct{ Key string } }
	}
	if err == nil {
		err = json.Unmarshal([]byte(got.body), &made)
	}
	if err != nil || made.Data.Attributes.Key == "" {
		t.Fatalf("got %s, %v", got.body, err)
	}
	return made.Data.Attributes.Key
}

// writeWhile makes small writes, 50 a second, until done, and returns how long
// they took, sorted.
func (n *node) writeWhile(t *testing.T, done <-chan struct{}) (took []time.Duration) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	tick := time.NewTicker(interval)
	defer tick.Stop()
	for i := 0; ; i++ {
		began := time.Now()
		if _, err := post(client, n.url+"/api/v1/services", fmt.Sprintf(`{"data":{"type":"service","id":"small-%d","attributes":{}}}`, i)); err != nil {
			t.Fatal(err)
		}
		took = append(took, time.Since(began))
		select {
		case <-done:
			slices.Sort(took)
			return took
		case <-tick.C:
		}
	}
}
