package terminal

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/signalbox/signalbox/internal/naming"
)

// Terminal is the input and output of a command. What is not a terminal gets no colours and is asked nothing.
type Terminal struct {
	Environ  []string
	In       io.Reader
	Out, Err io.Writer
	// Done is closed when somebody interrupts the program, which also ends a question; nil is never.
	Done <-chan struct{}
}

// Variable returns a variable of the environment; the last of a name wins.
func (t *Terminal) Variable(name string) string {
	for _, entry := range slices.Backward(t.Environ) {
		if value, found := strings.CutPrefix(entry, name+"="); found {
			return value
		}
	}
	return ""
}

// Say prints a result, with symbols for characters that must not reach a terminal.
func (t *Terminal) Say(format string, args ...any) { Fprintf(t.Out, format, args...) }

// Note prints a line about a result to stderr, so that it does not mix with what programs read.
func (t *Terminal) Note(format string, args ...any) {
	Fprintf(t.Err, "signalbox: "+format+"\n", args...)
}

// width returns the columns of the terminal that results go to; 0 when it is none, or when NO_COLOR asks for plain text.
func (t *Terminal) width() int {
	descriptor, is := terminalOf(t.Out)
	if !is || t.Variable("NO_COLOR") != "" {
		return 0
	}
	width, _, _ := term.GetSize(descriptor)
	return max(0, width) // it is -1 when the terminal does not say
}

// terminalOf returns the descriptor of a stream that is a terminal.
func terminalOf(stream any) (int, bool) {
	file, is := stream.(*os.File)
	if !is || !term.IsTerminal(int(file.Fd())) {
		return 0, false
	}
	return int(file.Fd()), true
}

// Interactive reports whether there is somebody to ask.
func (t *Terminal) Interactive() bool {
	_, is := terminalOf(t.In)
	return is
}

// Confirm asks a question after naming the consequences, and returns nil for yes. yes answers beforehand.
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

// Secret asks for a text and does not show it. Without a terminal it is the first line of the input.
func (t *Terminal) Secret(question string) (string, error) {
	descriptor, is := terminalOf(t.In)
	if !is {
		return t.line()
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

// line reads one line of the input.
func (t *Terminal) line() (string, error) {
	line, err := bufio.NewReader(t.In).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading the answer: %w", err)
	}
	return strings.TrimSpace(line), nil
}
