package jsonlogic

import (
	"slices"
	"strings"
	"testing"
)

// caseData is what the rules of the table read.
const caseData = `{"user":{"name":"Ada","age":36,"tags":["x","y"],"note":null,"empty":"","on":false},"list":[3,1,2],"rows":[{"n":1,"ok":true},{"n":2,"ok":false}],"zero":0,"text":"42"}`

type example struct {
	rule string
	want string // as encode writes results; "error" when the evaluation fails
}

// TestCases pins the semantics one by one. Compare TestReference_Cases, which holds the table itself against the
// reference implementation.
func TestCases(t *testing.T) {
	for group, examples := range caseTable() {
		t.Run(group, func(t *testing.T) {
			for _, c := range examples {
				t.Run(c.rule, func(t *testing.T) {
					if got := ours(t, pair{rule: c.rule, data: caseData}); got != c.want {
						t.Errorf("%s = %s, want %s", c.rule, got, c.want)
					}
				})
			}
		})
	}
}

// TestCases_EveryOperator: every operator but flagd's, which flagd_test.go has, is in several cases.
func TestCases_EveryOperator(t *testing.T) {
	var all strings.Builder
	for _, examples := range caseTable() {
		for _, c := range examples {
			all.WriteString(c.rule + "\n")
		}
	}
	for op := range operators {
		t.Run(op, func(t *testing.T) {
			if slices.Contains([]string{"fractional", "starts_with", "ends_with", "sem_ver"}, op) {
				return
			}
			if n := strings.Count(all.String(), `{"`+op+`":`); n < 3 {
				t.Errorf("%s is in %d cases", op, n)
			}
		})
	}
}

// TestReference_Cases: the table says what the reference does.
func TestReference_Cases(t *testing.T) {
	t.Parallel()
	var pairs []pair
	for _, examples := range caseTable() {
		for _, c := range examples {
			pairs = append(pairs, pair{rule: c.rule, data: caseData})
		}
	}
	if excused := compareWithReference(t, pairs); excused > 0 {
		t.Errorf("%d cases are excused", excused)
	}
}

func caseTable() map[string][]example {
	return map[string][]example{
		"data":     dataCases(),
		"var":      varCases(),
		"missing":  missingCases(),
		"logic":    logicCases(),
		"equality": equalityCases(),
		"order":    orderCases(),
		"numbers":  numbersCases(),
		"text":     textCases(),
		"lists":    listsCases(),
	}
}

// dataCases: literals are their own value; arrays are evaluated element by element.
func dataCases() []example {
	return []example{
		{`1`, `1`},
		{`"a"`, `"a"`},
		{`null`, `null`},
		{`true`, `true`},
		{`[]`, `["array"]`},
		{`[1,{"var":"zero"}]`, `["array",1,0]`},
		{`{}`, `["object"]`},
		{`{"a":1,"b":2}`, `["object",["a",1],["b",2]]`},
		{`{"a":{"var":"zero"},"b":1}`, `["object",["a",["object",["var","zero"]]],["b",1]]`},
		{`[[{"var":"text"}],{"x":1,"y":2}]`, `["array",["array","42"],["object",["x",1],["y",2]]]`},
		{`-0`, `["number","-0"]`},
		{`1e400`, `["number","Infinity"]`},
		{`"\u00e9\ud83d\ude00"`, `"é😀"`},
	}
}

