package app_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// send makes a request that must succeed, and returns the id and the attributes
// of the answer.
func send(t *testing.T, c *client, method, path, body string) (id string, attributes map[string]any) {
	t.Helper()
	status, text, err := c.call(t.Context(), method, path, body)
	if err != nil || status >= http.StatusMultipleChoices {
		t.Fatalf("%s %s: %d %s %v", method, path, status, text, err)
	}
	var document struct {
		Data struct {
			ID         string
			Attributes map[string]any
		}
	}
	if err := json.Unmarshal([]byte(text), &document); err != nil {
		t.Fatal(err)
	}
	return document.Data.ID, document.Data.Attributes
}

func newJob(key, schedule, url string) string {
	return fmt.Sprintf(`{"data":{"type":"job","id":%q,"attributes":{"name":"j","schedule":%q,"configuration":{"url":%q}}}}`, key, schedule, url)
}

// quickSink starts a server that answers at once.
func quickSink(t *testing.T) string {
	t.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok") }))
	t.Cleanup(server.Close)
	return server.URL
}

// metric reads a number from the metrics page, or -1 if it is missing.
func metric(t *testing.T, c *client, name string) float64 {
	t.Helper()
	page := c.get(t, "/metrics", http.StatusOK)
	found := regexp.MustCompile(`(?m)^` + regexp.QuoteMeta(name) + ` (\S+)$`).FindStringSubmatch(page)
	if found == nil {
		return -1
	}
	value, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func TestMetrics_CanceledRuns(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.RunsInFlight = 4 }) // so each host gets one at a time
	c := newClient(t, n.URL, n.Key)
	url, begun, _ := slowSink(t)
	send(t, c, http.MethodPost, "/api/v1/jobs", newJob("slow", "0 0 1 1 *", url))
	running, _ := send(t, c, http.MethodPost, "/api/v1/jobs/slow/actions/run", "")
	<-begun
	for range 3 {
		send(t, c, http.MethodPost, "/api/v1/jobs/slow/actions/run", "")
	}
	canceled := func() float64 { return metric(t, c, `signalbox_runs_total{reason="",status="CANCELED"}`) }
	if status, text, err := c.call(t.Context(), http.MethodDelete, "/api/v1/jobs/slow", ""); err != nil || status != http.StatusNoContent {
		t.Fatal(status, text, err)
	}
	if got := canceled(); got != 3 {
		t.Errorf("%v runs were canceled with their job, want 3", got)
	}
	send(t, c, http.MethodPost, "/api/v1/runs/"+running+"/actions/cancel", "")
	if got := canceled(); got != 4 {
		t.Errorf("%v runs were canceled, want 4", got)
	}
}

func TestMetrics_OfEngine(t *testing.T) {
	t.Parallel()
	began := time.Now()
	n := apptest.Start(t, storetest.New(t, "sqlite"))
	c := newClient(t, n.URL, n.Key)
	send(t, c, http.MethodPost, "/api/v1/jobs", newJob("fine", "now", quickSink(t)))
	send(t, c, http.MethodPost, "/api/v1/jobs", newJob("broken", "0 0 1 1 *", "http://127.0.0.1:1/"))
	for range 3 {
		send(t, c, http.MethodPost, "/api/v1/jobs/broken/actions/run", "")
	}
	for name, want := range map[string]float64{
		`signalbox_runs_total{reason="",status="SUCCEEDED"}`:              1,
		`signalbox_runs_total{reason="CONNECTION_ERROR",status="FAILED"}`: 3,
		`signalbox_schedule_lag_seconds_count`:                            1,
		`signalbox_run_queue_depth`:                                       0,
		`signalbox_runs_in_flight`:                                        0,
	} {
		storetest.Wait(t, soon, name+" is right", func() bool { return metric(t, c, name) == want })
	}
	if lag := metric(t, c, "signalbox_schedule_lag_seconds_sum"); lag < 0 || lag > soon.Seconds() {
		t.Errorf("the lag is %v", lag)
	}
	if tick := metric(t, c, "signalbox_scheduler_last_tick_timestamp_seconds"); tick < float64(began.Unix()) || tick > float64(time.Now().Unix()+1) {
		t.Errorf("the last tick was at %v", tick)
	}
}

