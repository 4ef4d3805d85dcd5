package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/terminal"
	"github.com/signalbox/signalbox/internal/cli/yamljson"
	"github.com/signalbox/signalbox/internal/imports"
)

func (s *shell) imports() *cobra.Command {
	group := terminal.Group("import", "Translate exports of other systems to files for apply")
	group.Long = `Translate exports of other systems to files for apply. The result goes to stdout; stderr says what could not be carried
over and what to know before applying it. No server is needed.`
	for _, format := range imports.Formats() {
		group.AddCommand(s.importFormat(format))
	}
	return group
}

func (s *shell) importFormat(format imports.Format) *cobra.Command {
	var options imports.Options
	cmd := &cobra.Command{
		Use:   format.Name + " FILE",
		Short: "Import " + format.Short,
		Long: "Import " + format.Short + `. FILE may be - for stdin.

What Signalbox cannot express is left out. Stderr names it, and says what the users of the flag or job get instead.`,
		Example: "  signalbox import " + format.Name + " " + exampleFile(format.Name) + " > imported.yaml",
		Args:    terminal.Arguments,
		RunE: func(_ *cobra.Command, args []string) error {
			result, err := s.readImport(format, args[0], options)
			if err != nil {
				return err
			}
			return s.printImport(result)
		},
	}
	cmd.Flags().StringVarP(&options.Environment, "environment", "e", "production", "the `ID` of the environment, for files that name none")
	if format.Name == "crontab" { // nothing else becomes jobs
		terminal.AddCount(cmd, &options.Retry, "retry", 0, 2, 10, "attempt failed runs of imported jobs up to this `NUMBER` of times, 2 to 10")
	}
	return cmd
}

// exampleFile returns the name of a file of a format.
func exampleFile(format string) string {
	switch format {
	case "crontab":
		return "/etc/crontab"
	case "spring-logging":
		return "application.yaml"
	case "flipt":
		return "features.yaml"
	}
	return "flags.json"
}

// readImport reads a file and translates it.
func (s *shell) readImport(format imports.Format, file string, options imports.Options) (imports.Result, error) {
	text, err := s.readFile(file)
	if err != nil {
		return imports.Result{}, err
	}
	documents := [][]byte{text}
	if format.Text == nil || !format.Text(file) {
		parsed, err := yamljson.ToJSON(text)
		if _, is := errors.AsType[yamljson.SyntaxError](err); is {
			return imports.Result{}, fmt.Errorf("%s is neither JSON nor YAML: %w", file, err)
		}
		if err != nil {
			return imports.Result{}, fmt.Errorf("%s: %w", file, err)
		}
		documents = nil
		for _, each := range parsed {
			documents = append(documents, each.JSON)
		}
	}
	result, err := format.Import(documents, options)
	if err != nil {
		return imports.Result{}, fmt.Errorf("%s: %w", file, err)
	}
	return result, nil
}

// readFile reads a file, or the input for "-".
func (s *shell) readFile(file string) ([]byte, error) {
	if file == "-" {
		return io.ReadAll(s.Input())
	}
	return os.ReadFile(file)
}

// printImport prints the resources, and the losses and notes to stderr.
func (s *shell) printImport(result imports.Result) error {
	if err := s.PrintYAML(result.Documents); err != nil {
		return err
	}
	for _, sentence := range slices.Concat(result.Lost, result.Notes) {
		s.Note("%s", sentence)
	}
	translated, lost := len(result.Documents), len(result.Lost)
	s.Note("%d %s translated, %d %s could not be carried over", translated, plural(translated, "resource"), lost, plural(lost, "thing"))
	return nil
}
