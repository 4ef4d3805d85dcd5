package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// file writes a file and returns its path.
func (term *terminal) file(text string) string {
	term.t.Helper()
	path := filepath.Join(term.t.TempDir(), "signalbox.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		term.t.Fatal(err)
	}
	return path
}

// newAccount returns a terminal for a new account on a shared node, and a client for it.
func newAccount(t *testing.T, environ ...string) (*terminal, *signalbox.Client) {
	t.Helper()
	node := apptest.Shared(t, "sqlite")
	key := node.Account(t, "apply", "pro")
	client, err := signalbox.New(node.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	return newTerminal(t, append([]string{"SIGNALBOX_URL=" + node.URL, "SIGNALBOX_API_KEY=" + key}, environ...)...), client
}

// lastChange returns the number of the newest change.
func lastChange(t *testing.T, client *signalbox.Client) string {
	t.Helper()
	changes, err := client.Changes.List(t.Context(), signalbox.ChangeParams{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	return changes.Items[0].ID
}

const everything = `
kind: flag
id: checkout-v2
type: BOOLEAN
default: false
environments: {qa: {rules: [{logic: {"==": [{var: user.plan}, pro]}, value: true}]}}
---
- {kind: logger, id: Shop/Payments, group: sql, environments: {qa: {level: DEBUG}}}
- {kind: log_group, id: sql, level: WARN}
---
kind: config
id: child
parent: base
environments: {qa: {size: 2}}
---
{kind: config, id: base, items: {size: {value: 1.50}}}
---
{kind: environment, id: qa, name: QA}
---
{kind: environment, id: scratch, name: Scratch, managed: false, classification: AD_HOC}
---
{kind: service, id: shop}
---
kind: job
id: nightly
name: Nightly
schedule: 30 2 * * *
configuration: {url: "https://hooks.example.com/nightly", headers: [{name: Authorization, valueFrom: "env:TOKEN"}]}
`

func TestApply_WritesInOrderOfNeedAndOnce(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t, "TOKEN=swordfish")
	file := term.file(everything)
	if got := term.run("diff", "-f", file); got.code != 10 || !strings.HasSuffix(got.stdout, "9 to create, 0 to change, 0 to delete, 0 the same.\n") {
		t.Fatalf("got %+v", got)
	}
	text := term.must("apply", "-f", file)
	if !strings.HasSuffix(text, "Applied.\n") || strings.Contains(text, "swordfish") {
		t.Errorf("got %s", text)
	}
	logger, err := client.Loggers.Get(t.Context(), "shop.payments")
	if err != nil || logger.Environments["qa"].Level != loglevel.Debug || logger.Group == nil || *logger.Group != "sql" {
		t.Errorf("got %+v, %v", logger, err)
	}
	scratch, err := client.Environments.Get(t.Context(), "scratch")
	if err != nil || scratch.Managed || scratch.Classification != signalbox.ClassificationAdHoc {
		t.Errorf("got %+v, %v", scratch, err)
	}
	before := lastChange(t, client)
	if text := term.must("apply", "-f", file); text != "0 to create, 0 to change, 0 to delete, 9 the same.\n" {
		t.Errorf("the second apply says %s", text)
	}
	term.must("diff", "-f", file)
	term.input = term.must("export")
	if strings.Contains(term.input, "swordfish") {
		t.Error("an export tells a secret")
	}
	term.must("apply", "-f", "-")
	if after := lastChange(t, client); after != before {
		t.Errorf("applying what is there made changes %s to %s", before, after)
	}
}

func TestApply_ShowsDifferencesWithoutSecrets(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t, "TOKEN=swordfish")
	term.must("apply", "-f", term.file(everything))
	changed := strings.Replace(strings.Replace(everything, "level: DEBUG", "level: TRACE", 1), "1.50", "1.5", 1)
	term.environ = append(term.environ, "TOKEN=another")
	got := term.run("diff", "-f", term.file(changed))
	want := `~ logger shop.payments
    - environments.qa.level: "DEBUG"
    + environments.qa.level: "TRACE"
~ job nightly
    - configuration.headers[0].value: "<hidden>"
    + configuration.headers[0].value: "<hidden, another value>"
0 to create, 2 to change, 0 to delete, 7 the same.
`
	if got.code != 10 || got.stdout != want {
		t.Errorf("got %+v", got)
	}
}

// Every problem is reported before anything is written.
func TestApply_RefusesBeforeFirstWrite(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t)
	before := lastChange(t, client)
	good := "{kind: flag, id: good, type: BOOLEAN, default: false}\n---\n"
	tests := map[string]struct {
		text string
		code int
		want string
	}{
		"a rule is broken":         {good + "{kind: flag, id: bad, type: BOOLEAN, default: 3}", 1, "signalbox.yaml:3: flag bad: "},
		"a misspelled member":      {good + "{kind: flag, id: bad, type: BOOLEAN, default: false, valuez: x}", 1, "values"},
		"no such environment":      {good + "{kind: flag, id: bad, type: BOOLEAN, default: false, environments: {nowhere: {}}}", 1, "nowhere"},
		"frozen and not changed":   {good + "{kind: environment, id: staging, name: Staging}\n---\n{kind: flag, id: bad, type: BOOLEAN, default: false, environments: {staging: {}}}", 1, "staging"},
		"no such group":            {good + "{kind: logger, id: a, group: none}", 1, "none"},
		"no such kind":             {good + "{kind: flags, id: a}", 1, `there is no kind "flags"; the kinds are environment, service,`},
		"no kind":                  {"{id: a}", 1, "kind must be one of"},
		"no id":                    {"{kind: flag}", 1, "the flag has no id"},
		"twice":                    {good + good, 1, "the flag good is in"},
		"not an object":            {"just text", 1, "a resource must be an object such as"},
		"no YAML":                  {"{kind: flag", 1, "line "},
		"a secret is not set":      {good + `{kind: job, id: j, name: j, schedule: now, configuration: {url: "https://a.example", headers: [{name: A, valueFrom: "env:NONE"}]}}`, 1, `the header "A": the variable NONE is not set`},
		"a secret of nowhere":      {`{kind: job, id: j, name: j, schedule: now, configuration: {url: "https://a.example", headers: [{name: A, valueFrom: vault}]}}`, 1, "valueFrom must be env:NAME, or stored"},
		"a job for an environment": {good + `{kind: job, id: j, name: j, schedule: "0 3 * * *", configuration: {url: "https://a.example"}, environments: {production: {enabled: true}}}`, 1, "signalbox.yaml:3: job j: environments must be left out: jobs have no environments"},
		"a secret not stored":      {`{kind: job, id: j, name: j, schedule: now, configuration: {url: "https://a.example", headers: [{name: A, valueFrom: stored}]}}`, 1, "the server has no value for it"},
	}
	for name, test := range tests { // one after the other: they share an account
		t.Run(name, func(t *testing.T) {
			got := term.run("apply", "-f", term.file(test.text))
			if got.code != test.code || !strings.Contains(got.stderr, test.want) || strings.Contains(got.stdout, "Applied") {
				t.Errorf("got %+v", got)
			}
		})
	}
	several := term.run("apply", "-f", term.file("{kind: flag, id: a, type: BOOLEAN, default: 3}\n---\n{kind: flag, id: b, type: STRING, default: 3}"))
	if strings.Count(several.stderr, "signalbox: ") != 2 {
		t.Errorf("not all problems are told: %+v", several)
	}
	if got := term.run("apply", "-f", filepath.Join(t.TempDir(), "none.yaml")); got.code != 2 {
		t.Errorf("a file that is not there: %+v", got)
	}
	if got := term.run("apply", "-f", t.TempDir()); got.code != 2 || !strings.Contains(got.stderr, "has no file that ends in") {
		t.Errorf("an empty folder: %+v", got)
	}
	if after := lastChange(t, client); after != before {
		t.Errorf("refused files made changes %s to %s", before, after)
	}
}

