package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"sync"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// chainLength is how many attempts each run of the job has: its target refuses all of them.
const chainLength = 3

// TestKill_AttemptsNeitherLostNorRepeated kills a node while attempts run, wait and are due. Every chain gets all its
// attempts and no more, no attempt is sent twice, and each change of the job's health is one event.
func TestKill_AttemptsNeitherLostNorRepeated(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		kills, chains := suite.Scale(3, 20), suite.Scale(20, 250) // chains for each kill
		target := newSink(t)
		target.status = http.StatusServiceUnavailable
		settings := []string{"SIGNALBOX_LISTEN=" + freePort(t), "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8", "SIGNALBOX_NODE=mortal"}
		db := database.Raw(t)
		n := start(t, database, settings...)
		if database.Kind == "postgres" { // another node may take the attempts of one that is dead
			start(t, database, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8", "SIGNALBOX_NODE=survivor")
		}
		if _, err := post(http.DefaultClient, n.url+"/api/v1/jobs", fmt.Sprintf(`{"data":{"type":"job","id":"chained","attributes":{"name":"j","schedule":"0 0 1 1 *",
			"retry":{"max_attempts":%d,"delay_seconds":1,"backoff":"fixed","on":["NON_SUCCESS_STATUS","WORKER_LOST"]},"configuration":{"url":%q}}}}`, chainLength, target.URL)); err != nil {
			t.Fatal(err)
		}
		for round := range kills {
			n.queue(t, "chained", chains)
			storetest.Wait(t, patience, "an attempt follows", func() bool {
				return number(t, db, `SELECT count(*) FROM runs WHERE attempt > 1`) > round*chains*(chainLength-1)/2
			})
			if err := n.signal(syscall.SIGKILL); err == nil {
				t.Error("the server survived SIGKILL")
			}
			n = start(t, database, settings...)
		}
		checkChains(t, db, target, kills*chains)
	})
}

// queue makes runs of a job, all of which are acknowledged.
func (n *node) queue(t *testing.T, job string, runs int) {
	t.Helper()
	const writers = 4
	var writing sync.WaitGroup
	for i := range writers {
		writing.Go(func() {
			for range (runs + i) / writers {
				if _, err := post(http.DefaultClient, n.url+"/api/v1/jobs/"+job+"/actions/run", ""); err != nil {
					t.Error(err)
				}
			}
		})
	}
	writing.Wait()
}

// checkChains compares the attempts in the database with the due ones and the sent ones.
func checkChains(t *testing.T, db *sql.DB, target *sink, chains int) {
	t.Helper()
	storetest.Wait(t, patience, "nothing waits or runs", func() bool {
		return number(t, db, `SELECT count(*) FROM runs WHERE status IN ('PENDING', 'RUNNING')`) == 0
	})
	for attempt := 1; attempt <= chainLength+1; attempt++ {
		want := chains
		if attempt > chainLength {
			want = 0
		}
		if got := number(t, db, `SELECT count(*) FROM runs WHERE attempt = $1`, attempt); got != want {
			t.Errorf("there are %d attempts number %d, want %d", got, attempt, want)
		}
	}
	for problem, query := range map[string]string{
		"attempts were followed twice":             `SELECT count(*) FROM (SELECT 1 FROM runs WHERE attempt > 1 GROUP BY rerun_of HAVING count(*) > 1) AS t`,
		"runs ended neither refused nor lost":      `SELECT count(*) FROM runs WHERE failure_reason IS NULL OR failure_reason NOT IN ('NON_SUCCESS_STATUS', 'WORKER_LOST')`,
		"events told the health, in excess of one": `SELECT count(*) - 1 FROM changes WHERE kind = 'job_health'`,
	} {
		if got := number(t, db, query); got != 0 {
			t.Errorf("%d %s", got, problem)
		}
	}
	for run, count := range target.all() {
		if count != 1 {
			t.Errorf("the run %s was sent %d times", run, count)
		}
	}
	lost := number(t, db, `SELECT count(*) FROM runs WHERE failure_reason = 'WORKER_LOST'`)
	t.Logf("%d chains, %d requests, %d attempts lost with their node", chains, len(target.all()), lost)
}
