package e2e

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// cluster is a PostgreSQL server of one test, which the test may stop, freeze and replace.
type cluster struct {
	folder, address string
	arguments       []string            // of the server
	credential      *syscall.Credential // nil: this user
	server          *exec.Cmd
	log             *bytes.Buffer
	exited          chan struct{}
}

// newCluster starts a PostgreSQL server of its own, with more arguments.
func newCluster(t *testing.T, arguments ...string) *cluster {
	t.Helper()
	c := prepareCluster(t, arguments...)
	c.init(t)
	return c
}

// prepareCluster is newCluster without a start: its folder is empty.
func prepareCluster(t *testing.T, arguments ...string) *cluster {
	t.Helper()
	storetest.Need(t, "postgres")
	c := &cluster{credential: serverUser(t), address: freePort(t), arguments: arguments}
	c.folder = c.newFolder(t)
	return c
}

func (c *cluster) init(t *testing.T) {
	t.Helper()
	c.command(t, "initdb", "-D", c.data(), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
	c.start(t)
}

// newStandby returns a second server that follows c.
func (c *cluster) newStandby(t *testing.T) *cluster {
	t.Helper()
	standby := &cluster{credential: c.credential, address: freePort(t), arguments: []string{"-c", "wal_retrieve_retry_interval=500ms"}}
	standby.folder = standby.newFolder(t)
	host, port, _ := strings.Cut(c.address, ":")
	standby.command(t, "pg_basebackup", "-h", host, "-p", port, "-U", "postgres", "-D", standby.data(), "-R", "-X", "stream", "-c", "fast", "--no-sync")
	standby.start(t)
	return standby
}

// newFolder returns a folder that the server's user may write to.
func (c *cluster) newFolder(t *testing.T) string {
	t.Helper()
	folder, err := os.MkdirTemp("", "signalbox-cluster") //nolint:usetesting // the test's own folder is closed to other users
	if err == nil && c.credential != nil {
		err = os.Chown(folder, int(c.credential.Uid), int(c.credential.Gid))
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(folder) })
	return folder
}

func (c *cluster) data() string { return filepath.Join(c.folder, "data") }

// serverUser returns the user who may run PostgreSQL, which refuses to run as root.
func serverUser(t *testing.T) *syscall.Credential {
	t.Helper()
	if os.Geteuid() != 0 {
		return nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		if found, err := user.Lookup(name); err == nil {
			uid, _ := strconv.ParseUint(found.Uid, 10, 32)
			gid, _ := strconv.ParseUint(found.Gid, 10, 32)
			return &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}
		}
	}
	suite.Skip(t, "This runs as root, and there is no user to run PostgreSQL as.")
	return nil
}

// program returns a program of PostgreSQL with its arguments.
func (c *cluster) program(name string, arguments ...string) *exec.Cmd {
	made := exec.Command(filepath.Join(os.Getenv("SIGNALBOX_TEST_POSTGRES_BIN"), name), arguments...) //nolint:gosec,noctx // the tests' own server
	made.Dir = c.folder
	made.SysProcAttr = &syscall.SysProcAttr{Credential: c.credential}
	return made
}

func (c *cluster) command(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if output, err := c.program(name, arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", name, err, output)
	}
}

// start starts the server and waits until it accepts connections.
func (c *cluster) start(t *testing.T) {
	t.Helper()
	_, port, err := net.SplitHostPort(c.address)
	if err != nil {
		t.Fatal(err)
	}
	c.server, c.log, c.exited = c.program("postgres", append([]string{"-D", c.data(), "-p", port, "-c", "listen_addresses=127.0.0.1",
		"-c", "unix_socket_directories=", "-c", "max_connections=200", "-c", "fsync=off"}, c.arguments...)...), &bytes.Buffer{}, make(chan struct{})
	c.server.Stdout, c.server.Stderr = c.log, c.log
	if err := c.server.Start(); err != nil {
		t.Fatal(err)
	}
	server, exited := c.server, c.exited
	go func() {
		_ = server.Wait() // a killed server ends with an error
		close(exited)
	}()
	t.Cleanup(func() {
		c.signal(syscall.SIGCONT)
		_ = server.Process.Signal(syscall.SIGQUIT) // fails if it has ended
		<-exited
	})
	storetest.Wait(t, patience, "PostgreSQL accepts connections", func() bool { return execute("pgx", c.url(), "SELECT 1") == nil })
}

// stop ends the server: at once and without a checkpoint by SIGQUIT, or orderly by SIGINT.
func (c *cluster) stop(signal syscall.Signal) {
	_ = c.server.Process.Signal(signal) // fails if it has ended
	<-c.exited
}

// hasEnded reports whether the server has ended, as it does when it cannot recover on a full disk.
func (c *cluster) hasEnded() bool {
	select {
	case <-c.exited:
		return true
	default:
		return false
	}
}

// signal sends a signal to the server and all its processes.
func (c *cluster) signal(signal syscall.Signal) {
	for _, process := range append(children(c.server.Process.Pid), c.server.Process.Pid) {
		_ = syscall.Kill(process, signal) // it may have ended
	}
}

// children returns the processes that a process has started.
func children(parent int) (found []int) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%[1]d/children", parent))
	if err != nil {
		return nil
	}
	for each := range strings.FieldsSeq(string(text)) {
		if process, err := strconv.Atoi(each); err == nil {
			found = append(found, process)
		}
	}
	return found
}

func (c *cluster) url() string {
	return "postgres://postgres@" + c.address + "/postgres?sslmode=disable"
}

// database returns the server's database for nodes.
func (c *cluster) database(t *testing.T) storetest.Database {
	t.Helper()
	return storetest.Database{Kind: "postgres", URL: c.url(), Dir: t.TempDir()}
}

// open opens the server's database for the test.
func (c *cluster) open(t *testing.T) *sql.DB {
	t.Helper()
	db, err := sql.Open("pgx", c.url())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
			t.Error(err)
		}
	})
	return db
}
