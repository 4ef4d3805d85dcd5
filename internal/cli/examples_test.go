package cli_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/cli"
	output "github.com/signalbox/signalbox/internal/cli/terminal"
)

// commandsOf returns all commands that do something.
func commandsOf(cmd *cobra.Command) (found []*cobra.Command) {
	if !cmd.HasSubCommands() {
		return []*cobra.Command{cmd}
	}
	for _, below := range cmd.Commands() {
		found = append(found, commandsOf(below)...)
	}
	return found
}

// Every command has an example, and every example works, because readers copy them.
func TestExamples_Work(t *testing.T) {
	t.Parallel()
	for _, command := range commandsOf(cli.New(&output.Terminal{Out: io.Discard, Err: io.Discard})) {
		path := command.CommandPath()
		if path == "signalbox help" || strings.HasPrefix(path, "signalbox completion") {
			continue
		}
		t.Run(strings.TrimPrefix(path, "signalbox "), func(t *testing.T) {
			t.Parallel()
			lines := strings.Split(strings.TrimSpace(command.Example), "\n")
			if !strings.HasPrefix(lines[0], path) {
				t.Fatalf("the first example is %q", lines[0])
			}
			if strings.HasPrefix(path, "signalbox import ") { // they need a file; TestImport_AcceptedByServer has some
				return
			}
			switch path {
			case "signalbox serve", "signalbox mcp": // they would not end; other tests start them
				return
			case "signalbox admin users role", "signalbox admin users reset-password",
				"signalbox people role", "signalbox people reset-password", "signalbox people remove": // they need a person; e2e has one
				return
			}
			term := newFilled(t, strings.HasPrefix(path, "signalbox admin"))
			switch path {
			case "signalbox logout":
				term.must("login")
			case "signalbox forget":
				term.example("signalbox apply -f signalbox/ --owner team-shop")
			}
			for _, line := range lines {
				term.example(strings.TrimSpace(line))
			}
		})
	}
}

// Help texts are indented by spaces: a tab comes from the indentation of the source.
func TestHelp_HasNoTabs(t *testing.T) {
	t.Parallel()
	for _, command := range commandsOf(cli.New(&output.Terminal{Out: io.Discard, Err: io.Discard})) {
		if text := command.Short + command.Long + command.Example; strings.Contains(text, "\t") {
			t.Errorf("the help of %s has a tab: %q", command.CommandPath(), text)
		}
	}
}

// filled is a terminal for an account that has everything that the examples name.
type filled struct {
	*terminal
	variables []string // names and values in turn
}

// example runs a line as a shell would.
func (w *filled) example(line string) {
	w.t.Helper()
	line = strings.NewReplacer(w.variables...).Replace(line)
	args := splitLine(line)[1:]
	if at := len(args) - 2; at >= 0 && args[at] == "<" {
		args = args[:at]
	}
	if got := w.run(args...); got.code != 0 || strings.Contains(got.stderr, "signalbox: signalbox:") {
		w.t.Errorf("%s: exit code %d\n%s%s", line, got.code, got.stdout, got.stderr)
	}
}

