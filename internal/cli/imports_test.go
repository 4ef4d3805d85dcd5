package cli_test

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/cli/yamljson"
)

// TestImport_AcceptedByServer imports a file of each format, and lets a server that ignores nothing have the result.
func TestImport_AcceptedByServer(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	for file, want := range map[string]struct {
		resources int
		lost      string
	}{
		"launchdarkly.json":   {2, `flag checkout in production: rule 2 is left out, because it tests a segment`},
		"unleash.json":        {1, "flag beta in production: a strategy applicationHostname is left out"},
		"flagd.json":          {3, "flag later: its targeting is left out, because rules cannot read the time"},
		"flipt.yaml":          {2, "flag theme: the attachment of the variant dark is left out"},
		"growthbook.json":     {2, `flag dark: rule 2 is left out, because rules have no operator like "$regex"`},
		"crontab.txt":         {2, "line 4: left out, because it does not call a URL with curl or wget"},
		"spring-logging.yaml": {5, "logging.level.root: Signalbox has no root logger"},
	} {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			format := strings.TrimSuffix(file, filepath.Ext(file))
			got := newTerminal(t).run("import", format, filepath.Join("testdata", "imports", file))
			if got.code != 0 || !strings.Contains(got.stderr, want.lost) || strings.Contains(got.stdout, "s3cret") {
				t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
			}
			documents, err := yamljson.ToJSON([]byte(got.stdout))
			if err != nil || len(documents) != want.resources {
				t.Fatalf("%d resources, %v:\n%s", len(documents), err, got.stdout)
			}
			key := node.Account(t, "import", "pro")
			for _, document := range documents {
				send(t, node.URL, key, document.JSON)
			}
		})
	}
}

// send creates a resource of an import.
func send(t *testing.T, server, key string, document json.RawMessage) {
	t.Helper()
	document = bytes.ReplaceAll(document, []byte(`"valueFrom"`), []byte(`"value"`)) // apply replaces it by the value
	var named struct{ Kind, ID string }
	var attributes map[string]json.RawMessage
	if err := json.Unmarshal(document, &named); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(document, &attributes); err != nil {
		t.Fatal(err)
	}
	delete(attributes, "kind")
	delete(attributes, "id")
	method, path := http.MethodPost, "/api/v1/"+named.Kind+"s"
	if named.Kind == "logger" {
		method, path = http.MethodPut, path+"/"+named.ID
	}
	body, err := json.Marshal(map[string]any{"data": map[string]any{"type": named.Kind, "id": named.ID, "attributes": attributes}})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), method, server+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/vnd.api+json"}, "Prefer": {"handling=strict"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if response.StatusCode/100 != 2 || err != nil {
		t.Errorf("%s %s %s: %d %s", method, path, body, response.StatusCode, text)
	}
	if bytes.Contains(text, []byte(`"warnings"`)) {
		t.Errorf("%s: %s", document, text)
	}
}

func TestImport_Refused(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "flags.json")
	if err := os.WriteFile(file, []byte(`{"flags": 7}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, args := range map[string][]string{"no flags": {"flagd", file}, "no file": {"flagd", file + ".none"}, "an empty file": {"crontab", os.DevNull}} {
		t.Run(name, func(t *testing.T) {
			if got := newTerminal(t).run(append([]string{"import"}, args...)...); got.code != 1 || got.stdout != "" {
				t.Errorf("%v: exit code %d, %s%s", args, got.code, got.stdout, got.stderr)
			}
		})
	}
	term := newTerminal(t)
	term.input = `{"flags": {"a": {"state": "ENABLED", "variants": {"on": true, "off": false}, "defaultVariant": "on"}}}`
	if got := term.run("import", "flagd", "-", "-e", "staging"); got.code != 0 || !strings.Contains(got.stdout, "staging:") {
		t.Errorf("the input: exit code %d, %s%s", got.code, got.stdout, got.stderr)
	}
}
