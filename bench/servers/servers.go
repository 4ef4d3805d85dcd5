// Package servers starts the servers that the benchmarks compare, each in its own
// process: the built binary, and a bare net/http handler that writes the same
// bytes.
package servers

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// BareCommand is the argument that turns the bench program into the bare server.
const BareCommand = "serve-bare"

// Key is the OWNER key of every Signalbox that is started here.
const Key = "sk_api_benchmark-key-of-the-first-account-0000000000"

// BinaryVariable names a binary to use instead of bin/signalbox, such as one of an
// earlier commit.
const BinaryVariable = "SIGNALBOX_BENCH_BINARY"

func binary() string {
	return cmp.Or(os.Getenv(BinaryVariable), filepath.Join("..", "bin", "signalbox"))
}

// Server is a server in a process of its own.
type Server struct {
	Address string        // host:port
	Ready   time.Duration // from its start to its first answer that it is ready; only of a Signalbox
	command *exec.Cmd
	drop    func() // removes its database, unless it is nil
}

// Stop ends the server and waits for it. It returns the processor time that the
// server has used.
func (p *Server) Stop() time.Duration {
	_ = p.command.Process.Signal(syscall.SIGTERM)
	_ = p.command.Wait() // the exit code does not affect the measurement
	if p.drop != nil {
		p.drop()
	}
	return Used(p.command)
}

// Used returns the processor time of a command that has ended.
func Used(command *exec.Cmd) time.Duration {
	if command.ProcessState == nil {
		return 0
	}
	return command.ProcessState.UserTime() + command.ProcessState.SystemTime()
}

// StartSignalbox starts the built binary, logging to a file as a service would.
// Further arguments are added to the command.
func StartSignalbox(ctx context.Context, folder, database string, args ...string) (*Server, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "server.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	args = append([]string{"serve", "--listen", address, "--data", folder, "--database", database, "--bootstrap-key", Key}, args...)
	command := exec.CommandContext(ctx, binary(), args...)
	command.Stdout, command.Stderr = log, log
	began := time.Now()
	if err := command.Start(); err != nil {
		return nil, fmt.Errorf("starting %s (make build makes bin/signalbox): %w", binary(), err)
	}
	server := &Server{command: command, Address: address}
	if err := server.waitUntilReady(ctx); err != nil {
		server.Stop()
		return nil, err
	}
	server.Ready = time.Since(began)
	return server, nil
}

// CreateAccount creates an account beside a running server, and returns its key.
func CreateAccount(ctx context.Context, folder, database, name string) (key string, err error) {
	output, err := exec.CommandContext(ctx, binary(), "admin", "accounts", "create", name, "--json", "--data", folder, "--database", database).Output()
	if err != nil {
		return "", fmt.Errorf("creating an account: %w", err)
	}
	var made struct {
		Key string `json:"key"`
	}
	return made.Key, json.Unmarshal(output, &made)
}

func (p *Server) waitUntilReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := Fetch(ctx, http.MethodGet, p.Address, "/api/readiness", nil); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.New("the server did not become ready")
		case <-tick.C:
		}
	}
}

// StartBare starts this program again as a server that writes body to every request.
func StartBare(ctx context.Context, folder string, body []byte) (*Server, error) {
	file := filepath.Join(folder, "body")
	if err := os.WriteFile(file, body, 0o600); err != nil {
		return nil, err
	}
	return StartSelf(ctx, BareCommand, file)
}

// StartSelf starts this program again as one of its servers. Such a server prints its address first.
func StartSelf(ctx context.Context, args ...string) (*Server, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	command := exec.CommandContext(ctx, self, args...)
	command.Stderr = os.Stderr
	output, err := command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := command.Start(); err != nil {
		return nil, err
	}
	address, err := bufio.NewReader(output).ReadString('\n')
	if err != nil {
		return nil, fmt.Errorf("%s did not start: %w", args[0], err)
	}
	return &Server{command: command, Address: strings.TrimSpace(address)}, nil
}

// ServeBare runs the bare server: it writes the bytes of a file to every request, with the headers that Signalbox sends.
func ServeBare(ctx context.Context, args []string, out io.Writer) error {
	body, err := os.ReadFile(args[0])
	if err != nil {
		return err
	}
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, listener.Addr()); err != nil {
		return err
	}
	length := strconv.Itoa(len(body))
	server := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/vnd.api+json")
		w.Header().Set("Content-Length", length)
		_, _ = w.Write(body)
	})}
	return server.Serve(listener)
}

func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	listener, err := config.Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// Fetch makes one request with the key and returns the body. An error status is an
// error.
func Fetch(ctx context.Context, method, address, path string, body []byte) ([]byte, error) {
	return FetchAs(ctx, Key, method, address, path, body)
}

// FetchAs is Fetch with the key of another account.
func FetchAs(ctx context.Context, key, method, address, path string, body []byte) ([]byte, error) {
	request, err := http.NewRequestWithContext(ctx, method, "http://"+address+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+key)
	response, err := (&http.Client{}).Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("%s %s: %s: %s", method, path, response.Status, text)
	}
	return text, err
}
