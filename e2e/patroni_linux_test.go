package e2e

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// patroni is a cluster of PostgreSQL servers that chooses its primary by itself, with the votes of one etcd.
type patroni struct {
	etcd    *program
	members []*member
}

// member is one server of the cluster with the Patroni that runs it.
type member struct {
	program *program
	name    string
	address string // of PostgreSQL
	rest    string // the URL of Patroni
	folder  string
}

// program is a process of a test that can be started again.
type program struct {
	arguments  []string
	credential *syscall.Credential
	folder     string
	log        output
	process    *os.Process
	exited     chan struct{}
}

// newProgram starts a program that the path has; it ends with the test.
func newProgram(t *testing.T, credential *syscall.Credential, folder string, arguments ...string) *program {
	t.Helper()
	if _, err := exec.LookPath(arguments[0]); err != nil {
		suite.Skip(t, err.Error()+": scripts/ensure-patroni installs it")
	}
	p := &program{arguments: arguments, credential: credential, folder: folder}
	p.start(t)
	t.Cleanup(func() {
		_ = p.process.Signal(syscall.SIGCONT)
		p.end(syscall.SIGTERM)
		if t.Failed() {
			text := p.log.String()
			t.Logf("%s: %s", p.arguments[0], text[max(0, len(text)-20_000):])
		}
	})
	return p
}

func (p *program) start(t *testing.T) {
	t.Helper()
	command := exec.Command(p.arguments[0], p.arguments[1:]...) //nolint:gosec,noctx // ended with the test
	command.Dir, command.Stdout, command.Stderr = p.folder, &p.log, &p.log
	command.Env = append(os.Environ(), "HOME="+p.folder)
	command.SysProcAttr = &syscall.SysProcAttr{Credential: p.credential}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	p.process, p.exited = command.Process, exited
	go func() {
		_ = command.Wait() // it ends by a signal
		close(exited)
	}()
}

// end sends a signal and waits for the end of the process.
func (p *program) end(signal syscall.Signal) {
	_ = p.process.Signal(signal) // fails if it has ended
	<-p.exited
}

