package cli_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
)

// jsonValues generates JSON that YAML could read as something else.
func jsonValues() *rapid.Generator[json.RawMessage] {
	texts := rapid.OneOf(rapid.SampledFrom([]string{"", "yes", "null", "1e3", "a: b", " x", "two\nlines\n", "\ttab", "<b>", "\u2028", "2026-01-01", "{}"}), rapid.StringN(0, 20, 60))
	return rapid.Custom(func(t *rapid.T) json.RawMessage {
		text, err := json.Marshal(texts.Draw(t, "text"))
		if err != nil {
			t.Fatal(err)
		}
		switch rapid.IntRange(0, 4).Draw(t, "shape") {
		case 0:
			return json.RawMessage(fmt.Sprintf(`{"b":%s,"a":[1.10,null,{"k":%s}]}`, text, text))
		case 1:
			return json.RawMessage(rapid.SampledFrom([]string{"0", "1.50", "-2e3", "12345678901234567890", "0.1", "{}", "[]"}).Draw(t, "small value"))
		case 2:
			return json.RawMessage("true")
		default:
			return text
		}
	})
}

// rewrite changes the resources of an account at random. Writes that the server refuses change
// nothing.
func rewrite(ctx context.Context, t *rapid.T, client *signalbox.Client) {
	value := func() json.RawMessage { return jsonValues().Draw(t, "value") }
	text := func() *string {
		drawn := rapid.StringN(0, 20, 60).Draw(t, "text")
		if drawn == "" {
			return nil
		}
		return &drawn
	}
	levels := rapid.SampledFrom(append(loglevel.Levels(), loglevel.None))
	setting := func() signalbox.LevelSetting {
		set := signalbox.LevelSetting{Level: levels.Draw(t, "level"), Permanent: true}
		if rapid.Bool().Draw(t, "for a while") {
			set.TTL, set.Permanent = time.Hour, false
		}
		return set
	}
	write := func(what string, write func() error) {
		if !rapid.Bool().Draw(t, what) {
			return
		}
		if err := write(); err != nil && !signalbox.IsValidation(err) && !signalbox.IsEnvironmentUnmanaged(err) {
			t.Fatalf("%s: %v", what, err)
		}
	}
	write("environment", func() error {
		_, err := client.Environments.Replace(ctx, "staging", signalbox.EnvironmentDraft{Name: "Staging " + fmt.Sprint(len(value())), Managed: new(rapid.Bool().Draw(t, "managed"))})
		return err
	})
	write("group", func() error {
		_, err := client.LogGroups.Replace(ctx, "g", signalbox.LogGroupDraft{Base: setting(), Environments: map[string]signalbox.LevelSetting{"production": setting()}})
		return err
	})
	write("logger", func() error {
		_, err := client.Loggers.Replace(ctx, "a.b", signalbox.LoggerDraft{Base: setting(), Group: rapid.SampledFrom([]string{"", "g"}).Draw(t, "group"),
			Environments: map[string]signalbox.LevelSetting{"production": setting(), "staging": setting()}})
		return err
	})
	write("flag", func() error {
		_, err := client.Flags.Replace(ctx, "f", signalbox.FlagDraft{Type: flageval.JSON, Description: text(), Default: value(), Environments: map[string]flageval.Environment{
			"production": {Enabled: rapid.Bool().Draw(t, "on"), Default: value(), Rules: []flageval.Rule{{Description: "r", Logic: json.RawMessage(`{"==":[{"var":"user.key"},"a"]}`), Value: value()}}}}})
		return err
	})
	write("config", func() error {
		_, err := client.Configs.Replace(ctx, "c", signalbox.ConfigDraft{Description: text(), Items: map[string]signalbox.ConfigItem{"x": {Value: value(), Type: signalbox.ConfigJSON, Description: text()}},
			Standalone: rapid.Bool().Draw(t, "standalone"), Environments: map[string]signalbox.ConfigOverrides{"production": {"x": value()}}})
		return err
	})
	write("job", func() error {
		draft := signalbox.JobDraft{Name: "J", Description: text(), Schedule: "0 3 * * *", Enabled: new(rapid.Bool().Draw(t, "enabled")),
			Configuration: signalbox.JobConfiguration{URL: "https://a.example", Body: text(), Headers: []signalbox.JobHeader{{Name: "X-Token", Value: "secret"}, {Name: "Accept", Value: "text/plain"}, {Name: "x-token", Value: "second secret"}}}}
		drawPolicies(t, &draft)
		_, err := client.Jobs.Replace(ctx, "j", draft)
		return err
	})
}

// drawPolicies gives a job policies, some of which are the defaults.
func drawPolicies(t *rapid.T, draft *signalbox.JobDraft) {
	draft.Overlap = rapid.SampledFrom([]signalbox.JobOverlap{"", signalbox.OverlapAllow, signalbox.OverlapWait}).Draw(t, "overlap")
	draft.Timezone = rapid.SampledFrom([]*string{nil, new("Europe/Berlin")}).Draw(t, "zone")
	draft.Retry = rapid.SampledFrom([]*signalbox.JobRetry{nil, {MaxAttempts: 3}, {MaxAttempts: 2, DelaySeconds: 5000, On: []signalbox.FailureReason{signalbox.FailureWorkerLost}, Statuses: []string{}}}).Draw(t, "retry")
	draft.Alerts = rapid.SampledFrom([]*signalbox.JobAlerts{nil, {}, {AfterFailures: 2, LateAfterSeconds: new(60)}}).Draw(t, "alerts")
	draft.NoAlerts = draft.Alerts == nil && rapid.Bool().Draw(t, "no alerts")
}

// An export describes the server exactly: applying it, as YAML or JSON, changes nothing.
func TestExport_RoundTrip(t *testing.T) {
	t.Parallel()
	term, client := newAccount(t)
	term.must("apply", "-f", term.file(`
{kind: environment, id: staging, name: Staging, managed: true}
---
{kind: log_group, id: g}
---
{kind: flag, id: f, type: JSON, default: 1}
---
{kind: config, id: c}
---
{kind: job, id: j, name: J, schedule: 0 3 * * *, configuration: {url: "https://a.example"}}`))
	viewer := strings.TrimSpace(term.must("keys", "create", "Looks", "--role", "VIEWER", "-o", "go-template={{.key}}"))
	rapid.Check(t, func(rt *rapid.T) {
		rewrite(t.Context(), rt, client)
		format := rapid.SampledFrom([]string{"yaml", "json"}).Draw(rt, "format")
		secrets := rapid.SampledFrom([]string{"--secrets=true", "--secrets=false"}).Draw(rt, "secrets")
		looking := term.run("export")
		term.input = looking.stdout
		if seen := term.run("diff", "-f", "-", "--api-key", viewer); seen.code != 0 {
			rt.Fatalf("%s\na viewer sees a difference: %+v", looking.stdout, seen)
		}
		before := lastChange(t, client)
		exported := term.run("export", "-o", format, secrets)
		term.input = exported.stdout
		got := term.run("apply", "-f", "-")
		if exported.code != 0 || got.code != 0 || !strings.Contains(got.stdout, "0 to create, 0 to change, 0 to delete") || lastChange(t, client) != before {
			rt.Fatalf("%s\n%+v", exported.stdout+exported.stderr, got)
		}
		if secrets == "--secrets=false" && strings.Contains(exported.stdout, "secret\"") {
			rt.Fatalf("a secret is in\n%s", exported.stdout)
		}
	})
}
