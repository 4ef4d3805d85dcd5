package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
)

// The files that the manual shows are accepted as they are, and the scripts for pull requests compare them.
func TestDocuments_Manifests(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(manual), -1)
	if len(blocks) != 3 {
		t.Fatalf("the manual has %d blocks of YAML, and this test knows 3", len(blocks))
	}
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t, "SIGNALBOX_URL="+node.URL, "SIGNALBOX_API_KEY="+node.Account(t, "manual", "pro"), "HOOK_TOKEN=secret")
	file := term.file(blocks[0][1])
	if got := term.run("diff", "-f", file); got.code != 10 {
		t.Errorf("before: %+v", got)
	}
	term.must("apply", "-f", file, "--yes")
	if got := term.run("diff", "-f", file); got.code != 0 {
		t.Errorf("after: %+v", got)
	}
	for _, pipeline := range blocks[1:] {
		command := regexp.MustCompile(`signalbox (diff -f \S+)`).FindStringSubmatch(pipeline[1])
		if command == nil {
			t.Fatalf("nothing is compared in %s", pipeline[1])
		}
		term.must(append(strings.Fields(command[1])[:2:2], file)...)
	}
}