// splitLine splits a line into words, which may have quotes.
func splitLine(line string) (words []string) {
	var word strings.Builder
	quote, inside := rune(0), false
	for _, r := range line + " " {
		switch {
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inside = r, true
		case quote == r:
			quote = 0
		case quote == 0 && r == ' ':
			if inside || word.Len() > 0 {
				words = append(words, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
		}
	}
	return words
}

func newFilled(t *testing.T, onStore bool) *filled {
	t.Helper()
	if onStore {
		w := &filled{terminal: newTerminal(t)}
		made := decode[made](w.terminal, "admin", "accounts", "create", "Acme Corp")
		decode[any](w.terminal, "admin", "accounts", "plan", made.Account, "pro")
		backup := filepath.Join(t.TempDir(), "earlier.db")
		w.must("admin", "backup", backup)
		old := decode[[]struct{ ID string }](w.terminal, "admin", "keyring", "list")
		w.must("admin", "keyring", "rotate")
		w.variables = []string{"$KEY_ID", made.KeyID, "accounts plan acme ", "accounts plan acme-corp ", "--account acme", "--account acme-corp",
			"signalbox-$(date +%F).db", filepath.Join(t.TempDir(), "backup.db"), "$BACKUP", backup, "$OLD_KEY", old[0].ID}
		return w
	}
	node := apptest.Shared(t, "sqlite")
	key := node.Account(t, "examples", "pro")
	w := &filled{terminal: newTerminal(t, "SIGNALBOX_URL="+node.URL, "SIGNALBOX_API_KEY="+key, "EDITOR=true")}
	w.input = key
	w.variables = []string{"http://127.0.0.1:8080", node.URL}
	client, err := signalbox.New(node.URL, key)
	if err != nil {
		t.Fatal(err)
	}
	w.fill(client)
	w.addRuns(client)
	w.variables = append(w.variables, "-f signalbox/", "-f "+w.file(w.must("export")), "release.plan", filepath.Join(t.TempDir(), "release.plan"), "levels.xml", filepath.Join(t.TempDir(), "levels.xml"),
		" > signalbox.schema.json", "")
	return w
}

// fill creates the resources that the examples name.
func (w *filled) fill(client *signalbox.Client) {
	w.t.Helper()
	ctx := w.t.Context()
	managed := true
	check := func(err error) {
		w.t.Helper()
		if err != nil {
			w.t.Fatal(err)
		}
	}
	_, err := client.Environments.Replace(ctx, "staging", signalbox.EnvironmentDraft{Name: "Staging", Managed: &managed})
	check(err)
	flag := signalbox.FlagDraft{Type: flageval.Boolean, Default: json.RawMessage("false")}
	_, err = client.Flags.Create(ctx, "checkout-v2", flag)
	check(err)
	flag.Environments = map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{
		{Logic: json.RawMessage(`{"==":[{"var":"user.plan"},"pro"]}`), Value: json.RawMessage("true")}}}}
	_, err = client.Flags.Replace(ctx, "checkout-v2", flag)
	check(err)
	_, err = client.LogGroups.Create(ctx, "sql", signalbox.LogGroupDraft{Base: signalbox.LevelSetting{Level: loglevel.Warn}})
	check(err)
	_, err = client.Loggers.Replace(ctx, "shop.payments", signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Info}, Group: "sql"})
	check(err)
	_, err = client.Configs.Create(ctx, "checkout", signalbox.ConfigDraft{
		Items:        map[string]signalbox.ConfigItem{"timeout_ms": {Value: json.RawMessage("1500")}, "retries": {Value: json.RawMessage("1")}},
		Environments: map[string]signalbox.ConfigOverrides{"production": {"timeout_ms": json.RawMessage("900")}},
	})
	check(err)
	_, err = client.Keys.Create(ctx, signalbox.KeyDraft{Name: "Deploy"})
	check(err)
	_, err = client.Services.Create(ctx, "shop", signalbox.ServiceDraft{})
	check(err)
	_, err = client.Contexts.Report(ctx, []signalbox.ReportedContext{{Type: "user", Key: "ada", Attributes: map[string]any{"plan": "pro"}}})
	check(err)
	changes, err := client.Changes.List(ctx, signalbox.ChangeParams{Resource: "flag:checkout-v2", Size: 1})
	check(err)
	w.variables = append(w.variables, "$CHANGE", changes.Items[0].ID)
	w.addWebhook(client)
}

// addWebhook makes a webhook with a delivery.
func (w *filled) addWebhook(client *signalbox.Client) {
	w.t.Helper()
	target := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	w.t.Cleanup(target.Close)
	webhook, err := client.Webhooks.Create(w.t.Context(), signalbox.WebhookDraft{Name: "Ops", URL: target.URL, Events: []string{"service.silent"}})
	if err != nil {
		w.t.Fatal(err)
	}
	test, err := client.Webhooks.Test(w.t.Context(), webhook.ID)
	if err != nil {
		w.t.Fatal(err)
	}
	w.variables = append(w.variables, "$WEBHOOK", webhook.ID, "$DELIVERY", test.ID)
}

// addRuns makes a job with a run that succeeded, and one with a run that does not end.
func (w *filled) addRuns(client *signalbox.Client) {
	w.t.Helper()
	ended := make(chan struct{})
	target := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			select {
			case <-ended:
			case <-r.Context().Done():
			}
		}
	}))
	w.t.Cleanup(target.Close)
	w.t.Cleanup(func() { close(ended) })
	run := func(id, path string) string {
		draft := signalbox.JobDraft{Name: id, Schedule: "30 2 * * *", Configuration: signalbox.JobConfiguration{Method: "GET", URL: target.URL + path, Headers: []signalbox.JobHeader{}}}
		if _, err := client.Jobs.Create(w.t.Context(), id, draft); err != nil {
			w.t.Fatal(err)
		}
		run, err := client.Jobs.Run(w.t.Context(), id)
		if err != nil {
			w.t.Fatal(err)
		}
		return run.ID
	}
	succeeded := run("nightly", "/")
	if _, err := client.Runs.Wait(w.t.Context(), succeeded); err != nil {
		w.t.Fatal(err)
	}
	w.variables = append(w.variables, "$RUN", succeeded, "$PENDING", run("slow", "/slow"))
}
