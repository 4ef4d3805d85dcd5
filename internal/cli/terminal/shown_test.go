package terminal

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
)

// hostile copies a text to the clipboard, moves up a line, turns text around and forges a line.
const hostile = "Eve\x1b]52;c;cm0gLXJm\x07\u009b1A\u202egnp\nsignalbox: done"

// shown is hostile as people see it.
const shown = "Eve␛]52;c;cm0gLXJm␇<U+009B>1A<U+202E>gnp␊signalbox: done"

func TestTerminal_HostileText(t *testing.T) {
	t.Parallel()
	column := []Column[string]{{Title: "NAME", Text: func(name string) string { return name }}}
	items := Items[string]{Columns: column, Name: func(name string) string { return name }}
	tests := map[string]struct {
		print func(*Terminal)
		want  string
	}{
		"say":         {func(t *Terminal) { t.Say("by %s.\n", hostile) }, "by " + shown + ".\n"},
		"padded":      {func(t *Terminal) { t.Say("%-4s|%v|%d\n", "\x1b", []string{"\x07"}, 7) }, "␛   |[␇]|7\n"},
		"paint":       {func(t *Terminal) { t.Say("%s\n", t.Paint(Bad, hostile)) }, shown + "\n"},
		"note":        {func(t *Terminal) { t.Note("%v", errors.New(hostile)) }, "signalbox: " + shown + "\n"},
		"a table":     {func(t *Terminal) { _ = PrintOne(t, Format{name: FormatTable}, items, "a\x1b\nb") }, "NAME\na␛ b\n"},
		"wide":        {func(t *Terminal) { _ = PrintOne(t, Format{name: FormatWide}, items, "\u202ea") }, "NAME\n<U+202E>a\n"},
		"names":       {func(t *Terminal) { _ = PrintOne(t, Format{name: FormatName}, items, hostile) }, shown + "\n"},
		"a refusal":   {func(t *Terminal) { t.Fail(fault.New(fault.NotFound, "There is no %s.", hostile)) }, "signalbox: There is no " + shown + ".\n"},
		"of a server": {func(t *Terminal) { t.Fail(refusal()) }, "signalbox: " + shown + "\n"},
		"an error":    {func(t *Terminal) { t.Fail(errors.New("a\x1b\nb\x1b")) }, "signalbox: a␛\nsignalbox: b␛\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var printed bytes.Buffer
			test.print(&Terminal{Out: &printed, Err: &printed})
			if printed.String() != test.want {
				t.Errorf("got %q, want %q", printed.String(), test.want)
			}
		})
	}
}

func refusal() error {
	return &signalbox.APIError{StatusCode: 400, Errors: []signalbox.ErrorEntry{{Detail: hostile}}}
}

// TestTerminal_ColoredText: a colored text has the escapes of its color only.
func TestTerminal_ColoredText(t *testing.T) {
	t.Parallel()
	if got := Sprintf("%s", paint(true, Bad, Sprintf("%s", "a\x1b[0mb"))); got != "\x1b[31ma␛[0mb\x1b[0m" {
		t.Errorf("got %q", got)
	}
}

// TestTerminal_Documents: JSON and YAML have the stored text, with escapes that no terminal interprets.
func TestTerminal_Documents(t *testing.T) {
	t.Parallel()
	stored := map[string]string{"name": hostile, "\u202e": "\u2028\u007f"}
	for _, format := range []string{FormatJSON, FormatYAML, "one line"} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			var printed bytes.Buffer
			to := &Terminal{Out: &printed, Err: &printed}
			show := func() error { return to.PrintValue(Format{name: format}, stored) }
			if format == "one line" {
				show = func() error { return to.PrintLine(stored) }
			}
			if err := show(); err != nil {
				t.Fatal(err)
			}
			if naming.VisibleText(printed.String()) != printed.String() {
				t.Errorf("a terminal would obey %q", printed.String())
			}
			if format == FormatYAML {
				return // package yamljson tests that it means the same
			}
			var got map[string]string
			if err := json.Unmarshal(printed.Bytes(), &got); err != nil || got["name"] != hostile || got["\u202e"] != stored["\u202e"] {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

// TestTerminal_Templates: a program that reads a template's output gets the stored text.
func TestTerminal_Templates(t *testing.T) {
	t.Parallel()
	var format Format
	if err := format.Set("go-template={{.name}}"); err != nil {
		t.Fatal(err)
	}
	var printed strings.Builder
	if err := (&Terminal{Out: &printed}).PrintValue(format, map[string]string{"name": "a\x1bb"}); err != nil || printed.String() != "a\x1bb" {
		t.Errorf("got %q, %v", printed.String(), err)
	}
}
