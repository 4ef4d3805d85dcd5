package vectors_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

type ruleVector struct {
	Rule    json.RawMessage `json:"rule"`
	Data    json.RawMessage `json:"data"`
	Flag    string          `json:"flag,omitempty"`
	Result  json.RawMessage `json:"result,omitempty"`
	Matched *bool           `json:"matched,omitempty"`
	Split   *bool           `json:"split,omitempty"`
	Error   string          `json:"error,omitempty"`
	Refused jsonlogic.Code  `json:"refused,omitempty"`
	Pointer *string         `json:"pointer,omitempty"`
}

const ruleData = `{"user":{"key":"ada","name":"Ada","age":36,"tags":["x","y"],"note":null,"empty":"","on":false,"version":"2.10.1","plan":"pro","Größe":"ü𝄞é"},` +
	`"list":[3,1,2],"words":["1","a",null,true],"rows":[{"n":1,"ok":true},{"n":2,"ok":false}],"zero":0,"text":"42","deep":{"a":{"b":{"c":[[1],[2,[3]]]}}},"service":{"key":"shop"}}`

func ruleVectors(t *testing.T) []any {
	var lines []any
	for _, rule := range ruleExamples() {
		lines = append(lines, newRuleVector(t, rule, ruleData, "checkout-v2"))
	}
	lines = append(lines, bucketVectors(t)...)
	r := newRandom(1)
	for range 1500 {
		lines = append(lines, newRuleVector(t, string(raw(t, r.rule(3))), string(raw(t, r.data())), pick(r, "", "flag", "größe")))
	}
	return lines
}

func newRuleVector(t *testing.T, rule, data, flag string) ruleVector {
	t.Helper()
	v := ruleVector{Rule: json.RawMessage(rule), Data: json.RawMessage(data), Flag: flag}
	compiled, err := jsonlogic.Compile([]byte(rule), jsonlogic.FlagKey(flag))
	if refused, ok := errors.AsType[*jsonlogic.Error](err); ok {
		v.Refused, v.Pointer = refused.Code, &refused.Pointer
		return v
	}
	parsed, err := jsonlogic.Parse([]byte(data))
	if err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	result, err := compiled.Evaluate(parsed)
	switch {
	case errors.Is(err, jsonlogic.ErrLimit):
		v.Error = "limit"
	case errors.Is(err, jsonlogic.ErrType):
		v.Error = "type"
	default:
		decided := compiled.Decide(parsed)
		v.Result, v.Matched, v.Split = result.AppendJSON(nil), &decided.Matched, &decided.Split
	}
	return v
}

// bucketVectors spread keys over buckets, by flag and by text.
func bucketVectors(t *testing.T) []any {
	var lines []any
	for i := range 300 {
		key := fmt.Sprintf("user-%d", i) + strings.Repeat(pick(newRandom(uint64(i)), "", "é", "𝄞", "a"), i%7)
		data := string(raw(t, map[string]any{"user": map[string]any{"key": key}}))
		lines = append(lines,
			newRuleVector(t, `{"fractional":[["a",25],["b",25],["c",50]]}`, data, pick(newRandom(uint64(i)), "checkout-v2", "search", "größe")),
			newRuleVector(t, `{"fractional":[{"cat":["salt",{"var":"user.key"}]},[true,1],[false,99]]}`, data, "checkout-v2"))
	}
	return lines
}

// ruleExamples has cases of every operator, odd ones included.
func ruleExamples() []string {
	var list []string
	for _, group := range []string{dataRules, logicRules, numberRules, textRules, listRules, flagdRules, refusedRules} {
		for rule := range strings.Lines(group) {
			if rule = strings.TrimSpace(rule); rule != "" {
				list = append(list, rule)
			}
		}
	}
	return append(list, limitRules()...)
}

