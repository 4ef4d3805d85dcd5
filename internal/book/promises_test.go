package book_test

import (
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox"
)

// TestSecurity_PromisesNameTests checks that every test that SECURITY.md names exists.
func TestSecurity_PromisesNameTests(t *testing.T) {
	t.Parallel()
	text, err := fs.ReadFile(signalbox.Documents(), "SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`(Test[A-Za-z0-9_]+)`").FindAllStringSubmatch(string(text), -1)
	if len(named) < 20 {
		t.Fatalf("only %d tests are named", len(named))
	}
	written := writtenTests(t)
	for _, each := range named {
		if !strings.Contains(written, "func "+each[1]+"(t *testing.T)") {
			t.Errorf("there is no test %s", each[1])
		}
	}
}

// writtenTests returns the text of all tests of the repository.
func writtenTests(t *testing.T) string {
	t.Helper()
	var all strings.Builder
	repository := os.DirFS("../..")
	err := fs.WalkDir(repository, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, "_test.go") {
			if entry != nil && entry.IsDir() && entry.Name() == "node_modules" {
				return fs.SkipDir
			}
			return err
		}
		text, err := fs.ReadFile(repository, path)
		all.Write(text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all.String()
}
