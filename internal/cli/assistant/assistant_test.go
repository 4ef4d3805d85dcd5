package assistant_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	signalbox "github.com/signalbox/signalbox/client"
	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/cli/assistant"
	"github.com/signalbox/signalbox/internal/naming"
)

// session is an assistant that is connected to a server for one account.
type session struct {
	t *testing.T
	*mcp.ClientSession
	account *signalbox.Client
}

type arguments map[string]any

// connect makes an account with a few things and connects an assistant to it.
func connect(t *testing.T, allowWrites bool) *session {
	t.Helper()
	node := apptest.Shared(t, "sqlite")
	account, err := signalbox.New(node.URL, node.Account(t, "assistant", "pro"))
	if err != nil {
		t.Fatal(err)
	}
	near, far := mcp.NewInMemoryTransports()
	served, err := assistant.New(account, "v1.2.3", allowWrites).Connect(t.Context(), far, nil)
	if err != nil {
		t.Fatal(err)
	}
	connected, err := mcp.NewClient(&mcp.Implementation{Name: "test"}, nil).Connect(t.Context(), near, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = connected.Close() // the server may have ended first
		_ = served.Wait()
	})
	return &session{t: t, ClientSession: connected, account: account}
}

// in returns the same session for a subtest.
func (s *session) in(t *testing.T) *session {
	t.Helper()
	return &session{t: t, ClientSession: s.ClientSession, account: s.account}
}

// call calls a tool and returns its result, or its error.
func (s *session) call(tool string, in arguments) (map[string]any, string) {
	s.t.Helper()
	result, err := s.CallTool(s.t.Context(), &mcp.CallToolParams{Name: tool, Arguments: in})
	if err != nil {
		return nil, err.Error()
	}
	text := result.Content[0].(*mcp.TextContent).Text
	if result.IsError {
		return nil, text
	}
	var decoded map[string]any
	if err := json.Unmarshal([]byte(text), &decoded); err != nil {
		s.t.Fatalf("%s: %v in %s", tool, err, text)
	}
	return decoded, ""
}

// must calls a tool that works.
func (s *session) must(tool string, in arguments) map[string]any {
	s.t.Helper()
	result, refused := s.call(tool, in)
	if refused != "" {
		s.t.Fatalf("%s: %s", tool, refused)
	}
	return result
}

// refuses calls a tool that fails with a text.
func (s *session) refuses(want, tool string, in arguments) {
	s.t.Helper()
	if result, refused := s.call(tool, in); !strings.Contains(refused, want) {
		s.t.Errorf("%s: got %v and %q, want %q", tool, result, refused, want)
	}
}

// at returns the value at a path of members and indexes.
func at(value any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[step]
		case int:
			list, _ := value.([]any)
			if step >= len(list) {
				return nil
			}
			value = list[step]
		}
	}
	return value
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (s *session) want(want, value any, path ...any) {
	s.t.Helper()
	if got := at(value, path...); got != want {
		s.t.Errorf("%v is %v, want %v", path, got, want)
	}
}

func TestTools_ReadOnly(t *testing.T) {
	t.Parallel()
	writes := []string{"revert_change", "run_job", "set_level"}
	for _, allowed := range []bool{false, true} {
		t.Run(fmt.Sprint("allowed: ", allowed), func(t *testing.T) {
			s := connect(t, allowed)
			listed, err := s.ListTools(t.Context(), nil)
			check(t, err)
			var found []string
			for _, tool := range listed.Tools {
				if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
					found = append(found, tool.Name)
				}
			}
			slices.Sort(found)
			if allowed != slices.Equal(found, writes) || !allowed && len(found) > 0 {
				t.Errorf("allowed: %t, but the tools that write are %v", allowed, found)
			}
			if len(listed.Tools)-len(found) != 17 {
				t.Errorf("%d tools read", len(listed.Tools)-len(found))
			}
		})
	}
	connect(t, false).refuses("unknown tool", "set_level", arguments{"logger": "a", "environment": "production", "level": "DEBUG", "minutes": 5})
}

