// Package manual writes the manual pages and shell completions for packages. The program itself does not need it, so only
// cmd/manual imports it.
package manual

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"
)

// Write writes the manual pages of a command and all below it to folder/man, and its completions to folder/completions.
func Write(root *cobra.Command, folder string) error {
	pages, completions := filepath.Join(folder, "man"), filepath.Join(folder, "completions")
	for _, each := range []string{pages, completions} {
		if err := os.MkdirAll(each, 0o755); err != nil {
			return fmt.Errorf("making the folder: %w", err)
		}
	}
	root.DisableAutoGenTag = true // builds must be reproducible
	header := &doc.GenManHeader{Section: "1", Source: "Signalbox", Manual: "Signalbox"}
	if err := doc.GenManTree(root, header, pages); err != nil {
		return fmt.Errorf("writing manual pages: %w", err)
	}
	return writeCompletions(root, completions)
}

// writeCompletions writes a file for each shell, named as packages install it.
func writeCompletions(root *cobra.Command, folder string) error {
	write := map[string]func(path string) error{
		root.Name() + ".bash": func(path string) error { return root.GenBashCompletionFileV2(path, true) },
		"_" + root.Name():     root.GenZshCompletionFile,
		root.Name() + ".fish": func(path string) error { return root.GenFishCompletionFile(path, true) },
		root.Name() + ".ps1":  root.GenPowerShellCompletionFileWithDesc,
	}
	for name, generate := range write {
		if err := generate(filepath.Join(folder, name)); err != nil {
			return fmt.Errorf("writing completions: %w", err)
		}
	}
	return nil
}