// varCases: paths, defaults, whole data.
func varCases() []example {
	return []example{
		{`{"var":"zero"}`, `0`},
		{`{"var":["zero"]}`, `0`},
		{`{"var":"user.name"}`, `"Ada"`},
		{`{"var":"user.tags.1"}`, `"y"`},
		{`{"var":"user.tags.2"}`, `null`},
		{`{"var":"list.length"}`, `3`},
		{`{"var":"user.name.length"}`, `3`},
		{`{"var":"user.name.0"}`, `"A"`},
		{`{"var":"user.name.3"}`, `null`},
		{`{"var":["user.none",7]}`, `7`},
		{`{"var":["user.note",7]}`, `null`},
		{`{"var":["user.note.deep",7]}`, `7`},
		{`{"var":["user.empty",7]}`, `""`},
		{`{"var":"none"}`, `null`},
		{`{"var":["none",{"var":"text"}]}`, `"42"`},
		{`{"var":["none",[1,2]]}`, `["array",1,2]`},
		{`{"var":"list.01"}`, `null`},
		{`{"var":"list.-1"}`, `null`},
		{`{"var":"user..name"}`, `null`},
		{`{"var":"."}`, `null`},
		{`{"var":true}`, `null`},
		{`{"var":["zero",1,2,3]}`, `0`},
		{`{"var":{"cat":["user",".","name"]}}`, `"Ada"`},
		{`{"var":[[]]}`, `null`},
		{`{"var":[["zero"]]}`, `0`},
		{`{"==":[{"var":""},{"var":[]}]}`, `true`},
		{`{"==":[{"var":null},{"var":""}]}`, `true`},
		{`{"var":{"var":"none"}}`, `["object",["list",["array",3,1,2]],["rows",["array",["object",["n",1],["ok",true]],["object",["n",2],["ok",false]]]],["text","42"],["user",["object",["age",36],["empty",""],["name","Ada"],["note",null],["on",false],["tags",["array","x","y"]]]],["zero",0]]`},
		{`{"var":"rows.1.n"}`, `2`},
	}
}

// missingCases: names without a value.
func missingCases() []example {
	return []example{
		{`{"missing":["zero","none"]}`, `["array","none"]`},
		{`{"missing":"none"}`, `["array","none"]`},
		{`{"missing":[]}`, `["array"]`},
		{`{"missing":["user.empty","user.note","user.on","zero"]}`, `["array","user.empty","user.note"]`},
		{`{"missing":[["none","text"],"other"]}`, `["array","none"]`},
		{`{"missing":["text",["none","default"]]}`, `["array"]`},
		{`{"missing":["text",["none"],[]]}`, `["array",["array","none"]]`},
		{`{"missing":{"merge":["a",["text"]]}}`, `["array","a"]`},
		{`{"missing":[null]}`, `["array"]`},
		{`{"missing":[""]}`, `["array"]`},
		{`{"missing_some":[1,["none","text"]]}`, `["array"]`},
		{`{"missing_some":[2,["none","text"]]}`, `["array","none"]`},
		{`{"missing_some":[0,["none"]]}`, `["array"]`},
		{`{"missing_some":["1",["none","text"]]}`, `["array"]`},
		{`{"missing_some":[1,"none"]}`, `["array"]`},
		{`{"missing_some":[5,"none"]}`, `["array","none"]`},
		{`{"missing_some":[1]}`, `error`},
		{`{"missing_some":[1,null]}`, `error`},
		{`{"missing_some":[1,3]}`, `["array",3]`},
		{`{"missing_some":[1,{"length":5,"x":1}]}`, `["array"]`},
		{`{"missing_some":[]}`, `error`},
		{`{"missing_some":[[1],[["none","a"],"b"]]}`, `["array","none","a"]`},
	}
}

// logicCases: if, and, or, not: values, not only truth.
func logicCases() []example {
	return []example{
		{`{"?:":[false,1,2]}`, `2`},
		{`{"?:":[{"var":"zero"},"a","b"]}`, `"b"`},
		{`{"if":[]}`, `null`},
		{`{"if":["a"]}`, `"a"`},
		{`{"if":[true,"a"]}`, `"a"`},
		{`{"if":[false,"a"]}`, `null`},
		{`{"if":[[],"a","b"]}`, `"b"`},
		{`{"if":["0","a","b"]}`, `"a"`},
		{`{"if":[0,"a",false,"b"]}`, `null`},
		{`{"if":[0,"a",{},"b","c"]}`, `"b"`},
		{`{"if":"x"}`, `"x"`},
		{`{"?:":[1,2,3]}`, `2`},
		{`{"and":[]}`, `["undefined"]`},
		{`{"or":[]}`, `["undefined"]`},
		{`{"and":[1,"",3]}`, `""`},
		{`{"and":[1,2]}`, `2`},
		{`{"or":[0,"","z"]}`, `"z"`},
		{`{"or":[0,[]]}`, `["array"]`},
		{`{"and":[[0],{}]}`, `["object"]`},
		{`{"and":3}`, `3`},
		{`{"!":[]}`, `true`},
		{`{"!":[[]]}`, `true`},
		{`{"!":[[0]]}`, `false`},
		{`{"!":"0"}`, `false`},
		{`{"!":""}`, `true`},
		{`{"!!":{}}`, `true`},
		{`{"!!":[]}`, `false`},
		{`{"!!":[[],1]}`, `false`},
		{`{"!":{"var":"user.on"}}`, `true`},
		{`{"!":{"var":"none"}}`, `true`},
		{`{"if":[{"*":[]},1,2]}`, `error`},
		{`{"if":[true,1,{"*":[]}]}`, `1`},
		{`{"or":[1,{"*":[]}]}`, `1`},
		{`{"and":[0,{"*":[]}]}`, `0`},
		{`{"log":"x"}`, `"x"`},
		{`{"log":[]}`, `["undefined"]`},
		{`{"log":[[1,2],3]}`, `["array",1,2]`},
	}
}

