package summary_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/summary"
)

// flag returns a flag's document with these rules in production.
func flag(rules ...string) string {
	return `{"name":"Checkout","default":false,"environments":{"production":{"enabled":true,"rules":[` + strings.Join(rules, ",") + `]}},"updated_at":"x"}`
}

const (
	alice = `{"description":"","logic":{"==":[{"var":"user.key"},"alice"]},"value":true}`
	plan  = `{"description":"","logic":{"in":[{"var":"user.plan"},["pro","team"]]},"value":true}`
	age   = `{"description":"","logic":{">=":[{"var":"user.age"},18]},"value":true}`
)

// share returns a rule that serves true to a percentage.
func share(percent int) string {
	return fmt.Sprintf(`{"description":"","logic":{"fractional":[{"cat":["x",{"var":"user.key"}]},[true,%d],[false,%d]]},"value":true}`, percent, 100-percent)
}

// TestOf_Moves: as few rules as possible are said to have moved.
func TestOf_Moves(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // cases need no secrecy
	for range 200 {
		order := random.Perm(1 + random.IntN(9))
		var before, after []string
		for at, moved := range order {
			rule := func(n int) string { return strings.Replace(alice, "alice", fmt.Sprintf("person %d", n), 1) }
			before, after = append(before, rule(at)), append(after, rule(moved))
		}
		said := summary.Of(change("flag", flag(before...), flag(after...)))
		if want := len(order) - longestInOrder(order); len(said) != want {
			t.Errorf("%v: got %v, want %d moves", order, said, want)
		}
	}
}

// longestInOrder returns the length of the longest part that is in order, by trying all.
func longestInOrder(order []int) (longest int) {
	for chosen := range 1 << len(order) {
		last, length := -1, 0
		for at, each := range order {
			if chosen>>at&1 == 0 {
				continue
			}
			if each < last {
				length = 0
				break
			}
			last, length = each, length+1
		}
		longest = max(longest, length)
	}
	return longest
}

// TestOf_ManyRules: comparing each rule with all others would take seconds.
func TestOf_ManyRules(t *testing.T) {
	t.Parallel()
	var before, after []string
	for i := range 5_000 {
		before = append(before, fmt.Sprintf(`{"logic":{"var":"a"},"value":"v%d"}`, i))
		after = append(after, fmt.Sprintf(`{"logic":{"var":"b"},"value":"w%d"}`, i))
	}
	said := summary.Of(change("flag", flag(before...), flag(after...)))
	if last := said[len(said)-1].Text; last != "9900 more differences" {
		t.Errorf("the last of %d sentences is %s", len(said), last)
	}
}

