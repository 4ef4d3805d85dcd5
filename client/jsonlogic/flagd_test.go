package jsonlogic

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/internal/testenv"
)

// TestFlagd_GeneratedRules compares flagd's operators with its JavaScript library, except where that differs from its Go
// library.
func TestFlagd_GeneratedRules(t *testing.T) {
	t.Parallel()
	g := newGenerator(seed(t))
	pairs := make([]pair, testenv.Scale(1500, 8000))
	lines := make([]string, len(pairs))
	for i := range pairs {
		pairs[i] = pair{rule: g.flagdRule(), data: g.flagdData()}
		lines[i] = fmt.Sprintf(`{"key":"flag-%d","variants":["v0","v1","v2","v3","yes","no"],"rule":%s,"data":%s}`, i%7, pairs[i].rule, pairs[i].data)
	}
	chosen := map[string]int{}
	for i, want := range oracle(t, "flagd.js", lines) {
		r, err := Compile([]byte(pairs[i].rule), FlagKey(fmt.Sprintf("flag-%d", i%7)))
		if err != nil {
			t.Fatalf("compile %s: %v", pairs[i].rule, err)
		}
		got, err := r.Evaluate(mustParse(t, pairs[i].data))
		if err != nil || got.json() != want {
			t.Errorf("rule %s\ndata %s\nours %s, %v\nflagd %s", pairs[i].rule, pairs[i].data, got.json(), err, want)
		}
		e, _ := r.Explain(mustParse(t, pairs[i].data))
		if !e.Result.Equal(got) {
			t.Errorf("rule %s\ndata %s\nEvaluate %s\nExplain %+v", pairs[i].rule, pairs[i].data, got.json(), e)
		}
		chosen[want]++
	}
	t.Logf("chosen: %v", chosen)
}

func (g generator) flagdData() string {
	key := pick(g, []string{"", `"targetingKey":"user-` + strconv.Itoa(g.IntN(100000)) + `",`, `"targetingKey":"u` + strconv.Itoa(g.IntN(1000)) + `",`})
	return `{` + key + `"email":` + quote("p"+strconv.Itoa(g.IntN(100000))+"@example.com") + `,"version":` + g.version() + `,"n":7}`
}

func (g generator) flagdRule() string {
	switch g.IntN(4) {
	case 0:
		args := []string{pick(g, []string{g.version(), `{"var":"version"}`}), quote(pick(g, semverOperators())), g.version()}
		return `{"if":[{"sem_ver":[` + strings.Join(args, ",") + `]},"yes","no"]}`
	case 1:
		op := pick(g, []string{"starts_with", "ends_with"})
		texts := []string{`{"var":"email"}`, `""`, `"p1"`, `"@example.com"`, `"p"`, `{"var":"n"}`, "null", "7", `"com"`}
		n := pick(g, []int{1, 2, 2, 2, 2, 3})
		return `{"if":[{"` + op + `":[` + g.joined(n, func() string { return pick(g, texts) }) + `]},"yes","no"]}`
	}
	buckets := g.joined(g.IntN(5), g.bucket)
	by := pick(g, []string{"", "", `{"var":"email"}`, `{"cat":[{"var":"$flagd.flagKey"},{"var":"email"}]}`, `"fixed"`})
	if by != "" && buckets != "" {
		by += ","
	}
	return `{"fractional":[` + by + buckets + `]}`
}

func (g generator) bucket() string {
	name := quote("v" + strconv.Itoa(g.IntN(4)))
	weights := []string{"1", "10", "25", "50", "0", "-5", "100", "99999", `{"+":[1,2]}`}
	if g.IntN(20) == 0 {
		weights = []string{"1.5", strconv.Itoa(math.MaxInt32), "1073741823", `"1"`, "true"}
	}
	if g.IntN(4) == 0 {
		return `[` + name + `]`
	}
	return `[` + name + `,` + pick(g, weights) + `]`
}

func semverOperators() []string { return []string{"=", "!=", "<", "<=", ">", ">=", "^", "~", "==", ""} }

func (g generator) version() string {
	if g.IntN(12) == 0 {
		return pick(g, []string{`"latest"`, `""`, `"1.2.3.4"`, `"01.2.3"`, `"1.2.3-"`, `"1.2.3-01"`, `"1.2-beta"`, `"1.2.3+"`, `"1..3"`, `"v"`, `"1.2.3-a..b"`, "2", "1.5", "true",
			`"1.2.3-é"`, `"-1.2.3"`})
	}
	number := func() string { return strconv.Itoa(g.IntN(3) * (1 + g.IntN(6))) }
	text := pick(g, []string{"", "", "v", "V"}) + number()
	if g.IntN(6) > 0 {
		text += "." + number()
		if g.IntN(8) > 0 {
			text += "." + number() + pick(g, []string{"", "", "", "-alpha", "-alpha.1", "-alpha.2", "-alpha.10", "-beta", "-1", "-rc-1.x", "-0a"}) +
				pick(g, []string{"", "", "", "+build", "+001"})
		}
	}
	return quote(text)
}

