package jsonlogic

import (
	"fmt"
	"slices"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

func TestRule_References(t *testing.T) {
	for rule, want := range map[string][]Reference{
		`{"==":[{"var":"user.key"},"a"]}`: {{Path: "user.key", Operator: "var", Pointer: "/==/0"}},
		`{"var":""}`:                      {{Operator: "var"}},
		`{"var":[]}`:                      {{Operator: "var"}},
		`{"var":null}`:                    {{Operator: "var"}},
		`{"var":3}`:                       {{Path: "3", Operator: "var"}},
		`{"var":["a",{"var":"b"}]}`:       {{Path: "a", Operator: "var"}, {Path: "b", Operator: "var", Pointer: "/var/1"}},
		`{"var":{"cat":["user.",{"var":"x"}]}}`: {
			{Dynamic: true, Operator: "var"}, {Path: "x", Operator: "var", Pointer: "/var/cat/1"},
		},
		`{"some":[{"var":"user.tags"},{"==":[{"var":"name"},{"var":""}]}]}`: {{Path: "user.tags", Operator: "var", Pointer: "/some/0"}},
		`{"reduce":[{"var":"list"},{"+":[{"var":"current"},{"var":"accumulator"}]},{"var":"start"}]}`: {
			{Path: "list", Operator: "var", Pointer: "/reduce/0"}, {Path: "start", Operator: "var", Pointer: "/reduce/2"},
		},
		`{"map":[[1],{"filter":[{"var":"inner"},{"var":"x"}]}]}`: nil,
		`{"all":[{"var":"a"},{"missing":["b"]}]}`:                {{Path: "a", Operator: "var", Pointer: "/all/0"}},
		`{"missing":["a","b.c"]}`:                                {{Path: "a", Operator: "missing"}, {Path: "b.c", Operator: "missing"}},
		`{"missing":["a",["b","default"],[]]}`: {
			{Path: "a", Operator: "missing"}, {Path: "b", Operator: "missing"}, {Operator: "missing"},
		},
		`{"missing":[["a","b"],"c"]}`:                                {{Path: "a", Operator: "missing"}, {Path: "b", Operator: "missing"}},
		`{"missing":{"merge":["a",{"var":"b"}]}}`:                    {{Dynamic: true, Operator: "missing"}, {Path: "b", Operator: "var", Pointer: "/missing/merge/1"}},
		`{"missing_some":[1,["a"]]}`:                                 {{Path: "a", Operator: "missing_some"}},
		`{"missing_some":[1]}`:                                       nil,
		`{"a":{"var":"x"},"b":1}`:                                    nil,
		`[{"var":"a"},[{"var":"b"}]]`:                                {{Path: "a", Operator: "var", Pointer: "/0"}, {Path: "b", Operator: "var", Pointer: "/1/0"}},
		`{"fractional":[{"var":"account.key"},["a"]]}`:               {{Path: "targetingKey", Operator: "fractional"}, {Path: "user.key", Operator: "fractional"}, {Path: "account.key", Operator: "var", Pointer: "/fractional/0"}},
		`{"map":[[1],{"fractional":[["a"]]}]}`:                       {{Path: "targetingKey", Operator: "fractional", Pointer: "/map/1"}, {Path: "user.key", Operator: "fractional", Pointer: "/map/1"}},
		`{"fractional":["fixed",["a",{"var":"weight"}]]}`:            {{Path: "weight", Operator: "var", Pointer: "/fractional/1/1"}},
		`{"fractional":[]}`:                                          nil,
		`true`:                                                       nil,
		`{"if":[{"var":"a~/b"},{"/":[{"var":"n"},2]},{"!":[true]}]}`: {{Path: "a~/b", Operator: "var", Pointer: "/if/0"}, {Path: "n", Operator: "var", Pointer: "/if/1/~1/0"}},
	} {
		t.Run(fmt.Sprintf("%.40q", rule), func(t *testing.T) {
			if diff := testenv.Diff(want, mustCompile(t, rule).References()); diff != "" {
				t.Errorf("%s (-want +got)\n%s", rule, diff)
			}
		})
	}
}

func mustCompile(t *testing.T, rule string) *Rule {
	t.Helper()
	r, err := Compile([]byte(rule))
	if err != nil {
		t.Fatalf("compile %s: %v", rule, err)
	}
	return r
}

func TestRule_Comparisons_WithKey(t *testing.T) {
	for rule, want := range map[string]bool{
		`{"==":[{"var":"user.key"},"alice"]}`:                                      true,
		`{"==":["alice",{"var":"user.key"}]}`:                                      true,
		`{"===":[{"var":["user.key","x"]},"alice"]}`:                               true,
		`{"!=":[{"var":"user.key"},"alice"]}`:                                      true,
		`{"!":{"!==":["alice",{"var":"user.key"}]}}`:                               true,
		`{"in":[{"var":"user.key"},["bob","alice"]]}`:                              true,
		`{"in":["alice",{"var":"user.key"}]}`:                                      false,
		`{"in":[{"var":"user.key"},"alice"]}`:                                      false,
		`{"in":[{"var":"user.key"},["bob",{"var":"x"},"alice"]]}`:                  true,
		`{"if":[{"or":[false,{"==":[{"var":"user.key"},"alice"]}]},1,2]}`:          true,
		`{"some":[[{"==":[{"var":"user.key"},"alice"]}],{"var":""}]}`:              true,
		`{"==":[{"var":"user.key"},"bob"]}`:                                        false,
		`{"==":[{"var":"user.name"},"alice"]}`:                                     false,
		`{"==":[{"var":"account.key"},"alice"]}`:                                   false,
		`{"==":[{"var":"user.key"}]}`:                                              false,
		`{"==":[{"var":{"cat":["user",".key"]}},"alice"]}`:                         false,
		`{"in":[["alice"],{"var":"user.key"}]}`:                                    false,
		`{"in":[{"var":"user.key"},"alice,bob"]}`:                                  false,
		`{"some":[{"var":"users"},{"==":[{"var":"user.key"},"alice"]}]}`:           false,
		`{">":[{"var":"user.key"},"alice"]}`:                                       false,
		`{"and":[{"var":"user.key"},"alice"]}`:                                     false,
		`{"a":{"==":[{"var":"user.key"},"alice"]},"b":1}`:                          false,
		`{"==":[{"var":"user.key"},["alice"]]}`:                                    false,
		`{"==":[{"var":"user.key"},{"var":"alice"}]}`:                              false,
		`{"==":["user.key","alice"]}`:                                              false,
		`{"filter":[{"in":[{"var":"user.key"},["x","alice"]]},{"var":"ignored"}]}`: true,
	} {
		t.Run(fmt.Sprintf("%.40q", rule), func(t *testing.T) {
			compares := slices.ContainsFunc(mustCompile(t, rule).Comparisons(), func(c Comparison) bool {
				return c.Path == "user.key" && c.Literal.String() == "alice"
			})
			if compares != want {
				t.Errorf("%s: compares user.key with alice: %v", rule, compares)
			}
		})
	}
}

func TestRule_Comparisons(t *testing.T) {
	got := mustCompile(t, `{"and":[{"in":[{"var":"a.key"},["x",1]]},{"==":[null,{"var":"b"}]}]}`).Comparisons()
	want := []Comparison{
		{Path: "a.key", Operator: "in", Literal: String("x"), Pointer: "/and/0"},
		{Path: "a.key", Operator: "in", Literal: Number(1), Pointer: "/and/0"},
		{Path: "b", Operator: "==", Literal: Null(), Pointer: "/and/1"},
	}
	same := func(a, b Comparison) bool {
		return a.Path == b.Path && a.Operator == b.Operator && a.Pointer == b.Pointer && a.Literal.Equal(b.Literal)
	}
	if !slices.EqualFunc(want, got, same) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestRule_Constant(t *testing.T) {
	for rule, want := range map[string]bool{`true`: true, `{}`: true, `{"a":1,"b":2}`: true, `{"!":1}`: false, `[1]`: false} {
		t.Run(rule, func(t *testing.T) {
			if _, got := mustCompile(t, rule).Constant(); got != want {
				t.Errorf("Constant = %v", got)
			}
		})
	}
}