func TestOf(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		kind, before, after string
		want                []string
	}{
		"a rule added":                   {"flag", flag(plan), flag(plan, alice), []string{"+ Rule 2: if user.key is alice, serve true in production"}},
		"a rule removed":                 {"flag", flag(plan, alice), flag(plan), []string{"− Rule 2: if user.key is alice, serve true in production"}},
		"a rule moved":                   {"flag", flag(plan, age, alice), flag(alice, plan, age), []string{"Rule 3 moved to 1 in production"}},
		"a rollout":                      {"flag", flag(plan, share(10)), flag(plan, share(25)), []string{"Rule 2: rollout 10 % → 25 % in production"}},
		"another condition":              {"flag", flag(plan), flag(age), []string{"Rule 1: if user.plan is one of pro, team → if user.age is at least 18 in production"}},
		"another value":                  {"flag", flag(plan), flag(strings.Replace(plan, `"value":true`, `"value":false`, 1)), []string{"Rule 1 serves true → false in production"}},
		"moved and edited":               {"flag", flag(plan, share(10)), flag(share(30), plan), []string{"Rule 1: rollout 10 % → 30 % in production", "Rule 1 moved to 2 in production"}},
		"turned off":                     {"flag", flag(plan), strings.Replace(flag(plan), `"enabled":true`, `"enabled":false`, 1), []string{"Turned off in production"}},
		"a default":                      {"flag", flag(), strings.Replace(flag(), `"default":false`, `"default":true`, 1), []string{"Default false → true"}},
		"a name with spaces":             {"flag", flag(), strings.Replace(flag(), `"Checkout"`, `"Check out"`, 1), []string{`Name Checkout → "Check out"`}},
		"a text that looks like a value": {"flag", `{"default":"true"}`, `{"default":true}`, []string{`Default "true" → true`}},
		"only the time differs":          {"flag", flag(plan), strings.Replace(flag(plan), `"x"`, `"y"`, 1), []string{}},
		"created":                        {"flag", "", flag(alice), []string{"Created", "Default set to false", "+ Rule 1: if user.key is alice, serve true in production"}},
		"deleted":                        {"flag", flag(), "", []string{"Deleted"}},
		"a level":                        {"logger", `{"level":"INFO","environments":{}}`, `{"level":"DEBUG","environments":{}}`, []string{"Level INFO → DEBUG"}},
		"a temporary level": {"logger", `{"level":null,"environments":{}}`, `{"level":null,"environments":{"staging":{"level":"DEBUG","expires_at":"2026-05-01T10:00:00.5Z"}}}`,
			[]string{"Level set to DEBUG until 2026-05-01 10:00:00 UTC in staging"}},
		"a level made permanent": {"logger", `{"level":"DEBUG","level_expires_at":"2026-05-01T10:00:00Z"}`, `{"level":"DEBUG","level_expires_at":null}`,
			[]string{"Level DEBUG stays: it no longer ends by itself"}},
		"a level that ends": {"logger", `{"level":"DEBUG","level_expires_at":null}`, `{"level":"DEBUG","level_expires_at":"2026-05-01T10:00:00Z"}`,
			[]string{"Level DEBUG ends at 2026-05-01 10:00:00 UTC"}},
		"a level removed": {"logger", `{"environments":{"staging":{"level":"DEBUG"}}}`, `{"environments":{}}`, []string{"Level removed (was DEBUG) in staging"}},
		"an item": {"config", `{"items":{"timeout_ms":{"value":1500,"type":"NUMBER"}},"environments":{"production":{"timeout_ms":9000}}}`,
			`{"items":{"timeout_ms":{"value":4000,"type":"NUMBER"}},"environments":{"production":{"timeout_ms":9000}}}`, []string{"timeout_ms 1500 → 4000 (production keeps 9000)"}},
		"an override": {"config", `{"items":{"timeout_ms":{"value":1500}},"environments":{}}`, `{"items":{"timeout_ms":{"value":1500}},"environments":{"production":{"timeout_ms":4000}}}`,
			[]string{"timeout_ms 1500 → 4000 in production"}},
		"an override removed": {"config", `{"items":{"timeout_ms":{"value":1500}},"environments":{"production":{"timeout_ms":4000}}}`, `{"items":{"timeout_ms":{"value":1500}},"environments":{}}`,
			[]string{"timeout_ms back to 1500 (was 4000) in production"}},
		"an item added":   {"config", `{"items":{}}`, `{"items":{"a/b":{"value":"x y","type":"STRING","description":null}}}`, []string{`a/b set to "x y"`}},
		"an item removed": {"config", `{"items":{"a":{"value":1,"type":"NUMBER"}}}`, `{"items":{}}`, []string{"a removed (was 1)"}},
		"a job": {"job", `{"schedule":"* * * * *","configuration":{"url":"http://a","method":"GET"},"version":1,"next_run_at":"x"}`,
			`{"schedule":"0 * * * *","configuration":{"url":"http://b","method":"GET"},"version":2,"next_run_at":"y"}`,
			[]string{`Schedule "* * * * *" → "0 * * * *"`, "Configuration URL http://a → http://b"}},
		"a zone":                  {"job", `{"timezone":null}`, `{"timezone":"Europe/Berlin"}`, []string{"Time zone UTC → Europe/Berlin"}},
		"a retry":                 {"job", `{"retry":null}`, retried, []string{"A failed run is attempted up to 3 times, 1 min 30 s apart, doubling each time"}},
		"no retry":                {"job", retried, `{"retry":null}`, []string{"A failed run is no longer attempted again (was up to 3 attempts)"}},
		"parts of a retry":        {"job", retried, `{"retry":{"max_attempts":5,"delay_seconds":90,"backoff":"exponential","on":["TIMEOUT","WORKER_LOST"],"statuses":["5xx"]}}`, []string{"Attempts of a failed run 3 → 5", "Attempts again after TIMEOUT → TIMEOUT, WORKER_LOST"}},
		"overlap":                 {"job", `{"overlap":"allow"}`, `{"overlap":"skip"}`, []string{"Skips a due time while an earlier run has not ended"}},
		"an older job":            {"job", `{"schedule":"now"}`, `{"schedule":"now","timezone":null,"overlap":"allow","retry":null,"alerts":{"after_failures":1,"recover_after":1,"late_after_seconds":null}}`, []string{}},
		"alerts":                  {"job", `{"alerts":{"after_failures":1,"recover_after":1,"late_after_seconds":null,"remind_every_seconds":600}}`, `{"alerts":{"after_failures":3,"recover_after":1,"late_after_seconds":60,"remind_every_seconds":null}}`, []string{"Failures in a row until it is failing 1 → 3", "Late without a start for 1 min", "No longer reminds (was 10 min)"}},
		"no alerts":               {"job", `{"alerts":{"after_failures":1}}`, `{"alerts":null}`, []string{"Failing, late and recovered are no longer events"}},
		"alerts again":            {"job", `{"alerts":null}`, `{"alerts":{"after_failures":2,"recover_after":1}}`, []string{"Failing, late and recovered are events again", "Failures in a row until it is failing 1 → 2"}},
		"a new job with policies": {"job", "", `{"name":"x","timezone":"Asia/Tokyo","overlap":"wait","retry":{"max_attempts":2,"delay_seconds":60,"backoff":"fixed"},"alerts":{"after_failures":2,"recover_after":1}}`, []string{"Created", "Time zone set to Asia/Tokyo", "Failures in a row until it is failing 1 → 2", "A run waits until the earlier ones have ended", "A failed run is attempted up to 2 times, 1 min apart"}},
		"a new plain job":         {"job", "", `{"name":"x","timezone":null,"overlap":"allow","retry":null,"alerts":{"after_failures":1,"recover_after":1}}`, []string{"Created"}},
		"health":                  {"job_health", `{"state":"ok"}`, `{"state":"failing","detail":"A run failed: timeout."}`, []string{"A run failed: timeout."}},
		"an environment":          {"environment", `{"managed":false}`, `{"managed":true}`, []string{"Promoted: values can be written for it"}},
		"a key":                   {"api_key", `{"role":"MEMBER","scopes":{}}`, `{"role":"ADMIN","scopes":{"environments":["staging"]}}`, []string{"Role MEMBER → ADMIN", `Scopes environments set to ["staging"]`}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := []string{}
			for _, sentence := range summary.Of(change(test.kind, test.before, test.after)) {
				got = append(got, sentence.String())
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("got  %q\nwant %q", got, test.want)
			}
		})
	}
}

