package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

func TestWriteTable(t *testing.T) {
	t.Parallel()
	columns := []Column[[]string]{
		{Title: "ID", Text: func(row []string) string { return row[0] }, Whole: true},
		{Title: "DESCRIPTION", Text: func(row []string) string { return row[1] }, Color: func([]string) Color { return Good }},
		{Title: "AT", Text: func(row []string) string { return row[2] }},
	}
	rows := [][]string{{"a", "a text that is\nrather long", "now"}, {"bcd", "", "ä"}}
	tests := map[string]struct {
		width   int
		colored bool
		want    string
	}{
		"any width":  {0, false, "ID   DESCRIPTION                 AT\na    a text that is rather long  now\nbcd  -                           ä\n"},
		"narrow":     {22, false, "ID   DESCRIPTION   AT\na    a text that…  now\nbcd  -             ä\n"},
		"narrower":   {18, false, "ID   DESCRIP…  AT\na    a text …  now\nbcd  -         ä\n"},
		"one left":   {13, false, "ID   DESCRIP…\na    a text …\nbcd  -\n"},
		"too narrow": {2, false, "ID\na\nbcd\n"},
		"colored": {0, true, "\x1b[1mID\x1b[0m   \x1b[1mDESCRIPTION\x1b[0m                 \x1b[1mAT\x1b[0m\n" +
			"a    \x1b[32ma text that is rather long\x1b[0m  now\nbcd  \x1b[32m-\x1b[0m                           ä\n"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var text strings.Builder
			if err := writeTable(&text, columns, rows, test.width, test.colored); err != nil || text.String() != test.want {
				t.Errorf("%s:\n%s\n%q, %v", name, text.String(), text.String(), err)
			}
		})
	}
}

func TestInput_Interrupted(t *testing.T) {
	t.Parallel()
	interrupted := make(chan struct{})
	silent, keepOpen := io.Pipe()
	defer keepOpen.Close()
	close(interrupted)
	from := &Terminal{In: silent, Err: io.Discard, Done: interrupted}
	if _, err := io.ReadAll(from.Input()); err == nil || err.Error() != "interrupted" {
		t.Errorf("got %v", err)
	}
	if _, err := from.Secret("Key: "); err == nil || err.Error() != "interrupted: nothing was changed" {
		t.Errorf("a secret: got %v", err)
	}
	text, err := io.ReadAll((&Terminal{In: iotest.OneByteReader(strings.NewReader("a text"))}).Input())
	if string(text) != "a text" || err != nil {
		t.Errorf("got %q, %v", text, err)
	}
}

func TestAsk_Interrupted(t *testing.T) {
	t.Parallel()
	interrupted, unanswered := make(chan struct{}), make(chan struct{})
	defer close(unanswered)
	close(interrupted)
	var said strings.Builder
	asking := &Terminal{Err: &said, Done: interrupted}
	_, err := asking.ask(func() (string, error) { <-unanswered; return "", nil })
	if err == nil || err.Error() != "interrupted: nothing was changed" || said.String() != "\n" {
		t.Errorf("got %v after %q", err, said.String())
	}
	if answer, err := (&Terminal{}).ask(func() (string, error) { return "yes", nil }); answer != "yes" || err != nil {
		t.Errorf("got %q, %v", answer, err)
	}
}
