package e2e

import (
	"fmt"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestFailover_SilentPrimary: the first host of a database URL freezes, and the second is promoted. The node writes
// again soon. One evaluation waits until the node takes the host for silent; those after it are answered from memory. The
// test is not parallel because it measures time.
func TestFailover_SilentPrimary(t *testing.T) {
	first := newCluster(t)
	second := first.newStandby(t)
	database := first.database(t).Before(t, second.database(t))
	n := start(t, database, "SIGNALBOX_DATA="+t.TempDir())
	flag := `{"data":{"type":"flag","id":"checkout","attributes":{"type":"BOOLEAN","default":false}}}`
	if _, err := post(http.DefaultClient, n.url+"/api/v1/flags", flag); err != nil {
		t.Fatal(err)
	}
	n.evaluate(t)
	storetest.Wait(t, patience, "the standby has the flag", func() bool {
		return execute("pgx", second.url(), "SELECT 1/count(*) FROM flags") == nil
	})
	first.signal(syscall.SIGSTOP)
	frozen := time.Now()
	evaluations := n.evaluateWhile(t, func() {
		if err := execute("pgx", second.url(), "SELECT pg_promote()"); err != nil {
			t.Error(err)
		}
		n.writeAgain(t)
	})
	took := time.Since(frozen)
	slices.Sort(evaluations)
	longest := evaluations[len(evaluations)-1]
	rest := evaluations[:max(1, len(evaluations)-1)] // without the one that waited until then
	p99 := rest[len(rest)*99/100]
	t.Logf("writes work again %s after the primary froze; the longest of %d evaluations took %s; the others: p50 %s, p99 %s", took,
		len(evaluations), longest, rest[len(rest)/2], p99)
	if limit := suite.Scale(20*time.Second, 10*time.Second); took > limit {
		t.Errorf("no write worked for more than %s", limit)
	}
	if limit := suite.Scale(10*time.Second, 5*time.Second); longest > limit {
		t.Errorf("an evaluation took longer than %s", limit)
	}
	if limit := suite.Scale(500*time.Millisecond, 50*time.Millisecond); p99 > limit {
		t.Errorf("the p99 of the other evaluations is above %s", limit)
	}
}

// writeAgain writes until a write is acknowledged.
func (n *node) writeAgain(t *testing.T) {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	attempt := 0
	storetest.Wait(t, patience, "a write works again", func() bool {
		attempt++
		_, err := post(client, n.url+"/api/v1/services", fmt.Sprintf(`{"data":{"type":"service","id":"service-%d","attributes":{"name":"s"}}}`, attempt))
		return err == nil
	})
}

func (n *node) evaluate(t *testing.T) time.Duration {
	t.Helper()
	began := time.Now()
	got, err := (&exchange{url: n.url, method: http.MethodPost, path: "/ofrep/v1/evaluate/flags/checkout", key: ownerKey,
		header: http.Header{"X-Signalbox-Environment": {"production"}}, body: `{}`}).send()
	if err != nil || got.status != http.StatusOK {
		t.Errorf("an evaluation got %s %s, %v", got.line, got.body, err)
	}
	return time.Since(began)
}

// evaluateWhile evaluates 50 times a second until fn has returned, and returns how long each took.
func (n *node) evaluateWhile(t *testing.T, fn func()) (took []time.Duration) {
	t.Helper()
	ended := make(chan struct{})
	var evaluating sync.WaitGroup
	evaluating.Go(func() {
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-ended:
				return
			case <-tick.C:
				took = append(took, n.evaluate(t))
			}
		}
	})
	fn()
	close(ended)
	evaluating.Wait()
	return took
}