// TestMurmur3 pins the hash: a change would move everyone to other buckets.
func TestMurmur3(t *testing.T) {
	for text, want := range map[string]uint32{
		"": 0, "a": 0x3c2569b2, "ab": 0x9bbfd75f, "abc": 0xb3dd93fa, "abcd": 0x43ed676a, "hello world": 0x5e928f0f,
	} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got := murmur3([]byte(text)); got != want {
				t.Errorf("murmur3(%q) = %#x, want %#x", text, got, want)
			}
		})
	}
}

// TestFractional_Sticky: the same key always gets the same variant, another flag splits differently, and the shares
// follow the weights.
func TestFractional_Sticky(t *testing.T) {
	rule := []byte(`{"fractional":[["a",20],["b",80]]}`)
	first, err := Compile(rule, FlagKey("first"))
	if err != nil {
		t.Fatal(err)
	}
	second, err := Compile(rule, FlagKey("second"))
	if err != nil {
		t.Fatal(err)
	}
	const people = 20_000
	shares, differ := map[string]int{}, 0
	for i := range people {
		data := Object(Member{"user", Object(Member{"key", String(fmt.Sprintf("user-%d", i))})})
		v, _ := first.Evaluate(data)
		again, _ := first.Evaluate(data)
		other, _ := second.Evaluate(data)
		if !v.Equal(again) {
			t.Fatalf("user %d got %v, then %v", i, v, again)
		}
		if !v.Equal(other) {
			differ++
		}
		shares[v.String()]++
	}
	if share := float64(shares["a"]) / people; math.Abs(share-0.2) > 0.01 {
		t.Errorf("a has %.3f of the people, want 0.2", share)
	}
	if share := float64(differ) / people; math.Abs(share-2*0.2*0.8) > 0.02 {
		t.Errorf("the flags differ for %.3f of the people, want 0.32", share)
	}
}

// TestFractional_TargetingKey: where the key is found, and what happens without one.
func TestFractional_TargetingKey(t *testing.T) {
	const rule = `{"fractional":[["in",1]]}`
	for data, want := range map[string]string{
		`{"targetingKey":"a"}`:                          `"in"`,
		`{"user":{"key":"a"}}`:                          `"in"`,
		`{"user":{"key":42}}`:                           `"in"`,
		`{"targetingKey":null,"user":{"key":"a"}}`:      `"in"`,
		`{"targetingKey":"","user":{"key":"a"}}`:        `null`,
		`{"targetingKey":true}`:                         `null`,
		`{"user":{}}`:                                   `null`,
		`{"user":"a"}`:                                  `null`,
		`null`:                                          `null`,
		`{"account":{"key":"a"},"user":{"key":["a"]}}`:  `null`,
		`{"targetingKey":"b","list":[{"key":"a"},{}] }`: `"in"`,
	} {
		t.Run(data, func(t *testing.T) { check(t, rule, data, want) })
	}
	// Inside a loop the data is an element, but the targeting key is the same.
	check(t, `{"map":[[1,2],{"fractional":[["in",1]]}]}`, `{"targetingKey":"a"}`, `["in","in"]`)
}