func TestFlags_Explained(t *testing.T) {
	t.Parallel()
	s := connect(t, false)
	rule := flageval.Rule{Logic: json.RawMessage(`{"==": [{"var": "user.plan"}, "pro"]}`), Value: json.RawMessage(`9007199254740993`)}
	_, err := s.account.Flags.Create(t.Context(), "limit", signalbox.FlagDraft{Type: flageval.Numeric, Default: json.RawMessage("1"),
		Environments: map[string]flageval.Environment{"production": {Enabled: true, Rules: []flageval.Rule{rule}}}})
	check(t, err)

	listed := s.must("list_flags", arguments{"search": "LIM"})
	s.want("limit", listed, "items", 0, "id")
	s.want(true, listed, "items", 0, "enabled_in", "production")
	s.want(1.0, listed, "total")
	s.want(nil, listed, "items", 0, "environments")
	s.want("NUMERIC", s.must("get_flag", arguments{"id": "limit"}), "type")

	why := s.must("explain_flag", arguments{"id": "limit", "environment": "production", "context": arguments{"user": arguments{"plan": "pro"}}})
	s.want("limit", why, "id")
	s.want(0.0, why, "rule")
	s.refuses("no flag", "get_flag", arguments{"id": "nope"})
	s.refuses("environment", "explain_flag", arguments{"id": "limit"})
}

// TestFlags_NumbersKept looks at the text that an assistant gets: a number must not be rounded on its way.
func TestFlags_NumbersKept(t *testing.T) {
	t.Parallel()
	s := connect(t, false)
	_, err := s.account.Flags.Create(t.Context(), "big", signalbox.FlagDraft{Type: flageval.Numeric, Default: json.RawMessage("9007199254740993")})
	check(t, err)
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_flag", Arguments: arguments{"id": "big"}})
	check(t, err)
	if text := result.Content[0].(*mcp.TextContent).Text; !strings.Contains(text, "9007199254740993") {
		t.Error(text)
	}
}

func TestConfigs_Explained(t *testing.T) {
	t.Parallel()
	s := connect(t, false)
	_, err := s.account.Configs.Create(t.Context(), "checkout", signalbox.ConfigDraft{
		Items:        map[string]signalbox.ConfigItem{"timeout": {Value: json.RawMessage("10")}},
		Environments: map[string]signalbox.ConfigOverrides{"production": {"timeout": json.RawMessage("20")}}})
	check(t, err)
	s.want("checkout", s.must("list_configs", arguments{"search": "check"}), "items", 0, "id")
	s.want(10.0, s.must("get_config", arguments{"id": "checkout"}), "items", "timeout", "value")
	resolved := s.must("explain_config", arguments{"id": "checkout", "environment": "production"})
	s.want(20.0, resolved, "values", "timeout")
	s.want("environment", resolved, "origins", "timeout", "source")
}

// job makes a job that calls a server of the test.
func (s *session) job() signalbox.Job {
	s.t.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("hello")) }))
	s.t.Cleanup(receiver.Close)
	job, err := s.account.Jobs.Create(s.t.Context(), "nightly", signalbox.JobDraft{Name: "Nightly", Schedule: "30 2 * * *",
		Configuration: signalbox.JobConfiguration{Method: "GET", URL: receiver.URL, Headers: []signalbox.JobHeader{{Name: "Authorization", Value: "s3cret"}}}})
	check(s.t, err)
	return job
}

