package e2e

import (
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// Environment variables: the seed of the first schedule, to repeat one that failed, and how many schedules there are.
const (
	seedVariable  = "SIGNALBOX_FAULT_SEED"
	countVariable = "SIGNALBOX_FAULT_SCHEDULES"
)

// TestFaults_RandomSchedules runs random schedules of faults against nodes under load, and compares the answers that
// clients got with the database and with the requests that the targets of jobs received. The seed alone decides a
// schedule.
func TestFaults_RandomSchedules(t *testing.T) {
	t.Parallel()
	first := fromEnvironment(t, seedVariable, rand.Uint64N(1<<32)) //nolint:gosec // a schedule needs no secrecy
	var total figures
	for i := range fromEnvironment(t, countVariable, suite.Scale(uint64(1), 100)) {
		t.Run(fmt.Sprint("seed ", first+i), func(t *testing.T) {
			t.Logf("%s=%d repeats this schedule", seedVariable, first+i)
			total.add(drawSchedule(t, first+i).run(t))
		})
	}
	t.Logf("seeds %d and following: %+v", first, total)
}

// fromEnvironment returns a variable's number, or another one.
func fromEnvironment(t *testing.T, variable string, otherwise uint64) uint64 {
	t.Helper()
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	number, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	return number
}

// figures is what schedules have checked.
type figures struct{ Schedules, Faults, Jobs, Runs, Writes, Events, Instants, Coalesced, Slots, Full, Refusals int }

func (f *figures) add(other figures) {
	f.Schedules += other.Schedules
	f.Faults += other.Faults
	f.Jobs += other.Jobs
	f.Runs += other.Runs
	f.Writes += other.Writes
	f.Events += other.Events
	f.Instants += other.Instants
	f.Coalesced += other.Coalesced
	f.Slots += other.Slots
	f.Full += other.Full
	f.Refusals += other.Refusals
}

// The databases of schedules.
const (
	onPostgres  = "PostgreSQL"
	withPooler  = "PgBouncer in transaction mode"
	withStandby = "PostgreSQL with a standby"
	onSQLite    = "SQLite"
)

// schedule is the state of one schedule.
type schedule struct {
	random            *rand.Rand
	kind              string
	faults            []fault
	program           string   // that nodes run
	settings          []string // of every node
	database          storetest.Database
	postgres, standby *cluster
	disk              *disk
	nodes             []*faultyNode
	over              chan struct{} // closed when all faults have happened
	holding           sync.WaitGroup
}

// faultyNode is a node with its own proxy to the database.
type faultyNode struct {
	*node

	program  string
	database storetest.Database
	network  *storetest.Proxy // nil on SQLite
	settings []string
}

func (s *schedule) any() *faultyNode { return s.nodes[s.random.IntN(len(s.nodes))] }

// pause waits for a random time of up to most, which is how long a fault lasts.
func (s *schedule) pause(most time.Duration) {
	<-time.After(most/10 + time.Duration(s.random.Int64N(int64(most))))
}

// open opens the database beside the nodes.
func (s *schedule) open(t *testing.T) *sql.DB {
	t.Helper()
	switch s.kind {
	case onSQLite:
		return s.database.Raw(t)
	default:
		return s.postgres.open(t)
	}
}

// replace ends the process of a node by a signal and starts it again, like a supervisor: a node that has kept no state yet ends
// when it cannot reach its database.
func (n *faultyNode) replace(t *testing.T, signal syscall.Signal) {
	t.Helper()
	_ = n.signal(signal) // a killed process ends with an error
	storetest.Wait(t, patience, "a node starts", func() bool {
		next, err := startProgram(n.program, n.database.Dir, serverSettings(n.database, n.settings...), nil)
		if errors.Is(err, errRefused) && strings.Contains(next.stderr.String(), "connecting to PostgreSQL") {
			return false
		}
		if n.node = endWithTest(t, next); err != nil {
			t.Fatalf("%v\n%s", err, next.stderr.String())
		}
		return true
	})
}

// drawSchedule decides by the seed on which database a schedule runs, and which faults happen.
func drawSchedule(t *testing.T, seed uint64) *schedule {
	t.Helper()
	s := newSchedule(seed)
	s.kind = []string{onPostgres, onPostgres, withPooler, withPooler, withStandby, onSQLite}[s.random.IntN(6)]
	s.draw(s.possible(t))
	if s.kind == withStandby {
		s.faults[len(s.faults)-1] = fault{"fail over to the standby", func(t *testing.T, s *schedule) { s.failOver(t) }}
	}
	return s
}

func newSchedule(seed uint64) *schedule {
	return &schedule{random: rand.New(rand.NewPCG(seed, 0)), over: make(chan struct{})} //nolint:gosec // a schedule needs no secrecy
}

// draw draws the faults of the schedule.
func (s *schedule) draw(possible []fault) {
	for range suite.Scale(4, 8) {
		s.faults = append(s.faults, possible[s.random.IntN(len(possible))])
	}
}

// has reports whether a fault will happen.
func (s *schedule) has(name string) bool {
	for _, each := range s.faults {
		if each.name == name {
			return true
		}
	}
	return false
}

// start starts the database, and two or three nodes that reach PostgreSQL through a proxy each.
func (s *schedule) start(t *testing.T) {
	t.Helper()
	s.program, s.settings = binary, []string{"SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8"}
	if s.has(moveClock) {
		s.program = clockProgram(t)
		s.settings = append(s.settings, "MOVED_CLOCK="+[]string{"9600h", "-9600h", "1h", "-1h"}[s.random.IntN(4)])
	}
	count := 1
	switch s.kind {
	case onSQLite:
		s.startSQLite(t)
	default:
		s.startPostgres(t)
		count = 2 + s.random.IntN(2)
	}
	for i := range count {
		settings := append([]string{"SIGNALBOX_LISTEN=" + freePort(t), fmt.Sprint("SIGNALBOX_NODE=node-", i)}, s.settings...)
		n := &faultyNode{program: s.program, database: s.database, settings: settings}
		if s.postgres != nil {
			n.database, n.network = s.way(t)
		}
		n.node = startAs(t, n.program, n.database, n.settings...)
		s.nodes = append(s.nodes, n)
	}
}

// way returns the database through a proxy; a standby is reached without one.
func (s *schedule) way(t *testing.T) (storetest.Database, *storetest.Proxy) {
	t.Helper()
	database, network := s.database.ThroughProxy(t)
	if s.standby != nil {
		database = database.Before(t, s.standby.database(t))
	}
	return database, network
}

func (s *schedule) startSQLite(t *testing.T) {
	t.Helper()
	s.database = storetest.Database{Kind: "sqlite", Dir: t.TempDir()}
	s.mount(t, s.database.Dir)
}

func (s *schedule) startPostgres(t *testing.T) {
	t.Helper()
	var arguments []string
	if s.kind == withStandby { // what it has not received is not acknowledged
		arguments = []string{"-c", "synchronous_standby_names=*"}
	}
	s.postgres = prepareCluster(t, arguments...)
	if s.mount(t, s.postgres.folder) && s.postgres.credential != nil {
		if err := os.Chown(s.postgres.folder, int(s.postgres.credential.Uid), int(s.postgres.credential.Gid)); err != nil {
			t.Fatal(err)
		}
	}
	s.postgres.init(t)
	s.database = s.postgres.database(t)
	switch s.kind {
	case withStandby:
		s.standby = s.postgres.newStandby(t)
	case withPooler:
		s.database = s.database.ThroughPooler(t)
	}
}

// mount mounts a disk if the schedule will fill it.
func (s *schedule) mount(t *testing.T, folder string) bool {
	t.Helper()
	if !s.has(fillDisk) {
		return false
	}
	var err error
	if s.disk, err = mountDisk(t, folder); err != nil {
		t.Fatal(err)
	}
	return true
}

// clockProgram builds the program whose clock can be moved.
var builtClock = sync.OnceValues(func() (string, error) {
	to := filepath.Join(filepath.Dir(binary), "movedclock")
	return to, build(to, "./e2e/movedclock")
})

func clockProgram(t *testing.T) string {
	t.Helper()
	program, err := builtClock()
	if err != nil {
		t.Fatal(err)
	}
	return program
}

func (s *schedule) run(t *testing.T) figures {
	t.Helper()
	target := newSink(t)
	s.start(t)
	urls := make([]string, len(s.nodes))
	for i, each := range s.nodes {
		urls[i] = each.url
	}
	recurring := []string{"always", "minutely-0", "minutely-1", "minutely-2", "minutely-3"}
	for _, job := range recurring {
		if _, err := post(http.DefaultClient, urls[0]+"/api/v1/jobs", newJob(job, "* * * * *", target.URL)); err != nil {
			t.Fatal(err)
		}
	}
	h := newHistory(t, urls, otherAccount(t, s.nodes[0].database, "free"), target)
	names := []string{"on " + s.kind}
	for _, each := range s.faults {
		names = append(names, each.name)
	}
	t.Logf("faults: %s", strings.Join(names, ", "))
	for _, each := range s.faults {
		each.happens(t, s)
		s.pause(suite.Scale(300*time.Millisecond, 2*time.Second))
	}
	close(s.over)
	s.holding.Wait()
	for _, each := range s.nodes { // a node whose network is right again must recover by itself
		storetest.Wait(t, patience, "the node is ready", func() bool {
			got, err := (&exchange{url: each.url, method: http.MethodGet, path: "/api/readiness"}).send()
			return err == nil && got.status == http.StatusOK
		})
	}
	h.stop()
	db := s.open(t)
	upTo := time.Now()
	storetest.Wait(t, patience, "no job is due", func() bool {
		return number(t, db, `SELECT count(*) FROM jobs WHERE enabled = TRUE AND next_run_at <= $1`, upTo.UnixMicro()) == 0
	})
	for _, job := range recurring { // a run that has just begun would be taken for one that was forgotten
		s.nodes[0].disable(t, job, target)
	}
	made := h.check(t, db, upTo)
	made.Schedules, made.Faults = 1, len(s.faults)
	t.Logf("checked: %+v", made)
	return made
}
