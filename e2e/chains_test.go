package e2e

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// chainLength is how many attempts each run has: its target refuses all of them.
const chainLength = 3

// TestKill_AttemptsAndDeliveries kills nodes at random while chains of attempts and deliveries are due, and makes
// PostgreSQL unreachable for a time. Every chain gets all its attempts and no more, no attempt is sent twice, every
// delivery arrives under one id, and each change of a job's health is sent once.
func TestKill_AttemptsAndDeliveries(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		c := &chaos{db: database.Raw(t), targets: newSink(t), told: newListener(t), jobs: suite.Scale(3, 20), hooks: suite.Scale(4, 48)}
		c.targets.answer(http.StatusServiceUnavailable)
		count := 1
		if database.Kind == "postgres" {
			count = 2
			database, c.network = database.ThroughProxy(t)
		}
		for i := range count {
			c.listen = append(c.listen, freePort(t))
			c.urls = append(c.urls, "http://"+c.listen[i])
			c.nodes = append(c.nodes, start(t, database, c.settings(i)...))
		}
		c.prepare(t)
		var writing sync.WaitGroup
		writing.Go(func() { c.queueRuns(t, suite.Scale(60, 5000)) })
		writing.Go(func() { c.createFlags(t, suite.Scale(50, 210)) })
		c.breakThings(t, database)
		writing.Wait()
		c.settle(t)
		c.recover(t)
		c.checkChains(t)
		c.checkDeliveries(t)
		c.checkHealth(t)
	})
}

// chaos is the state of the test.
type chaos struct {
	db      *sql.DB
	targets *sink
	told    *listener
	listen  []string // the addresses of the nodes, which stay the same
	urls    []string
	nodes   []*node
	network *storetest.Proxy // between all nodes and PostgreSQL
	jobs    int
	hooks   int // webhooks that receive changes of flags
	kept    acknowledged
}

// settings returns the settings of a node.
func (c *chaos) settings(i int) []string {
	return []string{"SIGNALBOX_LISTEN=" + c.listen[i], "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8", fmt.Sprint("SIGNALBOX_NODE=mortal-", i)}
}

// pause waits for a random time of up to most.
func pause(most time.Duration) { <-time.After(rand.N(most)) }

// post repeats a request until a node acknowledges it, and returns the id of the created resource. If an attempt whose
// answer was lost has created the resource already, the id is "".
func (c *chaos) post(t *testing.T, path, body string) string {
	t.Helper()
	client := &http.Client{Timeout: 10 * time.Second}
	for {
		id, err := post(client, c.urls[rand.IntN(len(c.urls))]+path, body)
		switch {
		case err == nil, strings.HasPrefix(err.Error(), "409 "):
			return id
		case strings.HasPrefix(err.Error(), "4"):
			t.Error(err)
			return ""
		}
		pause(100 * time.Millisecond)
	}
}

// prepare creates jobs with retries, and webhooks that receive failed runs, the health of jobs and changes of flags.
func (c *chaos) prepare(t *testing.T) {
	t.Helper()
	for i := range c.jobs {
		c.post(t, "/api/v1/jobs", fmt.Sprintf(`{"data":{"type":"job","id":"chained-%d","attributes":{"name":"j","schedule":"0 0 1 1 *",
			"retry":{"max_attempts":%d,"delay_seconds":1,"backoff":"fixed","on":["NON_SUCCESS_STATUS","WORKER_LOST"]},"configuration":{"url":%q}}}}`, i, chainLength, c.targets.URL))
	}
	subscribe := func(path, events string) {
		c.post(t, "/api/v1/webhooks", fmt.Sprintf(`{"data":{"type":"webhook","attributes":{"name":"w","url":%q,"events":[%q]}}}`, c.told.URL+path, events))
	}
	subscribe("/failures", "run.failed")
	subscribe("/health", "job.*")
	for i := range c.hooks {
		subscribe(fmt.Sprint("/flags/", i), "change.flag")
	}
}