// Only resources that the owner has applied are pruned, and only with --prune.
func TestApply_PrunesWhatOwnerHas(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t)
	flag := func(id string) string {
		return fmt.Sprintf("{kind: flag, id: %s, type: BOOLEAN, default: false}\n---\n", id)
	}
	logger := "{kind: logger, id: shop, level: DEBUG}\n---\n"
	term.must("apply", "-f", term.file(flag("mine")+flag("dropped")+logger), "--owner", "shop")
	term.must("apply", "-f", term.file(flag("theirs")), "--owner", "search")
	term.must("apply", "-f", term.file(flag("nobodys")))
	if _, err := client.Loggers.Report(t.Context(), []signalbox.ReportedLogger{{Name: "shop", Service: "shop", Environment: "production", Level: loglevel.Info}}); err != nil {
		t.Fatal(err)
	}

	mine := term.file(flag("mine"))
	if text := term.must("apply", "-f", mine, "--owner", "shop"); !strings.HasPrefix(text, "0 to create, 0 to change, 0 to delete") {
		t.Errorf("without --prune: %s", text)
	}
	if got := term.run("apply", "-f", mine, "--owner", "shop", "--prune"); got.code != 2 || !strings.Contains(got.stderr, "2 resources of the owner shop will be deleted. Say --yes to do it") {
		t.Errorf("without --yes: %+v", got)
	}
	term.must("apply", "-f", mine, "--owner", "shop", "--prune", "--yes")
	if names := term.must("flags", "list", "-o", "name"); names != "mine\nnobodys\ntheirs\n" {
		t.Errorf("there are %q", names)
	}
	if released, err := client.Loggers.Get(t.Context(), "shop"); err != nil || released.Managed || len(released.Sources) != 1 {
		t.Errorf("the logger is %+v, %v", released, err)
	}
	term.must("diff", "-f", mine, "--owner", "shop", "--prune")

	theirs := term.file(flag("theirs"))
	if got := term.run("apply", "-f", theirs, "--owner", "shop"); got.code != 4 || !strings.Contains(got.stderr, `belongs to the owner "search"; take it over with --take-over`) {
		t.Errorf("got %+v", got)
	}
	term.must("apply", "-f", theirs, "--owner", "shop", "--take-over")
	if got := term.run("apply", "-f", term.file("# nothing"), "--owner", "search", "--prune", "--yes"); got.code != 0 {
		t.Errorf("got %+v", got)
	}
	if names := term.must("flags", "list", "-o", "name"); names != "mine\nnobodys\ntheirs\n" {
		t.Errorf("there are %q", names)
	}
	if got := term.run("apply", "-f", mine, "--prune"); got.code != 2 || !strings.Contains(got.stderr, "need --owner") {
		t.Errorf("got %+v", got)
	}
}

