package naming_test

import (
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/internal/naming"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                       "",
		"Ada Ünï \U0001F600":     "Ada Ünï \U0001F600",
		"\x1b]52;c;aGk=\x07":     "␛]52;c;aGk=␇",
		"a\nb\tc\r":              "a␊b␉c␍",
		"\x00\x7f":               "␀␡",
		"\u009b31m":              "<U+009B>31m",
		"\x9b31m":                "\uFFFD31m",
		"a\u202eb\u2066c\u2028d": "a<U+202E>b<U+2066>c<U+2028>d",
		"א\u200fa":               "א\u200fa",
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := naming.Visible(text); got != want {
				t.Errorf("%q: got %q, want %q", text, got, want)
			}
		})
	}
	if got := naming.VisibleText("a\n\tb\x1b"); got != "a\n\tb␛" {
		t.Errorf("got %q", got)
	}
}

func TestPrintable(t *testing.T) {
	t.Parallel()
	if got := naming.Printable("Mozilla\x1b[31m/5.0\u202e \u2067(X)\n"); got != "Mozilla[31m/5.0 (X)" {
		t.Errorf("got %q", got)
	}
}
