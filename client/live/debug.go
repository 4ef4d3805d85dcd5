package live

import (
	"cmp"
	"encoding/json"
	"html/template"
	"net/http"
	"slices"
	"strings"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
)

// debugPage is the page of ServeHTTP. It has no values of configs, which may be secret.
type debugPage struct {
	Environment string          `json:"environment"`
	Service     string          `json:"service"`
	State       State           `json:"state"`
	Reason      string          `json:"reason,omitempty"`
	Flags       []flagSummary   `json:"flags"`
	Loggers     []loggerSummary `json:"loggers"`
	Configs     []configSummary `json:"configs"`
}

type flagSummary struct {
	Key     string          `json:"key"`
	Type    flageval.Type   `json:"type"`
	Default json.RawMessage `json:"default"`
	// Serves is the value when no rule matches.
	Serves json.RawMessage `json:"serves"`
	Rules  int             `json:"rules"`
	Code   flageval.Code   `json:"error,omitempty"`
}

type loggerSummary struct {
	Name    string         `json:"name"`
	Code    loglevel.Level `json:"level_of_code"`
	Uses    loglevel.Level `json:"level"`
	Managed bool           `json:"managed"`
}

type configSummary struct {
	Key   string `json:"key"`
	Error string `json:"error,omitempty"`
}

// ServeHTTP shows the state, the declared flags, the loggers and the configs, as a page or, with Accept: application/json, as
// JSON. Serve it where only operators can reach it.
func (b *Box) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	page := b.debugPage()
	w.Header().Set("Cache-Control", "no-store")
	if strings.Contains(r.Header.Get("Accept"), "application/json") {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(page) // the reader may be gone
		return
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_ = debugTemplate.Execute(w, page)
}

func (b *Box) debugPage() debugPage {
	page := debugPage{Environment: b.settings.environment, Service: b.settings.service, State: b.State()}
	if page.State.Err != nil {
		page.Reason = page.State.Err.Error()
	}
	for _, each := range b.flags.all() {
		page.Flags = append(page.Flags, each.summary())
	}
	for _, each := range b.levels.all() {
		page.Loggers = append(page.Loggers, loggerSummary{each.Name, each.Uses, each.resolved(), each.applied != loglevel.None})
	}
	for _, each := range b.configs.all() {
		shown := configSummary{Key: each.Key()}
		if err := each.Err(); err != nil {
			shown.Error = err.Error()
		}
		page.Configs = append(page.Configs, shown)
	}
	slices.SortFunc(page.Flags, func(a, b flagSummary) int { return cmp.Compare(a.Key, b.Key) })
	slices.SortFunc(page.Loggers, func(a, b loggerSummary) int { return cmp.Compare(a.Name, b.Name) })
	slices.SortFunc(page.Configs, func(a, b configSummary) int { return cmp.Compare(a.Key, b.Key) })
	return page
}

//nolint:gochecknoglobals // nothing changes it
var debugTemplate = template.Must(template.New("debug").Funcs(template.FuncMap{"text": func(raw json.RawMessage) string { return string(raw) }}).Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Signalbox</title>
<style>body{font:14px system-ui,sans-serif;margin:2em}table{border-collapse:collapse;margin:0 0 2em}th,td{text-align:left;padding:.2em 1.5em .2em 0}</style></head><body>
<h1>Signalbox: {{.State.Status}}</h1>
<p>{{with .Service}}{{.}} in {{end}}{{.Environment}}, since {{.State.Since}}, change {{.State.Seq}}{{if .State.Polling}}, polling{{end}}{{with .Reason}}: {{.}}{{end}}</p>
<h2>Flags</h2><table><tr><th>key</th><th>type</th><th>default in code</th><th>without a rule</th><th>rules</th><th></th></tr>
{{range .Flags}}<tr><td>{{.Key}}</td><td>{{.Type}}</td><td>{{text .Default}}</td><td>{{text .Serves}}</td><td>{{.Rules}}</td><td>{{.Code}}</td></tr>
{{end}}</table>
<h2>Loggers</h2><table><tr><th>name</th><th>level</th><th>level in code</th><th>set by Signalbox</th></tr>
{{range .Loggers}}<tr><td>{{.Name}}</td><td>{{.Uses}}</td><td>{{.Code}}</td><td>{{.Managed}}</td></tr>
{{end}}</table>
<h2>Configs</h2><table><tr><th>key</th><th></th></tr>
{{range .Configs}}<tr><td>{{.Key}}</td><td>{{.Error}}</td></tr>
{{end}}</table></body></html>
`))