// equalityCases: loose and strict.
func equalityCases() []example {
	return []example{
		{`{"!=":[null,0]}`, `true`},
		{`{"!==":[null,null]}`, `false`},
		{`{"==":[1,"1"]}`, `true`},
		{`{"==":[1," 1\n"]}`, `true`},
		{`{"==":["1","01"]}`, `false`},
		{`{"==":[null,0]}`, `false`},
		{`{"==":[null,false]}`, `false`},
		{`{"==":[null,""]}`, `false`},
		{`{"==":[null]}`, `true`},
		{`{"==":[]}`, `true`},
		{`{"===":[null]}`, `false`},
		{`{"==":[true,1]}`, `true`},
		{`{"==":[true,"1"]}`, `true`},
		{`{"==":[true,"true"]}`, `false`},
		{`{"==":["",0]}`, `true`},
		{`{"==":["0x10",16]}`, `true`},
		{`{"==":["0b101",5]}`, `true`},
		{`{"==":["0o17",15]}`, `true`},
		{`{"==":["-0x1",-1]}`, `false`},
		{`{"==":["Infinity",1e400]}`, `true`},
		{`{"==":["1e3",1000]}`, `true`},
		{`{"==":[[1],1]}`, `true`},
		{`{"==":[[1,2],"1,2"]}`, `true`},
		{`{"==":[[],""]}`, `true`},
		{`{"==":[[],0]}`, `true`},
		{`{"==":[[],false]}`, `true`},
		{`{"==":[[],[]]}`, `false`},
		{`{"==":[[null],""]}`, `true`},
		{`{"==":[{},"[object Object]"]}`, `true`},
		{`{"==":[{},{}]}`, `false`},
		{`{"==":[{"var":"user"},{"var":"user"}]}`, `true`},
		{`{"===":[{"var":"user.tags"},{"var":"user.tags"}]}`, `true`},
		{`{"==":[{"var":"list"},[3,1,2]]}`, `false`},
		{`{"==":[{"var":"list"},"3,1,2"]}`, `true`},
		{`{"===":[1,"1"]}`, `false`},
		{`{"===":[1,1.0]}`, `true`},
		{`{"===":[0,-0]}`, `true`},
		{`{"!=":[1,"1"]}`, `false`},
		{`{"!=":[1,2]}`, `true`},
		{`{"!==":[1,"1"]}`, `true`},
		{`{"!==":["a","a"]}`, `false`},
		{`{"==":[{"/":[0,0]},{"/":[0,0]}]}`, `false`},
		{`{"==":["a","a",{"*":[]}]}`, `error`},
		{`{"==":[1,1,2]}`, `true`},
		{`{"==":["\ufeff1",1]}`, `true`},
		{`{"==":["1_0",10]}`, `false`},
		{`{"some":[[[1],[2]],{"==":[{"var":""},{"var":""}]}]}`, `true`},
		{`{"==":["undefined",{"and":[]}]}`, `false`},
		{`{"==":[{"and":[]},null]}`, `true`},
	}
}

