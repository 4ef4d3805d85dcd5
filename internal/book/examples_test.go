package book

import (
	"encoding/json"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/signalbox/signalbox"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// cookbookRule finds a rule and the table of contexts that follows it.
var cookbookRule = regexp.MustCompile("(?s)```json rule\n(.*?)```\n\n((?:\\|[^\n]*\n)+)")

// cookbookCase finds a context of a table and whether the rule is true for it.
var cookbookCase = regexp.MustCompile("(?m)^\\| `(.*)` \\| (true|false) \\|$")

// textOf returns a document as it is in the repository.
func textOf(t *testing.T, file string) string {
	t.Helper()
	page, err := fs.ReadFile(signalbox.Documents(), file)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestCookbook_Rules evaluates every rule of the cookbook for the contexts beside it.
func TestCookbook_Rules(t *testing.T) {
	t.Parallel()
	page := textOf(t, "docs/rules.md")
	rules := cookbookRule.FindAllStringSubmatch(page, -1)
	if blocks := strings.Count(page, "```json rule"); blocks != len(rules) || blocks == 0 {
		t.Fatalf("%d of %d rules have contexts", len(rules), blocks)
	}
	for _, rule := range rules {
		t.Run(rule[1], func(t *testing.T) {
			compiled, err := jsonlogic.Compile([]byte(rule[1]), jsonlogic.FlagKey("checkout-v2"))
			if err != nil {
				t.Error(err)
				return
			}
			cases := cookbookCase.FindAllStringSubmatch(rule[2], -1)
			if len(cases) != strings.Count(rule[2], "\n")-2 {
				t.Errorf("%s has contexts that cannot be read:\n%s", rule[1], rule[2])
			}
			for _, each := range cases {
				data, err := jsonlogic.Parse([]byte(each[1]))
				if err != nil {
					t.Errorf("%s: %v", each[1], err)
				}
				if got := compiled.Decide(data).Matched; got != (each[2] == "true") {
					t.Errorf("%s is %v for %s", rule[1], got, each[1])
				}
			}
		})
	}
}

// TestReliability_TestsExist: a promise names the test that holds it.
func TestReliability_TestsExist(t *testing.T) {
	t.Parallel()
	var code strings.Builder
	for _, folder := range []string{"internal", "e2e"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(file string, _ fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(file, "_test.go") {
				return err
			}
			text, err := os.ReadFile(file)
			code.Write(text)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range regexp.MustCompile("`(Test[A-Za-z]+_[A-Za-z]+)`").FindAllStringSubmatch(textOf(t, "docs/reliability.md"), -1) {
		if !strings.Contains(code.String(), "func "+name[1]+"(t *testing.T)") {
			t.Errorf("there is no test %s", name[1])
		}
	}
}

// checkedCode names what checks the code of the documents, by its language, or by its
// page and language where a check knows one page.
var checkedCode = map[string]string{
	"sh":                         "TestBook_Commands",
	"sh norun":                   "nothing, on purpose",
	"text output":                "TestBook_Commands",
	"docs/assistants.md json":    "TestBook_Assistant",
	"docs/command-line.md yaml":  "TestDocuments_Manifests",
	"docs/go-client.md go":       "TestDocuments_GoCompiles",
	"docs/level-files.md java":   "make check-levels",
	"docs/level-files.md python": "make check-levels",
	"docs/level-files.md xml":    "make check-levels",
	"docs/flagd.md text":         "make check-guides",
	"docs/flagd.md python":       "make check-guides",
	"docs/flagd.md js":           "make check-guides",
	"docs/flagd.md java":         "make check-guides",
	"docs/flagd.md rust":         "make check-guides",
	"docs/flagd.md toml":         "make check-guides",
	"docs/flagd.md go":           "make check-flagd, which runs the same calls",
	"docs/openfeature.md text":   "make check-guides",
	"docs/openfeature.md python": "make check-guides",
	"docs/openfeature.md js":     "make check-guides",
	"docs/openfeature.md java":   "make check-guides",
	"docs/openfeature.md csharp": "make check-guides, where there is a dotnet",
	"docs/operations.md json":    "TestParse_Manual",
	"docs/python.md python":      "clients/python/tests/test_docs.py",
	"docs/rules.md json rule":    "TestCookbook_Rules",
	"docs/webhooks.md go":        "TestDocuments_GoCompiles",
	"docs/typescript.md ts":      "clients/typescript/tests/docs.test.ts",
	"docs/typescript.md tsx":     "clients/typescript/tests/docs.test.ts",
}

// TestDocuments_CodeIsChecked refuses code that nothing runs, reads or compiles.
func TestDocuments_CodeIsChecked(t *testing.T) {
	t.Parallel()
	pages, err := fs.Glob(signalbox.Documents(), "docs/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("got %v, %v", pages, err)
	}
	fences := regexp.MustCompile("(?ms)^```([^\n]*)\n.*?^```$")
	for _, page := range pages {
		for _, found := range fences.FindAllStringSubmatch(textOf(t, page), -1) {
			if language := found[1]; checkedCode[language] == "" && checkedCode[page+" "+language] == "" {
				t.Errorf("%s has code %q that nothing checks:\n%s", page, language, found[0])
			}
		}
	}
}

// fragment is the package that the Go code of a document is a part of.
const fragment = `package page

import (
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"os"

	of "github.com/open-feature/go-sdk/openfeature"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/live"
	"github.com/signalbox/signalbox/client/live/slogadapter"
	"github.com/signalbox/signalbox/client/openfeature"
)

const secret = "whsec_"

func enqueue(id, kind string, data json.RawMessage) {}

WEBHOOKS

type Checkout struct{ TimeoutMS int }

func Run(ctx context.Context) error {
CODE
	return err
}
`

// goBlock finds Go code of a document.
var goBlock = regexp.MustCompile("(?s)```go\n(.*?)```")

// TestDocuments_GoCompiles compiles the code of the Go client's page and of the page about webhooks, in the module that
// has everything it imports.
func TestDocuments_GoCompiles(t *testing.T) {
	t.Parallel()
	codeOf := func(page string) string {
		var code strings.Builder
		for _, block := range goBlock.FindAllStringSubmatch(textOf(t, page), -1) {
			code.WriteString(block[1])
		}
		return code.String()
	}
	file, text := filepath.Join(t.TempDir(), "page.go"), strings.NewReplacer("CODE", codeOf("docs/go-client.md"), "WEBHOOKS", codeOf("docs/webhooks.md")).Replace(fragment)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	module, err := filepath.Abs(filepath.Join("..", "..", "client", "openfeature"))
	if err != nil {
		t.Fatal(err)
	}
	// The overlay puts the package into the module without writing there.
	overlay, err := json.Marshal(map[string]any{"Replace": map[string]string{filepath.Join(module, "page", "page.go"): file}})
	if err != nil {
		t.Fatal(err)
	}
	list := file + ".json"
	if err := os.WriteFile(list, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "build", "-trimpath", "-overlay", list, "./page")
	command.Dir, command.Env = module, append(os.Environ(), "CGO_ENABLED=0") // as make build, which has compiled nearly all of it
	if output, err := command.CombinedOutput(); err != nil {
		t.Errorf("the code does not compile: %v\n%s", err, output)
	}
}
