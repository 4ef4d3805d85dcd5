package e2e

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
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

// sink receives the requests of jobs. It counts the requests of every run.
type sink struct {
	*httptest.Server
	mu     sync.Mutex
	status int // of its answers
	seen   map[string]int
}

func newSink(t *testing.T) *sink {
	t.Helper()
	s := &sink{seen: map[string]int{}, status: http.StatusOK}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		defer s.mu.Unlock()
		w.WriteHeader(s.status)
		s.seen[r.Header.Get("X-Signalbox-Run")]++
	}))
	t.Cleanup(s.Close)
	return s
}

// answer sets the status of the answers.
func (s *sink) answer(status int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.status = status
}

func (s *sink) all() map[string]int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.seen)
}

func (s *sink) count(run string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen[run]
}

// acknowledged are the resources that servers have acknowledged.
type acknowledged struct {
	mu         sync.Mutex
	jobs, runs []string
}

func (a *acknowledged) note(list *[]string, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	*list = append(*list, id)
}

func (a *acknowledged) size() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.jobs) + len(a.runs)
}

// post sends a request with the OWNER key and returns the id of the created resource.
func post(client *http.Client, url, body string) (id string, err error) {
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		return "", err
	}
	request.Header.Set("Authorization", "Bearer "+ownerKey)
	response, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		return "", err
	}
	var made struct{ Data struct{ ID string } }
	if response.StatusCode >= http.StatusMultipleChoices {
		return "", fmt.Errorf("%s: %s", response.Status, text)
	}
	return made.Data.ID, json.Unmarshal(text, &made)
}

func newJob(key, schedule, url string) string {
	return fmt.Sprintf(`{"data":{"type":"job","id":%q,"attributes":{"name":"j","schedule":%q,"configuration":{"url":%q}}}}`, key, schedule, url)
}

// load creates jobs that run now, and requests runs of another job, until the server is gone.
func (a *acknowledged) load(base, target, prefix string) {
	client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
	defer client.CloseIdleConnections()
	for i := 0; ; i++ {
		id, err := post(client, base+"/api/v1/jobs", newJob(fmt.Sprint(prefix, "-", i), "now", target))
		if err != nil {
			return
		}
		a.note(&a.jobs, id)
		for range 3 {
			if id, err = post(client, base+"/api/v1/jobs/always/actions/run", ""); err != nil {
				return
			}
			a.note(&a.runs, id)
		}
	}
}

// freePort returns a port that is free now, because a restarted server keeps its address. It lies
// below the ports that the system hands out, or another test could get it while the server is dead.
func freePort(t *testing.T) string {
	t.Helper()
	for {
		listener, err := net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20_000+rand.IntN(12_000))) //nolint:noctx // closed at once
		if err == nil {
			defer listener.Close()
			return listener.Addr().String()
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			t.Fatal(err)
		}
	}
}

func TestKill_NoRunLostOrRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		const enough, writers = 60, 4
		kills := suite.Scale(3, 20)
		target, kept := newSink(t), &acknowledged{}
		settings := []string{"SIGNALBOX_LISTEN=" + freePort(t), "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8"}
		for round := range kills {
			n := start(t, database, settings...)
			if round == 0 {
				if _, err := post(http.DefaultClient, n.url+"/api/v1/jobs", newJob("always", "* * * * *", target.URL)); err != nil {
					t.Fatal(err)
				}
			}
			var loading sync.WaitGroup
			for i := range writers {
				loading.Go(func() { kept.load(n.url, target.URL, fmt.Sprintf("r%d-%d", round, i)) })
			}
			storetest.Wait(t, patience, "enough was acknowledged", func() bool { return kept.size() >= (round+1)*enough })
			if err := n.signal(syscall.SIGKILL); err == nil {
				t.Error("the server survived SIGKILL")
			}
			loading.Wait()
		}
		start(t, database, settings...).pause(t, target)
		kept.check(t, database.Raw(t), target)
	})
}

// pause disables the job that fires every minute: the checks would take a run that has just begun for a lost one.
func (n *node) pause(t *testing.T, target *sink) {
	t.Helper()
	n.disable(t, "always", target)
}

// disable disables a job that fires every minute.
func (n *node) disable(t *testing.T, job string, target *sink) {
	t.Helper()
	paused := strings.Replace(newJob(job, "* * * * *", target.URL), `"name":"j"`, `"name":"j","enabled":false`, 1)
	got, err := (&exchange{url: n.url, method: http.MethodPut, path: "/api/v1/jobs/" + job, key: ownerKey, body: paused}).send()
	if err != nil || got.status != http.StatusOK {
		t.Fatalf("got %s %s, %v", got.line, got.body, err)
	}
}

// number runs a query whose result is one number.
func number(t *testing.T, db *sql.DB, query string, args ...any) (count int) {
	t.Helper()
	if err := db.QueryRowContext(t.Context(), query, args...).Scan(&count); err != nil {
		t.Fatal(err)
	}
	return count
}

// check compares the database with the acknowledged and the sent runs.
func (a *acknowledged) check(t *testing.T, db *sql.DB, target *sink) {
	t.Helper()
	storetest.Wait(t, patience, "nothing waits or runs", func() bool {
		return number(t, db, `SELECT count(*) FROM runs WHERE status IN ('PENDING', 'RUNNING')`) == 0 &&
			number(t, db, `SELECT count(*) FROM jobs WHERE enabled AND next_run_at <= $1`, time.Now().UnixMicro()) == 0
	})
	for _, key := range a.jobs {
		if runs := number(t, db, `SELECT count(*) FROM runs WHERE job_key = $1 AND scheduled_for IS NOT NULL`, key); runs != 1 {
			t.Errorf("the job %s has %d runs", key, runs)
		}
	}
	for _, id := range a.runs {
		if number(t, db, `SELECT count(*) FROM runs WHERE id = $1`, id) != 1 {
			t.Errorf("the run %s is gone", id)
		}
	}
	if twice := number(t, db, `SELECT count(*) FROM (SELECT 1 FROM runs WHERE scheduled_for IS NOT NULL GROUP BY job_uid, scheduled_for HAVING count(*) > 1) AS t`); twice != 0 {
		t.Errorf("%d instants fired twice", twice)
	}
	for run, count := range target.all() {
		if count != 1 {
			t.Errorf("the run %s was sent %d times", run, count)
		}
	}
	a.compare(t, db, target)
}

// compare finds runs whose state differs from the requests that the sink has received.
func (a *acknowledged) compare(t *testing.T, db *sql.DB, target *sink) {
	t.Helper()
	rows, err := db.QueryContext(t.Context(), `SELECT id, status, COALESCE(failure_reason, ''), COALESCE(error, '') FROM runs`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	ends := map[string]int{}
	for rows.Next() {
		var id, status, reason, problem string
		if err := rows.Scan(&id, &status, &reason, &problem); err != nil {
			t.Fatal(err)
		}
		ends[strings.TrimSpace(status+" "+reason+" "+problem)]++
		if status == "SUCCEEDED" && target.count(id) != 1 || reason == "" && status != "SUCCEEDED" {
			t.Errorf("the run %s is %s %s, and was sent %d times", id, status, reason, target.count(id))
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d jobs and %d runs were acknowledged; runs ended as %v", len(a.jobs), len(a.runs), ends)
	for end := range ends {
		if end != "SUCCEEDED" && !strings.HasPrefix(end, "FAILED WORKER_LOST ") {
			t.Errorf("%d runs ended as %s", ends[end], end)
		}
	}
	if ends["SUCCEEDED"] == 0 {
		t.Error("no run succeeded")
	}
}
