package signalbox_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"syscall"
	"testing"
	"time"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/internal/testenv"
)

// serverTimeout is how long a server may take to start or stop, also on a busy machine.
const serverTimeout = 30 * time.Second

const ownerKey = "sk_api_owner-of-the-account-in-the-client-tests"

// folder is where the server's binary is built, when the first test needs it.
var (
	folder string
	built  = sync.OnceValues(build)
)

func TestMain(m *testing.M) {
	var err error
	if folder, err = os.MkdirTemp("", "signalbox-client-test"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(folder)
	os.Exit(code)
}

// build builds the server from the folder above. This module does not import it, because the client is published alone.
func build() (string, error) {
	binary := filepath.Join(folder, "signalbox")
	command := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "./cmd/signalbox")
	command.Dir = ".."
	if output, err := command.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building the server: %w\n%s", err, output)
	}
	return binary, nil
}

// server is a running Signalbox on SQLite.
type server struct {
	url    string
	binary string
	data   string
}

// startServer runs a server with additional environment variables until the end of the test.
func startServer(t *testing.T, settings ...string) *server {
	t.Helper()
	if _, err := os.Stat("../cmd/signalbox"); err != nil {
		testenv.Skip(t, "the server's source is not beside the client's")
	}
	binary, err := built()
	if err != nil {
		t.Fatal(err)
	}
	s := &server{binary: binary, data: t.TempDir()}
	command := exec.CommandContext(t.Context(), binary, "serve")
	command.Env = append([]string{"SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA=" + s.data, "SIGNALBOX_BOOTSTRAP_KEY=" + ownerKey}, settings...)
	command.Cancel = func() error { return command.Process.Signal(syscall.SIGTERM) }
	command.WaitDelay = serverTimeout
	log, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	stopped := make(chan error, 1)
	go func() {
		address(log, ready)
		stopped <- command.Wait()
	}()
	t.Cleanup(func() { // the test's context has ended, so the server was told to stop
		if err := <-stopped; err != nil && !errors.Is(err, context.Canceled) {
			t.Errorf("the server ended with %v", err)
		}
	})
	select {
	case where, ok := <-ready:
		if !ok {
			t.Fatal("the server ended before it was ready")
		}
		s.url = "http://" + where
	case <-time.After(serverTimeout):
		t.Fatal("the server is not ready")
	}
	return s
}

// address reads the server's log to its end and sends the address that it listens on.
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

// client returns a client with the OWNER key of the first account.
func (s *server) client(t *testing.T) *signalbox.Client {
	t.Helper()
	return s.clientOf(t, ownerKey)
}

func (s *server) clientOf(t *testing.T, key string) *signalbox.Client {
	t.Helper()
	client, err := signalbox.New(s.url, key)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// collect returns all items of a list.
func collect[T any](t *testing.T, all iter.Seq2[T, error]) []T {
	t.Helper()
	var items []T
	for item, err := range all {
		if err != nil {
			t.Fatal(err)
		}
		items = append(items, item)
	}
	return items
}

// account creates another account on the server's command line and returns its key.
func (s *server) account(t *testing.T, name, plan string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), s.binary, "admin", "accounts", "create", name, "--plan", plan, "--json")
	command.Env = []string{"SIGNALBOX_DATA=" + s.data}
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var made struct{ Key string }
	if err := json.Unmarshal(output, &made); err != nil {
		t.Fatal(err)
	}
	return made.Key
}
