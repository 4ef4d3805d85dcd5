// Command flagd compares flagd's in-process providers with the server: for random flags and contexts, how fast they follow a change,
// and whether they survive a restart. scripts/check-flagd installs the providers of other languages and runs it.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/signalbox/signalbox/internal/flagd/flagdtest"
)

const (
	contextCount = 20
	changes      = 40
	// clock is a flag whose value is changed.
	clock = "clock"
	// recovery is how long a provider may take to follow a server that was restarted. Some wait 12 s between two attempts.
	recovery = time.Minute
)

// cases are the evaluations that a provider is asked for.
type cases struct {
	Contexts []map[string]any  `json:"contexts"`
	Flags    map[string]string `json:"flags"` // the type of each flag
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) > 1 && os.Args[1] == "provider" {
		exit(provide(ctx, os.Args[2:]))
	}
	if len(os.Args) < 5 {
		exit(fmt.Errorf("usage: flagd SIGNALBOX FOLDER COUNT NAME=COMMAND…"))
	}
	exit(run(ctx, os.Args[1], os.Args[2], os.Args[3], os.Args[4:]))
}

func exit(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "flagd:", err)
		os.Exit(1)
	}
	os.Exit(0)
}

func run(ctx context.Context, program, folder, count string, providers []string) error {
	var flags int
	if _, err := fmt.Sscan(count, &flags); err != nil {
		return fmt.Errorf("%q is no number of flags: %w", count, err)
	}
	server, err := startServer(ctx, program, folder)
	if err != nil {
		return err
	}
	defer func() { server.stop() }()
	asked, want, err := server.prepare(ctx, flags)
	if err != nil {
		return err
	}
	text, err := json.Marshal(asked)
	if err != nil {
		return err
	}
	file := filepath.Join(folder, "cases.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		return err
	}
	each := func(check func(name string, lines <-chan string) error) error {
		for _, provider := range providers {
			name, command, _ := strings.Cut(provider, "=")
			if err := server.with(ctx, strings.Fields(command), file, func(lines <-chan string) error { return check(name, lines) }); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	}
	if err := each(func(name string, lines <-chan string) error { return compare(name, <-lines, asked, want) }); err != nil {
		return err
	}
	if err := server.shrink(ctx, flags); err != nil {
		return err
	}
	if err := each(func(name string, lines <-chan string) error {
		<-lines
		if err := server.follow(ctx, name, lines); err != nil {
			return err
		}
		return server.restart(ctx, name, lines)
	}); err != nil {
		return err
	}
	if err := server.speak(ctx); err != nil { // speak leaves the server stopped
		return err
	}
	if err := errors.Join(server.secure(), server.start(ctx)); err != nil {
		return err
	}
	if err := each(func(name string, lines <-chan string) error {
		<-lines
		return server.followOnce(ctx, name, lines)
	}); err != nil {
		return err
	}
	return server.speak(ctx)
}

// few is how many flags are left for the measurement of changes. A provider reads all flags again after each change.
const few = 50

// shrink deletes most flags.
func (s *server) shrink(ctx context.Context, count int) error {
	for i := few; i < count; i++ {
		if _, err := s.call(ctx, http.MethodDelete, fmt.Sprint("/api/v1/flags/flag-", i), nil); err != nil {
			return err
		}
	}
	return nil
}

// server is a running Signalbox.
type server struct {
	program, folder, address, key string
	certificate                   string // the file of the certificate, or empty without TLS
	http                          *http.Client
	process                       *exec.Cmd
}

func (s *server) scheme() string {
	if s.certificate == "" {
		return "http"
	}
	return "https"
}

// authority returns the host and the port that clients use. With TLS the host is a name, because some clients check names only.
func (s *server) authority() string {
	if s.certificate == "" {
		return s.address
	}
	_, port, _ := strings.Cut(s.address, ":")
	return "localhost:" + port
}

func startServer(ctx context.Context, program, folder string) (*server, error) {
	s := &server{program: program, folder: folder, address: "127.0.0.1:0", http: http.DefaultClient}
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	key, err := os.ReadFile(filepath.Join(folder, "key"))
	s.key = strings.TrimSpace(string(key))
	return s, err
}

// start starts the server on its address, which stays the same, and waits until it is ready.
func (s *server) start(ctx context.Context) error {
	s.process = exec.CommandContext(ctx, s.program, "serve") //nolint:gosec // the caller names the program
	s.process.Env = append(os.Environ(), "SIGNALBOX_LISTEN="+s.address, "SIGNALBOX_DATA="+filepath.Join(s.folder, "data"),
		"SIGNALBOX_BOOTSTRAP_KEY_FILE="+filepath.Join(s.folder, "key"), "SIGNALBOX_LOG_FORMAT=json")
	if s.certificate != "" {
		s.process.Env = append(s.process.Env, "SIGNALBOX_TLS_CERT="+s.certificate, "SIGNALBOX_TLS_KEY="+s.privateKey())
	}
	output, err := s.process.StderrPipe()
	if err != nil {
		return err
	}
	s.process.Stdout = nil
	if err := s.process.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(output)
	for lines.Scan() {
		var line struct{ Msg, Address string }
		if json.Unmarshal(lines.Bytes(), &line) == nil && line.Msg == "Signalbox is ready." {
			s.address = line.Address
			go func() { _, _ = io.Copy(io.Discard, output) }()
			return nil
		}
	}
	return fmt.Errorf("the server has not become ready")
}

func (s *server) stop() {
	_ = s.process.Process.Signal(os.Interrupt)
	_ = s.process.Wait()
}

// call sends a request, and returns the answer's body.
func (s *server) call(ctx context.Context, method, path string, body any) ([]byte, error) {
	text, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, method, s.scheme()+"://"+s.authority()+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+s.key)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("X-Signalbox-Environment", "production")
	answer, err := s.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	read, err := io.ReadAll(answer.Body)
	if answer.StatusCode > http.StatusNoContent {
		return nil, fmt.Errorf("%s %s: %d: %s", method, path, answer.StatusCode, read)
	}
	return read, err
}

