package e2e

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
)

// recipeStep is a part of a recipe that runs in a shell of its own.
type recipeStep struct {
	Run string
	Env map[string]string
}

// recipe is a pipeline of the book for pull requests.
type recipe struct {
	steps []recipeStep
	env   map[string]string
}

// recipes returns the recipes of the page about the command line, by their system.
func recipes(t *testing.T) map[string]recipe {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "docs", "command-line.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]recipe{}
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		system, _, _ := strings.Cut(strings.TrimPrefix(block[2], "# "), ":")
		switch {
		case block[1] != "yaml":
		case system == "GitHub":
			found[system] = readGitHub(t, block[2])
		case system == "GitLab":
			found[system] = readGitLab(t, block[2])
		}
	}
	if len(found) != 2 {
		t.Fatalf("the page has recipes for %d systems", len(found))
	}
	return found
}

func readGitHub(t *testing.T, text string) recipe {
	t.Helper()
	var file struct {
		On   string
		Jobs map[string]struct {
			Env   map[string]string
			Steps []recipeStep
		}
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	if file.On != "pull_request" || len(file.Jobs["diff"].Steps) != 3 {
		t.Fatalf("the recipe is %+v", file)
	}
	return recipe{file.Jobs["diff"].Steps[1:], file.Jobs["diff"].Env} // after the checkout
}

func readGitLab(t *testing.T, text string) recipe {
	t.Helper()
	var file map[string]struct {
		Variables map[string]string
		Before    []string `yaml:"before_script"`
		Script    []string
	}
	if err := yaml.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	job := file["signalbox"]
	return recipe{[]recipeStep{{Run: strings.Join(append(job.Before, job.Script...), "\n")}}, job.Variables}
}

// recipeRunner is the machine of a recipe: a checkout, and a release that curl and wget find.
type recipeRunner struct {
	t        *testing.T
	checkout string
	path     string
	values   map[string]string // of variables and secrets of the system
}

// newRecipeRunner makes a checkout with files. The release is in a folder, as its archive has it.
func newRecipeRunner(t *testing.T, values, files map[string]string) *recipeRunner {
	t.Helper()
	w := &recipeRunner{t: t, checkout: t.TempDir(), values: values}
	tools := t.TempDir()
	w.path = tools + string(os.PathListSeparator) + os.Getenv("PATH")
	const release = "signalbox_0.1.0_linux_amd64"
	w.write(filepath.Join(tools, release, "signalbox"), "#!/bin/sh\nexec "+binary+` "$@"`, 0o700) // packing the program itself would take seconds
	download := fmt.Sprintf(`#!/bin/sh
[ "$2" = "https://github.com/signalbox/signalbox/releases/download/v0.1.0/%s.tar.gz" ] && exec tar -cz -C %s %s
echo "404 for $2" >&2
exit 22
`, release, tools, release)
	for _, name := range []string{"curl", "wget"} {
		w.write(filepath.Join(tools, name), download, 0o700)
	}
	for name, text := range files {
		w.write(filepath.Join(w.checkout, name), text, 0o600)
	}
	return w
}

func (w *recipeRunner) write(path, text string, mode os.FileMode) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		w.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		w.t.Fatal(err)
	}
}

// expression finds the expressions that GitHub replaces by values.
var expression = regexp.MustCompile(`\$\{\{ (?:vars|secrets)\.(\w+) \}\}`)

// run runs a recipe as its system does, and returns whether it passed, and the output that a reader of the
// pipeline sees.
func (w *recipeRunner) run(r recipe) (passed bool, seen string) {
	w.t.Helper()
	temp := w.t.TempDir()
	added, summary := filepath.Join(temp, "path"), filepath.Join(temp, "summary")
	var log bytes.Buffer
	passed = true
	for _, step := range r.steps {
		lines, _ := os.ReadFile(added) // the first step finds no file
		path := strings.ReplaceAll(string(lines), "\n", string(os.PathListSeparator)) + w.path
		command := exec.CommandContext(w.t.Context(), "bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", step.Run)
		command.Dir = w.checkout
		command.Env = []string{"PATH=" + path, "HOME=" + temp, "RUNNER_TEMP=" + temp, "GITHUB_PATH=" + added, "GITHUB_STEP_SUMMARY=" + summary}
		for name, value := range w.values { // GitLab passes them as environment variables
			command.Env = append(command.Env, name+"="+value)
		}
		for name, value := range r.env {
			command.Env = append(command.Env, name+"="+value)
		}
		for name, value := range step.Env {
			put := func(found string) string { return w.values[expression.FindStringSubmatch(found)[1]] }
			command.Env = append(command.Env, name+"="+expression.ReplaceAllStringFunc(value, put))
		}
		command.Stdout, command.Stderr = &log, &log
		if command.Run() != nil {
			passed = false
			break
		}
	}
	text, err := os.ReadFile(summary)
	if err != nil {
		text = log.Bytes() // GitLab has no summary
	}
	return passed, string(text)
}