// orderCases: comparisons and between.
func orderCases() []example {
	return []example{
		{`{">=":[2,2]}`, `true`},
		{`{"<":[1,2]}`, `true`},
		{`{"<":["10","9"]}`, `true`},
		{`{"<":["10",9]}`, `false`},
		{`{"<":["a","B"]}`, `false`},
		{`{"<":[null,1]}`, `true`},
		{`{"<":[1,{"and":[]}]}`, `false`},
		{`{"<":["x",1]}`, `false`},
		{`{"<":[[2],[10]]}`, `false`},
		{`{"<":[1,2,3]}`, `true`},
		{`{"<":[1,5,3]}`, `false`},
		{`{"<":[1,1,3]}`, `false`},
		{`{"<=":[1,1,3]}`, `true`},
		{`{"<":[1,2,null]}`, `false`},
		{`{"<":[1,2,{"and":[]}]}`, `true`},
		{`{"<":[1,2,3,4]}`, `true`},
		{`{">":[3,2,1]}`, `true`},
		{`{">":[3,2,9]}`, `true`},
		{`{">":[true,false]}`, `true`},
		{`{">=":[null,0]}`, `true`},
		{`{"<=":[null,0]}`, `true`},
		{`{"<=":[{"and":[]},0]}`, `false`},
		{`{">=":["b","a"]}`, `true`},
		{`{"<":[{},1]}`, `false`},
		{`{"<=":[{},{}]}`, `true`},
		{`{"<":["\ud83d\ude00","\ue000"]}`, `true`},
		{`{"<":["a","aa"]}`, `true`},
		{`{"<":[]}`, `false`},
		{`{">":[]}`, `false`},
	}
}

// numbersCases: arithmetic and conversions.
func numbersCases() []example {
	return []example{
		{`{"+":[]}`, `0`},
		{`{"+":"3.5kg"}`, `3.5`},
		{`{"+":[1,"2",3]}`, `6`},
		{`{"+":[0.1,0.2]}`, `0.30000000000000004`},
		{`{"+":[" 4","5e1x"]}`, `54`},
		{`{"+":["0x10"]}`, `0`},
		{`{"+":[true]}`, `["number","NaN"]`},
		{`{"+":[null]}`, `["number","NaN"]`},
		{`{"+":[[7]]}`, `7`},
		{`{"+":["Infinity","-Infinity"]}`, `["number","NaN"]`},
		{`{"+":["-.5","+.25"]}`, `-0.25`},
		{`{"+":["."]}`, `["number","NaN"]`},
		{`{"*":[]}`, `error`},
		{`{"*":["3"]}`, `"3"`},
		{`{"*":[[1,2]]}`, `["array",1,2]`},
		{`{"*":["3",2]}`, `6`},
		{`{"*":[2,"2x",5]}`, `20`},
		{`{"*":[-1,0]}`, `["number","-0"]`},
		{`{"*":[-0,1]}`, `0`},
		{`{"-":[5,3]}`, `2`},
		{`{"-":"3"}`, `-3`},
		{`{"-":[3]}`, `-3`},
		{`{"-":[]}`, `["number","NaN"]`},
		{`{"-":[null]}`, `["number","-0"]`},
		{`{"-":["0x10",1]}`, `15`},
		{`{"-":["3kg",1]}`, `["number","NaN"]`},
		{`{"-":[0]}`, `["number","-0"]`},
		{`{"-":[1,{"and":[]}]}`, `-1`},
		{`{"/":[1,0]}`, `["number","Infinity"]`},
		{`{"/":[-1,0]}`, `["number","-Infinity"]`},
		{`{"/":[0,0]}`, `["number","NaN"]`},
		{`{"/":[1]}`, `["number","NaN"]`},
		{`{"/":["6","4"]}`, `1.5`},
		{`{"%":[5,3]}`, `2`},
		{`{"%":[-5,3]}`, `-2`},
		{`{"%":[5,-3]}`, `2`},
		{`{"%":[-4,2]}`, `["number","-0"]`},
		{`{"%":[5,0]}`, `["number","NaN"]`},
		{`{"%":["5.5",2]}`, `1.5`},
		{`{"max":[]}`, `["number","-Infinity"]`},
		{`{"min":[]}`, `["number","Infinity"]`},
		{`{"max":[1,"3",2]}`, `3`},
		{`{"max":[1,null]}`, `1`},
		{`{"min":[1,null]}`, `0`},
		{`{"max":[1,"x"]}`, `["number","NaN"]`},
		{`{"max":[[4],3]}`, `4`},
		{`{"min":[0,-0]}`, `["number","-0"]`},
		{`{"max":[1e400,"x"]}`, `["number","NaN"]`},
		{`{"min":{"var":"list"}}`, `["number","NaN"]`},
	}
}