const retried = `{"retry":{"max_attempts":3,"delay_seconds":90,"backoff":"exponential","on":["TIMEOUT"],"statuses":["5xx"]}}`

func change(kind, before, after string) changes.Change {
	made := changes.Change{Kind: kind, Key: "x", Action: changes.Updated}
	if before != "" {
		made.Before = json.RawMessage(before)
	}
	if after != "" {
		made.After = json.RawMessage(after)
	}
	return made
}

// TestOf_Bounded: a change of a thousand items has a hundred sentences and a count.
func TestOf_Bounded(t *testing.T) {
	t.Parallel()
	var items []string
	for i := range 1000 {
		items = append(items, fmt.Sprintf(`"i%d":{"value":%d}`, i, i))
	}
	got := summary.Of(change("config", `{"items":{}}`, `{"items":{`+strings.Join(items, ",")+`}}`))
	if len(got) != 101 || got[100].Text != "900 more differences" {
		t.Errorf("got %d, the last %q", len(got), got[len(got)-1].Text)
	}
}

// TestOf_Hidden: what the reader may not see, or is no longer stored, has no sentences.
func TestOf_Hidden(t *testing.T) {
	t.Parallel()
	for name, hidden := range map[string]changes.Change{"private": {Private: true}, "trimmed": {Trimmed: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := summary.Of(hidden); len(got) != 0 {
				t.Errorf("got %v", got)
			}
		})
	}
}

// FuzzOf: no document makes it fail, and a change that changes nothing says nothing.
func FuzzOf(f *testing.F) {
	f.Add("flag", flag(plan), flag(alice))
	f.Add("config", `{"items":{"a":{"value":1}}}`, `{"items":null,"environments":[]}`)
	f.Add("job", retried, `{"retry":[],"alerts":{"after_failures":"x"},"overlap":1,"timezone":{}}`)
	f.Add("job_health", `{"detail":"x"}`, `{"detail":1}`)
	f.Add("logger", `{"level":1}`, `{"environments":{"a":{"level":{}}}}`)
	f.Fuzz(func(t *testing.T, kind, before, after string) {
		if !json.Valid([]byte(before)) || !json.Valid([]byte(after)) {
			return
		}
		summary.Of(change(kind, before, after))
		if same := summary.Of(change(kind, before, before)); len(same) != 0 {
			t.Errorf("no change says %v", same)
		}
	})
}
