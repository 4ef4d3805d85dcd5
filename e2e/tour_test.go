package e2e

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// beforeTour makes a shell as a reader has it: background jobs are groups of processes, and
// end with it, unless they have ended meanwhile. An answer that is an error ends the tour.
const beforeTour = `set -m
trap 'for each in $(jobs -p); do kill -- -$each || true; done' EXIT
curl() { if [ "$1" = -fs ]; then command curl "$@"; else command curl --fail-with-body "$@"; fi; }
`

// TestTour_Readme runs the README's tour from its own text in a fresh checkout, on other
// ports than it names, as readers do whose ports are taken. Git must not see what it makes.
func TestTour_Readme(t *testing.T) {
	t.Parallel()
	folder := freshCheckout(t)
	script := newBookScript(folder, tour(t, freePort(t), freePort(t)))
	script.text = beforeTour + script.text
	if len(script.wanted) < 5 {
		t.Errorf("the README shows what only %d blocks print", len(script.wanted))
	}
	script.run(t, tourEnvironment(t, folder))
	if _, err := os.Stat(filepath.Join(folder, "data", "tour.key")); err != nil {
		t.Error(err)
	}
	if left := git(t, folder, "status", "--porcelain", "--untracked-files=all"); left != "" {
		t.Errorf("the tour leaves what could be committed:\n%s", left)
	}
}

// TestTour_PortTaken: the reader learns what to do, and the shell does not wait for ever.
func TestTour_PortTaken(t *testing.T) {
	t.Parallel()
	taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { // it is no Signalbox: every connection is closed
		for connection, err := taken.Accept(); err == nil; connection, err = taken.Accept() {
			_ = connection.Close()
		}
	}()
	defer taken.Close()
	folder := freshCheckout(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	start := fence.FindStringSubmatch(tour(t, taken.Addr().String(), freePort(t)))[2]
	command := exec.CommandContext(ctx, "bash", "-c", beforeTour+start)
	command.Dir, command.Env = folder, tourEnvironment(t, folder)
	printed, _ := command.CombinedOutput() // its code is that of the last line
	if ctx.Err() != nil || !strings.Contains(string(printed), "address already in use") || !strings.Contains(string(printed), "choose another address, for example SIGNALBOX_LISTEN=") {
		t.Errorf("%v: the reader sees\n%s", ctx.Err(), printed)
	}
}

// tour returns the README with other addresses for the server and the shop.
func tour(t *testing.T, server, shop string) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join("..", "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(readme), "## A five-minute tour")
	for _, each := range [][2]string{{"http://127.0.0.1:8080", server}, {"http://127.0.0.1:8081", shop}} {
		if strings.Count(text, each[0]) != 1 {
			t.Fatalf("the tour must name %s once, so that a reader can take another one", each[0])
		}
		text = strings.Replace(text, each[0], "http://"+each[1], 1)
	}
	return text
}

// freshCheckout returns a repository with what the tour needs: links to the source, the
// program that make build would build, and a make that has nothing to do.
func freshCheckout(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
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
	for _, name := range []string{"go.mod", "go.sum", "client", "examples"} {
		check(os.Symlink(filepath.Join(root, name), filepath.Join(folder, name)))
	}
	ignored, err := os.ReadFile(filepath.Join(root, ".gitignore"))
	check(err)
	check(os.WriteFile(filepath.Join(folder, ".gitignore"), ignored, 0o600))
	check(os.Mkdir(filepath.Join(folder, "bin"), 0o700))
	check(os.Symlink(binary, filepath.Join(folder, "bin", "signalbox")))
	check(os.WriteFile(filepath.Join(folder, "bin", "make"), []byte("#!/bin/sh\n[ \"$*\" = build ]\n"), 0o700)) //nolint:gosec // it is run
	git(t, folder, "init", "--quiet")
	git(t, folder, "add", "--all")
	git(t, folder, "-c", "user.name=reader", "-c", "user.email=reader@example.com", "commit", "--quiet", "--message=fresh")
	return folder
}

// tourEnvironment returns the variables of the tests without those of Signalbox, and with a
// cache of its own for the shop. Trimmed paths let Go use what it built in other folders.
func tourEnvironment(t *testing.T, folder string) []string {
	t.Helper()
	built, err := exec.CommandContext(t.Context(), "go", "env", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	environ := slices.DeleteFunc(os.Environ(), func(each string) bool { return strings.HasPrefix(each, "SIGNALBOX_") })
	return append(environ, "PATH="+filepath.Join(folder, "bin")+string(os.PathListSeparator)+os.Getenv("PATH"),
		"GOFLAGS=-trimpath", "GOCACHE="+strings.TrimSpace(string(built)), "XDG_CACHE_HOME="+filepath.Join(folder, ".git"))
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