// textCases: cat, substr, in.
func textCases() []example {
	return []example{
		{`{"cat":[]}`, `""`},
		{`{"cat":"a"}`, `"a"`},
		{`{"cat":["a",1,true,null,{"and":[]}]}`, `"a1true"`},
		{`{"cat":[[1,[2,null]],{}]}`, `"1,2,[object Object]"`},
		{`{"cat":[1e21,"|",1e-7,"|",0.1,"|",-0,"|",123456789012345680000,"|",1.5e300]}`, `"1e+21|1e-7|0.1|0|123456789012345680000|1.5e+300"`},
		{`{"cat":[{"/":[1,0]},{"/":[0,0]}]}`, `"InfinityNaN"`},
		{`{"cat":[5e-324,"|",1e20,"|",0.000001,"|",-1.5]}`, `"5e-324|100000000000000000000|0.000001|-1.5"`},
		{`{"substr":["abcdef",2]}`, `"cdef"`},
		{`{"substr":["abcdef",-2]}`, `"ef"`},
		{`{"substr":["abcdef",1,3]}`, `"bcd"`},
		{`{"substr":["abcdef",1,-2]}`, `"bcd"`},
		{`{"substr":["abcdef",-4,-2]}`, `"cd"`},
		{`{"substr":["abcdef",-9,2]}`, `"ab"`},
		{`{"substr":["abcdef",9]}`, `""`},
		{`{"substr":["abcdef"]}`, `"abcdef"`},
		{`{"substr":["abcdef",0,-9]}`, `""`},
		{`{"substr":["abcdef","1","2"]}`, `"bc"`},
		{`{"substr":["abcdef",0,"-2"]}`, `""`},
		{`{"substr":["abcdef",1.9,1.9]}`, `"b"`},
		{`{"substr":["abcdef",null,null]}`, `""`},
		{`{"substr":[12345,1,2]}`, `"23"`},
		{`{"substr":[null,1,2]}`, `"ul"`},
		{`{"substr":["a\ud83d\ude00b",3]}`, `"b"`},
		{`{"substr":["\u00e9\u00e8\u00ea",1,1]}`, `"è"`},
		{`{"substr":[]}`, `"undefined"`},
		{`{"substr":["abc",0,{"and":[]}]}`, `"abc"`},
		{`{"in":["b","abc"]}`, `true`},
		{`{"in":["","abc"]}`, `true`},
		{`{"in":["",""]}`, `false`},
		{`{"in":["a",""]}`, `false`},
		{`{"in":[2,[1,2]]}`, `true`},
		{`{"in":["2",[1,2]]}`, `false`},
		{`{"in":[null,[null]]}`, `true`},
		{`{"in":[1,"123"]}`, `true`},
		{`{"in":[null,"null"]}`, `true`},
		{`{"in":[[1],"1"]}`, `true`},
		{`{"in":[[1],[[1]]]}`, `false`},
		{`{"in":["a",{"a":1,"b":2}]}`, `false`},
		{`{"in":["a",null]}`, `false`},
		{`{"in":["a",5]}`, `false`},
		{`{"in":["a"]}`, `false`},
		{`{"in":[]}`, `false`},
		{`{"in":[{"/":[0,0]},[{"/":[0,0]}]]}`, `false`},
		{`{"in":[-0,[0]]}`, `true`},
		{`{"in":["y",{"var":"user.tags"}]}`, `true`},
		{`{"in":[{"var":"user.tags"},[{"var":"user.tags"}]]}`, `true`},
		{`{"in":[{"and":[]},"undefined"]}`, `true`},
		{`{"in":["k",["a","b","c","d","e","f","g","h","i","j","k"]]}`, `true`},
		{`{"in":[9,["a",1,2,3,4,5,6,7,8,9,true,null]]}`, `true`},
		{`{"in":[true,["a","b","c","d","e","f","g","h","i",true]]}`, `true`},
		{`{"in":[{"var":"none"},["a","b","c","d","e","f","g","h","i",null]]}`, `true`},
		{`{"in":["longer-than-seven",["longer-than-eight","longer-than-seven"]]}`, `true`},
		{`{"in":["longer-than-nine!",["longer-than-eight","longer-than-seven"]]}`, `false`},
	}
}