// limitRules exceed a limit of a rule or of an evaluation.
func limitRules() []string {
	deep := func(levels int) string { return strings.Repeat(`{"!":`, levels) + "1" + strings.Repeat("}", levels) }
	wide := func(nodes int) string { return `{"or":[` + strings.TrimSuffix(strings.Repeat("0,", nodes), ",") + `]}` }
	digits := `[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31]`
	return []string{
		deep(64), deep(65), wide(1999), wide(2000), `{"or":[` + deep(63) + `]}`,
		`{"reduce":[` + digits + `,{"merge":[{"var":"accumulator"},{"var":"accumulator"}]},[1]]}`,
		`{"reduce":[` + digits + `,{"cat":[{"var":"accumulator"},{"var":"accumulator"}]},"a"]}`,
		`{"==":[{"reduce":[` + digits + `,[{"var":"accumulator"},{"var":"accumulator"}],[1]]},"1"]}`,
		`{"reduce":[` + digits + `,{"map":[` + digits + `,{"map":[` + digits + `,{"map":[` + digits + `,{"map":[` + digits + `,1]}]}]}]},0]}`,
	}
}

const dataRules = `
null
true
-0
1.50
"text"
{}
{"a":1,"b":{"var":"zero"}}
[]
[1,{"var":"zero"},[{"var":"text"}]]
{"var":""}
{"var":null}
{"var":[]}
{"var":"user"}
{"var":"user.name"}
{"var":["user.name"]}
{"var":["user.none","default"]}
{"var":["user.none",{"var":"zero"}]}
{"var":["user.note","default"]}
{"var":"user.note.deeper"}
{"var":"list.0"}
{"var":"list.01"}
{"var":"list.3"}
{"var":"list.length"}
{"var":"user.name.length"}
{"var":"user.name.1"}
{"var":"user.Größe.length"}
{"var":"user.Größe.1"}
{"var":"user.Größe.3"}
{"var":1}
{"var":true}
{"var":1.5}
{"var":["list.0","x","surplus"]}
{"var":["",{"*":[]}]}
{"var":["",{"fractional":[["a",1],["b",1]]}]}
{"var":{"cat":["user.","name"]}}
{"var":{"var":"none"}}
{"var":"constructor"}
{"var":"rows.1.n"}
{"var":"deep.a.b.c.1.1.0"}
{"var":"$flagd.flagKey"}
{"map":[[1],{"var":"$flagd.flagKey"}]}
{"missing":["user.name","user.none"]}
{"missing":[["user.empty","zero"]]}
{"missing":[]}
{"missing":"user.note"}
{"missing":{"merge":["a",{"if":[{"var":"user.on"},"b",[]]}]}}
{"missing":[["user.none","default"],"list"]}
{"missing_some":[1,["user.name","user.none"]]}
{"missing_some":[2,["user.name","user.none"]]}
{"missing_some":["x",["user.none"]]}
{"missing_some":[1,"user.none"]}
{"missing_some":[1]}
{"missing_some":[]}
{"log":{"var":"text"}}
{"log":[]}
`

const logicRules = `
{"if":[]}
{"if":[true]}
{"if":[true,1]}
{"if":[false,1]}
{"if":[false,1,2]}
{"if":[0,1,"",2,[],3,4]}
{"?:":[{"var":"user.on"},"a","b"]}
{"and":[]}
{"or":[]}
{"and":[1,"",2]}
{"and":[1,{"var":"list"}]}
{"or":[0,"",null]}
{"or":[0,{"var":"rows"}]}
{"!":[]}
{"!":[[]]}
{"!":[{}]}
{"!":["0"]}
{"!":[1,{"*":[]}]}
{"!!":[["a"]]}
{"!!":[-0.0]}
{"!!":"0"}
{"!!":[{"/":[0,0]}]}
{"==":[1,"1"]}
{"==":[1,true]}
{"==":["","0"]}
{"==":[null,0]}
{"==":[null,{"var":"none"}]}
{"==":[]}
{"==":[1]}
{"==":[[1],1]}
{"==":[["pro"],"pro"]}
{"==":["1,2",[1,2]]}
{"==":[[1],[1]]}
{"==":[{"var":"list"},{"var":"list"}]}
{"==":[{"a":1,"b":2},"[object Object]"]}
{"==":[" 42\n",{"var":"text"}]}
{"==":["0x1F",31]}
{"==":["0b11",3]}
{"==":["0o17",15]}
{"==":["0x",0]}
{"==":["1e3",1000]}
{"==":["Infinity",{"/":[1,0]}]}
{"==":["1_000",1000]}
{"==":[{"var":"user.on"},""]}
{"==":[{"var":"user.plan"},"pro"]}
{"==":["pro",{"var":"user.plan"}]}
{"===":[1,"1"]}
{"===":[1,1.0]}
{"===":[0,-0]}
{"===":[true,1]}
{"===":[null,{"var":"none"}]}
{"===":[{"var":"rows.0"},{"var":"rows.0"}]}
{"===":[{"/":[0,0]},{"/":[0,0]}]}
{"!=":[1,"1"]}
{"!=":[{"var":"user.plan"},"free"]}
{"!==":[1,"1"]}
{"<":[1,2]}
{"<":["10","9"]}
{"<":["10",9]}
{"<":["a","B"]}
{"<":["𝄞",""]}
{"<":[1,2,3]}
{"<":[1,3,2]}
{"<":[1,null]}
{"<":[-1,null]}
{"<":[1]}
{"<":["a",1]}
{"<":[[2],[10]]}
{"<=":[1,1,1]}
{"<=":[null,0]}
{"<=":[{"var":"none"},0]}
{">":[2,1]}
{">":[1,2,{"*":[]}]}
{">":["b","a"]}
{">=":[1,"1"]}
{">=":[{"var":"user.age"},18]}
{">=":[{"a":1,"b":2},1]}
`