// An apply keeps temporary levels, one-off jobs that have run and reported attributes, because
// nobody decided them in a file.
func TestApply_KeepsWhatComesByItself(t *testing.T) {
	t.Parallel()
	target := httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(target.Close)
	term, client := newAccount(t)
	file := term.file(`{kind: logger, id: shop, level: WARN}
---
{kind: context_type, id: user, name: People}
---
{kind: job, id: once, name: Once, schedule: now, configuration: {url: "` + target.URL + `"}}`)
	term.must("apply", "-f", file)
	term.must("loggers", "set", "shop", "DEBUG", "-e", "production", "--for", "1h")
	if _, err := client.Contexts.Report(t.Context(), []signalbox.ReportedContext{{Type: "user", Key: "ada", Attributes: map[string]any{"plan": "pro"}}}); err != nil {
		t.Fatal(err)
	}
	storetest.Wait(t, patience, "the job has run", func() bool {
		job, err := client.Jobs.Get(t.Context(), "once")
		return err == nil && !job.Enabled
	})
	if text := term.must("apply", "-f", file); text != "0 to create, 0 to change, 0 to delete, 3 the same.\n" {
		t.Errorf("got %s", text)
	}
	if text := term.must("export", "--kind", "logger"); text != "kind: logger\nid: shop\nlevel: WARN\n" {
		t.Errorf("got %s", text)
	}
	// Members that a file names are changed to its values.
	text := term.must("apply", "-f", term.file("{kind: logger, id: shop, level: WARN, environments: {production: {level: DEBUG}}}"))
	if !strings.Contains(text, "- environments.production.expires_at: ") {
		t.Errorf("got %s", text)
	}
}

