package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/signalbox/signalbox/internal/naming"
)

// Terminal is the input and output of a command. Colors and questions need a real terminal, not a file or a pipe.
type Terminal struct {
	Environ  []string
	In       io.Reader
	Out, Err io.Writer
	// Done is closed when somebody interrupts the program, which also ends a question; nil is never.
	Done <-chan struct{}

	writing sync.Mutex
	lost    error // the first error of Write
}

// Variable returns a variable of the environment. Of entries with the same name the last wins.
func (t *Terminal) Variable(name string) string {
	for _, entry := range slices.Backward(t.Environ) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// Say prints a result, with symbols for characters that must not reach a terminal.
func (t *Terminal) Say(format string, args ...any) { Fprintf(t, format, args...) }

// Write writes a part of the result, and keeps the first error for Finish.
func (t *Terminal) Write(text []byte) (int, error) {
	count, err := t.Out.Write(text)
	if err != nil && !errors.Is(err, syscall.EPIPE) { // who closes a pipe has read enough
		t.writing.Lock()
		defer t.writing.Unlock()
		if t.lost == nil {
			t.lost = err
		}
	}
	return count, err
}

// Finish returns the error that a command ends with. A result that could not be written is a failure, also if it was a
// difference: it may be a secret that is shown only once.
func (t *Terminal) Finish(err error) error {
	t.writing.Lock()
	defer t.writing.Unlock()
	if t.lost != nil && (err == nil || ExitCode(err) == ExitDiffers) {
		return t.lost
	}
	return err
}

// Note prints a line about a result to stderr, so that programs do not read it as part of the result.
func (t *Terminal) Note(format string, args ...any) {
	Fprintf(t.Err, "signalbox: "+format+"\n", args...)
}

// Cuts reports whether long lines of results are cut: on a terminal, where a person reads them.
func (t *Terminal) Cuts() bool { return t.width() > 0 }

// width returns the width of the terminal; 0 if results do not go to a terminal, or NO_COLOR is set.
func (t *Terminal) width() int {
	descriptor, is := terminalOf(t.Out)
	if !is || t.Variable("NO_COLOR") != "" {
		return 0
	}
	width, _, _ := term.GetSize(descriptor)
	return max(0, width) // width is -1 if the terminal does not report it
}

// terminalOf returns the descriptor of a stream that is a terminal.
func terminalOf(stream any) (int, bool) {
	file, is := stream.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	return int(file.Fd()), true
}

// Interactive reports whether the input is a terminal, where somebody can answer.
func (t *Terminal) Interactive() bool {
	_, is := terminalOf(t.In)
	return is
}

// Confirm prints the consequences and asks whether to continue. It returns nil for yes. With yes set it does not ask.
func (t *Terminal) Confirm(yes bool, consequences string) error {
	if yes {
		return nil
	}
	if !t.Interactive() {
		return Usage(fmt.Errorf("%s Say --yes to do it", consequences))
	}
	Fprintf(t.Err, "%s\nGo on? [y/N] ", Shown(naming.VisibleText(consequences)))
	answer, err := t.ask(t.line)
	if err != nil {
		return err
	}
	if answer = strings.ToLower(answer); answer != "y" && answer != "yes" {
		return errors.New("nothing was changed")
	}
	return nil
}

// Secret asks for a text and does not show it while it is typed. Without a terminal it reads the first line of the input.
func (t *Terminal) Secret(question string) (string, error) {
	descriptor, is := terminalOf(t.In)
	if !is {
		return t.ask(t.line)
	}
	fmt.Fprint(t.Err, question)
	if before, err := term.GetState(descriptor); err == nil {
		defer func() { _ = term.Restore(descriptor, before) }() // an interrupted question leaves the input hidden
	}
	return t.ask(func() (string, error) {
		text, err := term.ReadPassword(descriptor)
		fmt.Fprintln(t.Err)
		if err != nil {
			return "", fmt.Errorf("reading the answer: %w", err)
		}
		return strings.TrimSpace(string(text)), nil
	})
}

// ask returns the answer that read waits for, or an error as soon as somebody interrupts the program.
func (t *Terminal) ask(read func() (string, error)) (string, error) {
	type answer struct {
		text string
		err  error
	}
	answers := make(chan answer, 1)
	go func() { // it waits for the input until the program ends
		text, err := read()
		answers <- answer{text, err}
	}()
	select {
	case got := <-answers:
		return got.text, got.err
	case <-t.Done:
		fmt.Fprintln(t.Err)
		return "", errors.New("interrupted: nothing was changed")
	}
}

// Input returns the input. Reading from it ends when somebody interrupts the program, also while no input comes.
func (t *Terminal) Input() io.Reader { return input{t} }

type input struct{ of *Terminal }

// Read implements io.Reader. An abandoned read keeps its own buffer.
func (i input) Read(text []byte) (int, error) {
	type result struct {
		text []byte
		err  error
	}
	results := make(chan result, 1)
	go func() { // it waits for the input until the program ends
		own := make([]byte, len(text))
		count, err := i.of.In.Read(own)
		results <- result{own[:count], err}
	}()
	select {
	case got := <-results:
		return copy(text, got.text), got.err
	case <-i.of.Done:
		return 0, errors.New("interrupted")
	}
}

// line reads one line of the input.
func (t *Terminal) line() (string, error) {
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}
