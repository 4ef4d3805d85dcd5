package e2e

import (
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// seedVariable is the environment variable with the seed of the first schedule, to repeat one that failed.
const seedVariable = "SIGNALBOX_FAULT_SEED"

// TestFaults_RandomSchedules runs random schedules of faults against nodes under load, and compares the answers that
// clients got with the database and with the requests that the targets of jobs received. The seed alone decides a
// schedule.
func TestFaults_RandomSchedules(t *testing.T) {
	t.Parallel()
	first := rand.Uint64N(1 << 32) //nolint:gosec // a schedule needs no secrecy
	if text := os.Getenv(seedVariable); text != "" {
		var err error
		if first, err = strconv.ParseUint(text, 10, 64); err != nil {
			t.Fatal(err)
		}
	}
	var total figures
	for i := range suite.Scale(uint64(1), 100) {
		t.Run(fmt.Sprint("seed ", first+i), func(t *testing.T) {
			t.Logf("%s=%d repeats this schedule", seedVariable, first+i)
			total.add(runSchedule(t, first+i))
		})
	}
	t.Logf("seeds %d and following: %+v", first, total)
}

// figures counts what schedules have done and checked.
type figures struct{ Schedules, Faults, Jobs, Runs, Writes, Events, Refusals int }

func (f *figures) add(other figures) {
	f.Schedules += other.Schedules
	f.Faults += other.Faults
	f.Jobs += other.Jobs
	f.Runs += other.Runs
	f.Writes += other.Writes
	f.Events += other.Events
	f.Refusals += other.Refusals
}

// schedule is the state of one schedule.
type schedule struct {
	random   *rand.Rand
	postgres *cluster
	nodes    []*faultyNode
	faults   []string
}

// faultyNode is a node with its own proxy to the database.
type faultyNode struct {
	*node

	database storetest.Database
	network  *storetest.Proxy
	settings []string
}

// fault is a fault that begins and ends within one call of its function.
type fault struct {
	name    string
	happens func(*testing.T, *schedule)
}

func faults() []fault {
	return []fault{
		{"kill a node", func(t *testing.T, s *schedule) { s.any().replace(t, syscall.SIGKILL) }},
		{"restart a node", func(t *testing.T, s *schedule) { s.any().replace(t, syscall.SIGTERM) }},
		{"restart all nodes one by one", func(t *testing.T, s *schedule) {
			for _, each := range s.nodes {
				each.replace(t, syscall.SIGTERM)
			}
		}},
		{"freeze a node", func(_ *testing.T, s *schedule) {
			process := s.any().command.Process
			_ = process.Signal(syscall.SIGSTOP) // cannot fail: the process runs
			s.pause(suite.Scale(time.Second, 18*time.Second))
			_ = process.Signal(syscall.SIGCONT)
		}},
		{"cut the connections of a node", func(_ *testing.T, s *schedule) { s.any().network.Cut() }},
		{"stall the connections of a node", func(_ *testing.T, s *schedule) {
			network := s.any().network
			network.Stall()
			s.pause(3 * time.Second)
			network.Up()
		}},
		{"silence the network of a node", func(_ *testing.T, s *schedule) {
			network := s.any().network
			network.Silence()
			s.pause(suite.Scale(2*time.Second, 18*time.Second))
			network.Up()
		}},
		{"refuse the connections of a node", func(_ *testing.T, s *schedule) {
			network := s.any().network
			network.Down()
			s.pause(suite.Scale(time.Second, 6*time.Second))
			network.Up()
		}},
		{"end all connections in PostgreSQL", func(_ *testing.T, s *schedule) {
			_ = execute("pgx", s.postgres.url(), "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'signalbox'")
		}},
		{"lock the account in an idle transaction", func(t *testing.T, s *schedule) { s.lockAccount(t) }},
		{"restart PostgreSQL", func(t *testing.T, s *schedule) {
			s.postgres.stop(syscall.SIGINT)
			s.postgres.start(t)
		}},
		{"crash PostgreSQL", func(t *testing.T, s *schedule) {
			s.postgres.stop(syscall.SIGQUIT)
			s.postgres.start(t)
		}},
		{"freeze PostgreSQL", func(_ *testing.T, s *schedule) {
			s.postgres.signal(syscall.SIGSTOP)
			s.pause(suite.Scale(time.Second, 12*time.Second))
			s.postgres.signal(syscall.SIGCONT)
		}},
	}
}

func (s *schedule) any() *faultyNode { return s.nodes[s.random.IntN(len(s.nodes))] }

// pause waits for a random time of up to most, which is how long a fault lasts.
func (s *schedule) pause(most time.Duration) {
	<-time.After(most/10 + time.Duration(s.random.Int64N(int64(most))))
}

// lockAccount holds the lock of the account like a session that somebody has forgotten.
func (s *schedule) lockAccount(t *testing.T) {
	db := s.postgres.open(t)
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		return // PostgreSQL is restarting
	}
	_, _ = tx.ExecContext(t.Context(), "SELECT 1 FROM accounts FOR UPDATE")
	s.pause(suite.Scale(time.Second, 30*time.Second))
	_ = tx.Rollback()
}

