package flags_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/flags"
)

var staleNow = time.Date(2030, 6, 1, 12, 0, 0, 0, time.UTC)

func daysAgo(days int) time.Time { return staleNow.AddDate(0, 0, -days) }

func anEnvironment(enabled bool, value string, rules ...string) flags.Environment {
	environment := flags.Environment{Enabled: enabled}
	if value != "" {
		environment.Default = json.RawMessage(value)
	}
	for _, served := range rules {
		environment.Rules = append(environment.Rules, flags.Rule{Logic: json.RawMessage(`{}`), Value: json.RawMessage(served)})
	}
	return environment
}

// oldFlag returns a flag of last year that is used now and serves two values.
func oldFlag(change func(*flags.Flag)) flags.Flag {
	now := staleNow
	flag := flags.Flag{Key: "f", Managed: true, Default: json.RawMessage(`false`), LastSeen: &now, LastEvaluated: &now,
		CreatedAt: daysAgo(400), UpdatedAt: daysAgo(400),
		Environments: map[string]flags.Environment{"production": anEnvironment(true, "true")}}
	change(&flag)
	return flag
}

func TestStaleRule_Of(t *testing.T) {
	t.Parallel()
	rule := flags.NewStaleRule(accounts.Settings{}.StaleFlags(), map[string]bool{"production": true, "staging": true, "frozen": false}, staleNow)
	seen := func(days int) *time.Time { at := daysAgo(days); return &at }
	for name, each := range map[string]struct {
		change func(*flags.Flag)
		want   *flags.Stale
	}{
		"used and of two values":         {func(*flags.Flag) {}, nil},
		"evaluated 30 days ago":          {func(f *flags.Flag) { f.LastEvaluated = seen(30) }, nil},
		"evaluated 31 days ago":          {func(f *flags.Flag) { f.LastEvaluated = seen(31) }, &flags.Stale{Since: daysAgo(31), Reason: flags.NotEvaluated}},
		"declared and never evaluated":   {func(f *flags.Flag) { f.LastEvaluated = nil }, &flags.Stale{Since: daysAgo(400), Reason: flags.NotEvaluated}},
		"new and never evaluated":        {func(f *flags.Flag) { f.LastEvaluated, f.LastSeen, f.CreatedAt = nil, nil, daysAgo(3) }, nil},
		"evaluated and never declared":   {func(f *flags.Flag) { f.LastSeen = nil }, nil},
		"neither declared nor evaluated": {func(f *flags.Flag) { f.LastEvaluated, f.LastSeen = nil, nil }, &flags.Stale{Since: daysAgo(400), Reason: flags.NotDeclared}},
		"not declared any more":          {func(f *flags.Flag) { f.LastEvaluated, f.LastSeen = seen(50), seen(40) }, &flags.Stale{Since: daysAgo(40), Reason: flags.NotDeclared}},
		"discovered":                     {func(f *flags.Flag) { f.Managed, f.LastEvaluated, f.LastSeen = false, nil, nil }, nil},
		"rolled out everywhere": {func(f *flags.Flag) { f.Environments["staging"] = anEnvironment(false, "true", "false") },
			&flags.Stale{Since: daysAgo(400), Reason: flags.OneValue}},
		"rolled out, changed 90 days ago": {func(f *flags.Flag) {
			f.Environments["staging"], f.UpdatedAt = anEnvironment(true, "true"), daysAgo(90)
		}, nil},
		"a rule serves another value": {func(f *flags.Flag) { f.Environments["staging"] = anEnvironment(true, "true", "true", "false") }, nil},
		"all rules serve the value":   {func(f *flags.Flag) { f.Environments["staging"] = anEnvironment(true, "true", "true") }, &flags.Stale{Since: daysAgo(400), Reason: flags.OneValue}},
		"the default everywhere":      {func(f *flags.Flag) { f.Environments = nil }, &flags.Stale{Since: daysAgo(400), Reason: flags.OneValue}},
		"equal numbers": {func(f *flags.Flag) {
			f.Default, f.Environments["production"] = json.RawMessage(`1`), anEnvironment(true, "1.0")
		}, &flags.Stale{Since: daysAgo(400), Reason: flags.OneValue}},
		"a frozen environment serves another": {func(f *flags.Flag) {
			f.Environments = map[string]flags.Environment{"frozen": anEnvironment(true, "true")}
		}, &flags.Stale{Since: daysAgo(400), Reason: flags.OneValue}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			same(t, rule.Of(oldFlag(each.change)), each.want)
		})
	}
}

// TestStaleRule_NoEnvironments: a flag that is served nowhere does not serve one value.
func TestStaleRule_NoEnvironments(t *testing.T) {
	t.Parallel()
	rule := flags.NewStaleRule(accounts.Settings{}.StaleFlags(), nil, staleNow)
	same(t, rule.Of(oldFlag(func(*flags.Flag) {})), nil)
}