func TestJobs_SecretsHidden(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	s.job()
	for _, shown := range []map[string]any{s.must("get_job", arguments{"id": "nightly"}), s.must("list_jobs", nil), s.must("run_job", arguments{"id": "nightly"})} {
		if text, _ := json.Marshal(shown); strings.Contains(string(text), "s3cret") {
			t.Errorf("the value of a header is shown: %s", text)
		}
	}
	s.want("<redacted>", s.must("get_job", arguments{"id": "nightly"}), "configuration", "headers", 0, "value")
	job, err := s.account.Jobs.Get(t.Context(), "nightly")
	check(t, err)
	_, err = s.account.Jobs.Replace(t.Context(), "nightly", signalbox.JobDraft{Name: "Nightly", Schedule: "30 2 * * *",
		Configuration: signalbox.JobConfiguration{Method: "GET", URL: strings.Replace(job.Configuration.URL, "//", "//admin:s3cret@", 1)}})
	check(t, err)
	s.want(strings.Replace(job.Configuration.URL, "//", "//<redacted>@", 1), s.must("get_job", arguments{"id": "nightly"}), "configuration", "url")
	if text, _ := json.Marshal(s.must("run_job", arguments{"id": "nightly"})); strings.Contains(string(text), "s3cret") {
		t.Errorf("the password of a URL is shown: %s", text)
	}
	s.want("cron", s.must("explain_schedule", arguments{"schedule": "30 2 * * *"}), "kind")
}

// TestTools_HiddenCharacters: a tool's answer, which programs show, escapes the characters that terminals interpret.
func TestTools_HiddenCharacters(t *testing.T) {
	t.Parallel()
	s := connect(t, false)
	const hostile = "a\x1b]52;\u009b\u202eb"
	value, err := json.Marshal(hostile)
	check(t, err)
	_, err = s.account.Flags.Create(t.Context(), "hostile", signalbox.FlagDraft{Type: "STRING", Default: value})
	check(t, err)
	result, err := s.CallTool(t.Context(), &mcp.CallToolParams{Name: "get_flag", Arguments: arguments{"id": "hostile"}})
	check(t, err)
	if text := result.Content[0].(*mcp.TextContent).Text; naming.Visible(text) != text {
		t.Errorf("got %q", text)
	}
	s.want(hostile, s.must("get_flag", arguments{"id": "hostile"}), "default")
}

func TestRunJob_Confirmed(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	job := s.job()
	shown := s.must("run_job", arguments{"id": "nightly"})
	s.want(false, shown, "done")
	s.want(0, len(s.must("list_runs", arguments{"job": "nightly"})["items"].([]any)))

	confirmed := arguments{"id": "nightly", "confirmation": shown["confirmation"]}
	done := s.must("run_job", confirmed)
	s.want("SUCCEEDED", done, "result", "status")
	s.want("hello", s.must("get_run", arguments{"id": at(done, "result", "id")}), "result", "body")
	s.refuses("used or expired", "run_job", confirmed)

	shown = s.must("run_job", arguments{"id": "nightly"})
	draft := job.Draft()
	draft.Configuration.Method = "POST"
	_, err := s.account.Jobs.Replace(t.Context(), "nightly", draft)
	check(t, err)
	s.refuses("changed since it was shown", "run_job", arguments{"id": "nightly", "confirmation": shown["confirmation"]})
	s.want(1, len(s.must("list_runs", arguments{"job": "nightly", "status": "SUCCEEDED"})["items"].([]any)))
}

func TestSetLevel_Confirmed(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	_, err := s.account.Loggers.Report(t.Context(), []signalbox.ReportedLogger{{Name: "shop.payments", Level: loglevel.Warn, Service: "shop", Environment: "production"}})
	check(t, err)
	in := arguments{"logger": "shop.payments", "environment": "production", "level": "debug", "minutes": 30}
	shown := s.must("set_level", in)
	s.want(false, shown, "done")
	s.want("DEBUG", shown, "would_happen", "after", "resolved", "level")
	s.want(nil, s.must("explain_level", arguments{"logger": "shop.payments", "environment": "production"}), "override")

	in["confirmation"] = shown["confirmation"]
	in["minutes"] = 31
	s.refuses("other arguments", "set_level", in)
	in["minutes"] = 30
	s.want(true, s.must("set_level", in), "done")
	level := s.must("explain_level", arguments{"logger": "shop.payments", "environment": "production"})
	s.want("DEBUG", level, "override", "level")
	if at(level, "override", "expires_at") == nil {
		t.Error("the level does not expire")
	}
	s.want("WARN", level, "used_by_services", 0, "level")
	s.want("shop.payments", s.must("list_loggers", arguments{"service": "shop"}), "items", 0, "id")
}

