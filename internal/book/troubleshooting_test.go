package book_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox"
)

// TestTroubleshooting_MessagesExist looks for every message of the page in the program:
// people search for the words that they see.
func TestTroubleshooting_MessagesExist(t *testing.T) {
	t.Parallel()
	page, err := fs.ReadFile(signalbox.Documents(), "docs/troubleshooting.md")
	if err != nil {
		t.Fatal(err)
	}
	messages := regexp.MustCompile(`(?m)^> (.+)$`).FindAllStringSubmatch(string(page), -1)
	if len(messages) < 30 {
		t.Fatalf("only %d messages were found", len(messages))
	}
	program := programText(t)
	for _, message := range messages {
		for part := range strings.SplitSeq(message[1], "…") {
			if !strings.Contains(program, strings.TrimSpace(part)) {
				t.Errorf("the program does not say %q, which is a part of\n%s", part, message[1])
			}
		}
	}
}

// programText returns the code of the server and the command line. Texts that are
// written in several parts are joined.
func programText(t *testing.T) string {
	t.Helper()
	var code strings.Builder
	repository := os.DirFS("../..")
	err := fs.WalkDir(repository, "internal", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := fs.ReadFile(repository, path)
		code.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return regexp.MustCompile(`"\s*\+\s*"`).ReplaceAllString(code.String(), "")
}