// listsCases: map, filter, reduce, all, none, some, merge.
func listsCases() []example {
	return []example{
		{`{"map":[{"var":"list"},{"*":[{"var":""},2]}]}`, `["array",6,2,4]`},
		{`{"map":[{"var":"rows"},{"var":"n"}]}`, `["array",1,2]`},
		{`{"map":[{"var":"none"},1]}`, `["array"]`},
		{`{"map":[[1,2]]}`, `["array",["undefined"],["undefined"]]`},
		{`{"map":[]}`, `["array"]`},
		{`{"map":{"var":"list"}}`, `["array",["undefined"],["undefined"],["undefined"]]`},
		{`{"map":["abc",1]}`, `["array"]`},
		{`{"map":[[1,{"var":"zero"}],{"var":["zero","gone"]}]}`, `["array","gone","gone"]`},
		{`{"filter":[{"var":"rows"},{"var":"ok"}]}`, `["array",["object",["n",1],["ok",true]]]`},
		{`{"filter":[{"var":"list"},{">":[{"var":""},1]}]}`, `["array",3,2]`},
		{`{"filter":[{"var":"list"}]}`, `["array"]`},
		{`{"filter":[5,true]}`, `["array"]`},
		{`{"reduce":[{"var":"list"},{"+":[{"var":"current"},{"var":"accumulator"}]},10]}`, `16`},
		{`{"reduce":[{"var":"list"},{"+":[{"var":"current"},{"var":"accumulator"}]}]}`, `["number","NaN"]`},
		{`{"reduce":[{"var":"none"},1,5]}`, `5`},
		{`{"reduce":[[],1]}`, `null`},
		{`{"reduce":[[1]]}`, `["undefined"]`},
		{`{"reduce":[[1,2],{"var":"text"},{"var":"text"}]}`, `null`},
		{`{"reduce":[[1,2],{"cat":[{"var":"accumulator"},{"var":"current"}]},{"var":"text"}]}`, `"4212"`},
		{`{"reduce":[["a","b"],{"merge":[{"var":"accumulator"},{"var":"current"}]},[]]}`, `["array","a","b"]`},
		{`{"all":[{"var":"list"},{">":[{"var":""},0]}]}`, `true`},
		{`{"all":[[],true]}`, `false`},
		{`{"all":[{"var":"none"},true]}`, `false`},
		{`{"all":[[1]]}`, `false`},
		{`{"none":[[],true]}`, `true`},
		{`{"none":[{"var":"list"},{"==":[{"var":""},9]}]}`, `true`},
		{`{"none":[{"var":"none"}]}`, `true`},
		{`{"some":[{"var":"rows"},{"==":[{"var":"n"},2]}]}`, `true`},
		{`{"some":[[],true]}`, `false`},
		{`{"some":["abc",true]}`, `false`},
		{`{"some":[[1,2],{"some":[[3,4],{"==":[{"var":""},4]}]}]}`, `true`},
		{`{"merge":[]}`, `["array"]`},
		{`{"merge":1}`, `["array",1]`},
		{`{"merge":[1,[2,[3]],null]}`, `["array",1,2,["array",3],null]`},
		{`{"merge":[{"and":[]}]}`, `["array",["undefined"]]`},
		{`{"merge":[{"var":"list"},{"var":"rows"}]}`, `["array",3,1,2,["object",["n",1],["ok",true]],["object",["n",2],["ok",false]]]`},
		{`{"map":[[1,2],[{"var":""},7]]}`, `["array",["array",1,7],["array",2,7]]`},
		{`{"all":[[1,2],{"*":[]}]}`, `error`},
	}
}