// queueRuns requests runs of the jobs until count runs are acknowledged.
func (c *chaos) queueRuns(t *testing.T, count int) {
	t.Helper()
	const writers = 4
	var writing sync.WaitGroup
	for writer := range writers {
		writing.Go(func() {
			for i := writer; i < count; i += writers {
				c.kept.note(&c.kept.runs, c.post(t, fmt.Sprintf("/api/v1/jobs/chained-%d/actions/run", i%c.jobs), ""))
			}
		})
	}
	writing.Wait()
}

// createFlags creates flags. Every webhook for flags gets a message about each.
func (c *chaos) createFlags(t *testing.T, count int) {
	t.Helper()
	for i := range count {
		c.post(t, "/api/v1/flags", fmt.Sprintf(`{"data":{"type":"flag","id":"flag-%d","attributes":{"type":"BOOLEAN","default":false}}}`, i))
	}
}

const (
	openRuns       = `SELECT count(*) FROM runs WHERE status IN ('PENDING', 'RUNNING')`
	openDeliveries = `SELECT count(*) FROM webhook_deliveries WHERE status IN ('waiting', 'pending', 'sending')`
)

// breakThings kills random nodes, and makes PostgreSQL unreachable once.
func (c *chaos) breakThings(t *testing.T, database storetest.Database) {
	t.Helper()
	kills := suite.Scale(3, 20)
	for i := range kills {
		pause(suite.Scale(time.Second, 3*time.Second))
		t.Logf("%d runs and %d deliveries are due", number(t, c.db, openRuns), number(t, c.db, openDeliveries))
		if i == kills/3 && c.network != nil {
			c.network.Down()
			<-time.After(suite.Scale(time.Second, time.Minute))
			c.network.Up()
		}
		victim := rand.IntN(len(c.nodes))
		if err := c.nodes[victim].signal(syscall.SIGKILL); err == nil {
			t.Error("the server survived SIGKILL")
		}
		c.nodes[victim] = start(t, database, c.settings(victim)...)
	}
}

// settle waits until nothing is due.
func (c *chaos) settle(t *testing.T) {
	t.Helper()
	storetest.Wait(t, suite.Scale(patience, 10*patience), "no run and no delivery is due", func() bool {
		return number(t, c.db, openRuns) == 0 && number(t, c.db, openDeliveries) == 0
	})
}

// recover lets each job succeed once.
func (c *chaos) recover(t *testing.T) {
	t.Helper()
	c.targets.answer(http.StatusOK)
	for i := range c.jobs {
		c.post(t, fmt.Sprintf("/api/v1/jobs/chained-%d/actions/run", i), "")
	}
	c.settle(t)
}

// expect compares numbers in the database with what they must be.
func (c *chaos) expect(t *testing.T, queries map[string]int) {
	t.Helper()
	for query, want := range queries {
		if got := number(t, c.db, query); got != want {
			t.Errorf("%s: got %d, want %d", query, got, want)
		}
	}
}

// checkChains checks that every run that failed has all its attempts, once each.
func (c *chaos) checkChains(t *testing.T) {
	t.Helper()
	chains := number(t, c.db, `SELECT count(*) FROM runs WHERE attempt = 1`) - c.jobs // the last run of each job succeeded
	if chains < len(c.kept.runs) {
		t.Errorf("there are %d chains; %d were acknowledged", chains, len(c.kept.runs))
	}
	for _, id := range c.kept.runs {
		if number(t, c.db, `SELECT count(*) FROM runs WHERE id = $1`, id) != 1 {
			t.Errorf("the run %s is gone", id)
		}
	}
	c.expect(t, map[string]int{
		`SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'`:                                                                                c.jobs,
		`SELECT count(*) FROM runs WHERE attempt = 2`:                                                                                         chains,
		`SELECT count(*) FROM runs WHERE attempt = 3`:                                                                                         chains,
		`SELECT count(*) FROM runs WHERE attempt > 3`:                                                                                         0,
		`SELECT count(*) FROM (SELECT 1 FROM runs WHERE attempt > 1 GROUP BY rerun_of HAVING count(*) > 1) AS twice`:                          0,
		`SELECT count(*) FROM runs WHERE status <> 'SUCCEEDED' AND COALESCE(failure_reason, '') NOT IN ('NON_SUCCESS_STATUS', 'WORKER_LOST')`: 0,
	})
	for run, count := range c.targets.all() {
		if count != 1 {
			t.Errorf("the run %s was sent %d times", run, count)
		}
	}
	t.Logf("%d chains, %d requests, %d attempts lost with their node", chains, len(c.targets.all()), number(t, c.db, `SELECT count(*) FROM runs WHERE failure_reason = 'WORKER_LOST'`))
}

