package e2e

import (
	"database/sql"
	"fmt"
	"net/http"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// TestMeasure_Capacity logs the figures of docs/capacity.md: the processor time of a node, and of PostgreSQL, for each
// piece of work, the memory of a socket, and the bytes of stored jobs and runs. Processor time is not disturbed by other
// processes, so the figures of a busy machine are comparable. It fails only when a cost is absurd.
func TestMeasure_Capacity(t *testing.T) {
	for _, kind := range []string{"sqlite", "postgres"} {
		t.Run(kind, func(t *testing.T) {
			m := newMeter(t, kind)
			count := suite.Scale(300, 5000)
			flag := `{"data":{"type":"flag","id":"checkout","attributes":{"type":"BOOLEAN","default":false}}}`
			if _, err := post(http.DefaultClient, m.url+"/api/v1/flags", flag); err != nil {
				t.Fatal(err)
			}
			client := &http.Client{Transport: &http.Transport{}, Timeout: patience}
			defer client.CloseIdleConnections()
			send := func(want int, method, path, body string) {
				if status, text := ask(client, method, m.url+path, ownerKey, body); status != want {
					t.Errorf("%s %s got %d %s", method, path, status, text)
				}
			}
			m.measure(t, "evaluation", count, func(int) { send(200, http.MethodPost, "/ofrep/v1/evaluate/flags/checkout", `{}`) })
			m.measure(t, "read of a flag", count, func(int) { send(200, http.MethodGet, "/api/v1/flags/checkout", "") })
			m.measure(t, "write of a flag", count, func(int) { send(200, http.MethodPut, "/api/v1/flags/checkout", flag) })
			target := newSink(t)
			m.measure(t, "new job", count, func(i int) {
				send(201, http.MethodPost, "/api/v1/jobs", strings.Replace(newJob(fmt.Sprint("job-", i), "0 0 1 1 *", target.URL), `"name":"j"`, `"name":"a job","enabled":true`, 1))
			})
			m.measure(t, "run", count, func(i int) { send(200, http.MethodPost, fmt.Sprint("/api/v1/jobs/job-", i, "/actions/run"), "") })
			m.logSizes(t, count)
			m.logSockets(t, suite.Scale(200, 2000))
		})
	}
}

// meter measures a node and its database.
type meter struct {
	*node

	kind     string
	db       *sql.DB
	postgres *cluster // nil on SQLite
}

func newMeter(t *testing.T, kind string) *meter {
	t.Helper()
	m := &meter{kind: kind}
	database := storetest.Database{Kind: kind, Dir: t.TempDir()}
	if kind == "postgres" {
		m.postgres = newCluster(t)
		database = m.postgres.database(t)
	}
	m.node = start(t, database, "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8")
	m.db = database.Raw(t)
	return m
}

// measure logs the processor time of a piece of work, which is done count times.
func (m *meter) measure(t *testing.T, name string, count int, work func(i int)) {
	t.Helper()
	node, server := m.times(t)
	for i := range count {
		work(i)
	}
	if name == "run" {
		storetest.Wait(t, patience, "all runs have ended", func() bool {
			return number(t, m.db, `SELECT count(*) FROM runs WHERE status = 'SUCCEEDED'`) == count
		})
	}
	nodeAfter, serverAfter := m.times(t)
	each, other := (nodeAfter-node)/time.Duration(count), (serverAfter-server)/time.Duration(count)
	t.Logf("%s: %s of the node, %s of PostgreSQL", name, each.Round(time.Microsecond), other.Round(time.Microsecond))
	if each > 100*time.Millisecond {
		t.Errorf("the %s takes %s of processor time", name, each)
	}
}

// times returns the processor time of the node and of PostgreSQL until now.
func (m *meter) times(t *testing.T) (node, server time.Duration) {
	t.Helper()
	node = processorTime(t, m.command.Process.Pid)
	if m.postgres != nil {
		for _, process := range append(children(m.postgres.server.Process.Pid), m.postgres.server.Process.Pid) {
			server += processorTime(t, process)
		}
	}
	return node, server
}

// processorTime returns the processor time of a process, in its own code and in the kernel.
func processorTime(t *testing.T, process int) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", process))
	if err != nil {
		return 0 // it has ended
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	fields := strings.Fields(rest)
	own, err := strconv.Atoi(fields[11])
	if err != nil {
		t.Fatal(err)
	}
	kernel, err := strconv.Atoi(fields[12])
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 100 // a second, on Linux
	return time.Duration(own+kernel) * time.Second / ticks
}

// logSizes logs the bytes that jobs and runs take in the database, with their indexes.
func (m *meter) logSizes(t *testing.T, count int) {
	t.Helper()
	if m.kind == "postgres" {
		for _, table := range []string{"jobs", "run_history"} { // runs is a view of two tables, and has no size
			t.Logf("%s: %d bytes each, with indexes", table, number(t, m.db, fmt.Sprintf(`SELECT pg_total_relation_size('%s')`, table))/count)
		}
		return
	}
	pages := number(t, m.db, `SELECT page_count * page_size FROM pragma_page_count, pragma_page_size`)
	t.Logf("a job, its run and the change of each: %d bytes, with indexes", pages/count)
}

// logSockets logs the memory that event sockets take in the node.
func (m *meter) logSockets(t *testing.T, count int) {
	t.Helper()
	before, err := residentMemory(t, m.command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	for range count {
		socket, _, err := websocket.DefaultDialer.Dial("ws"+strings.TrimPrefix(m.url, "http")+"/api/ws/v1/events?api_key="+ownerKey, nil) //nolint:bodyclose // the socket owns it
		if err != nil {
			t.Fatal(err)
		}
		defer socket.Close()
	}
	after, err := residentMemory(t, m.command.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("socket: %.1f KiB of resident memory", float64(after-before)/float64(count)/1024)
}
