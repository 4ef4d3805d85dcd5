package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app/apptest"
)

// parityDir has exports in the formats of other products, what these products answer for them (make parity records it), and
// the report of their import.
var parityDir = filepath.Join("..", "imports", "testdata", "parity")

// recording is what another product answers. Texts says that its contexts have texts only.
type recording struct {
	Texts bool
	Cases []struct {
		Context map[string]any
		Values  map[string][]any
	}
}

// TestImport_DecidesAsTheProduct imports an export, applies it, and compares the server's values for 200 contexts with the
// product's own. A flag may differ only if the report names it. A percentage flag has several right values.
func TestImport_DecidesAsTheProduct(t *testing.T) {
	t.Parallel()
	node := apptest.Shared(t, "sqlite")
	for export, format := range map[string]string{"launchdarkly": "launchdarkly", "unleash": "unleash", "unleash-state": "unleash", "unleash-first": "unleash",
		"flagd": "flagd", "flipt": "flipt", "growthbook": "growthbook"} {
		t.Run(export, func(t *testing.T) {
			t.Parallel()
			key := node.Account(t, "parity "+export, "pro")
			term := newTerminal(t, "SIGNALBOX_URL="+node.URL, "SIGNALBOX_API_KEY="+key)
			report := importAndApply(t, term, format, filepath.Join(parityDir, export+".json"))
			compareReport(t, export, report)

			recorded := readRecording(t, export)
			differ := map[string]string{}
			for _, each := range recorded.Cases {
				contexts := []map[string]any{each.Context}
				if recorded.Texts { // a client here may send either
					contexts = append(contexts, asTexts(each.Context))
				}
				for _, context := range contexts {
					compareValues(evaluateAll(t, node.URL, key, context), each.Values, context, differ)
				}
			}
			for flag, how := range differ {
				reported := strings.Contains(report, "flag "+flag+":") || strings.Contains(report, "flag "+flag+" in production:")
				if strings.HasPrefix(flag, "spread-") || !reported {
					t.Errorf("%s differs, and the report does not say so: %s", flag, how)
				}
			}
		})
	}
}

// importAndApply returns the sentences about what could not be carried over.
func importAndApply(t *testing.T, term *terminal, format, file string) string {
	t.Helper()
	imported := term.run("import", format, file)
	if imported.code != 0 {
		t.Fatalf("import: exit code %d, %s", imported.code, imported.stderr)
	}
	for _, environment := range []string{"production", "staging"} {
		term.run("environments", "create", environment)
		term.run("environments", "set", environment, "--managed")
	}
	term.input = imported.stdout
	if got := term.run("apply", "-f", "-", "--yes"); got.code != 0 {
		t.Fatalf("apply: exit code %d, %s%s", got.code, got.stdout, got.stderr)
	}
	var sentences []string
	for line := range strings.Lines(imported.stderr) {
		line = strings.TrimPrefix(strings.TrimSpace(line), "signalbox: ")
		if strings.HasPrefix(line, "flag ") {
			sentences = append(sentences, line)
		}
	}
	if counted := fmt.Sprintf(" translated, %d thing", len(sentences)); !strings.Contains(imported.stderr, counted) {
		t.Errorf("%q is not in %s", counted, imported.stderr)
	}
	return strings.Join(sentences, "\n") + "\n"
}

// compareReport compares a report with the expected one.
func compareReport(t *testing.T, export, report string) {
	t.Helper()
	want, err := os.ReadFile(filepath.Join(parityDir, export+".report.txt"))
	if err != nil {
		t.Error(err)
	}
	if string(want) != report {
		t.Errorf("the report is\n%s\nwant\n%s", report, want)
	}
}

func readRecording(t *testing.T, export string) (recorded recording) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(parityDir, export+".answers.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		t.Fatal(err)
	}
	const contexts = 200
	if len(recorded.Cases) != contexts {
		t.Fatalf("%d contexts, want %d", len(recorded.Cases), contexts)
	}
	return recorded
}

// asTexts returns a context with the texts of its values.
func asTexts(context map[string]any) map[string]any {
	made := map[string]any{}
	for name, value := range context {
		made[name] = fmt.Sprint(value)
	}
	return made
}

// evaluateAll returns what an OpenFeature client gets: the values of all flags.
func evaluateAll(t *testing.T, server, key string, attributes map[string]any) map[string]any {
	t.Helper()
	given := maps.Clone(attributes)
	given["targetingKey"] = given["key"]
	delete(given, "key")
	if address, is := given["address"]; is { // an object would be a context type
		delete(given, "address")
		given["user"] = map[string]any{"address": address}
	}
	body, err := json.Marshal(map[string]any{"context": given})
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server+"/ofrep/v1/evaluate/flags", bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	request.Header = http.Header{"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"}, "X-Signalbox-Environment": {"production"}}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var answer struct {
		Flags []struct {
			Key   string
			Value any
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v", body, response.Status, err)
	}
	values := map[string]any{}
	for _, flag := range answer.Flags {
		values[flag.Key] = flag.Value
	}
	return values
}

// compareValues notes the flags whose value differs from every possible value of the product.
func compareValues(got map[string]any, want map[string][]any, context map[string]any, differ map[string]string) {
	for flag, possible := range want {
		if !slices.ContainsFunc(possible, func(value any) bool { return reflect.DeepEqual(value, got[flag]) }) {
			text, _ := json.Marshal(context)
			differ[flag] = fmt.Sprintf("got %v, want one of %v for %s", got[flag], possible, text)
		}
	}
}
