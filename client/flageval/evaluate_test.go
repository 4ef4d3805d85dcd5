package flageval

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/jsonlogic"
)

// decode decodes a definition from the attributes of a flag document.
func decode(t testing.TB, key, attributes string) Definition {
	t.Helper()
	var d Definition
	if err := json.Unmarshal([]byte(attributes), &d); err != nil {
		t.Fatalf("%s: %v", attributes, err)
	}
	d.Key = key
	return d
}

func context(t testing.TB, text string) jsonlogic.Value {
	t.Helper()
	v, err := jsonlogic.Parse([]byte(text))
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return v
}

// checkout is a flag for every step of evaluation.
const checkout = `{
	"type": "STRING", "default": "base", "description": "ignored", "managed": true,
	"environments": {
		"production": {"enabled": true, "default": "prod", "rules": [
			{"description": "never", "logic": {}, "value": "empty"},
			{"description": "staff", "logic": {"in": [{"var": "user.key"}, ["ada", "bob"]]}, "value": "staff"},
			{"description": "fails", "logic": {"and": [{"var": "user.fail"}, {"*": []}]}, "value": "failed"},
			{"description": "rollout", "logic": {"and": [{"var": "user.trial"}, {"fractional": [[true, 1]]}]}, "value": "trial"},
			{"description": "plan or rollout", "logic": {"or": [{"==": [{"var": "user.plan"}, "pro"]}, {"fractional": [[false, 1]]}]}, "value": "pro"}
		]},
		"off": {"enabled": false, "default": "off", "rules": [{"logic": {"==": [1, 1]}, "value": "never"}]},
		"off-inherits": {"enabled": false, "default": null, "rules": []},
		"plain": {"enabled": true, "rules": []},
		"plain-default": {"default": "plain"},
		"inherits": {"enabled": true, "default": null, "rules": [{"logic": {"var": "user.never"}, "value": "x"}]}
	}
}`

type outcome struct {
	Value  string
	Reason string
	Rule   int
	Code   string
}

func outcomeOf(e Evaluation) outcome {
	return outcome{Value: string(e.Raw()), Reason: e.Reason.String(), Rule: e.Rule, Code: e.Code.String()}
}

func TestEvaluate_SixSteps(t *testing.T) {
	flag := Compile(decode(t, "checkout", checkout))
	if len(flag.Problems()) > 0 {
		t.Fatalf("%+v", flag.Problems())
	}
	for _, c := range []struct {
		name, environment, context string
		want                       outcome
	}{
		{"a rule matches", "production", `{"user":{"key":"ada"}}`, outcome{`"staff"`, "TARGETING_MATCH", 1, ""}},
		{"the first of two matches", "production", `{"user":{"key":"ada","plan":"pro"}}`, outcome{`"staff"`, "TARGETING_MATCH", 1, ""}},
		{"a bucket decides", "production", `{"user":{"key":"u","trial":true}}`, outcome{`"trial"`, "SPLIT", 3, ""}},
		{"a bucket stands unused beside", "production", `{"user":{"key":"u","plan":"pro"}}`, outcome{`"pro"`, "TARGETING_MATCH", 4, ""}},
		{"a bucket is false", "production", `{"user":{"key":"u"}}`, outcome{`"prod"`, "DEFAULT", NoRule, ""}},
		{"a rule that fails is passed over", "production", `{"user":{"key":"u","fail":true,"plan":"pro"}}`, outcome{`"pro"`, "TARGETING_MATCH", 4, ""}},
		{"nobody", "production", `{}`, outcome{`"prod"`, "DEFAULT", NoRule, ""}},
		{"no context at all", "production", `null`, outcome{`"prod"`, "DEFAULT", NoRule, ""}},
		{"switched off", "off", `{"user":{"key":"ada"}}`, outcome{`"off"`, "DISABLED", NoRule, ""}},
		{"switched off without a default", "off-inherits", `{}`, outcome{`"base"`, "DISABLED", NoRule, ""}},
		{"no rules", "plain", `{}`, outcome{`"base"`, "STATIC", NoRule, ""}},
		{"no rules, own default", "plain-default", `{}`, outcome{`"plain"`, "STATIC", NoRule, ""}},
		{"no match, inherited default", "inherits", `{}`, outcome{`"base"`, "DEFAULT", NoRule, ""}},
		{"an environment the flag does not know", "elsewhere", `{"user":{"key":"ada"}}`, outcome{`"base"`, "STATIC", NoRule, ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := context(t, c.context)
			if diff := testenv.Diff(c.want, outcomeOf(flag.Evaluate(c.environment, in))); diff != "" {
				t.Errorf("%s (-want +got)\n%s", c.name, diff)
			}
			explained, _ := flag.Explain(c.environment, in)
			if diff := testenv.Diff(c.want, outcomeOf(explained)); diff != "" {
				t.Errorf("%s, explained (-want +got)\n%s", c.name, diff)
			}
			if diff := testenv.Diff(c.want, outcomeOf(flag.In(c.environment).Evaluate(in))); diff != "" {
				t.Errorf("%s, bound (-want +got)\n%s", c.name, diff)
			}
		})
	}
}

