package jsonlogic

import "testing"

// TestReference_Differences checks the differences that the package's documentation lists.
func TestReference_Differences(t *testing.T) {
	for _, c := range []struct{ name, rule, data, want string }{
		{"inherited members are none", `{"var":"constructor"}`, `{}`, `null`},
		{"inherited members are none", `{"var":["user.toString","none"]}`, `{"user":"x"}`, `"none"`},
		{"inherited members are none", `{"var":"__proto__"}`, `{}`, `null`},
		{"own members by such names are", `{"var":"constructor"}`, `{"constructor":7}`, `7`},
		{"own members by such names are", `{"var":"__proto__.x"}`, `{"__proto__":{"x":1}}`, `1`},
		{"own toString does not convert", `{"cat":{"var":"o"}}`, `{"o":{"toString":1,"valueOf":2}}`, `"[object Object]"`},
		{"own indexOf does not search", `{"in":["a",{"var":"o"}]}`, `{"o":{"indexOf":1,"x":2}}`, `false`},
		{"logic in data is data", `{"missing":{"var":"o"}}`, `{"o":{"var":"x"}}`, `[{"var":"x"}]`},
		{"logic in data is data", `{"missing_some":[1,{"var":"o"}]}`, `{"o":[{"nope":1}]}`, `[{"nope":1}]`},
		{"a cut through a pair", `{"substr":["😀",1]}`, `null`, `"\ufffd"`},
		{"a cut through a pair", `{"var":"0"}`, `"😀"`, `"\ufffd"`},
		{"half a pair", `{"==":["\ud83d","\ude00"]}`, `null`, `true`},
		{"half a pair keeps its length", `{"var":"length"}`, `"\ud83dx\ude00"`, `3`},
	} {
		t.Run(c.name, func(t *testing.T) { check(t, c.rule, c.data, c.want) })
	}
}
