package api_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEvaluate_Explanation(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("why", inEnvironment("production", attributes{"rules": []attributes{
		{"logic": equals("user.plan", "pro"), "value": false, "description": "Plan"}, {"logic": equals("user.key", "alice"), "value": true}, {"logic": attributes{}, "value": true},
	}}))
	got := owner.withRole("VIEWER").evaluated("why", "production", attributes{"user": attributes{"key": "alice"}}).want(200)
	if data := got.data(); data.ID != "why" || data.Type != "evaluation" {
		t.Errorf("got %s", got.body)
	}
	for name, want := range map[string]any{"environment": "production", "value": true, "reason": "TARGETING_MATCH", "rule": 1.0} {
		if got.attribute(name) != want {
			t.Errorf("%s is %v, want %v", name, got.attribute(name), want)
		}
	}
	rules := got.attribute("explanation").(map[string]any)["rules"].([]any)
	var summary []any
	for _, each := range rules {
		rule := each.(map[string]any)
		summary = append(summary, rule["evaluated"], rule["matched"])
	}
	if difference := cmp.Diff([]any{true, false, true, true, false, false}, summary); difference != "" {
		t.Errorf("evaluated and matched: want (-), got (+):\n%s", difference)
	}
	requireResults(t, rules[1].(map[string]any)["logic"].(map[string]any))
}

// requireResults checks that every evaluated node of an explanation has a result.
func requireResults(t *testing.T, node map[string]any) {
	t.Helper()
	if _, has := node["result"]; node["evaluated"] == true && !has {
		t.Errorf("no result at %v", node["pointer"])
	}
	arguments, _ := node["arguments"].([]any)
	for _, each := range arguments {
		requireResults(t, each.(map[string]any))
	}
}

func TestEvaluate_Environments(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", inEnvironment("production", attributes{"enabled": false}))
	seq := owner.seq()
	if got := owner.evaluated("made", "staging", nil).want(200); got.attribute("reason") != "STATIC" || got.attribute("rule") != nil {
		t.Errorf("got %s", got.body)
	}
	if got := owner.evaluated("made", "production", nil).want(200); got.attribute("reason") != "DISABLED" || got.attribute("value") != false {
		t.Errorf("got %s", got.body)
	}
	owner.evaluated("made", "nowhere", nil).refused(400, invalid("/environment"))
	if got := owner.evaluated("made", "prod", nil).want(400); !got.contains(`The environment \"prod\" does not exist. Did you mean production?`) {
		t.Errorf("got %s", got.body)
	}
	owner.evaluated("nowhere", "production", nil).refused(404, problem{code: "not_found"})
	path := flagsPath + "/made/actions/evaluate"
	owner.post(path, `{}`).refused(400, invalid("/environment"))
	owner.post(path, "").refused(400, invalid("/environment")) // an action takes nothing for an empty object
	owner.post(path, `{"environment":5,"context":[]}`).want(400)
	owner.post(path, `{"environment":"production","context":5}`).refused(400, invalid("/context"))
	owner.post(path, `{"data":{"attributes":{"environment":"production","context":{"user":{"key":"a"}}}}}`).want(200)
	if owner.seq() != seq {
		t.Error("an evaluation is in the history")
	}
}

// TestEvaluate_RepeatedEnvironments: they would make the answer's memory grow with the request, for each flag.
func TestEvaluate_RepeatedEnvironments(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	body := `{"environments":[` + strings.TrimSuffix(strings.Repeat(`"staging","production",`, 50_000), ",") + `]}`
	got := owner.post(flagsPath+"/actions/evaluate", body, offContract).want(200)
	if environments := got.page().Data[0].Attributes["environments"].(map[string]any); len(environments) != 2 {
		t.Errorf("got %v", environments)
	}
}

func TestEvaluate_ZeroByteInContext(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", inEnvironment("production", attributes{"rules": serving(equals("user.key", "a"), true)}))
	owner.post(flagsPath+"/made/actions/evaluate", `{"environment":"production","context":{"user":{"key":"\u0000"}}}`).want(200)
	owner.ofrep("made", `{"context":{"user":{"key":"\u0000"}}}`).want(200)
}

func TestEvaluate_EnvelopePointer(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", nil) + "/actions/evaluate"
	owner.post(path, `{"data":{"attributes":{}}}`).refused(400, invalid("/data/attributes/environment"))
	owner.post(path, `{"data":{"attributes":{"environment":"nowhere"}}}`).refused(400, invalid("/data/attributes/environment"))
}

// TestEvaluate_ContextSize: every rule may look at all of a context.
func TestEvaluate_ContextSize(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", nil) + "/actions/evaluate"
	sized := func(bytes int) string {
		return `{"user":{"key":"` + strings.Repeat("x", bytes-len(`{"user":{"key":""}}`)) + `"}}`
	}
	const most = 64 << 10
	owner.post(path, `{"environment":"production","context":`+sized(most)+`}`).want(200)
	owner.post(path, `{"environment":"production","context":`+sized(most+1)+`}`).refused(400, invalid("/context"))
	for _, key := range []string{"made", ""} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			owner := owner.in(t)
			owner.ofrep(key, `{"context":`+sized(most-len(`{"context":}`))+`}`).want(200)
			if got := owner.ofrep(key, `{"context":`+sized(most)+`}`).want(400); got.members()["errorCode"] != "INVALID_CONTEXT" {
				t.Errorf("got %s", got.body)
			}
		})
	}
}