// TestBound_Serves: Serves returns every value that an environment can serve, without a context.
func TestBound_Serves(t *testing.T) {
	flag := Compile(decode(t, "checkout", checkout))
	here := flag.In("production")
	var served []string
	for rule := NoRule; rule < here.Rules(); rule++ {
		served = append(served, string(here.Serves(rule).Raw()))
	}
	if diff := testenv.Diff([]string{`"prod"`, `"empty"`, `"staff"`, `"failed"`, `"trial"`, `"pro"`}, served); diff != "" {
		t.Error(diff)
	}
	in := context(t, `{"user":{"key":"ada"}}`)
	if here.Evaluate(in) != flag.Evaluate("production", in) {
		t.Error("the flag is another one in its environment")
	}
	if none := (Bound{}); none.Rules() != 0 || none.Evaluate(in).Code != FlagNotFound || none.Serves(NoRule).Code != FlagNotFound {
		t.Error("a flag that does not exist serves something")
	}
}

// TestReason_Names: reasons and codes have OpenFeature's names.
func TestReason_Names(t *testing.T) {
	text, err := json.Marshal(map[string]any{
		"reasons": []Reason{Error, Static, TargetingMatch, Split, Default, Disabled},
		"codes":   []Code{None, FlagNotFound, TypeMismatch, ParseError},
	})
	const want = `{"codes":["","FLAG_NOT_FOUND","TYPE_MISMATCH","PARSE_ERROR"],"reasons":["ERROR","STATIC","TARGETING_MATCH","SPLIT","DEFAULT","DISABLED"]}`
	if err != nil || string(text) != want {
		t.Errorf("%s, %v", text, err)
	}
}

func TestReason_UnmarshalText(t *testing.T) {
	for reason := Error; reason <= Disabled; reason++ {
		text, err := json.Marshal(reason)
		if err != nil {
			t.Fatal(err)
		}
		var read Reason
		if err := json.Unmarshal(text, &read); err != nil || read != reason {
			t.Errorf("%s was read as %s, %v", text, read, err)
		}
	}
	for _, wrong := range []string{`"static"`, `""`, `3`} {
		t.Run(wrong, func(t *testing.T) {
			if err := json.Unmarshal([]byte(wrong), new(Reason)); err == nil {
				t.Errorf("%s is a reason", wrong)
			}
		})
	}
}

