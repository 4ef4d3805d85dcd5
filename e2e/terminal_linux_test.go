package e2e

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/signalbox/signalbox/internal/suite"
)

// openTerminal opens the two sides of a pseudo-terminal: the first side reads what a program writes
// to the second.
func openTerminal(t *testing.T) (screen, program *os.File) {
	t.Helper()
	screen, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		suite.Skip(t, "This needs a pseudo-terminal, and none can be opened: "+err.Error())
	}
	t.Cleanup(func() { _ = screen.Close() })
	if err := unix.IoctlSetPointerInt(int(screen.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(int(screen.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(filepath.Join("/dev/pts", strconv.Itoa(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	return screen, program
}

// A person at a terminal sees where the server is and how to sign in, without
// reading a log.
func TestServe_OnTerminal(t *testing.T) {
	t.Parallel()
	screen, program := openTerminal(t)
	command := exec.CommandContext(t.Context(), binary, "serve")
	command.Dir, command.Env = t.TempDir(), []string{"SIGNALBOX_LISTEN=127.0.0.1:0"}
	command.Stdout, command.Stderr = program, program
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // the process has its own
	var seen strings.Builder
	where := regexp.MustCompile(`(?m)^  Signalbox is ready at (http://127\.0\.0\.1:[1-9][0-9]*)\r?$`)
	for lines := bufio.NewScanner(screen); lines.Scan() && !where.MatchString(seen.String()); {
		seen.WriteString(lines.Text() + "\n")
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	if err := command.Wait(); err != nil {
		t.Error(err)
	}
	found := where.FindStringSubmatch(seen.String())
	if found == nil {
		t.Fatalf("it showed\n%s", seen.String())
	}
	for _, line := range []string{`^ +sk_api_[A-Za-z0-9_-]{43}\r?$`, `^ +` + regexp.QuoteMeta(found[1]) + `/setup\?token=[A-Za-z0-9_-]{43}\r?$`} {
		if !regexp.MustCompile(`(?m)` + line).MatchString(seen.String()) {
			t.Errorf("no line is %s in\n%s", line, seen.String())
		}
	}
}

// The long values of a plan are cut on a terminal only: neither in a pipe nor with NO_COLOR.
func TestDiff_CutsOnTerminalOnly(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := serveBook(t, folder)
	long := strings.Repeat("long ", 100)
	if err := os.WriteFile(filepath.Join(folder, "flag.yaml"), []byte("{kind: flag, id: a, type: STRING, default: "+long+"}"), 0o600); err != nil {
		t.Fatal(err)
	}
	tests := map[string]struct {
		terminal bool
		environ  []string
		cut      bool
	}{
		"on a terminal":      {true, nil, true},
		"in a pipe":          {false, nil, false},
		"with NO_COLOR":      {true, []string{"NO_COLOR=1"}, false},
		"in a dumb terminal": {true, []string{"TERM=dumb"}, true},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			command := exec.CommandContext(t.Context(), binary, "diff", "-f", "flag.yaml")
			command.Dir = folder
			command.Env = append(test.environ, "SIGNALBOX_URL="+server.url, "SIGNALBOX_API_KEY="+ownerKey)
			seen := runSeen(t, command, test.terminal)
			if !strings.Contains(seen, "1 to create") || strings.Contains(seen, strings.TrimSpace(long)) == test.cut || strings.Contains(seen, "…") != test.cut {
				t.Errorf("it shows\n%s", seen)
			}
			if test.environ != nil && strings.Contains(seen, "\x1b") {
				t.Errorf("it has colors:\n%q", seen)
			}
		})
	}
}

// runSeen runs a command on a terminal of 80 columns, or in a pipe, and returns its output.
func runSeen(t *testing.T, command *exec.Cmd, onTerminal bool) string {
	t.Helper()
	if !onTerminal {
		printed, _ := command.Output() // which is different
		return string(printed)
	}
	screen, program := openTerminal(t)
	if err := unix.IoctlSetWinsize(int(program.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 24, Col: 80}); err != nil {
		t.Fatal(err)
	}
	command.Stdout = program
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // the process has its own
	var seen strings.Builder
	for lines := bufio.NewScanner(screen); lines.Scan(); {
		seen.WriteString(lines.Text() + "\n")
	}
	_ = command.Wait() // which is different
	return seen.String()
}

// Ctrl-C ends a question at once, without Enter.
func TestQuestion_Interrupted(t *testing.T) {
	t.Parallel()
	screen, program := openTerminal(t)
	command := exec.CommandContext(t.Context(), binary, "login", "http://127.0.0.1:1")
	command.Dir, command.Env = t.TempDir(), []string{"HOME=" + t.TempDir()}
	command.Stdin, command.Stdout, command.Stderr = program, program, program
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = program.Close() // the process has its own
	seen, asked := make([]byte, 0, 1<<10), "or an API key: "
	for buffer := make([]byte, 256); !strings.Contains(string(seen), asked); {
		read, err := screen.Read(buffer)
		if err != nil {
			t.Fatalf("%v after\n%s", err, seen)
		}
		seen = append(seen, buffer[:read]...)
	}
	if err := command.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(screen) // ends with an error when the program has exited
	if err := command.Wait(); err == nil || command.ProcessState.ExitCode() != 1 {
		t.Errorf("it ended with %v", err)
	}
	if !strings.Contains(string(rest), "signalbox: interrupted: nothing was changed") {
		t.Errorf("it showed\n%s", rest)
	}
}