// newPatroni starts a cluster with some members, and waits until one is the primary and another one has everything that it writes.
func newPatroni(t *testing.T, count int) *patroni {
	t.Helper()
	storetest.Need(t, "postgres")
	credential := serverUser(t)
	c := &cluster{credential: credential}
	votes, peers := freePort(t), freePort(t)
	p := &patroni{}
	folder := c.newFolder(t)
	p.etcd = newProgram(t, credential, folder, "etcd", "--data-dir", filepath.Join(folder, "etcd"), "--listen-client-urls", "http://"+votes,
		"--advertise-client-urls", "http://"+votes, "--listen-peer-urls", "http://"+peers, "--initial-advertise-peer-urls", "http://"+peers,
		"--initial-cluster", "default=http://"+peers, "--unsafe-no-fsync=true")
	storetest.Wait(t, patience, "etcd answers", func() bool { return fetch("http://"+votes+"/health") == http.StatusOK })
	for i := range count {
		m := &member{name: fmt.Sprint("member-", i), address: freePort(t), folder: c.newFolder(t)}
		rest := freePort(t)
		m.rest = "http://" + rest
		file := filepath.Join(m.folder, "patroni.yml")
		if err := os.WriteFile(file, []byte(m.settings(rest, votes)), 0o644); err != nil { //nolint:gosec // the server's user reads it
			t.Fatal(err)
		}
		m.program = newProgram(t, credential, m.folder, "patroni", file)
		p.members = append(p.members, m)
	}
	t.Cleanup(p.killServers) // before Patroni ends, which would wait for them
	storetest.Wait(t, 3*patience, "a primary and a synchronous standby", func() bool {
		primary := p.primary()
		return primary != nil && execute("pgx", primary.url(), "SELECT 1/count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == nil
	})
	return p
}

// settings returns the configuration of a member. What no standby has received is not acknowledged.
func (m *member) settings(rest, votes string) string {
	return fmt.Sprintf(`scope: signalbox
name: %s
restapi: {listen: "%s", connect_address: "%[2]s"}
etcd3: {host: "%s"}
bootstrap:
  dcs:
    ttl: 20
    loop_wait: 1
    retry_timeout: 3
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters: {max_connections: 200, fsync: "off", wal_log_hints: "on", wal_retrieve_retry_interval: 500ms}
  initdb: [{encoding: UTF8}, {locale: C}, {auth: trust}, no-sync]
postgresql:
  listen: "%s"
  connect_address: "%[4]s"
  data_dir: %[5]s/data
  bin_dir: "%s"
  pgpass: %[5]s/pgpass
  pg_hba: [host all all 127.0.0.1/32 trust, host replication all 127.0.0.1/32 trust]
  parameters: {unix_socket_directories: ""}
  authentication:
    superuser: {username: postgres}
    replication: {username: replicator}
    rewind: {username: rewinder}
`, m.name, rest, votes, m.address, m.folder, os.Getenv("SIGNALBOX_TEST_POSTGRES_BIN"))
}

// fetch returns the status of a GET, 0 without an answer.
func fetch(url string) int {
	client := &http.Client{Transport: &http.Transport{}, Timeout: 2 * time.Second}
	defer client.CloseIdleConnections()
	status, _ := ask(client, http.MethodGet, url, "", "")
	return status
}

func (m *member) url() string {
	return "postgres://postgres@" + m.address + "/postgres?sslmode=disable"
}

// primary returns the member that is the primary, or nil.
func (p *patroni) primary() *member {
	for _, each := range p.members {
		if fetch(each.rest+"/primary") == http.StatusOK {
			return each
		}
	}
	return nil
}

// leader waits for a primary.
func (p *patroni) leader(t *testing.T) (found *member) {
	t.Helper()
	storetest.Wait(t, 3*patience, "Patroni has a primary", func() bool {
		found = p.primary()
		return found != nil
	})
	return found
}

// database returns the database with the addresses of all members.
func (p *patroni) database(t *testing.T) storetest.Database {
	t.Helper()
	addresses := make([]string, len(p.members))
	for i, each := range p.members {
		addresses[i] = each.address
	}
	return storetest.Database{Kind: "postgres", URL: "postgres://postgres@" + strings.Join(addresses, ",") + "/postgres?sslmode=disable", Dir: t.TempDir()}
}

// server returns the processes of the member's PostgreSQL: the first line of its file is the first one.
func (m *member) server() []int {
	file, err := os.Open(filepath.Join(m.folder, "data", "postmaster.pid"))
	if err != nil {
		return nil
	}
	defer file.Close()
	var first int
	if _, err := fmt.Fscan(file, &first); err != nil {
		return nil
	}
	return append(children(first), first)
}

// signal sends a signal to the member's PostgreSQL and to Patroni.
func (m *member) signal(signal syscall.Signal) {
	processes := m.server()
	_ = m.program.process.Signal(signal)
	for _, each := range processes {
		_ = syscall.Kill(each, signal) // it may have ended
	}
}

func (p *patroni) killServers() {
	for _, each := range p.members {
		each.signal(syscall.SIGKILL)
	}
}

// switchOver asks for another primary.
func (p *patroni) switchOver(t *testing.T) {
	t.Helper()
	leader := p.leader(t)
	response, err := http.Post(leader.rest+"/switchover", "application/json", bytes.NewBufferString(fmt.Sprintf(`{"leader":%q}`, leader.name))) //nolint:noctx // it answers in a minute
	if err != nil {
		t.Logf("the switchover got no answer: %v", err)
		return
	}
	defer response.Body.Close()
	if text, err := io.ReadAll(response.Body); err != nil || response.StatusCode != http.StatusOK {
		t.Logf("the switchover got %s %s, %v", response.Status, text, err)
	}
}

// settle waits until Patroni's cluster has a primary and a standby that will not lose anything, which a next fault needs.
func (p *patroni) settle(t *testing.T) {
	t.Helper()
	storetest.Wait(t, 5*patience, "Patroni has a synchronous standby", func() bool {
		leader := p.primary()
		return leader != nil && execute("pgx", leader.url(), "SELECT 1/count(*) FROM pg_stat_replication WHERE sync_state = 'sync'") == nil
	})
}

// patroniFaults are faults of the cluster. Each but the switchover lasts longer than Patroni's patience of 20 s, for which a primary
// may be silent.
func patroniFaults() []fault {
	return []fault{
		{"switch to another primary", func(t *testing.T, s *schedule) { s.patroni.switchOver(t) }},
		{"kill the primary and its Patroni", func(t *testing.T, s *schedule) {
			leader := s.patroni.leader(t)
			leader.signal(syscall.SIGKILL)
			<-leader.program.exited
			s.pause(30 * time.Second)
			leader.program.start(t)
		}},
		{"crash the primary", func(t *testing.T, s *schedule) {
			for _, each := range s.patroni.leader(t).server() {
				_ = syscall.Kill(each, syscall.SIGKILL)
			}
		}},
		{"freeze the primary and its Patroni", func(t *testing.T, s *schedule) {
			leader := s.patroni.leader(t)
			leader.signal(syscall.SIGSTOP)
			s.pause(40 * time.Second)
			leader.signal(syscall.SIGCONT)
		}},
		{"stop the votes", func(t *testing.T, s *schedule) {
			s.patroni.etcd.end(syscall.SIGKILL)
			s.pause(20 * time.Second)
			s.patroni.etcd.start(t)
		}},
	}
}

// TestFaults_Patroni runs random schedules on a cluster that Patroni fails over. A failover takes half a minute, so there is no
// short form.
func TestFaults_Patroni(t *testing.T) {
	t.Parallel()
	first := fromEnvironment(t, seedVariable, uint64(time.Now().Unix())) //nolint:gosec // after 1970
	var total figures
	for i := range suite.Scale(0, fromEnvironment(t, countVariable, 5)) {
		t.Run(fmt.Sprint("seed ", first+i), func(t *testing.T) {
			t.Logf("%s=%d repeats this schedule", seedVariable, first+i)
			total.add(drawPatroni(first + i).run(t))
		})
	}
	t.Logf("seeds %d and following: %+v", first, total)
}