// TestFlag_Problems: invalid parts of a flag are reported and do not affect the others.
func TestFlag_Problems(t *testing.T) {
	flag := Compile(decode(t, "f", `{"type":"NUMERIC","default":1.50,"environments":{
		"a/b~c":{"default":"text","rules":[
			{"logic":{"and":[true,{"nope":1}]},"value":2},
			{"logic":{"==":[1,1]},"value":"two"},
			{"logic":null,"value":3},
			{"value":4},
			{"logic":{"==":[1,1]},"value":5}]},
		"z":{"rules":[{"logic":{"==":[1,1]}},{"logic":{"==":[1,1]},"value":1e400}]}}}`))
	var pointers []string
	for _, p := range flag.Problems() {
		pointers = append(pointers, p.Pointer)
		if p.Err == nil || p.Err.Error() == "" {
			t.Errorf("%s has no error", p.Pointer)
		}
	}
	want := []string{
		"/environments/a~1b~0c/default", "/environments/a~1b~0c/rules/0/logic/and/1/nope", "/environments/a~1b~0c/rules/1/value",
		"/environments/a~1b~0c/rules/2/logic", "/environments/a~1b~0c/rules/3/logic", "/environments/z/rules/0/value", "/environments/z/rules/1/value",
	}
	if diff := testenv.Diff(want, pointers); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := testenv.Diff(outcome{"5", "TARGETING_MATCH", 4, ""}, outcomeOf(flag.Evaluate("a/b~c", jsonlogic.Null()))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := testenv.Diff(outcome{"1.50", "DEFAULT", NoRule, ""}, outcomeOf(flag.Evaluate("z", jsonlogic.Null()))); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestEvaluate_NothingToServe: a definition without a usable default is an error only when no rule matches.
func TestEvaluate_NothingToServe(t *testing.T) {
	for _, attributes := range []string{
		`{"type":"BOOLEAN"}`, `{"type":"BOOLEAN","default":null}`, `{"type":"BOOLEAN","default":"true"}`, `{"type":"COLOR","default":true}`, `{"type":"JSON"}`, `{}`,
	} {
		t.Run(attributes, func(t *testing.T) {
			flag := Compile(decode(t, "f", attributes))
			if len(flag.Problems()) == 0 {
				t.Errorf("%s has no problem", attributes)
			}
			e := flag.Evaluate("production", jsonlogic.Null())
			if diff := testenv.Diff(outcome{"", "ERROR", NoRule, "PARSE_ERROR"}, outcomeOf(e)); diff != "" {
				t.Errorf("%s (-want +got)\n%s", attributes, diff)
			}
		})
	}
	flag := Compile(decode(t, "f", `{"type":"BOOLEAN","environments":{"e":{"rules":[{"logic":{"==":[1,1]},"value":true}]}}}`))
	if value, ok := flag.Evaluate("e", jsonlogic.Null()).Bool(); !ok || !value {
		t.Error("a rule that matches is served without a default")
	}
}

// TestEvaluation_Typed: a value is read as its flag's type and as no other.
func TestEvaluation_Typed(t *testing.T) {
	for typ, value := range map[Type]string{Boolean: "true", String: `"x"`, Numeric: "2.50", JSON: `{"a":1}`} {
		t.Run(string(typ), func(t *testing.T) {
			e := Compile(Definition{Type: typ, Default: json.RawMessage(value)}).Evaluate("e", jsonlogic.Null())
			b, isBool := e.Bool()
			s, isText := e.Text()
			n, isNumber := e.Number()
			j, isJSON := e.JSON()
			if isBool != (typ == Boolean) || isText != (typ == String) || isNumber != (typ == Numeric) || isJSON != (typ == JSON) {
				t.Errorf("%s is a bool: %v, a text: %v, a number: %v, JSON: %v", typ, isBool, isText, isNumber, isJSON)
			}
			if (isBool && !b) || (isText && s != "x") || (isNumber && n != 2.5) || (isJSON && string(j) != value) {
				t.Errorf("%s: %v, %q, %v, %s", typ, b, s, n, j)
			}
		})
	}
	none := Bound{}.Evaluate(jsonlogic.Null())
	if _, ok := none.Bool(); ok || none.Code != FlagNotFound || none.Rule != NoRule {
		t.Errorf("no flag: %+v", none)
	}
	unusable := Compile(Definition{Type: Boolean, Default: json.RawMessage("1")}).Evaluate("e", jsonlogic.Null())
	if _, ok := unusable.Bool(); ok || unusable.Code != ParseError {
		t.Errorf("a default of another type: %+v", unusable)
	}
}

// TestEvaluate_NoAllocations: evaluating one condition, several conditions or a split does not allocate.
func TestEvaluate_NoAllocations(t *testing.T) {
	in := context(t, `{"user":{"key":"u-1234","plan":"pro","age":36,"country":"NL"}}`)
	for _, logic := range []string{
		`{"==":[{"var":"user.plan"},"pro"]}`,
		`{"and":[{"==":[{"var":"user.plan"},"pro"]},{">=":[{"var":"user.age"},18]},{"in":[{"var":"user.country"},["DE","FR","BE","AT","NL"]]}]}`,
		`{"fractional":[[true,99],[false,1]]}`,
	} {
		t.Run(fmt.Sprintf("%.40q", logic), func(t *testing.T) {
			flag := Compile(Definition{Key: "f", Type: Boolean, Default: json.RawMessage("false"), Environments: map[string]Environment{
				"production": {Enabled: true, Rules: []Rule{{Logic: json.RawMessage(logic), Value: json.RawMessage("true")}}}}}).In("production")
			if value, _ := flag.Evaluate(in).Bool(); !value {
				t.Errorf("%s does not match", logic)
			}
			if n := testing.AllocsPerRun(200, func() { flag.Evaluate(in).Bool() }); n != 0 {
				t.Errorf("%s: an evaluation allocates %v times", logic, n)
			}
		})
	}
}

// TestEvaluation_RawKeepsText: key order and the spelling of numbers are preserved.
func TestEvaluation_RawKeepsText(t *testing.T) {
	const object = `{"z": 1.0, "a": [1e2, 12345678901234567890], "dup": 1, "dup": 2}`
	flag := Compile(decode(t, "f", `{"type":"JSON","default":null,"environments":{"e":{"rules":[{"logic":{"==":[1,1]},"value":`+object+`}]}}}`))
	if got, ok := flag.Evaluate("e", jsonlogic.Null()).JSON(); !ok || string(got) != object {
		t.Errorf("%s, %v", got, ok)
	}
	if got, ok := flag.Evaluate("other", jsonlogic.Null()).JSON(); !ok || string(got) != "null" {
		t.Errorf("%s, %v", got, ok)
	}
}

// TestCompile_CopiesDefinition: the caller may reuse its buffers.
func TestCompile_CopiesDefinition(t *testing.T) {
	text := json.RawMessage(`"abc"`)
	flag := Compile(Definition{Key: "f", Type: String, Default: text})
	copy(text, `"xyz"`)
	if got, _ := flag.Evaluate("e", jsonlogic.Null()).Text(); got != "abc" {
		t.Errorf("%s", got)
	}
	if flag.Key() != "f" || flag.Type() != String {
		t.Errorf("%s, %s", flag.Key(), flag.Type())
	}
}

func TestEnvironment_UnmarshalJSON(t *testing.T) {
	for text, want := range map[string]bool{`{}`: true, `{"enabled":true}`: true, `{"enabled":false}`: false, `{"rules":[]}`: true} {
		t.Run(text, func(t *testing.T) {
			var e Environment
			if err := json.Unmarshal([]byte(text), &e); err != nil || e.Enabled != want {
				t.Errorf("enabled is %v, %v", e.Enabled, err)
			}
		})
	}
	var e Environment
	if err := json.Unmarshal([]byte(`{"enabled":"yes"}`), &e); err == nil {
		t.Error("enabled must be a boolean")
	}
}

func TestExplain(t *testing.T) {
	flag := Compile(decode(t, "checkout", checkout))
	_, e := flag.Explain("production", context(t, `{"user":{"key":"u","trial":true}}`))
	var steps []string
	for _, r := range e.Rules {
		step := r.Description
		if r.Evaluated {
			step += ", evaluated"
		}
		if r.Matched {
			step += ", matched"
		}
		if r.Problem != "" {
			step += ": " + r.Problem
		}
		if (r.Logic != nil) != r.Evaluated {
			t.Errorf("%s: the tree is there when the rule was evaluated", r.Description)
		}
		steps = append(steps, step)
	}
	want := []string{"never: empty logic never matches", "staff, evaluated", "fails, evaluated", "rollout, evaluated, matched", "plan or rollout"}
	if diff := testenv.Diff(want, steps); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if !e.Configured || !e.Enabled || e.Environment != "production" {
		t.Errorf("%+v", e)
	}
	_, e = flag.Explain("off", jsonlogic.Null())
	if e.Enabled || e.Rules[0].Evaluated {
		t.Errorf("a disabled environment evaluates nothing: %+v", e)
	}
	_, e = flag.Explain("elsewhere", jsonlogic.Null())
	if text, err := json.Marshal(e); err != nil || string(text) != `{"environment":"elsewhere","configured":false,"enabled":true,"rules":[]}` {
		t.Errorf("%s, %v", text, err)
	}
}

// FuzzEvaluate: no definition and no context makes an evaluation panic, and explaining agrees with it.
func FuzzEvaluate(f *testing.F) {
	f.Add(checkout, `{"user":{"key":"ada"}}`)
	f.Add(`{"type":"BOOLEAN","default":true}`, `[]`)
	f.Add(`{"type":"JSON","default":{},"environments":{"production":{"rules":[{"logic":{"var":""},"value":1}]}}}`, `1`)
	f.Fuzz(func(t *testing.T, attributes, text string) {
		var d Definition
		if json.Unmarshal([]byte(attributes), &d) != nil {
			return
		}
		in, err := jsonlogic.Parse([]byte(text))
		if err != nil {
			in = jsonlogic.String(text)
		}
		flag := Compile(d)
		e := flag.Evaluate("production", in)
		if explained, _ := flag.Explain("production", in); explained != e {
			t.Errorf("%+v, explained %+v", e, explained)
		}
		if (e.Raw() == nil) != (e.Reason == Error) || (e.Code == None) != (e.Reason != Error) {
			t.Errorf("%+v", e)
		}
	})
}

// TestExplain_SharedBudget: all rules share one budget, but the rule that matched is always explained.
func TestExplain_SharedBudget(t *testing.T) {
	const rules = 20_000
	d := Definition{Key: "many", Type: Boolean, Default: json.RawMessage(`false`)}
	production := Environment{Enabled: true}
	for range rules {
		production.Rules = append(production.Rules, Rule{Logic: json.RawMessage(`{"==":[{"var":"user.key"},"ada"]}`), Value: json.RawMessage(`true`)})
	}
	production.Rules[rules-1].Logic = json.RawMessage(`{"==":[{"var":"user.key"},"bob"]}`)
	d.Environments = map[string]Environment{"production": production}
	evaluation, e := Compile(d).Explain("production", context(t, `{"user":{"key":"bob"}}`))
	shown := 0
	for i, rule := range e.Rules {
		if !rule.Evaluated || rule.Truncated != (rule.Logic == nil) {
			t.Fatalf("rule %d is neither explained nor marked: %+v", i, rule)
		}
		if rule.Logic != nil {
			shown++
		}
	}
	if evaluation.Rule != rules-1 || e.Rules[rules-1].Logic == nil || !e.Rules[rules-1].Matched {
		t.Errorf("the rule that matched: %+v", e.Rules[rules-1])
	}
	if shown < 1000 || shown > 5000 {
		t.Errorf("%d rules are explained", shown)
	}
}