// TestSetLevel_KeepsTheRest checks that the tool leaves other members as they are.
func TestSetLevel_KeepsTheRest(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	managed := true
	_, err := s.account.Environments.Replace(t.Context(), "staging", signalbox.EnvironmentDraft{Name: "Staging", Managed: &managed})
	check(t, err)
	_, err = s.account.Loggers.Replace(t.Context(), "shop", signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Error},
		Environments: map[string]signalbox.LevelSetting{"staging": {Level: loglevel.Trace}}})
	check(t, err)
	in := arguments{"logger": "shop", "environment": "production", "level": "INFO", "minutes": 1}
	in["confirmation"] = s.must("set_level", in)["confirmation"]
	s.must("set_level", in)
	logger, err := s.account.Loggers.Get(t.Context(), "shop")
	check(t, err)
	if logger.Level != loglevel.Error || logger.Environments["staging"].Level != loglevel.Trace || logger.Environments["production"].Level != loglevel.Info {
		t.Errorf("%+v", logger)
	}
}

func TestSetLevel_Refused(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	for want, in := range map[string]arguments{
		"minutes must be from 1 to 1440": {"logger": "a", "environment": "production", "level": "DEBUG", "minutes": 1441},
		"level must be one of":           {"logger": "a", "environment": "production", "level": "LOUD", "minutes": 5},
		"not managed":                    {"logger": "a", "environment": "staging", "level": "DEBUG", "minutes": 5},
		"missing properties":             {"logger": "a", "environment": "production", "level": "DEBUG"},
		"used or expired":                {"logger": "a", "environment": "production", "level": "DEBUG", "minutes": 5, "confirmation": "made up"},
	} {
		t.Run(want, func(t *testing.T) {
			s.in(t).refuses(want, "set_level", in)
		})
	}
	in := arguments{"logger": "a", "environment": "production", "level": "DEBUG", "minutes": 5}
	in["confirmation"] = s.must("set_level", in)["confirmation"]
	_, err := s.account.Loggers.Replace(t.Context(), "a", signalbox.LoggerDraft{Base: signalbox.LevelSetting{Level: loglevel.Error}})
	check(t, err)
	s.refuses("changed since it was shown", "set_level", in)
}

func TestRevertChange_Confirmed(t *testing.T) {
	t.Parallel()
	s := connect(t, true)
	ctx := t.Context()
	_, err := s.account.Flags.Create(ctx, "beta", signalbox.FlagDraft{Type: flageval.Boolean, Default: json.RawMessage("false")})
	check(t, err)
	_, err = s.account.Flags.Replace(ctx, "beta", signalbox.FlagDraft{Type: flageval.Boolean, Default: json.RawMessage("true")})
	check(t, err)
	changes, err := s.account.Changes.List(ctx, signalbox.ChangeParams{Resource: "flag:beta"})
	check(t, err)
	s.want(changes.Items[0].ID, s.must("list_changes", arguments{"resource": "flag:beta"}), "items", 0, "id")
	var number int64
	check(t, json.Unmarshal([]byte(changes.Items[0].ID), &number))
	s.want(true, s.must("get_change", arguments{"number": number}), "after", "default")
	s.want(false, s.must("preview_revert", arguments{"number": number}), "after", "default")

	shown := s.must("revert_change", arguments{"number": number})
	s.want(false, shown, "would_happen", "after", "default")
	flag, err := s.account.Flags.Get(ctx, "beta")
	check(t, err)
	s.want("true", string(flag.Default))
	s.want(true, s.must("revert_change", arguments{"number": number, "confirmation": shown["confirmation"]}), "done")
	flag, err = s.account.Flags.Get(ctx, "beta")
	check(t, err)
	s.want("false", string(flag.Default))
}
