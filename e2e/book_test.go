package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// fence finds a fenced block of a document: its info string, and its text.
var fence = regexp.MustCompile("(?ms)^```([^\n]*)\n(.*?)^```$")

// TestBook_Commands runs the commands of every document of the book against a server,
// in their order, and compares what they print with the block "text output" that
// follows. Blocks "sh norun" are not run. tour_test.go has the README.
func TestBook_Commands(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("..", "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	ran := 0
	for _, file := range files {
		page, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Contains(page, []byte("\n```sh\n")) {
			continue
		}
		ran++
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			runCommands(t, string(page))
		})
	}
	if ran < 5 {
		t.Errorf("only %d documents have commands", ran)
	}
}

// shownTool finds the name of a tool in the page for assistants.
var shownTool = regexp.MustCompile("`([a-z]+_[a-z]+)`")

// TestBook_Assistant starts the server of the Model Context Protocol as the page for
// assistants configures it, and compares its tools with those of the page.
func TestBook_Assistant(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "assistants.md"))
	if err != nil {
		t.Fatal(err)
	}
	server := serveBook(t, t.TempDir())
	tools, err := toolsOf(t.Context(), shownAssistant(t, string(page), map[string]string{"SIGNALBOX_URL": server.url, "SIGNALBOX_API_KEY": ownerKey}))
	if err != nil {
		t.Fatal(err)
	}
	looking, _, _ := strings.Cut(string(page), "\n## ")
	var shown []string
	for _, tool := range shownTool.FindAllStringSubmatch(looking, -1) {
		shown = append(shown, tool[1])
	}
	slices.Sort(shown)
	slices.Sort(tools)
	if !slices.Equal(tools, shown) {
		t.Errorf("the tools are\n%q\nbut the document shows\n%q", tools, shown)
	}
}

// shownAssistant returns the command that the page configures, with other values for
// its variables.
func shownAssistant(t *testing.T, page string, values map[string]string) *exec.Cmd {
	t.Helper()
	var shown struct {
		Servers map[string]struct {
			Command string            `json:"command"`
			Args    []string          `json:"args"`
			Env     map[string]string `json:"env"`
		} `json:"mcpServers"`
	}
	for _, block := range fence.FindAllStringSubmatch(page, -1) {
		if block[1] != "json" {
			continue
		}
		if err := json.Unmarshal([]byte(block[2]), &shown); err != nil {
			t.Fatal(err)
		}
	}
	entry := shown.Servers["signalbox"]
	if entry.Command != "signalbox" || len(entry.Env) != len(values) {
		t.Fatalf("the document shows %+v", shown)
	}
	command := exec.CommandContext(t.Context(), binary, entry.Args...)
	command.Dir, command.Env = t.TempDir(), []string{}
	for name := range entry.Env {
		command.Env = append(command.Env, name+"="+values[name])
	}
	return command
}

// toolsOf starts an assistant's server and returns the names of its tools.
func toolsOf(ctx context.Context, command *exec.Cmd) ([]string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "e2e"}, nil).Connect(ctx, &mcp.CommandTransport{Command: command}, nil)
	if err != nil {
		return nil, err
	}
	defer session.Close()
	listed, err := session.ListTools(ctx, nil)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, tool := range listed.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

// runCommands runs the commands of one document against a server of its own.
func runCommands(t *testing.T, page string) {
	folder := filepath.Join(t.TempDir(), "a folder") // readers have spaces in their paths
	if err := os.Mkdir(folder, 0o700); err != nil {
		t.Fatal(err)
	}
	server := serveBook(t, folder)
	script := newBookScript(folder, strings.ReplaceAll(page, "http://127.0.0.1:8080", server.url))
	script.run(t, []string{
		"PATH=" + filepath.Dir(binary) + string(os.PathListSeparator) + os.Getenv("PATH"), "HOME=" + folder, "XDG_CONFIG_HOME=" + folder,
		"KEY=" + ownerKey, "SIGNALBOX_API_KEY=" + ownerKey, "SIGNALBOX_URL=" + server.url, "SIGNALBOX_DATA=data", "SIGNALBOX_LISTEN=127.0.0.1:0",
	})
}

// bookScript has the commands of a document as one script, so that later blocks have the variables of earlier ones.
type bookScript struct {
	folder string // where it runs
	text   string
	// wanted has the documented output of each block, by the file that the block prints to.
	wanted map[string]string
}

func newBookScript(folder, page string) *bookScript {
	script, output := &bookScript{folder: folder, wanted: map[string]string{}}, ""
	for number, block := range fence.FindAllStringSubmatch(page, -1) {
		switch block[1] {
		case "sh":
			output = filepath.Join(folder, ".git", fmt.Sprintf("output-%d", number)) // apart from the files that the commands create
			script.text += fmt.Sprintf("{\n%s} > '%s'\ncp '%s' '%s.shown'\n", block[2], output, output, output)
		case "text output":
			script.wanted[output+".shown"] = block[2]
		}
	}
	return script
}

// run runs the script and compares what it prints with what the document shows.
func (s *bookScript) run(t *testing.T, environ []string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(s.folder, ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "bash", "-c", "set -euo pipefail\n"+s.text)
	command.Dir, command.Env = s.folder, environ
	if printed, err := command.CombinedOutput(); err != nil {
		t.Fatalf("the commands end with %v:\n%s\n%s", err, printed, s.text)
	}
	for file, want := range s.wanted {
		comparePrinted(t, file, want)
	}
}

// serveBook starts a server on SQLite for one document.
func serveBook(t *testing.T, folder string) *node {
	t.Helper()
	server, err := startNode(folder, []string{"SIGNALBOX_LISTEN=127.0.0.1:0", "SIGNALBOX_DATA=data", "SIGNALBOX_BOOTSTRAP_KEY=" + ownerKey}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = server.command.Process.Kill() // it may have ended
		<-server.exited
	})
	return server
}

// comparePrinted compares what commands printed with what a document shows, where …
// stands for anything.
func comparePrinted(t *testing.T, file, want string) {
	t.Helper()
	got, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	pattern := "(?s)^" + strings.ReplaceAll(regexp.QuoteMeta(strings.TrimSpace(want)), "…", ".*") + "$"
	if !regexp.MustCompile(pattern).MatchString(strings.TrimSpace(string(got))) {
		t.Errorf("the commands print\n%s\nbut the document shows\n%s", got, want)
	}
}
