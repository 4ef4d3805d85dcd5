// Package servertest runs the real server for tests of the client, on SQLite and on PostgreSQL.
package servertest

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

// timeout is how long a server may take to start or stop, even on a busy machine.
const timeout = 30 * time.Second

// OwnerKey is the OWNER key of the first account.
const OwnerKey = "sk_api_owner-of-the-account-in-the-client-tests"

// root returns the path of the repository, relative to the tested package of the client.
func root() (string, bool) {
	for _, path := range []string{"..", "../..", "../../..", "../../../.."} {
		if _, err := os.Stat(filepath.Join(path, "cmd", "signalbox")); err == nil {
			return path, true
		}
	}
	return "", false
}

//nolint:gochecknoglobals // the server is built once for all tests of a package
var (
	folder atomic.Pointer[string]
	binary = sync.OnceValues(build)
)

// Main runs the tests of a package and removes the server that they built. It returns the exit code.
func Main(m *testing.M) int {
	defer func() {
		if built := folder.Load(); built != nil {
			os.RemoveAll(*built)
		}
	}()
	return m.Run()
}

// build builds the server. The client's module does not import the server, because the client is published alone.
func build() (string, error) {
	source, _ := root()
	dir, err := os.MkdirTemp("", "signalbox-client-test")
	if err != nil {
		return "", err
	}
	folder.Store(&dir)
	built := filepath.Join(dir, "signalbox")
	command := exec.CommandContext(context.Background(), "go", "build", "-trimpath", "-buildvcs=false", "-o", built, "./cmd/signalbox")
	command.Dir, command.Env = source, append(os.Environ(), "CGO_ENABLED=0") // the same flags as make build, to use its build cache
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the server: %w\n%s", err, output)
	}
	return built, nil
}

// Server is a running Signalbox.
type Server struct {
	URL      string
	t        *testing.T
	binary   string
	data     string
	settings []string
	stop     func()
}

// Each runs a test on both databases.
func Each(t *testing.T, test func(t *testing.T, start func(settings ...string) *Server)) {
	t.Helper()
	t.Run("sqlite", func(t *testing.T) {
		t.Parallel()
		test(t, func(settings ...string) *Server { return Start(t, settings...) })
	})
	t.Run("postgres", func(t *testing.T) {
		t.Parallel()
		database := newDatabase(t)
		test(t, func(settings ...string) *Server { return Start(t, append(settings, "SIGNALBOX_DATABASE="+database)...) })
	})
}

// newDatabase creates a database on the PostgreSQL server with psql.
func newDatabase(t *testing.T) string {
	t.Helper()
	server := os.Getenv("SIGNALBOX_TEST_POSTGRES")
	if server == "" {
		testenv.Skip(t, "SIGNALBOX_TEST_POSTGRES is not set; run the test with scripts/with-postgres")
	}
	at, err := url.Parse(server)
	if err != nil {
		t.Fatal(err)
	}
	name := fmt.Sprintf("client_%d_%d", os.Getpid(), databases.Add(1))
	psql := filepath.Join(os.Getenv("SIGNALBOX_TEST_POSTGRES_BIN"), "psql")
	if output, err := exec.CommandContext(t.Context(), psql, server, "-c", "CREATE DATABASE "+name).CombinedOutput(); err != nil {
		t.Fatalf("creating a database: %v\n%s", err, output)
	}
	at.Path = "/" + name
	return at.String()
}

//nolint:gochecknoglobals // numbers the databases of the process
var databases atomic.Int64

// Start runs a server with additional environment variables until the end of the test.
func Start(t *testing.T, settings ...string) *Server {
	t.Helper()
	if _, found := root(); !found {
		testenv.Skip(t, "the server's source is not beside the client's")
	}
	built, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	s := &Server{t: t, binary: built, data: t.TempDir(), settings: settings}
	s.run("127.0.0.1:0")
	t.Cleanup(s.Stop)
	return s
}

// Stop stops the server, as for an update.
func (s *Server) Stop() { s.stop() }

// Restart starts a stopped server at the same address with the same data.
func (s *Server) Restart() {
	s.t.Helper()
	s.run(strings.TrimPrefix(s.URL, "http://"))
}

func (s *Server) run(listen string) {
	s.t.Helper()
	command := exec.CommandContext(context.WithoutCancel(s.t.Context()), s.binary, "serve")
	command.Env = append([]string{"SIGNALBOX_LISTEN=" + listen, "SIGNALBOX_DATA=" + s.data, "SIGNALBOX_BOOTSTRAP_KEY=" + OwnerKey}, s.settings...)
	log, err := command.StderrPipe()
	if err != nil {
		s.t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		s.t.Fatal(err)
	}
	ready, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		address(log, ready)
		ended <- command.Wait()
	}()
	s.stop = sync.OnceFunc(func() {
		_ = command.Process.Signal(syscall.SIGTERM) // the server may have ended
		select {
		case err := <-ended:
			if err != nil {
				s.t.Errorf("the server ended with %v", err)
			}
		case <-time.After(timeout):
			_ = command.Process.Kill()
			s.t.Error("the server does not stop")
		}
	})
	select {
	case where, ok := <-ready:
		if !ok {
			s.t.Fatal("the server ended before it was ready")
		}
		s.URL = "http://" + where
	case <-time.After(timeout):
		s.t.Fatal("the server is not ready")
	}
}

// address reads the server's log to its end and sends the address that the server listens on.
func address(log io.Reader, ready chan<- string) {
	defer close(ready)
	sent := false
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Address string }
		if !sent && json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
			sent = true
			ready <- line.Address
		}
	}
}

// Client returns a client with the OWNER key of the first account.
func (s *Server) Client() *signalbox.Client {
	s.t.Helper()
	return s.ClientOf(OwnerKey)
}

// ClientOf returns a client with a key.
func (s *Server) ClientOf(key string) *signalbox.Client {
	s.t.Helper()
	client, err := signalbox.New(s.URL, key)
	if err != nil {
		s.t.Fatal(err)
	}
	return client
}

// Account creates another account on the server's command line and returns its key.
func (s *Server) Account(name, plan string) string {
	s.t.Helper()
	command := exec.CommandContext(s.t.Context(), s.binary, "admin", "accounts", "create", name, "--plan", plan, "--json")
	command.Env = append([]string{"SIGNALBOX_DATA=" + s.data}, s.settings...)
	output, err := command.Output()
	if err != nil {
		s.t.Fatal(err)
	}
	var made struct{ Key string }
	if err := json.Unmarshal(output, &made); err != nil {
		s.t.Fatal(err)
	}
	return made.Key
}