type object = map[string]any

func document(id string, attributes object) object {
	return object{"data": object{"type": "flag", "id": id, "attributes": attributes}}
}

// prepare creates flags. It returns the flags that flagd can express, and their values on the server for each context.
func (s *server) prepare(ctx context.Context, count int) (cases, []map[string]any, error) {
	random := flagdtest.New(uint64(time.Now().Unix())) //nolint:gosec // the seed needs no secrecy
	asked, warned := cases{Flags: map[string]string{}}, 0
	types := map[string]string{}
	for i := range count {
		flag := random.Flag(fmt.Sprint("flag-", i), i%10 == 0)
		types[flag.Key] = string(flag.Type)
		rules := []object{}
		for _, rule := range flag.Rules {
			logic := rule.Logic
			if len(logic) == 0 || logic[0] != '{' { // the API accepts only operations
				logic = json.RawMessage(`{"!!":[` + string(logic) + `]}`)
			}
			rules = append(rules, object{"logic": logic, "value": rule.Value})
		}
		production := object{"enabled": flag.Enabled, "default": flag.Environment.Default, "rules": rules}
		if _, err := s.call(ctx, http.MethodPost, "/api/v1/flags", document(flag.Key, object{"type": flag.Type, "default": flag.Default, "environments": object{"production": production}})); err != nil {
			return asked, nil, err
		}
	}
	if err := s.change(ctx, http.MethodPost, "/api/v1/flags", 0); err != nil {
		return asked, nil, err
	}
	text, err := s.call(ctx, http.MethodGet, "/flagd/v1/flags/production", nil)
	if err != nil {
		return asked, nil, err
	}
	if err := validate(text); err != nil {
		return asked, nil, err
	}
	var served struct {
		Flags map[string]struct{ Metadata object }
	}
	if err := json.Unmarshal(text, &served); err != nil {
		return asked, nil, err
	}
	for key, flag := range served.Flags {
		if key != clock {
			asked.Flags[key] = types[key]
		}
		if flag.Metadata["signalbox.warning"] != nil {
			warned++
			asked.Flags[key] += " SPLIT"
		}
	}
	fmt.Printf("%d of %d flags can be expressed, %d of them with a percentage; the document has %d KiB and is valid against both published schemas\n", len(asked.Flags), count, warned, len(text)>>10)
	var want []map[string]any
	for range contextCount {
		given := random.Context()
		asked.Contexts = append(asked.Contexts, given)
		values, err := s.evaluate(ctx, given)
		if err != nil {
			return asked, nil, err
		}
		want = append(want, values)
	}
	return asked, want, nil
}

// evaluate returns what the server serves over OFREP.
func (s *server) evaluate(ctx context.Context, given map[string]any) (map[string]any, error) {
	text, err := s.call(ctx, http.MethodPost, "/ofrep/v1/evaluate/flags", object{"context": given})
	if err != nil {
		return nil, err
	}
	var answer struct {
		Flags []struct {
			Key   string
			Value any
		}
	}
	values := map[string]any{}
	err = json.Unmarshal(text, &answer)
	for _, each := range answer.Flags {
		values[each.Key] = each.Value
	}
	return values, err
}

// change writes the flag that providers watch.
func (s *server) change(ctx context.Context, method, path string, value int) error {
	_, err := s.call(ctx, method, path, document(clock, object{"type": "NUMERIC", "default": value}))
	return err
}