const numberRules = `
{"+":[]}
{"+":["3.5kg",1]}
{"+":["abc"]}
{"+":[null,1]}
{"+":[true]}
{"+":"  -12.5e1x"}
{"+":[".5","5."]}
{"+":["Infinity",1]}
{"+":[[4,5],1]}
{"+":[0.1,0.2]}
{"*":[]}
{"*":["x"]}
{"*":[2,"3",4]}
{"*":[{"var":"list"},2]}
{"-":[]}
{"-":[1]}
{"-":["5"]}
{"-":["5","2x"]}
{"-":[null,true]}
{"-":[1,null]}
{"/":[1,3]}
{"/":[1,0]}
{"/":[-1,0]}
{"/":[0,0]}
{"/":["8",[2]]}
{"%":[7,3]}
{"%":[-7,3]}
{"%":[7,0]}
{"%":[5.5,2]}
{"max":[]}
{"max":[1,"3",2]}
{"max":[1,"x"]}
{"max":[null,-1]}
{"min":[]}
{"min":[[5],4]}
{"min":["a",{"/":[-1,0]}]}
{"cat":[1e21,1e-7,123456789012345680000,0.000001,1.5e300,-1e-10,100,1.10]}
{"cat":[1e400]}
{"cat":[{"-":[0]},{"/":[0,0]},{"/":[-1,0]}]}
`

const textRules = `
{"cat":[]}
{"cat":"a"}
{"cat":[1,null,true,[1,[2,null]],{"a":1,"b":2}]}
{"cat":["Hi ",{"var":"user.name"},{"var":"none"}]}
{"in":["d","Ada"]}
{"in":["","Ada"]}
{"in":["",""]}
{"in":[1,"21"]}
{"in":[null,"null"]}
{"in":["x",{"var":"user.tags"}]}
{"in":[{"var":"user.key"},["ada","bob"]]}
{"in":[{"var":"user.age"},[36,"36"]]}
{"in":["36",[36]]}
{"in":[1,{"var":"words"}]}
{"in":[null,[null]]}
{"in":[{"var":"none"},[null]]}
{"in":[true,[1]]}
{"in":[[1],[[1]]]}
{"in":["a"]}
{"in":["a",{"var":"user"}]}
{"substr":["jsonlogic",4]}
{"substr":["jsonlogic",-5]}
{"substr":["jsonlogic",1,3]}
{"substr":["jsonlogic",4,-2]}
{"substr":["jsonlogic",4,"-2"]}
{"substr":["jsonlogic",-100,2]}
{"substr":["jsonlogic",100]}
{"substr":[12345,1,2]}
{"substr":[{"var":"user.Größe"},1,1]}
{"substr":[{"var":"user.Größe"},1,2]}
{"substr":[null,1]}
{"substr":[]}
{"substr":["abc","1"]}
{"substr":["abc",0,null]}
`