// TestRecipe_PullRequest runs the recipes of the book as their systems do: they pass when a diff was made, and fail
// otherwise.
func TestRecipe_PullRequest(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	server := serveBook(t, folder)
	const (
		flag = "{kind: flag, id: checkout, type: BOOLEAN, default: false}\n---\n"
		job  = "{kind: job, id: nightly, name: Nightly, schedule: 0 3 * * *, configuration: {url: 'https://hooks.example.com', headers: [{name: A, valueFrom: 'env:HOOK_TOKEN'}]}}\n"
	)
	settled := map[string]string{"signalbox/all.yaml": flag + job}
	owner := map[string]string{"SIGNALBOX_URL": server.url, "SIGNALBOX_API_KEY": ownerKey, "SIGNALBOX_VIEWER_KEY": ownerKey, "HOOK_TOKEN": "swordfish"}
	command := func(args ...string) string {
		call := exec.CommandContext(t.Context(), binary, args...)
		call.Dir = newRecipeRunner(t, nil, settled).checkout
		for name, value := range owner {
			call.Env = append(call.Env, name+"="+value)
		}
		printed, err := call.Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(printed))
	}
	command("apply", "-f", "signalbox/")
	key := command("keys", "create", "Pull requests", "--role", "VIEWER", "-o", "go-template={{.key}}")
	viewer := map[string]string{"SIGNALBOX_URL": server.url, "SIGNALBOX_API_KEY": key, "SIGNALBOX_VIEWER_KEY": key}
	with := func(values map[string]string, name, value string) map[string]string {
		changed := map[string]string{name: value}
		for each, value := range values {
			if _, is := changed[each]; !is {
				changed[each] = value
			}
		}
		return changed
	}
	wrongKey := with(with(viewer, "SIGNALBOX_API_KEY", "sk_api_wrong"), "SIGNALBOX_VIEWER_KEY", "sk_api_wrong")
	noKey := with(with(viewer, "SIGNALBOX_API_KEY", ""), "SIGNALBOX_VIEWER_KEY", "")
	files := func(text string) map[string]string { return map[string]string{"signalbox/all.yaml": text} }
	tests := map[string]struct {
		values, files map[string]string
		passes        bool
		sees          string
	}{
		"the same":                {viewer, settled, true, "0 to create, 0 to change, 0 to delete, 2 the same."},
		"different":               {viewer, files("{kind: flag, id: checkout, type: BOOLEAN, default: true}\n---\n" + job), true, "+ default: true"},
		"something new":           {viewer, files("{kind: flag, id: new, type: BOOLEAN, default: true}"), true, "+ flag new"},
		"the same for a writer":   {owner, settled, true, "2 the same.\n"},
		"different for a writer":  {owner, files("{kind: flag, id: checkout, type: BOOLEAN, default: true}"), true, "+ default: true"},
		"a broken file":           {viewer, files("kind: [flag"), false, "There is no plan."},
		"no such kind":            {viewer, files("{kind: flga, id: a}"), false, `! signalbox/all.yaml:1: there is no kind "flga"`},
		"no files":                {viewer, nil, false, "There is no plan."},
		"the server is down":      {with(viewer, "SIGNALBOX_URL", "http://127.0.0.1:1"), settled, false, "connection refused"},
		"not a server":            {with(viewer, "SIGNALBOX_URL", server.url+"/elsewhere"), settled, false, "There is no plan."},
		"a wrong key":             {wrongKey, settled, false, "There is no plan."},
		"no key, as of a fork":    {noKey, settled, false, ""},
		"a resource is refused":   {owner, files("{kind: flag, id: new, type: BOOLEAN, default: 3}\n---\n" + job), false, "! flag new  (signalbox/all.yaml:1)\n    default "},
		"a wrong type":            {viewer, files("{kind: flag, id: new, type: BOOL, default: false}"), false, "! flag new  (signalbox/all.yaml:1)\n    type: must be one of BOOLEAN, "},
		"a misspelled member":     {viewer, files("{kind: flag, id: new, type: BOOLEAN, managd: true}"), false, `there is no member "managd". Did you mean managed?`},
		"a rule nobody knows":     {viewer, files("{kind: flag, id: new, type: BOOLEAN, default: false, environments: {production: {rules: [{logic: {matches: [1]}, value: true}]}}}"), false, "unknown operator"},
		"configs in a circle":     {viewer, files("{kind: config, id: a, parent: a}"), false, "configs must not inherit from themselves: a → a"},
		"a secret is not set":     {with(owner, "HOOK_TOKEN", ""), settled, false, "the variable HOOK_TOKEN is not set"},
		"a viewer has no secrets": {with(viewer, "HOOK_TOKEN", ""), settled, true, "This key may not try 2 of them"},
	}
	for system, recipe := range recipes(t) {
		for name, test := range tests {
			t.Run(system+"/"+name, func(t *testing.T) {
				t.Parallel()
				passed, seen := newRecipeRunner(t, test.values, test.files).run(recipe)
				if passed != test.passes || !strings.Contains(seen, test.sees) || strings.Contains(seen, "swordfish") {
					t.Errorf("passed: %t, and shows\n%s", passed, seen)
				}
			})
		}
		t.Run(system+"/no such release", func(t *testing.T) {
			t.Parallel()
			old := recipe
			old.env = with(recipe.env, "VERSION", "0.0.9")
			if passed, seen := newRecipeRunner(t, viewer, settled).run(old); passed {
				t.Errorf("it passed, and shows\n%s", seen)
			}
		})
	}
}
