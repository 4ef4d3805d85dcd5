package app_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// program builds the binary that people run.
func program(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "signalbox")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", binary, "github.com/signalbox/signalbox/cmd/signalbox")
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return binary
}

// process is a running server.
type process struct {
	command *exec.Cmd
	url     string
	ended   chan struct{}
}

// serve starts the binary and waits until it says that it is ready.
func serve(t *testing.T, binary, data string) *process {
	t.Helper()
	command := exec.CommandContext(t.Context(), binary, "serve")
	command.Env = append(os.Environ(), "SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA="+data,
		"SIGNALBOX_BOOTSTRAP_KEY="+apptest.OwnerKey, "SIGNALBOX_LOG_FORMAT=json", "SIGNALBOX_LOG_LEVEL=info")
	stderr, err := command.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{command: command, ended: make(chan struct{})}
	ready := make(chan string, 1)
	go func() {
		defer close(p.ended)
		lines := bufio.NewScanner(stderr)
		for lines.Scan() { // to the end: a full pipe would stop the server
			var line struct{ Msg, Address string }
			if json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
				ready <- "http://" + line.Address
			}
		}
		_ = command.Wait()
	}()
	select {
	case p.url = <-ready:
	case <-p.ended:
		t.Fatal("it ended before it was ready")
	case <-time.After(soon):
		p.kill()
		t.Fatal("it is not ready")
	}
	t.Cleanup(p.kill)
	return p
}

// kill ends the process as a power cut would: it gets to know nothing.
func (p *process) kill() {
	_ = p.command.Process.Kill()
	<-p.ended
}

// ledger notes what the server has acknowledged.
type ledger struct {
	mu           sync.Mutex
	acknowledged map[string]bool
}

func (l *ledger) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acknowledged[id] = true
}

func (l *ledger) size() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.acknowledged)
}

// write makes services until the server is gone.
func (l *ledger) write(ctx context.Context, t *testing.T, url, prefix string) {
	c := newClient(t, url, apptest.OwnerKey)
	for i := 0; ; i++ {
		id := fmt.Sprint(prefix, "-", i)
		status, text, err := c.call(ctx, http.MethodPost, "/api/v1/services", `{"data":{"type":"service","id":"`+id+`","attributes":{}}}`)
		if err != nil {
			return
		}
		if status != http.StatusCreated {
			t.Errorf("%s got %d: %s", id, status, text)
			return
		}
		l.note(id)
	}
}

func TestWhatWasAcknowledgedSurvivesAKill(t *testing.T) {
	t.Parallel()
	const rounds, writers, enough = 3, 8, 60
	binary, data := program(t), t.TempDir()
	book := &ledger{acknowledged: map[string]bool{}}
	for round := range rounds {
		server := serve(t, binary, data)
		book.check(t, server.url)
		var writing sync.WaitGroup
		for writer := range writers {
			writing.Go(func() { book.write(t.Context(), t, server.url, fmt.Sprint("s", round, "-", writer)) })
		}
		storetest.Wait(t, 60*time.Second, "enough was acknowledged", func() bool { return book.size() >= (round+1)*enough })
		server.kill() // in the middle of everybody's writing
		writing.Wait()
	}
	book.check(t, serve(t, binary, data).url)
	t.Logf("%d writes were acknowledged, and %d kills lost none", book.size(), rounds)
}

// check reads everything that was acknowledged, and that no write was kept
// without its change or the other way round.
func (l *ledger) check(t *testing.T, url string) {
	t.Helper()
	c := newClient(t, url, apptest.OwnerKey)
	kept := map[string]bool{}
	for number, more := 1, true; more; number++ {
		list := c.page(t, fmt.Sprint("/api/v1/services?page[size]=1000&page[number]=", number))
		for _, service := range list.Data {
			kept[service.ID] = true
		}
		more = len(list.Data) > 0
	}
	for id := range l.acknowledged {
		if !kept[id] {
			t.Errorf("%s was acknowledged and is gone", id)
		}
	}
	recorded := 0
	for next := "/api/v1/changes?page[size]=1000"; next != ""; {
		list := c.page(t, next)
		for _, change := range list.Data {
			if change.Attributes.Kind == "service" {
				recorded++
			}
		}
		next = strings.TrimPrefix(list.Links.Next, url)
	}
	if recorded != len(kept) {
		t.Errorf("%d services and %d changes of services", len(kept), recorded)
	}
}

// listed is a page of services or of changes.
type listed struct {
	Data []struct {
		ID         string
		Attributes struct{ Kind string }
	}
	Links struct{ Next string }
}

func (c *client) page(t *testing.T, path string) (list listed) {
	t.Helper()
	if err := json.Unmarshal([]byte(c.get(t, path, http.StatusOK)), &list); err != nil {
		t.Fatal(err)
	}
	return list
}