const listRules = `
{"map":[{"var":"list"},{"*":[{"var":""},2]}]}
{"map":[{"var":"rows"},{"var":"n"}]}
{"map":["x",1]}
{"map":[]}
{"map":[{"var":"list"}]}
{"filter":[{"var":"list"},{">":[{"var":""},1]}]}
{"filter":[{"var":"rows"},{"var":"ok"}]}
{"filter":[null,true]}
{"reduce":[{"var":"list"},{"+":[{"var":"current"},{"var":"accumulator"}]},0]}
{"reduce":[{"var":"list"},{"var":"accumulator"}]}
{"reduce":[[],1,{"var":"zero"}]}
{"reduce":["x",1,2]}
{"all":[{"var":"list"},{">":[{"var":""},0]}]}
{"all":[[],true]}
{"all":[{"var":"none"},true]}
{"some":[{"var":"list"},{"==":[{"var":""},3]}]}
{"some":[[],true]}
{"none":[{"var":"list"},{"==":[{"var":""},4]}]}
{"none":["x",true]}
{"some":[{"var":"user.tags"},{"in":[{"var":""},["y"]]}]}
{"merge":[]}
{"merge":[1,[2,[3]],{"var":"list"}]}
{"merge":null}
{"==":[{"merge":[1]},{"merge":[1]}]}
{"map":[[1,2],{"var":"user.key"}]}
`

const flagdRules = `
{"fractional":[["a",50],["b",50]]}
{"fractional":[["a"],["b"],["c"]]}
{"fractional":[["a",0],["b",1]]}
{"fractional":[["a",-5],["b",1]]}
{"fractional":[["a",1.5],["b",1]]}
{"fractional":[["a","1"],["b",1]]}
{"fractional":[["a",2147483647],["b",1]]}
{"fractional":[["a",2147483647]]}
{"fractional":[["a",0]]}
{"fractional":[[]]}
{"fractional":[]}
{"fractional":["salt",["a",1],["b",1]]}
{"fractional":[{"var":"user.name"},["a",1],["b",1]]}
{"fractional":[{"var":"none"},["a",1],["b",1]]}
{"fractional":[{"var":"user.age"},["a",1],["b",1]]}
{"fractional":[{"merge":[["a",1]]},["b",1]]}
{"fractional":["",["a",1],["b",1]]}
{"fractional":[["a",{"var":"list.0"}],["b",1]]}
{"fractional":[[true,20],[false,80]]}
{"fractional":[[null,1]]}
{"fractional":[[{"a":1,"b":2},1]]}
{"if":[{"fractional":[[true,100],[false,0]]},"on","off"]}
{"map":[["u1","u2","u3"],{"fractional":[{"var":""},["a",1],["b",1]]}]}
{"map":[["u1"],{"fractional":[["a",1],["b",1]]}]}
{"starts_with":[{"var":"user.name"},"A"]}
{"starts_with":[{"var":"user.age"},"3"]}
{"starts_with":["abc",""]}
{"starts_with":["abc"]}
{"starts_with":["abc","a",{"*":[]}]}
{"ends_with":[{"var":"user.name"},"da"]}
{"ends_with":["abc",null]}
{"ends_with":["größe","öße"]}
{"sem_ver":[{"var":"user.version"},">=","2.9.9"]}
{"sem_ver":["1.0.0","=","v1"]}
{"sem_ver":["1.2","<","1.2.1"]}
{"sem_ver":["1.0.0-alpha.1","<","1.0.0-alpha.beta"]}
{"sem_ver":["1.0.0-alpha","<","1.0.0"]}
{"sem_ver":["1.0.0-2","<","1.0.0-10"]}
{"sem_ver":["1.0.0-a.b",">","1.0.0-a"]}
{"sem_ver":["1.0.0+build","=","1.0.0"]}
{"sem_ver":["2.3.4","^","2.9.0"]}
{"sem_ver":["2.3.4","~","2.3.9"]}
{"sem_ver":["2.3.4","~","2.4.0"]}
{"sem_ver":["2.3.4","!=","2.3.4"]}
{"sem_ver":["2.3.4","<=","2.3.4"]}
{"sem_ver":["2.3.4",">","2.3.3"]}
{"sem_ver":["2.3.4","==","2.3.4"]}
{"sem_ver":["01.0.0","=","1.0.0"]}
{"sem_ver":["1.0-alpha","=","1.0.0-alpha"]}
{"sem_ver":["1.0.0-01","=","1.0.0-1"]}
{"sem_ver":["1.0.0-","=","1.0.0"]}
{"sem_ver":["1.2.3.4","=","1.2.3"]}
{"sem_ver":["x","=","1.0.0"]}
{"sem_ver":[1.2,"=","1.2.0"]}
{"sem_ver":[2,"=","2.0.0"]}
{"sem_ver":[null,"=","1.0.0"]}
{"sem_ver":["99999999999999999999.0.0",">","99999999999999999998.9.9"]}
{"sem_ver":["1.0.0","="]}
`

