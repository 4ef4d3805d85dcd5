package terminal

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/spf13/cobra"

	"github.com/signalbox/signalbox/internal/cli/jsonpath"
	"github.com/signalbox/signalbox/internal/cli/yamljson"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/rawjson"
)

// The formats of results.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"

	templatePrefix = "go-template="
	pathPrefix     = "jsonpath="

	formatNames = "table, wide, json, yaml, name, jsonpath=PATH or go-template=TEMPLATE"
)

// filler is a template of either language.
type filler interface {
	Execute(w io.Writer, value any) error
}

// Format is how a command prints its result. It is the value of the flag -o.
type Format struct {
	name     string
	template filler
	given    bool
}

// AddFormat adds the flag -o.
func AddFormat(cmd *cobra.Command, format *Format, fallback string) {
	format.name = fallback
	cmd.Flags().VarP(format, "output", "o", "`FORMAT` of the result: "+formatNames)
	words := []string{FormatTable, FormatWide, FormatJSON, FormatYAML, FormatName, pathPrefix, templatePrefix}
	_ = cmd.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
}

// String returns the format's name.
func (f *Format) String() string { return f.name }

// Type returns the placeholder in help texts.
func (f *Format) Type() string { return "FORMAT" }

// Set chooses a format.
func (f *Format) Set(text string) (err error) {
	source, isTemplate := strings.CutPrefix(text, templatePrefix)
	path, isPath := strings.CutPrefix(text, pathPrefix)
	switch {
	case isTemplate:
		if f.template, err = template.New("output").Option("missingkey=zero").Parse(source); err != nil {
			return err
		}
		text = templatePrefix
	case isPath:
		if f.template, err = jsonpath.Parse(path); err != nil {
			return err
		}
		text = pathPrefix
	case text != FormatTable && text != FormatWide && text != FormatJSON && text != FormatYAML && text != FormatName:
		return fmt.Errorf("it must be %s", formatNames)
	}
	f.name, f.given = text, true
	return nil
}

// Given reports whether somebody chose the format.
func (f *Format) Given() bool { return f.given }

// IsText reports whether the result is a table for people.
func (f *Format) IsText() bool { return f.name == FormatTable || f.name == FormatWide }

// isLines reports whether the result has a line for every item, and no JSON.
func (f *Format) isLines() bool { return f.IsText() || f.name == FormatName }

// NeedDocument refuses the formats that only lists and single resources have.
func (f *Format) NeedDocument() error {
	if !f.isLines() {
		return nil
	}
	return Usagef("-o %s is for tables of resources; use json, yaml, %sPATH or %sTEMPLATE", f.name, pathPrefix, templatePrefix)
}

// Items says how to print a kind of item in every format.
type Items[T any] struct {
	Columns []Column[T]
	// Name returns the id of an item, for -o name.
	Name func(T) string
	// JSON returns an item as a JSON object.
	JSON func(T) (json.RawMessage, error)
}

// PrintAll prints a list.
func PrintAll[T any](t *Terminal, format Format, items Items[T], list []T) error {
	if format.isLines() {
		return items.printText(t, format, list)
	}
	documents := make([]json.RawMessage, len(list))
	for i, item := range list {
		var err error
		if documents[i], err = items.JSON(item); err != nil {
			return err
		}
	}
	return t.PrintValue(format, documents)
}

// PrintOne prints a single item.
func PrintOne[T any](t *Terminal, format Format, items Items[T], item T) error {
	if format.isLines() {
		return items.printText(t, format, []T{item})
	}
	document, err := items.JSON(item)
	if err != nil {
		return err
	}
	return t.printDocument(format, document)
}

func (i Items[T]) printText(t *Terminal, format Format, list []T) error {
	if format.name == FormatName {
		for _, item := range list {
			t.Say("%s\n", i.Name(item))
		}
		return nil
	}
	return writeTable(t.Out, i.columns(format), list, t.width(), t.Colored())
}

// columns returns the columns of a format.
func (i Items[T]) columns(format Format) (columns []Column[T]) {
	for _, column := range i.Columns {
		if !column.Wide || format.name == FormatWide {
			columns = append(columns, column)
		}
	}
	return columns
}

// PrintRows prints some rows of a table without its title, as wide as the whole list needs.
func PrintRows[T any](t *Terminal, format Format, items Items[T], list []T, shown func(int) bool) error {
	return writeRows(t.Out, items.columns(format), list, t.width(), t.Colored(), func(row int) bool { return row > 0 && shown(row-1) })
}

// PrintValue prints a value that has no table as JSON, as YAML or with a template.
func (t *Terminal) PrintValue(format Format, value any) error {
	document, err := rawjson.Encode(value)
	if err != nil {
		return err
	}
	return t.printDocument(format, document)
}

// PrintLine prints a value as JSON in one line.
func (t *Terminal) PrintLine(value any) error {
	document, err := rawjson.Encode(value)
	if err != nil {
		return err
	}
	_, err = t.Out.Write(append(EscapeJSON(document), '\n'))
	return err
}

// printDocument prints a JSON text.
func (t *Terminal) printDocument(format Format, document json.RawMessage) error {
	switch {
	case format.template != nil:
		return t.printTemplate(format.template, document)
	case format.name == FormatYAML:
		return t.PrintYAML([]json.RawMessage{document})
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, document, "", "  "); err != nil {
		return err
	}
	indented.WriteByte('\n')
	_, err := t.Out.Write(EscapeJSON(indented.Bytes()))
	return err
}

// PrintYAML prints JSON texts as one YAML document each.
func (t *Terminal) PrintYAML(documents []json.RawMessage) error {
	for i, document := range documents {
		text, err := yamljson.FromJSON(document)
		if err != nil {
			return err
		}
		if i > 0 {
			t.Say("---\n")
		}
		if _, err := t.Out.Write(text); err != nil {
			return err
		}
	}
	return nil
}

// printTemplate fills a template with a document. A list is one document.
func (t *Terminal) printTemplate(filled filler, document json.RawMessage) error {
	value, err := rawjson.Decode[any](document)
	if err != nil {
		return err
	}
	var text bytes.Buffer
	if err := filled.Execute(&text, value); err != nil {
		return Usage(err)
	}
	if _, is := filled.(*jsonpath.Template); is && !bytes.HasSuffix(text.Bytes(), []byte("\n")) {
		text.WriteByte('\n')
	}
	if _, is := terminalOf(t.Out); is {
		t.Say("%s", Shown(naming.VisibleText(text.String())))
		return nil
	}
	_, err = t.Out.Write(text.Bytes()) // a program reads the stored text, so nothing is replaced
	return err
}