// checkDeliveries checks that each webhook received every event, each under one id.
func (c *chaos) checkDeliveries(t *testing.T) {
	t.Helper()
	failed, flags := number(t, c.db, `SELECT count(*) FROM runs WHERE status = 'FAILED'`), number(t, c.db, `SELECT count(*) FROM flags`)
	all := failed + 2*c.jobs + flags*c.hooks
	c.expect(t, map[string]int{
		`SELECT count(*) FROM webhook_deliveries`:                            all,
		`SELECT count(*) FROM webhook_deliveries WHERE status = 'delivered'`: all,
	})
	c.told.mu.Lock()
	defer c.told.mu.Unlock()
	repeated := 0
	for id, answers := range c.told.answers {
		if answers[len(answers)-1] != http.StatusOK || number(t, c.db, `SELECT count(*) FROM webhook_deliveries WHERE id = $1`, id) != 1 {
			t.Errorf("the delivery %s was answered with %v, or is unknown", id, answers)
		}
		if len(answers) > 1 {
			repeated++
		}
	}
	for event, ids := range c.told.ids {
		if len(ids) != 1 {
			t.Errorf("%s was told under %d ids", event, len(ids))
		}
	}
	if len(c.told.answers) != all || len(c.told.ids) != all {
		t.Errorf("%d ids of %d events were received, want %d", len(c.told.answers), len(c.told.ids), all)
	}
	t.Logf("%d deliveries, %d of them in several attempts", all, repeated)
}

// checkHealth checks that each job began to fail once and recovered once.
func (c *chaos) checkHealth(t *testing.T) {
	t.Helper()
	c.expect(t, map[string]int{
		`SELECT count(*) FROM changes WHERE kind = 'job_health' AND action = 'failing'`:            c.jobs,
		`SELECT count(*) FROM changes WHERE kind = 'job_health' AND action = 'recovered'`:          c.jobs,
		`SELECT count(*) FROM changes WHERE kind = 'job_health'`:                                   2 * c.jobs,
		`SELECT count(DISTINCT key) FROM changes WHERE kind = 'job_health' AND action = 'failing'`: c.jobs,
		`SELECT count(*) FROM webhook_deliveries WHERE type IN ('job.failing', 'job.recovered')`:   2 * c.jobs,
	})
}

// listener receives the messages of webhooks. For one in sixteen ids it refuses the first request.
type listener struct {
	*httptest.Server

	mu      sync.Mutex
	answers map[string][]int           // by webhook-id
	ids     map[string]map[string]bool // by webhook and event
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{answers: map[string][]int{}, ids: map[string]map[string]bool{}}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var told struct {
			Type string
			Data struct {
				Key, Run string
				Seq      int
			}
		}
		if err := json.NewDecoder(r.Body).Decode(&told); err != nil { // the node was killed
			return
		}
		w.WriteHeader(l.receive(r.Header.Get("Webhook-Id"), fmt.Sprint(r.URL.Path, told)))
	}))
	t.Cleanup(l.Close)
	return l
}

// receive records a request and returns the status of the answer.
func (l *listener) receive(id, event string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	status := http.StatusOK
	if len(l.answers[id]) == 0 && strings.HasSuffix(id, "0") {
		status = http.StatusInternalServerError
	}
	l.answers[id] = append(l.answers[id], status)
	if l.ids[event] == nil {
		l.ids[event] = map[string]bool{}
	}
	l.ids[event][id] = true
	return status
}