// TestFlagd_Forms has the forms on which flagd's libraries disagree; we follow its Go library.
func TestFlagd_Forms(t *testing.T) {
	const data = `{"targetingKey":"a","bucket":["in",1],"none":null,"flag":true}`
	for rule, want := range map[string]string{
		`{"fractional":[{"var":"none"},["in",1]]}`:                                     `"in"`,
		`{"fractional":[null,["in",1]]}`:                                               `"in"`,
		`{"fractional":[["in",null]]}`:                                                 `"in"`,
		`{"fractional":[["in",1,"more"]]}`:                                             `"in"`,
		`{"fractional":[{"var":"bucket"}]}`:                                            `"in"`,
		`{"fractional":[{"var":"bucket"},["in",1]]}`:                                   `"in"`,
		`{"fractional":[["out",0],["in",{"+":[1,1]}]]}`:                                `"in"`,
		`{"fractional":[[true,1]]}`:                                                    `true`,
		`{"fractional":[[null,1]]}`:                                                    `null`,
		`{"fractional":[[3,1],[3]]}`:                                                   `3`,
		`{"fractional":[{"var":"flag"},["in",1]]}`:                                     `null`,
		`{"fractional":[7,["in",1]]}`:                                                  `null`,
		`{"fractional":[[["in"],1]]}`:                                                  `null`,
		`{"fractional":[[]]}`:                                                          `null`,
		`{"fractional":[]}`:                                                            `null`,
		`{"fractional":"x"}`:                                                           `null`,
		`{"fractional":["x"]}`:                                                         `null`,
		`{"fractional":[["in","1"]]}`:                                                  `null`,
		`{"fractional":[["in",0]]}`:                                                    `null`,
		`{"fractional":[["in",1.5]]}`:                                                  `null`,
		`{"fractional":[["in",2147483648]]}`:                                           `null`,
		`{"fractional":[["in",2147483647],["in",1]]}`:                                  `null`,
		`{"fractional":[["in",2147483647]]}`:                                           `"in"`,
		`{"fractional":["x",["in",1],["in",{"*":[1,-9]}]]}`:                            `"in"`,
		`{"var":"$flagd.flagKey"}`:                                                     `"flag"`,
		`{"map":[[1],{"var":"$flagd.flagKey"}]}`:                                       `[null]`,
		`{"==":[{"var":"$flagd.flagKey"},"flag"]}`:                                     `true`,
		`{"sem_ver":["1.2.3",">=","1.2"]}`:                                             `true`,
		`{"sem_ver":["1.2.3",">="]}`:                                                   `null`,
		`{"sem_ver":[null,"=","1.2"]}`:                                                 `null`,
		`{"sem_ver":["1","=",["1"]]}`:                                                  `null`,
		`{"sem_ver":["1",1,"1"]}`:                                                      `null`,
		`{"sem_ver":["vv1","=","1"]}`:                                                  `null`,
		`{"sem_ver":["1.0.0-99999999999999999999","<","1.0.0-100000000000000000000"]}`: `true`,
		`{"starts_with":["abc","ab"]}`:                                                 `true`,
		`{"ends_with":["abc","ab"]}`:                                                   `false`,
		`{"ends_with":["abc",1]}`:                                                      `null`,
		`{"starts_with":["abc"]}`:                                                      `null`,
		`{"starts_with":["abc","a","b"]}`:                                              `null`,
		`{"starts_with":"abc"}`:                                                        `null`,
		`{"starts_with":[null,{"var":0}]}`:                                             `null`,
	} {
		t.Run(fmt.Sprintf("%.40q", rule), func(t *testing.T) { check(t, rule, data, want) })
	}
}

// TestSemVer is every operator on versions that are less, equal and greater.
func TestSemVer(t *testing.T) {
	for operator, want := range map[string][3]bool{
		"=": {false, true, false}, "!=": {true, false, true}, "<": {true, false, false}, "<=": {true, true, false},
		">": {false, false, true}, ">=": {false, true, true}, "^": {true, true, true}, "~": {false, true, true},
	} {
		t.Run(operator, func(t *testing.T) {
			for i, actual := range []string{"2.3.9", "v2.4.0+build", "2.4.1"} {
				rule := `{"sem_ver":[{"var":"version"},"` + operator + `","2.4"]}`
				check(t, rule, `{"version":"`+actual+`"}`, strconv.FormatBool(want[i]))
			}
		})
	}
	check(t, `{"sem_ver":["3.4.0","^","2.4.0"]}`, `null`, `false`)
	check(t, `{"sem_ver":["3.4.0","~","2.4.0"]}`, `null`, `false`)
}

// TestDecide_Split: only a bucket that was looked up makes a decision a split.
func TestDecide_Split(t *testing.T) {
	const rule = `{"or":[{"==":[{"var":"user.plan"},"pro"]},{"fractional":[[true,1]]}]}`
	r, err := Compile([]byte(rule))
	if err != nil {
		t.Fatal(err)
	}
	for data, want := range map[string]Decision{
		`{"user":{"key":"a","plan":"pro"}}`: {Matched: true},
		`{"user":{"key":"a"}}`:              {Matched: true, Split: true},
		`{"user":{}}`:                       {},
	} {
		t.Run(data, func(t *testing.T) {
			var in Value
			if err := json.Unmarshal([]byte(data), &in); err != nil {
				t.Fatal(err)
			}
			if got := r.Decide(in); got != want {
				t.Errorf("%+v, want %+v", got, want)
			}
		})
	}
	for _, rule := range []string{`{"!":{"fractional":[1]}}`, `{"!":{"fractional":[["a",0]]}}`, `{"!":{"fractional":["by",["a","1"]]}}`} {
		t.Run(rule, func(t *testing.T) {
			if got := mustCompile(t, rule).Decide(mustParse(t, `{"targetingKey":"a"}`)); got != (Decision{Matched: true}) {
				t.Errorf("%+v has no bucket", got)
			}
		})
	}
}
