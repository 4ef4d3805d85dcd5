package settings

import (
	"fmt"
	"strings"

	"github.com/spf13/pflag"
)

// AddFlags registers a flag for every setting, for commands that run the service.
func AddFlags(fs *pflag.FlagSet) {
	for _, row := range table() {
		fs.Var(&flagValue{kind: row.value}, row.flag(), row.usage())
	}
}

// AddStoreFlags registers the flags of the settings that opening the store needs, and of logging. Load then reads only these.
func AddStoreFlags(fs *pflag.FlagSet) {
	for _, row := range table() {
		if row.store {
			fs.Var(&flagValue{kind: row.value}, row.flag(), row.usage())
		}
	}
}

// usage names the variable and the default besides the meaning.
func (r setting) usage() string {
	if text := r.defaultText(); text != "" {
		return fmt.Sprintf("%s (%s, default: %s)", r.help, r.name, text)
	}
	return fmt.Sprintf("%s (%s)", r.help, r.name)
}

// flagValue keeps a flag's text for Load, which judges all sources alike. It starts empty, so that no default shadows the environment.
type flagValue struct{ text, kind string }

// String returns the text given on the command line.
func (v *flagValue) String() string { return v.text }

// Set keeps the text.
func (v *flagValue) Set(text string) error {
	v.text = text
	return nil
}

// Type is what help texts show for the value.
func (v *flagValue) Type() string { return v.kind }

// Reference returns the settings as a table in Markdown, for the documentation.
func Reference() string {
	var b strings.Builder
	b.WriteString("| variable | flag | default | meaning |\n|---|---|---|---|\n")
	for _, row := range table() {
		fmt.Fprintf(&b, "| `%s` | `--%s %s` | %s | %s |\n", row.name, row.flag(), cell(row.value), row.defaultCell(), cell(row.help))
	}
	fmt.Fprintf(&b, "| `%s`, `%s` | | none | %s |\n", otlpEndpoint, otlpTracesEndpoint,
		"OTLP/HTTP collector that receives traces; without one tracing is off")
	return b.String()
}

// defaultCell shows a literal default as code and a described one as words.
func (r setting) defaultCell() string {
	if r.note == "" && r.fallback != "" {
		return "`" + r.fallback + "`"
	}
	return cell(r.note)
}

// cell keeps a pipe from ending a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
