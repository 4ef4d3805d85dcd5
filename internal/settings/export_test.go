package settings

import (
	"fmt"
	"strings"
)

// Reference returns the settings as a table in Markdown, for the documentation.
func Reference() string {
	var b strings.Builder
	b.WriteString("| variable | flag | default | meaning |\n|---|---|---|---|\n")
	for _, row := range table {
		fmt.Fprintf(&b, "| `%s` | `--%s %s` | %s | %s |\n", row.name, row.flag(), cell(row.value), row.defaultCell(), cell(row.help))
	}
	fmt.Fprintf(&b, "| `%s`, `%s` | | none | %s |\n", otlpEndpoint, otlpTracesEndpoint,
		"OTLP/HTTP collector that receives traces; without one tracing is off")
	return b.String()
}

// defaultCell returns a literal default as code and a described one as text.
func (r setting) defaultCell() string {
	if r.note == "" && r.fallback != "" {
		return "`" + r.fallback + "`"
	}
	return cell(r.note)
}

// cell escapes the pipes in a table cell.
func cell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }
