package manifest_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/cli/manifest"
	"github.com/signalbox/signalbox/internal/cli/terminal"
)

func TestRead_Documents(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		text string
		want []string // kind, id and source
	}{
		"nothing":                 {"# only a remark\n---\n---\n", nil},
		"one in YAML":             {"kind: flag\nid: a\n", []string{"flag a the input:1"}},
		"several in YAML":         {"# first\nkind: flag\nid: a\n---\n{kind: job, id: b}\n---\n\nkind: service\nid: c\n", []string{"flag a the input:2", "job b the input:5", "service c the input:8"}},
		"a list in YAML":          {"---\n- {kind: flag, id: a}\n- {kind: flag, id: b}\n", []string{"flag a the input:2", "flag b the input:3"}},
		"an empty list":           {"[]", nil},
		"one in JSON":             {`{"kind": "flag", "id": "a"}`, []string{"flag a the input:1"}},
		"several in JSON":         {"\n{\"kind\": \"flag\",\n \"id\": \"a\"}\n\n{\"kind\": \"job\", \"id\": \"b\"}", []string{"flag a the input:2", "job b the input:5"}},
		"a list in JSON":          {`[{"kind": "flag", "id": "a"}, {"kind": "job", "id": "a"}]`, []string{"flag a the input:1", "job a the input:1"}},
		"a long list in JSON":     {"\n[\n  {\"kind\": \"flag\", \"id\": \"a\"},\n\n  {\"kind\": \"job\",\n   \"id\": \"b\"}\n]", []string{"flag a the input:3", "job b the input:5"}},
		"JSON and YAML":           {"{\"kind\": \"flag\", \"id\": \"a\"}\n---\nkind: job\nid: b\n", []string{"flag a the input:1", "job b the input:3"}},
		"a pair of surrogates":    {`{"kind": "log_group", "id": "\ud83d\ude00"}`, []string{"log_group 😀 the input:1"}},
		"the spelling of loggers": {"{kind: logger, id: Shop/Payments}", []string{"logger shop.payments the input:1"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, resource := range read(t, test.text) {
				got = append(got, resource.Kind+" "+resource.ID+" "+resource.Source)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got %q, not %q", got, test.want)
			}
		})
	}
}

// Only the server knows the meaning of a member, so every member keeps its spelling.
func TestRead_KeepsMembers(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ text, want string }{
		"a number in YAML": {"{kind: flag, id: a, default: 1.50}", "1.50"},
		"a number in JSON": {`{"kind": "flag", "id": "a", "default": 1.50}`, "1.50"},
		"the order":        {"{kind: flag, id: a, default: {b: 1, a: 2}}", `{"b":1,"a":2}`},
		"null":             {"{kind: flag, id: a, default: }", "null"},
		"another type":     {"{kind: service, id: a, default: [true]}", "[true]"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			only := read(t, test.text)[0]
			if got := string(only.Attributes["default"]); got != test.want || len(only.Attributes) != 1 {
				t.Errorf("got %s of %d members", got, len(only.Attributes))
			}
		})
	}
}

func TestRead_Refuses(t *testing.T) {
	t.Parallel()
	const good = "{kind: flag, id: good}\n---\n"
	tests := map[string]struct{ text, want string }{
		"no kind":                   {good + "id: a", "the input:3: kind must be one of environment, service, "},
		"a kind that is no text":    {good + "{kind: 5, id: a}", "the input:3: kind must be one of"},
		"a misspelled kind":         {good + "{kind: flags, id: a}", `the input:3: there is no kind "flags"`},
		"a kind in capitals":        {"{kind: FLAG, id: a}", `there is no kind "FLAG"`},
		"no id":                     {good + "kind: flag", "the input:3: the flag has no id, which must be a text"},
		"an id that is no text":     {"{kind: flag, id: 5}", "the flag has no id, which must be a text"},
		"an id that is a list":      {"{kind: flag, id: [a]}", "the flag has no id, which must be a text"},
		"a text":                    {good + "just text", "the input:3: a resource must be an object such as {kind: flag"},
		"a number":                  {good + "5", "the input:3: a resource must be an object such as"},
		"a text in a list":          {good + "- {kind: flag, id: a}\n- text", "the input:4: a resource must be an object such as"},
		"null in a list":            {"[null]", "a resource must be an object such as"},
		"the same again":            {good + good, "the input:3: the flag good is in the input:1 already"},
		"the same logger again":     {"- {kind: logger, id: a.b}\n- {kind: logger, id: A/B}", "the logger a.b is in"},
		"broken YAML":               {good + "kind: flag\n id: a\n", "the input: yaml: line 4"},
		"broken JSON":               {"{\"kind\": \"flag\",\n\"id\": \"a\",", "the input: yaml: line 2"},
		"a member twice in YAML":    {"kind: flag\nid: a\ndefault: 1\ndefault: 2", `the input: line 4: the member "default" occurs twice`},
		"a member twice in JSON":    {"\n" + `{"kind": "flag", "id": "a", "default": 1, "default": 2}`, "the input:2: default must be sent once"},
		"twice inside another":      {`{"kind": "flag", "id": "a", "default": {"b": 1, "b": 2}}`, "the input:1: default/b must be sent once"},
		"a name that is no text":    {"{kind: flag, id: a, [b]: 1}", "the input: line 1: the name of a member must be a text"},
		"a number that JSON has no": {"{kind: flag, id: a, default: .nan}", "JSON has no number .nan"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Read([]string{"-"}, strings.NewReader(test.text))
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, not %q", err, test.want)
			}
		})
	}
}

func TestRead_Files(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, text := range map[string]string{
		"b.yaml": "{kind: flag, id: b}", "a/c.yml": "\n{kind: flag, id: c}", "a/d.json": `{"kind": "flag", "id": "d"}`, "README.md": "none",
	} {
		path := filepath.Join(folder, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	file := filepath.Join(folder, "b.yaml")
	t.Run("a folder", func(t *testing.T) {
		t.Parallel()
		found, err := manifest.Read([]string{folder, "-"}, strings.NewReader("{kind: flag, id: a}"))
		var ids string
		for _, resource := range found {
			ids += resource.ID
		}
		if err != nil || ids != "cdba" || found[0].Source != filepath.Join(folder, "a", "c.yml")+":2" {
			t.Errorf("got %s, %+v, %v", ids, found, err)
		}
	})
	dangling := t.TempDir()
	if err := os.Symlink("none.yaml", filepath.Join(dangling, "link.yaml")); err != nil {
		t.Fatal(err)
	}
	refused := map[string]struct {
		sources []string
		want    string
		code    int
	}{
		"a file twice":               {[]string{file, folder}, "the flag b is in " + file + ":1 already", terminal.ExitFailed},
		"a file that is not there":   {[]string{filepath.Join(folder, "none.yaml")}, "none.yaml", terminal.ExitUsage},
		"a file that cannot be read": {[]string{file, dangling}, filepath.Join(dangling, "link.yaml"), terminal.ExitUsage},
		"a folder without resources": {[]string{t.TempDir()}, "has no file that ends in .yaml, .yml or .json", terminal.ExitUsage},
	}
	for name, test := range refused {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := manifest.Read(test.sources, nil)
			if err == nil || !strings.Contains(err.Error(), test.want) || terminal.ExitCode(err) != test.code {
				t.Errorf("got %v with exit code %d, not %q with %d", err, terminal.ExitCode(err), test.want, test.code)
			}
		})
	}
}
