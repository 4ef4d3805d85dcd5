package jsonlogic

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

func explained(t *testing.T, rule, data string) *Explanation {
	t.Helper()
	r, err := Compile([]byte(rule), FlagKey("flag"))
	if err != nil {
		t.Fatal(err)
	}
	e, _ := r.Explain(mustParse(t, data))
	return e
}

func (e *Explanation) hasResult() bool { return e.Result.Kind() != KindUndefined }

func TestExplain_EveryNode(t *testing.T) {
	const rule = `{"and":[{"==":[{"var":"user.plan"},"pro"]},{"in":[{"var":"user.country"},["DE","FR"]]},{"!":{"var":"user.blocked"}}]}`
	text, err := json.MarshalIndent(explained(t, rule, `{"user":{"plan":"pro","country":"NL"}}`), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"pointer":"","operator":"and","evaluated":true,"result":false,"arguments":[
		{"pointer":"/and/0","operator":"==","evaluated":true,"result":true,"arguments":[
			{"pointer":"/and/0/==/0","operator":"var","evaluated":true,"result":"pro","arguments":[
				{"pointer":"/and/0/==/0/var","evaluated":true,"result":"user.plan"}]},
			{"pointer":"/and/0/==/1","evaluated":true,"result":"pro"}]},
		{"pointer":"/and/1","operator":"in","evaluated":true,"result":false,"arguments":[
			{"pointer":"/and/1/in/0","operator":"var","evaluated":true,"result":"NL","arguments":[
				{"pointer":"/and/1/in/0/var","evaluated":true,"result":"user.country"}]},
			{"pointer":"/and/1/in/1","evaluated":true,"result":["DE","FR"],"arguments":[
				{"pointer":"/and/1/in/1/0","evaluated":true,"result":"DE"},
				{"pointer":"/and/1/in/1/1","evaluated":true,"result":"FR"}]}]},
		{"pointer":"/and/2","operator":"!","evaluated":false,"arguments":[
			{"pointer":"/and/2/!","operator":"var","evaluated":false,"arguments":[
				{"pointer":"/and/2/!/var","evaluated":false}]}]}]}`
	if diff := testenv.Diff(mustParse(t, want).json(), mustParse(t, string(text)).json()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExplanation_JSONRoundTrip(t *testing.T) {
	for rule, data := range map[string]string{
		`{"==":[{"var":"user.plan"},null]}`:                        `{}`,
		`{"or":[{"var":"a"},{"var":"b"},{"var":"c"}]}`:             `{"b":{"x":[1,null]}}`,
		`{"some":[{"var":"list"},{">":[{"var":""},1]}]}`:           `{"list":[1,null,3]}`,
		`{"map":[{"var":"list"},{"cat":[{"var":""},"<&\u2028"]}]}`: `{"list":["a",2]}`,
	} {
		t.Run(rule, func(t *testing.T) {
			written, err := json.Marshal(explained(t, rule, data))
			if err != nil {
				t.Fatal(err)
			}
			var read Explanation
			if err := json.Unmarshal(written, &read); err != nil {
				t.Fatal(err)
			}
			if again, err := json.Marshal(read); err != nil || string(again) != string(written) {
				t.Errorf("%s was read as %s, %v", written, again, err)
			}
		})
	}
	var read Explanation
	if err := json.Unmarshal([]byte(`{"arguments":[{"result":null},{}]}`), &read); err != nil || read.hasResult() ||
		!read.Arguments[0].hasResult() || read.Arguments[1].hasResult() {
		t.Errorf("read %+v, %v", read, err)
	}
	for _, wrong := range []string{`7`, `{"pointer":7}`, `{"arguments":[{"evaluated":"yes"}]}`} {
		t.Run(wrong, func(t *testing.T) {
			if err := json.Unmarshal([]byte(wrong), new(Explanation)); err == nil {
				t.Errorf("%s was read", wrong)
			}
		})
	}
}

func TestExplain_SkippedNodes(t *testing.T) {
	e := explained(t, `{"if":[{"var":"a"},"one",{"var":"b"},"two","three"]}`, `{"b":1}`)
	var seen []bool
	for _, arg := range e.Arguments {
		seen = append(seen, arg.Evaluated)
	}
	if diff := testenv.Diff([]bool{true, false, true, true, false}, seen); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestExplain_Iterations(t *testing.T) {
	e := explained(t, `{"some":[{"var":"list"},{">":[{"var":""},1]}]}`, `{"list":[1,2,3]}`)
	body := e.Arguments[1]
	if !body.Evaluated || body.hasResult() || len(body.Iterations) != 2 {
		t.Fatalf("the body was evaluated for two of three elements: %+v", body)
	}
	var results []string
	for _, i := range body.Iterations {
		results = append(results, i.Result.json()+" of "+i.Arguments[0].Result.json())
	}
	if diff := testenv.Diff([]string{"false of 1", "true of 2"}, results); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if none := explained(t, `{"map":[[],{"var":"x"}]}`, `null`).Arguments[1]; none.Evaluated || len(none.Arguments) != 1 {
		t.Errorf("a body for no element is not evaluated: %+v", none)
	}
}

func TestExplain_Failure(t *testing.T) {
	e := explained(t, `{"and":[1,{"*":[]},2]}`, `null`)
	if e.Error == "" || e.hasResult() || !e.Arguments[0].hasResult() || e.Arguments[1].hasResult() || !e.Arguments[1].Evaluated {
		t.Errorf("%+v", e)
	}
}

// TestExplain_LimitsRecords: a loop over much data repeats neither the body nor the data without end.
func TestExplain_LimitsRecords(t *testing.T) {
	items := "[" + strings.TrimSuffix(strings.Repeat(`"0123456789",`, 20_000), ",") + "]"
	e := explained(t, `{"none":[{"var":"l"},{"==":[{"var":""},"x"]}]}`, `{"l":`+items+`}`)
	text, err := json.Marshal(e)
	if err != nil || len(text) > 4<<20 {
		t.Errorf("%d bytes, %v", len(text), err)
	}
	if !e.Truncated || !e.Arguments[1].Truncated || !e.Result.Truthy() {
		t.Errorf("the rule's own result stays, and the rest is marked: %+v", e)
	}
	e = explained(t, `{"map":[[1,2,3,4,5,6,7,8,9],{"var":"l"}]}`, `{"l":1}`)
	if e.Truncated || len(e.Arguments[1].Iterations) != 9 {
		t.Errorf("%+v", e)
	}
}

// TestExplain_OmitsLargeResults: every `var ""` would show the whole context.
func TestExplain_OmitsLargeResults(t *testing.T) {
	data := `{"text":"` + strings.Repeat("x", 400_000) + `"}`
	e := explained(t, `[{"var":""},{"var":""},{"var":""},{"var":""}]`, data)
	if !e.Arguments[0].hasResult() || e.Arguments[3].hasResult() || !e.Arguments[3].Truncated {
		t.Error("the first results fit, the last do not")
	}
}
