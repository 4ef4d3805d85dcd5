package cli_test

import (
	"os"
	"regexp"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
)

// The files that the manual shows are accepted as they are. TestRecipe_PullRequest of e2e runs the two pipelines after them.
func TestDocuments_Manifests(t *testing.T) {
	t.Parallel()
	manual, err := os.ReadFile("../../docs/command-line.md")
	if err != nil {
		t.Fatal(err)
	}
	blocks := regexp.MustCompile("(?ms)^```yaml\n(.*?)^```$").FindAllStringSubmatch(string(manual), -1)
	if len(blocks) != 4 {
		t.Fatalf("the manual has %d blocks of YAML, and this test knows 4", len(blocks))
	}
	node := apptest.Shared(t, "sqlite")
	term := newTerminal(t, "SIGNALBOX_URL="+node.URL, "SIGNALBOX_API_KEY="+node.Account(t, "manual", "pro"), "HOOK_TOKEN=secret")
	for _, block := range blocks[:2] {
		file := term.file(block[1])
		term.must("validate", "-f", file)
		if got := term.run("diff", "-f", file); got.code != 10 {
			t.Errorf("before: %+v", got)
		}
		term.must("apply", "-f", file, "--yes")
		if got := term.run("diff", "-f", file); got.code != 0 {
			t.Errorf("after: %+v", got)
		}
	}
}