// slowSink starts a server that holds every request until the client aborts it.
// It sends when each request began and when it was aborted.
func slowSink(t *testing.T) (url string, begun, aborted chan time.Time) {
	t.Helper()
	begun, aborted = make(chan time.Time, 1), make(chan time.Time, 1)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // otherwise the server does not notice that the client leaves
		begun <- time.Now()
		<-r.Context().Done()
		aborted <- time.Now()
	}))
	t.Cleanup(server.Close)
	return server.URL, begun, aborted
}

func TestCancel_AbortsRequestOnAnyNode(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		nodes := []*client{tellingNode(t, database, "this")}
		if database.Kind == "postgres" {
			nodes = append(nodes, tellingNode(t, database, "other"))
			listening(t, database, len(nodes))
		}
		url, begun, aborted := slowSink(t)
		send(t, nodes[0], http.MethodPost, "/api/v1/jobs", newJob("slow", "0 0 1 1 *", url))
		for _, from := range nodes {
			for _, by := range nodes {
				run, _ := send(t, from, http.MethodPost, "/api/v1/jobs/slow/actions/run", "")
				<-begun
				canceled := time.Now()
				_, attributes := send(t, by, http.MethodPost, "/api/v1/runs/"+run+"/actions/cancel", "")
				select {
				case at := <-aborted:
					t.Logf("aborted %s after the request to cancel it", at.Sub(canceled))
				case <-time.After(soon):
					t.Fatal("the request goes on")
				}
				if attributes["status"] != "CANCELED" {
					t.Errorf("it is %v", attributes["status"])
				}
				if _, attributes := send(t, nodes[0], http.MethodGet, "/api/v1/runs/"+run, ""); attributes["status"] != "CANCELED" {
					t.Errorf("it is %v later", attributes["status"])
				}
			}
		}
	})
}

// tellingNode runs a node that learns of a cancellation only by being told,
// because it does not poll.
func tellingNode(t *testing.T, database storetest.Database, name string) *client {
	t.Helper()
	s := apptest.Settings(database)
	s.Name = name
	instance, _, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	instance.WatchNothing()
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, instance) })
	return newClient(t, "http://"+instance.Address(), s.BootstrapKey)
}

// listening waits until the given number of nodes listen for cancellations.
func listening(t *testing.T, database storetest.Database, nodes int) {
	t.Helper()
	raw := database.Raw(t)
	storetest.Wait(t, soon, "the nodes listen", func() bool {
		var count int
		err := raw.QueryRowContext(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'LISTEN signalbox_runs'`).Scan(&count)
		return err == nil && count == nodes
	})
}

func TestStop_TellsWhyRunWasGivenUp(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	n := apptest.Start(t, database, func(s *settings.Settings) { s.ShutdownTimeout = 50 * time.Millisecond })
	c := newClient(t, n.URL, n.Key)
	url, begun, aborted := slowSink(t)
	send(t, c, http.MethodPost, "/api/v1/jobs", newJob("slow", "0 0 1 1 *", url))
	run, _ := send(t, c, http.MethodPost, "/api/v1/jobs/slow/actions/run", "")
	<-begun
	if err := n.App.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	<-aborted
	again := apptest.Start(t, database)
	_, attributes := send(t, newClient(t, again.URL, again.Key), http.MethodGet, "/api/v1/runs/"+run, "")
	if attributes["failure_reason"] != "WORKER_LOST" || !strings.Contains(fmt.Sprint(attributes["error"]), "shut down") {
		t.Errorf("the run is %v", attributes)
	}
}