// with starts a provider and calls use with the lines that it prints.
func (s *server) with(ctx context.Context, command []string, file string, use func(lines <-chan string) error) error {
	host, port, _ := strings.Cut(s.authority(), ":")
	process := exec.CommandContext(ctx, command[0], append(command[1:], host, port, "key="+s.key+",environment=production", file)...) //nolint:gosec // the caller names it
	process.Stderr = os.Stderr
	process.Env = os.Environ()
	if s.certificate != "" {
		process.Env = append(process.Env, "FLAGD_TLS=true", "FLAGD_SERVER_CERT_PATH="+s.certificate, "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH="+s.certificate)
	}
	output, err := process.StdoutPipe()
	if err != nil {
		return err
	}
	if err := process.Start(); err != nil {
		return err
	}
	defer func() {
		_ = process.Process.Kill()
		_ = process.Wait()
	}()
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		scanner := bufio.NewScanner(output)
		scanner.Buffer(nil, 256<<20)
		for scanner.Scan() {
			lines <- scanner.Text()
		}
	}()
	return use(lines)
}

// compare compares the values of a provider with those of the server. Flags with a percentage count only for providers that hash
// like the server.
func compare(name, line string, asked cases, want []map[string]any) error {
	var got []map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		return fmt.Errorf("%w: %.200s", err, line)
	}
	if len(got) != len(want) {
		return fmt.Errorf("it has values for %d contexts", len(got))
	}
	compared, different, spread := 0, 0, 0
	for key, of := range asked.Flags {
		for i := range want {
			same := fmt.Sprint(got[i][key]) == fmt.Sprint(want[i][key])
			switch compared++; {
			case same:
			case strings.HasSuffix(of, "SPLIT"):
				spread++
			default:
				if different++; different < 5 {
					given, _ := json.Marshal(asked.Contexts[i])
					fmt.Printf("%s: %s for %s: got %v, want %v\n", name, key, given, got[i][key], want[i][key])
				}
			}
		}
	}
	fmt.Printf("%s: %d values compared, %d differ, and %d of percentages\n", name, compared, different, spread)
	if different > 0 {
		return fmt.Errorf("%d values differ", different)
	}
	return nil
}

// follow measures how long the provider takes to serve a change, from the moment in which the write was sent.
func (s *server) follow(ctx context.Context, name string, lines <-chan string) error {
	var took, wrote []time.Duration
	for i := range changes {
		time.Sleep(150 * time.Millisecond) // changes that follow each other are joined
		began := time.Now()
		value := int(began.UnixMilli() % 1_000_000)
		if err := s.change(ctx, http.MethodPut, "/api/v1/flags/"+clock, value); err != nil {
			return err
		}
		wrote = append(wrote, time.Since(began))
		if err := await(ctx, lines, value, recovery); err != nil {
			return fmt.Errorf("change %d: %w", i, err)
		}
		took = append(took, time.Since(began))
	}
	slices.Sort(took)
	slices.Sort(wrote)
	fmt.Printf("%s: a change is served after %s at the median, %s at most; the write alone is answered after %s at the median\n", name,
		took[len(took)/2].Round(time.Millisecond), took[len(took)-1].Round(time.Millisecond), wrote[len(wrote)/2].Round(time.Millisecond))
	return nil
}

// await waits until the provider serves a value of the flag that it watches.
func await(ctx context.Context, lines <-chan string, value int, limit time.Duration) error {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C:
			return fmt.Errorf("the value %d is not served after %s", value, limit)
		case line, more := <-lines:
			if !more {
				return fmt.Errorf("the provider has ended")
			}
			if line == fmt.Sprint(value) {
				return nil
			}
		}
	}
}

// restart restarts the server, and waits until the provider serves a change that was made afterward.
func (s *server) restart(ctx context.Context, name string, lines <-chan string) error {
	s.stop()
	if err := s.start(ctx); err != nil {
		return err
	}
	took, err := s.changeAndAwait(ctx, lines)
	if err != nil {
		return fmt.Errorf("after a restart: %w", err)
	}
	fmt.Printf("%s: follows again %s after a restart\n", name, took.Round(100*time.Millisecond))
	return nil
}

// followOnce waits until the provider serves one change.
func (s *server) followOnce(ctx context.Context, name string, lines <-chan string) error {
	took, err := s.changeAndAwait(ctx, lines)
	if err != nil {
		return fmt.Errorf("over %s: %w", s.scheme(), err)
	}
	fmt.Printf("%s: follows a change over %s after %s\n", name, s.scheme(), took.Round(time.Millisecond))
	return nil
}

// changeAndAwait makes a change, and returns how long the provider took to serve it.
func (s *server) changeAndAwait(ctx context.Context, lines <-chan string) (time.Duration, error) {
	began := time.Now()
	value := int(began.UnixMilli() % 1_000_000)
	if err := s.change(ctx, http.MethodPut, "/api/v1/flags/"+clock, value); err != nil {
		return 0, err
	}
	err := await(ctx, lines, value, recovery)
	return time.Since(began), err
}