// replace ends the process of a node by a signal and starts it again.
func (n *faultyNode) replace(t *testing.T, signal syscall.Signal) {
	t.Helper()
	_ = n.signal(signal) // a killed process ends with an error
	n.node = start(t, n.database, n.settings...)
}

// newSchedule starts two or three nodes on a PostgreSQL of their own, in every third schedule through PgBouncer.
func newSchedule(t *testing.T, seed uint64) *schedule {
	t.Helper()
	s := &schedule{random: rand.New(rand.NewPCG(seed, 0)), postgres: newCluster(t)} //nolint:gosec // a schedule needs no secrecy
	keyring := s.postgres.database(t).Dir
	through := s.postgres.database(t)
	if s.random.IntN(3) == 0 {
		through = through.ThroughPooler(t)
		s.faults = append(s.faults, "PgBouncer in transaction mode")
	}
	for range 2 + s.random.IntN(2) {
		database, network := through.ThroughProxy(t)
		database.Dir = keyring
		settings := []string{"SIGNALBOX_LISTEN=" + freePort(t), "SIGNALBOX_ALLOW_NETWORKS=127.0.0.0/8"}
		s.nodes = append(s.nodes, &faultyNode{start(t, database, settings...), database, network, settings})
	}
	return s
}

func runSchedule(t *testing.T, seed uint64) figures {
	t.Helper()
	s, target := newSchedule(t, seed), newSink(t)
	urls := make([]string, len(s.nodes))
	for i, each := range s.nodes {
		urls[i] = each.url
	}
	if _, err := post(http.DefaultClient, urls[0]+"/api/v1/jobs", newJob("always", "* * * * *", target.URL)); err != nil {
		t.Fatal(err)
	}
	h := newHistory(t, urls, target)
	all := faults()
	for range suite.Scale(4, 8) {
		next := all[s.random.IntN(len(all))]
		s.faults = append(s.faults, next.name)
		next.happens(t, s)
		s.pause(suite.Scale(300*time.Millisecond, 2*time.Second))
	}
	t.Logf("faults: %s", strings.Join(s.faults, ", "))
	for _, each := range s.nodes { // a node whose network works again must recover by itself
		storetest.Wait(t, patience, "the node is ready", func() bool {
			got, err := (&exchange{url: each.url, method: http.MethodGet, path: "/api/readiness"}).send()
			return err == nil && got.status == http.StatusOK
		})
	}
	h.stop()
	s.nodes[0].pause(t, target)
	made := h.check(t, s)
	made.Schedules, made.Faults = 1, len(slices.DeleteFunc(s.faults, func(name string) bool { return strings.HasPrefix(name, "PgBouncer") }))
	t.Logf("checked: %+v", made)
	return made
}
