package manual_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/manual"
)

func TestWrite_PagesAndCompletions(t *testing.T) {
	t.Parallel()
	run := func(*cobra.Command, []string) {}
	root := &cobra.Command{Use: "box", Short: "A box"}
	root.AddCommand(&cobra.Command{Use: "open NAME", Short: "Open the box", Run: run})
	folder := filepath.Join(t.TempDir(), "made")
	if err := manual.Write(root, folder); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"man/box.1":            "box-open(1)",
		"man/box-open.1":       "Open the box",
		"completions/box.bash": "complete -o default -F __start_box box",
		"completions/_box":     "#compdef box",
		"completions/box.fish": "complete -c box",
		"completions/box.ps1":  "Register-ArgumentCompleter",
	} {
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(filepath.Join(folder, name))
			if err != nil || !strings.Contains(string(text), want) {
				t.Errorf("%s does not have %q: %v", name, want, err)
			}
		})
	}
}

func TestWrite_FolderInTheWay(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := manual.Write(&cobra.Command{Use: "box"}, file); err == nil {
		t.Error("writing below a file works")
	}
}
