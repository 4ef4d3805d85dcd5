package e2e

import (
	"bytes"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// beforeTour prepares a shell like a reader's: background jobs are groups of processes and end with the shell. An
// answer that is an error ends the tour. The script is faster than a reader, so curl waits until the shop knows the
// newest change.
const beforeTour = `set -m
trap 'for each in $(jobs -p); do kill -- -$each || true; done' EXIT
known() { command curl -s -H 'Accept: application/json' "http://$SHOP_LISTEN/debug/signalbox" | sed 's/.*"seq":\([0-9]*\).*/\1/'; }
curl() {
	if [ "$2" != --retry ]; then
		local newest=$(signalbox changes list --limit 1 -o name)
		for _ in $(seq 500); do [ "$(known)" -lt "$newest" ] || break; done
	fi
	command curl --fail-with-body "$@"
}
`

// TestTour_Readme runs make run and, beside it, the README's tour, in a fresh checkout whose name
// has a space, on other ports than the README names.
func TestTour_Readme(t *testing.T) {
	t.Parallel()
	folder := freshCheckout(t)
	t.Run("the port is taken", func(t *testing.T) { checkTakenPort(t, folder) })
	server, shop := freePort(t), freePort(t)
	run := startMakeRun(t, folder, server)
	t.Run("it runs already", func(t *testing.T) {
		want := "this folder's server already runs at http://" + server + "; use it from here with: . data/env"
		for _, listen := range []string{server, freePort(t)} {
			if printed := refusedMakeRun(t, folder, listen); !strings.Contains(printed, want) {
				t.Errorf("the reader sees\n%s", printed)
			}
		}
	})
	script := newBookScript(folder, tour(t, server, shop))
	script.text = beforeTour + script.text
	if len(script.wanted) < 5 {
		t.Errorf("the README shows what only %d blocks print", len(script.wanted))
	}
	for _, time := range []string{"the first time", "the second time"} {
		t.Run(time, func(t *testing.T) { script.run(t, tourEnvironment(t, folder)) })
	}
	t.Run("git sees nothing new", func(t *testing.T) {
		if left := git(t, folder, "status", "--porcelain", "--untracked-files=all"); left != "" {
			t.Errorf("the tour leaves what could be committed:\n%s", left)
		}
	})
	run.stop()
	t.Run("its port is another server's now", func(t *testing.T) {
		startMakeRun(t, freshCheckout(t), server)
		if printed := refusedMakeRun(t, folder, server); !strings.Contains(printed, "is taken by another program") {
			t.Errorf("the reader sees\n%s", printed)
		}
	})
	t.Run("the next start", func(t *testing.T) { checkNextStarts(t, folder) })
}

// checkTakenPort checks that make run says in one sentence what to do if the port is taken.
func checkTakenPort(t *testing.T, folder string) {
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	go func() { // not a Signalbox: it closes every connection
		for connection, err := taken.Accept(); err == nil; connection, err = taken.Accept() {
			_ = connection.Close()
		}
	}()
	printed := refusedMakeRun(t, folder, taken.Addr().String())
	_, port, _ := net.SplitHostPort(taken.Addr().String())
	want := "make run: port " + port + " is taken by another program; pick another one with: SIGNALBOX_LISTEN=127.0.0.1:9090 make run\n"
	if !strings.HasPrefix(printed, want) {
		t.Errorf("the reader sees\n%s", printed)
	}
}

// checkNextStarts checks that data/env names a new port of the server, and that data of a server that was not started
// by make run gets a key file.
func checkNextStarts(t *testing.T, folder string) {
	whoami := func() string {
		command := exec.CommandContext(t.Context(), "sh", "-c", ". data/env && signalbox whoami")
		command.Dir, command.Env = folder, tourEnvironment(t, folder)
		printed, _ := command.CombinedOutput()
		return string(printed)
	}
	for _, name := range []string{"with its key", "without its key"} {
		if name == "without its key" {
			if err := os.Remove(filepath.Join(folder, "data", "local.key")); err != nil {
				t.Fatal(err)
			}
		}
		listen := freePort(t)
		run := startMakeRun(t, folder, listen)
		if printed := whoami(); !strings.Contains(printed, listen) || !strings.Contains(printed, "OWNER") {
			t.Errorf("%s: whoami prints\n%s", name, printed)
		}
		run.stop()
	}
}

// TestTour_Commands: the README's make commands exist.
func TestTour_Commands(t *testing.T) {
	t.Parallel()
	makefile, err := os.ReadFile(filepath.Join("..", "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^    make ([a-z-]+)`).FindAllStringSubmatch(readme(t), -1)
	if len(found) < 3 {
		t.Errorf("the README has only the commands %q", found)
	}
	for _, command := range found {
		if !bytes.Contains(makefile, []byte("\n"+command[1]+":")) {
			t.Errorf("there is no make %s", command[1])
		}
	}
}

func readme(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// tour returns the README's tour with other addresses for the server and the shop.
func tour(t *testing.T, server, shop string) string {
	t.Helper()
	_, text, _ := strings.Cut(readme(t), "## A five-minute tour")
	return strings.NewReplacer("127.0.0.1:8080", server, "127.0.0.1:8090", shop).Replace(text)
}

// makeRun is a `make run` in the first terminal.
type makeRun struct {
	t       *testing.T
	command *exec.Cmd
	output  io.ReadCloser
	ended   chan struct{}
	stopped bool
}

func newMakeRun(t *testing.T, folder, listen string) *makeRun {
	t.Helper()
	command := exec.CommandContext(t.Context(), "make", "run")
	command.Path = filepath.Join(folder, "bin", "make")
	command.Dir, command.Env = folder, append(tourEnvironment(t, folder), "SIGNALBOX_LISTEN="+listen)
	return &makeRun{t: t, command: command, ended: make(chan struct{})}
}

// refusedMakeRun returns the output of a `make run` that must not start a server.
func refusedMakeRun(t *testing.T, folder, listen string) string {
	t.Helper()
	printed, err := newMakeRun(t, folder, listen).command.CombinedOutput()
	if err == nil {
		t.Errorf("make run succeeds:\n%s", printed)
	}
	return string(printed)
}

// startMakeRun returns when the server is ready.
func startMakeRun(t *testing.T, folder, listen string) *makeRun {
	t.Helper()
	run := newMakeRun(t, folder, listen)
	var err error
	if run.output, err = run.command.StderrPipe(); err == nil {
		err = run.command.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	ready := make(chan string, 1)
	go run.follow(ready)
	t.Cleanup(run.stop)
	select {
	case <-ready:
	case <-run.ended:
		t.Fatalf("make run has ended:\n%s", <-ready)
	case <-time.After(patience):
		t.Fatal("make run does not become ready")
	}
	return run
}

// follow reads the output to its end, and sends it when the server is ready or has ended.
func (r *makeRun) follow(ready chan<- string) {
	defer close(r.ended)
	var printed []byte
	buffer := make([]byte, 4096)
	for {
		n, err := r.output.Read(buffer)
		printed = append(printed, buffer[:n]...)
		if ready != nil && (err != nil || bytes.Contains(printed, []byte("Signalbox is ready"))) {
			ready <- string(printed)
			ready = nil
		}
		if err != nil {
			_ = r.command.Wait() // it was stopped
			return
		}
	}
}

// stop ends the server as Ctrl-C does, and make with it. The lock of the data folder has the server's id.
func (r *makeRun) stop() {
	text, _ := os.ReadFile(filepath.Join(r.command.Dir, "data", "signalbox.lock"))
	if id, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && !r.stopped {
		r.stopped = true
		if server, err := os.FindProcess(id); err == nil {
			_ = server.Signal(os.Interrupt) // it may have ended
		}
	}
	select {
	case <-r.ended:
	case <-time.After(patience):
		r.t.Error("make run does not stop")
	}
}

// freshCheckout returns a repository for the tour: the commands, links to the source,
// the program that make build would build, and a make that does not build it.
func freshCheckout(t *testing.T) string {
	t.Helper()
	folder := filepath.Join(t.TempDir(), "a folder")
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(os.CopyFS(filepath.Join(folder, "scripts"), os.DirFS(filepath.Join(root, "scripts"))))
	for _, name := range []string{"go.mod", "go.sum", "client", "examples"} {
		check(os.Symlink(filepath.Join(root, name), filepath.Join(folder, name)))
	}
	for _, name := range []string{".gitignore", "Makefile"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		check(err)
		check(os.WriteFile(filepath.Join(folder, name), text, 0o600))
	}
	program, err := exec.LookPath("make")
	check(err)
	check(os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	check(os.Symlink(binary, filepath.Join(folder, "bin", "signalbox")))
	check(os.WriteFile(filepath.Join(folder, "bin", "make"), []byte("#!/bin/sh\nexec "+program+" --old-file=build \"$@\"\n"), 0o700)) //nolint:gosec // it is run
	git(t, folder, "init", "--quiet")
	git(t, folder, "add", "--all")
	git(t, folder, "-c", "user.name=reader", "-c", "user.email=reader@example.com", "commit", "--quiet", "--message=fresh")
	return folder
}

// tourEnvironment returns the variables of the tests without those of Signalbox, and with a
// cache of its own for the shop. With trimmed paths Go can reuse builds of other folders.
func tourEnvironment(t *testing.T, folder string) []string {
	t.Helper()
	built, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	environ := slices.DeleteFunc(os.Environ(), func(each string) bool {
		return strings.HasPrefix(each, "SIGNALBOX_") || strings.HasPrefix(each, "MAKE")
	})
	return append(environ, "GOFLAGS=-trimpath", "GOCACHE="+strings.TrimSpace(string(built)), "XDG_CACHE_HOME="+filepath.Join(folder, ".git"))
}

func git(t *testing.T, folder string, args ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{"-C", folder}, args...)...)
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, output)
	}
	return string(output)
}
