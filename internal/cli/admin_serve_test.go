package cli_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/cli"
)

const patience = 30 * time.Second

// serving is a server that runs in this process.
type serving struct {
	url    string
	stdout *os.File
	stop   context.CancelFunc
	code   chan int
}

// serve starts a server and waits until its log says that it is ready.
func (term *terminal) serve(args ...string) *serving {
	t := term.t
	t.Helper()
	stdout, err := os.Create(filepath.Join(t.TempDir(), "stdout"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = stdout.Close() })
	ctx, stop := context.WithCancel(t.Context())
	log, stderr := io.Pipe()
	s := &serving{stdout: stdout, stop: stop, code: make(chan int, 1)}
	go func() {
		s.code <- cli.Run(ctx, append([]string{"serve"}, args...), append(term.environ, "SIGNALBOX_LISTEN=127.0.0.1:0"), strings.NewReader(""), stdout, stderr)
		_ = stderr.Close()
	}()
	address := make(chan string, 1)
	go follow(log, address)
	select {
	case where := <-address:
		s.url = "http://" + where
	case code := <-s.code:
		t.Fatalf("the server ended with %d", code)
	case <-time.After(patience):
		t.Fatal("the server is not ready")
	}
	return s
}

// follow reads a log to its end and tells where the server listens.
func follow(log io.Reader, address chan<- string) {
	for lines := bufio.NewScanner(log); lines.Scan(); {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Address != "" {
			address <- line.Address
		}
	}
}

// end stops the server as a signal would and returns its exit code and what it
// has printed.
func (s *serving) end(t *testing.T) (int, string) {
	t.Helper()
	s.stop()
	select {
	case code := <-s.code:
		printed, err := os.ReadFile(s.stdout.Name())
		if err != nil {
			t.Fatal(err)
		}
		return code, string(printed)
	case <-time.After(patience):
		t.Fatal("the server does not stop")
		return 0, ""
	}
}

func TestServe_FirstAndSecondStart(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	server := term.serve()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.url+"/api/readiness", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		t.Errorf("a server that is ready answers %d", response.StatusCode)
	}
	code, printed := server.end(t)
	if code != 0 {
		t.Errorf("the exit code is %d", code)
	}
	matches(t, `This is the first start\. Your API key, with the role OWNER, is\n\n +`+secretPattern+`\n\n +It is shown only once\.`, printed)
	if code, printed := term.serve().end(t); code != 0 || printed != "" {
		t.Errorf("the second start ends with %d and prints %q", code, printed)
	}
}

func TestServe_Failures(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	taken, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = taken.Close() })
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		flags []string
		want  string
	}{
		"the address is taken":        {[]string{"--listen", taken.Addr().String()}, "signalbox: listening on " + taken.Addr().String() + ": bind: address already in use: stop the program that uses it, which may be another Signalbox, or choose another address, for example SIGNALBOX_LISTEN=127.0.0.1:"},
		"the metrics address is":      {[]string{"--metrics-listen", taken.Addr().String()}, "signalbox: listening on " + taken.Addr().String()},
		"the address is elsewhere":    {[]string{"--listen", "203.0.113.1:8080"}, "signalbox: listening on 203.0.113.1:8080: bind: cannot assign requested address: choose another address, for example SIGNALBOX_LISTEN=127.0.0.1:8081\n"},
		"no certificate":              {[]string{"--tls-cert", file, "--tls-key", file}, "signalbox: reading the TLS certificate: "},
		"no plans":                    {[]string{"--plans", file}, "signalbox: the plans file "},
		"no such plan":                {[]string{"--bootstrap-plan", "gold"}, `signalbox: SIGNALBOX_BOOTSTRAP_PLAN: there is no plan "gold"`},
		"the data folder is a file":   {[]string{"--data", file}, "signalbox: making the data folder: "},
		"the key ring is none":        {[]string{"--keyring", file}, "signalbox: "},
		"the key file has no folder":  {[]string{"--bootstrap-key-file", filepath.Join(file, "key")}, "signalbox: writing the bootstrap key file: "},
		"the database is not running": {[]string{"--database", "postgres://nobody@127.0.0.1:1/none"}, "signalbox: connecting to PostgreSQL: "},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := filepath.Join(t.TempDir(), "data")
			term := newTerminal(t, "SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA="+folder)
			got := term.run(append([]string{"serve"}, test.flags...)...)
			if got.code != 1 || !strings.HasPrefix(got.stderr, test.want) || got.stdout != "" {
				t.Errorf("got %+v", got)
			}
			if _, err := os.Stat(folder); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("it has left the data folder behind, or %v", err)
			}
		})
	}
}

// broken is a closed terminal.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("the terminal is gone") }

// If the first key cannot be shown, the error says how to make another one.
func TestServe_KeyCannotBeShown(t *testing.T) {
	t.Parallel()
	term := newTerminal(t, "SIGNALBOX_LISTEN=127.0.0.1:0")
	var stderr bytes.Buffer
	code := cli.Run(t.Context(), []string{"serve"}, term.environ, strings.NewReader(""), broken{}, &stderr)
	if text := stderr.String(); code != 1 || !strings.Contains(text, "the terminal is gone") || !strings.Contains(text, "signalbox admin keys create NAME") {
		t.Fatalf("exit code %d, stderr %q", code, text)
	}
	matches(t, `sk_api_[A-Za-z0-9_-]{43}`, term.must("admin", "keys", "create", "other"))
}

func TestMigrate(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	for range 2 { // the second changes nothing
		if text := term.must("admin", "migrate"); text != "The schema is up to date.\n" {
			t.Errorf("got %q", text)
		}
	}
	if text := term.must("admin", "migrate", "--json"); text != "{\"migrated\":true}\n" {
		t.Errorf("got %q", text)
	}
}

func TestKeyring_Rotate(t *testing.T) {
	t.Parallel()
	term := newTerminal(t)
	term.must("admin", "migrate")
	matches(t, `^The primary key is now [0-9a-f]{8}\. Values encrypted again: 1\.\n$`, term.must("admin", "keyring", "rotate"))
	rotated := decode[struct {
		Key      string `json:"key"`
		Resealed int    `json:"resealed"`
	}](term, "admin", "keyring", "rotate")
	matches(t, `^[0-9a-f]{8}$`, rotated.Key)
	if rotated.Resealed != 1 {
		t.Errorf("got %+v", rotated)
	}
	folder := strings.TrimPrefix(term.environ[0], "SIGNALBOX_DATA=")
	ring, err := os.ReadFile(filepath.Join(folder, "keyring"))
	if err != nil || !strings.Contains(string(ring), "\n"+rotated.Key+" ") {
		t.Errorf("the ring has no such key: %v", err)
	}
	if err := os.Remove(filepath.Join(folder, "keyring")); err != nil {
		t.Fatal(err)
	}
	got := term.run("admin", "keyring", "rotate")
	if got.code != 1 || !strings.Contains(got.stderr, "is missing, and the database holds values sealed with it") || got.stdout != "" {
		t.Errorf("got %+v", got)
	}
}