const refusedRules = `
{"nope":1}
{"and":[true,{"a/b~c":[1]}]}
{"if":[true,{"==":[{"unknown":[]},1]}]}
[1,{"nope":[]}]
{"a":{"nope":1},"b":2}
`

// rule returns a random rule with operations of every kind.
func (r random) rule(depth int) any {
	if depth == 0 || r.chance(25) {
		return r.leaf()
	}
	op := pick(r, "if", "and", "or", "!", "!!", "==", "===", "!=", "!==", "<", "<=", ">", ">=", "+", "*", "-", "/", "%", "max", "min", "in", "cat", "substr",
		"map", "filter", "reduce", "all", "some", "none", "merge", "missing", "missing_some", "starts_with", "ends_with", "sem_ver", "fractional", "var", "log", "?:")
	if op == "fractional" {
		return map[string]any{op: r.buckets(depth)}
	}
	if r.chance(8) {
		return map[string]any{op: r.rule(depth - 1)}
	}
	args := make([]any, r.IntN(4))
	for i := range args {
		args[i] = r.rule(depth - 1)
	}
	if op == "sem_ver" && len(args) == 3 {
		args[1] = pick(r, "=", "!=", "<", "<=", ">", ">=", "^", "~")
	}
	return map[string]any{op: args}
}

func (r random) buckets(depth int) []any {
	var list []any
	if r.chance(40) {
		list = append(list, r.rule(depth-1))
	}
	for range r.IntN(4) {
		bucket := []any{pick[any](r, true, false, "a", "b", nil, 1)}
		if r.chance(80) {
			bucket = append(bucket, pick[any](r, 1, 10, 50, 0, -1, 0.5, "1"))
		}
		list = append(list, bucket)
	}
	return list
}

func (r random) leaf() any {
	if r.chance(55) {
		return map[string]any{"var": pick[any](r, "user.key", "user.plan", "user.age", "user.tags", "user.none", "user", "list", "list.0", "zero", "text", "", "current",
			"accumulator", "user.version", []any{"none", "fallback"}, "rows")}
	}
	return pick[any](r, nil, true, false, 0, 1, -1, 2.5, 1e21, "", "0", "1", "a", "pro", "1.2.3", "größe", "𝄞", " 7 ", []any{}, []any{1, "a"}, []any{"a", "pro", nil},
		map[string]any{}, map[string]any{"a": 1, "b": 2}, "user.key", "list")
}

// data returns a random context.
func (r random) data() any {
	user := map[string]any{}
	for _, each := range []struct {
		name   string
		values []any
	}{
		{"age", []any{0, 17, 18, 36, "36", nil}},
		{"key", []any{"ada", "bob", "größe-𝄞", 42, ""}},
		{"plan", []any{"pro", "free", []any{"pro"}, nil, true}},
		{"tags", []any{[]any{}, []any{"a"}, []any{"pro", 1, nil}, "a,pro"}},
		{"version", []any{"1.2.3", "1.2.3-rc.1", "v2", 1.5, "x"}},
	} {
		if chosen := pick(r, each.values...); r.chance(80) {
			user[each.name] = chosen
		}
	}
	return map[string]any{"user": user, "list": []any{r.IntN(5), "a", nil}, "zero": 0, "text": pick(r, "42", "pro", ""), "rows": []any{map[string]any{"user": user}}}
}