// Members that files rarely name are compared like all others.
func TestApply_RareMembers(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	const text = `
{kind: logger, id: shop, group_id: sql, environments: {production: null}}
---
{kind: log_group, id: sql}
---
{kind: context_type, id: user, attributes: {plan: {}}}
---
{kind: config, id: shop, items: {size: {value: {}, type: JSON, schema: {}}}}
`
	file := term.file(text)
	term.must("apply", "-f", file)
	term.must("diff", "-f", file)
	got := term.run("diff", "-f", term.file(strings.Replace(text, "plan: {}", "plan: {}, age: {}", 1)))
	want := "~ context_type user\n    + attributes.age: {}\n0 to create, 1 to change, 0 to delete, 3 the same.\n"
	if got.code != 10 || got.stdout != want {
		t.Errorf("got %+v", got)
	}
	term.input = term.must("export")
	term.must("diff", "-f", "-")
}

// A parent declares before a child overrides, and a child stops before a parent removes.
func TestApply_ConfigsThatNeedEachOther(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	both := func(items, override string) string {
		return term.file(fmt.Sprintf("{kind: config, id: child, parent: top, environments: {production: {%s}}}\n---\n{kind: config, id: top, items: {%s}}", override, items))
	}
	for _, file := range []string{both("a: {value: 1}", "a: 2"), both("a: {value: 1}, b: {value: x}", "a: 2, b: y"), both("b: {value: x}", "b: y"), both("", "")} {
		term.must("apply", "-f", file)
		term.must("diff", "-f", file)
	}
	term.must("apply", "-f", both("a: {value: 1}", "a: 2"), "--owner", "me")
	term.must("apply", "-f", term.file("# nothing"), "--owner", "me", "--prune", "--yes")
	if names := term.must("configs", "list", "-o", "name"); names != "common\n" {
		t.Errorf("there are %q", names)
	}
}

// An apply that is interrupted after any number of writes goes on with the next one.
func TestApply_ConvergesAfterInterruption(t *testing.T) {
	t.Parallel()
	for interruptedAt := range 13 {
		t.Run(fmt.Sprint(interruptedAt), func(t *testing.T) {
			t.Parallel()
			term, client := newAccount(t, "TOKEN=swordfish")
			old := term.file("{kind: flag, id: old, type: BOOLEAN, default: false}")
			term.must("apply", "-f", old, "--owner", "me")
			file := term.file(everything)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			between := interrupting(t, term, int64(interruptedAt), cancel)
			got := term.runUntil(ctx, "apply", "-f", file, "--owner", "me", "--prune", "--yes", "--url", between)
			if got.code == 0 {
				t.Fatalf("it was not interrupted: %+v", got)
			}
			term.must("apply", "-f", file, "--owner", "me", "--prune", "--yes")
			term.must("diff", "-f", file, "--owner", "me", "--prune")
			if _, err := client.Flags.Get(t.Context(), "old"); !signalbox.IsNotFound(err) {
				t.Errorf("what was to be pruned is still there: %v", err)
			}
		})
	}
}

// interrupting returns a URL between the terminal and its server that calls cancel at a write.
func interrupting(t *testing.T, term *terminal, at int64, cancel func()) string {
	t.Helper()
	var server *url.URL
	for _, entry := range term.environ {
		if text, is := strings.CutPrefix(entry, "SIGNALBOX_URL="); is {
			server, _ = url.Parse(text)
		}
	}
	transport := &http.Transport{}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(server) }, Transport: transport}
	var writes atomic.Int64
	between := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && !r.URL.Query().Has("dry_run") && writes.Add(1) > at {
			cancel()
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		between.Close()
		transport.CloseIdleConnections()
	})
	return between.URL
}

// A thousand resources are one apply.
func TestApply_ManyResources(t *testing.T) {
	t.Parallel()
	term, _ := newAccount(t)
	var all []map[string]any
	count := suite.Scale(200, 1000)
	for i := range count {
		all = append(all, map[string]any{"kind": "flag", "id": fmt.Sprint("flag-", i), "type": "NUMERIC", "default": i})
	}
	text, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	term.must("apply", "-f", term.file(string(text)))
	if text := term.must("apply", "-f", term.file(string(text))); text != fmt.Sprintf("0 to create, 0 to change, 0 to delete, %d the same.\n", count) {
		t.Errorf("got %s", text)
	}
}
