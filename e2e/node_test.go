package e2e

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/store/storetest"
)

// node is a running server.
type node struct {
	url     string
	command *exec.Cmd
	stdout  string // a file, so that output from before the log is in front of it
	stderr  output
	exited  chan struct{}
	exit    error // of the process, once exited is closed
}

// output is the output of a process, readable while the process runs.
type output struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write keeps the output.
func (o *output) Write(text []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(text)
}

// String returns everything that was printed so far.
func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// ready finds the address in the line that a server logs when it is ready, in
// both formats.
var ready = regexp.MustCompile(`Signalbox is ready\..*address[=":]+([^" ]+)`)

// errRefused is a server that ended before it was ready.
var errRefused = errors.New("the server ended before it was ready")

// startNode starts a server and waits until it is ready or has ended.
func startNode(folder string, settings, flags []string) (*node, error) {
	return startProgram(binary, folder, settings, flags)
}

// startProgram is startNode for a program, such as an older one.
func startProgram(program, folder string, settings, flags []string) (*node, error) {
	stdout, err := os.CreateTemp(folder, ".stdout-")
	if err != nil {
		return nil, err
	}
	defer stdout.Close() // the process has its own
	n := &node{exited: make(chan struct{}), stdout: stdout.Name()}
	n.command = exec.CommandContext(context.Background(), program, append([]string{"serve"}, flags...)...)
	n.command.Dir, n.command.Env, n.command.Stdout = folder, settings, stdout
	log, err := n.command.StderrPipe()
	if err != nil {
		return nil, err
	}
	if err := n.command.Start(); err != nil {
		return nil, err
	}
	address := make(chan string, 1)
	go func() {
		n.follow(log, address)
		n.exit = n.command.Wait()
		close(n.exited)
	}()
	select {
	case where := <-address:
		n.url = "http://" + where
		return n, nil
	case <-n.exited:
		return n, errRefused
	case <-time.After(patience):
		return n, errors.Join(fmt.Errorf("the server is not ready after %s; it logged\n%s", patience, n.stderr.String()), n.command.Process.Kill())
	}
}

// follow reads the log to its end, and sends the address when it appears.
func (n *node) follow(log io.Reader, address chan<- string) {
	for lines := bufio.NewReader(log); ; {
		line, err := lines.ReadBytes('\n')
		_, _ = n.stderr.Write(line) // a buffer takes everything
		if found := ready.FindSubmatch(line); found != nil {
			address <- string(found[1])
		}
		if err != nil {
			return
		}
	}
}

// printed returns the output of the process so far.
func (n *node) printed() string {
	text, err := os.ReadFile(n.stdout)
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// signal sends a signal and waits for the end of the process.
func (n *node) signal(signal os.Signal) error {
	if err := n.command.Process.Signal(signal); err != nil {
		return fmt.Errorf("sending %v to the server: %w", signal, err)
	}
	return n.wait()
}

// wait waits for the end of the process.
func (n *node) wait() error {
	select {
	case <-n.exited:
		return n.exit
	case <-time.After(patience):
		return errors.Join(fmt.Errorf("the server still runs %s later", patience), n.command.Process.Kill())
	}
}

// serverSettings returns the settings of a server on a database, and more.
func serverSettings(database storetest.Database, more ...string) []string {
	return append([]string{
		"SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA=" + database.Dir, "SIGNALBOX_DATABASE=" + database.URL, "SIGNALBOX_BOOTSTRAP_KEY=" + ownerKey,
	}, more...)
}

// start runs a server on a database until the end of a Go test.
func start(t *testing.T, database storetest.Database, settings ...string) *node {
	t.Helper()
	return startAs(t, binary, database, settings...)
}

// startAs is start for a program.
func startAs(t *testing.T, program string, database storetest.Database, settings ...string) *node {
	t.Helper()
	n, err := startProgram(program, database.Dir, serverSettings(database, settings...), nil)
	endWithTest(t, n)
	if err != nil {
		t.Fatalf("%v\n%s", err, n.stderr.String())
	}
	return n
}

// endWithTest ends a server that was started, and may have ended, when the test ends.
func endWithTest(t *testing.T, n *node) *node {
	t.Helper()
	if n != nil {
		t.Cleanup(func() {
			select {
			case <-n.exited:
			default:
				if err := n.signal(syscall.SIGTERM); err != nil {
					t.Error(err)
				}
			}
		})
	}
	return n
}
