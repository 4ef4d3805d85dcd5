package condition_test

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/signalbox/signalbox/internal/condition"
)

func TestParse(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ logic, text string }{
		"user.plan == pro":                    {`{"==":[{"var":"user.plan"},"pro"]}`, `user.plan == "pro"`},
		"user.plan=pro":                       {`{"==":[{"var":"user.plan"},"pro"]}`, `user.plan == "pro"`},
		"user.plan in pro,team":               {`{"in":[{"var":"user.plan"},["pro","team"]]}`, `user.plan in "pro", "team"`},
		`user.plan in ["pro","a,b"]`:          {`{"in":[{"var":"user.plan"},["pro","a,b"]]}`, `user.plan in "pro", "a,b"`},
		`user.plan in 'a,b', c`:               {`{"in":[{"var":"user.plan"},["a,b","c"]]}`, `user.plan in "a,b", "c"`},
		"user.plan not in free":               {`{"!":[{"in":[{"var":"user.plan"},["free"]]}]}`, `not user.plan in "free"`},
		"user.age >= 18 and user.country==NO": {`{"and":[{">=":[{"var":"user.age"},18]},{"==":[{"var":"user.country"},"NO"]}]}`, `user.age >= 18 and user.country == "NO"`},
		`user.zip == "0001"`:                  {`{"==":[{"var":"user.zip"},"0001"]}`, `user.zip == "0001"`},
		"user.beta":                           {`{"var":"user.beta"}`, "user.beta"},
		"not user.beta":                       {`{"!":[{"var":"user.beta"}]}`, "not user.beta"},
		"user.email ends with @example.com":   {`{"ends_with":[{"var":"user.email"},"@example.com"]}`, `user.email ends with "@example.com"`},
		"user.name contains 'and then'":       {`{"in":["and then",{"var":"user.name"}]}`, `user.name contains "and then"`},
		`user.name == "O'Brien" and user.age>-5`: {
			`{"and":[{"==":[{"var":"user.name"},"O'Brien"]},{">":[{"var":"user.age"},-5]}]}`, `user.name == "O'Brien" and user.age > -5`,
		},
		"user.city == Tromsø":             {`{"==":[{"var":"user.city"},"Tromsø"]}`, `user.city == "Tromsø"`},
		"user.key == auth0:a/b+c@x.no":    {`{"==":[{"var":"user.key"},"auth0:a/b+c@x.no"]}`, `user.key == "auth0:a/b+c@x.no"`},
		"user.a  ==  ''\tand\nnot user.b": {`{"and":[{"==":[{"var":"user.a"},""]},{"!":[{"var":"user.b"}]}]}`, `user.a == "" and not user.b`},
		"user.a in 1 , true and user.b":   {`{"and":[{"in":[{"var":"user.a"},[1,true]]},{"var":"user.b"}]}`, "user.a in 1, true and user.b"},
		`{"<": [{"var":"user.age"}, 3]}`:  {`{"<":[{"var":"user.age"},3]}`, "user.age < 3"},
	}
	for text, test := range tests {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			logic, err := condition.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if got := encode(t, logic); got != test.logic {
				t.Errorf("got %s", got)
			}
			if got := condition.Text(logic); got != test.text {
				t.Errorf("it is shown as %s", got)
			}
		})
	}
}

func TestParse_Refuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                     `"" is not a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`,
		"plan == pro":          `"plan" is not an attribute such as user.plan`,
		"user.plan ==":         `"user.plan ==" has no value after ==`,
		"user.plan like pro":   `"user.plan like pro" is not a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`,
		"user.plan inside pro": `"user.plan inside pro" is not a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`,
		"user.plan !== pro":    "there is no operator !==; use ==, !=, <, <=, >, >=, in, not in, contains, starts with or ends with",
		"user.plan === pro":    "there is no operator ===; use ==, !=, <, <=, >, >=, in, not in, contains, starts with or ends with",
		"user.plan <> pro":     "there is no operator <>; use ==, !=, <, <=, >, >=, in, not in, contains, starts with or ends with",
		"user.plan == pro and": `a condition is missing after the last "and"`,
		"user.plan == and":     `"user.plan ==" has no value after ==`,

		"user.plan == pro or user.x == 2":  `a condition has no "or": add a second rule, or write JSON Logic such as {"or": [{"var": "user.beta"}, …]}`,
		"user.beta or user.x == 2":         `a condition has no "or": add a second rule, or write JSON Logic such as {"or": [{"var": "user.beta"}, …]}`,
		"user.plan == pro || user.x == 2":  `a condition has no "or": add a second rule, or write JSON Logic such as {"or": [{"var": "user.beta"}, …]}`,
		"user.plan == pro && user.x == 2":  `join conditions with "and", not with "&&"`,
		"user.plan == pro AND user.x == 2": `join conditions with "and", not with "AND"`,
		"user.plan in [pro,team]":          `"[pro,team]" is not a JSON array; a list is written without brackets, such as user.plan in pro,team`,
		`user.plan in [["pro"]]`:           "a list has numbers, true, false and texts, and no other lists",
		"user.plan in (pro, team)":         `"(pro, team)" is not a value; a list is written without brackets, such as user.plan in pro,team`,
		"user.plan == [1]":                 `"[1]" is not a value; a list is written without brackets, such as user.plan in pro,team`,
		"user.plan == pro,team":            "several values need the operator in, such as user.plan in pro,team",
		"user.plan in pro,":                "a value is missing beside a comma; write '' for an empty text",
		"user.plan in pro,,team":           "a value is missing beside a comma; write '' for an empty text",
		"user.plan in pro team":            needsQuotes("team"),
		"user.name == Ada Lovelace":        needsQuotes("Lovelace"),
		"user.key == test-*":               needsQuotes("test-*"),
		`user.plan == pro"`:                needsQuotes(`pro\"`),
		`user.plan == "pro`:                `"pro is not a text in quotes; in single quotes, every character stands for itself`,
		"user.plan == 'pro":                "'pro has no closing quote",

		"user.name == O'Brien and user.plan == pro": needsQuotes("O'Brien and user.plan == pro"),

		"user.a == 1 and plans": `"plans" is not a condition such as 'user.plan in pro,team', 'user.age >= 18 and user.country == NO', or JSON Logic`,
	} {
		t.Run(text, func(t *testing.T) {
			if _, err := condition.Parse(text); err == nil || err.Error() != want {
				t.Errorf("%q: got %v", text, err)
			}
		})
	}
	if _, err := condition.Parse(`{"==": `); err == nil {
		t.Error("half a JSON text is accepted")
	}
}

func needsQuotes(rest string) string {
	return `cannot read "` + rest + `": a text needs quotes, such as 'Ada Lovelace', unless it only has letters, digits and _.@:/+-;` +
		` a list has commas between its values, and "and" joins conditions`
}

func TestShare(t *testing.T) {
	t.Parallel()
	share, err := condition.Share("checkout.", "user.key", 25)
	if err != nil {
		t.Fatal(err)
	}
	if got := encode(t, share); got != `{"fractional":[{"cat":["checkout.",{"var":"user.key"}]},[true,25],[false,75]]}` {
		t.Errorf("got %s", got)
	}
	if got := condition.Text(share); got != "25 % by user.key" {
		t.Errorf("it is shown as %s", got)
	}
	for _, wrong := range []float64{-1, 101, math.NaN(), math.Inf(1)} {
		t.Run(fmt.Sprint(wrong), func(t *testing.T) {
			if _, err := condition.Share("", "user.key", wrong); err == nil {
				t.Errorf("%v %% is accepted", wrong)
			}
		})
	}
	if _, err := condition.Share("", "key", 5); err == nil {
		t.Error("a share by no attribute is accepted")
	}
}

func TestSetPercent(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ logic, want string }{
		"a share":           {`{"fractional":[{"var":"user.key"},[true,10],[false,90]]}`, `{"fractional":[{"var":"user.key"},[true,40],[false,60]]}`},
		"without a by":      {`{"fractional":[[true,1],[false,1]]}`, `{"fractional":[[true,40],[false,60]]}`},
		"beside others":     {`{"and":[{"var":"a.b"},{"fractional":[[true,1],[false,1]]}]}`, `{"and":[{"var":"a.b"},{"fractional":[[true,40],[false,60]]}]}`},
		"no share":          {`{"var":"a.b"}`, ""},
		"of an alternative": {`{"or":[{"fractional":[[true,1],[false,1]]},{"var":"a.b"}]}`, ""},
		"another split":     {`{"fractional":[["a",1],["b",1]]}`, ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, found := condition.SetPercent(decode(t, test.logic), 40)
			if found != (test.want != "") {
				t.Errorf("%s: found is %v", name, found)
			}
			if found && encode(t, got) != test.want {
				t.Errorf("%s: got %s", name, encode(t, got))
			}
		})
	}
}

func TestText(t *testing.T) {
	t.Parallel()
	for logic, want := range map[string]string{
		`{}`: `{}`,
		`{"or":[{"and":[{"var":"a.b"},{"var":"c.d"}]},{"!":{"var":"e.f"}}]}`: "(a.b and c.d) or not e.f",
		`{"var":["a.b",1]}`:          `var("a.b", 1)`,
		`{"var":[]}`:                 "the context",
		`{"if":[{"var":"a.b"},1,2]}`: "if(a.b, 1, 2)",
		`{"==":[{"fractional":[["a",30],["b",70]]},"a"]}`:     `fractional(["a",30], ["b",70]) == "a"`,
		`{"fractional":[{"var":"u.k"},[true,1],[false,3]]}`:   "25 % by u.k",
		`{"fractional":[[true,12.5],[false,87.5]]}`:           "12.5 %",
		`{"in":["x",{"cat":["a","b"]}]}`:                      `"x" in cat("a", "b")`,
		`{"sem_ver":[{"var":"app.version"},">=","1.2.0"]}`:    `sem_ver(app.version, ">=", "1.2.0")`,
		`{"starts_with":[{"var":"user.email"},"<&"]}`:         `user.email starts with "<&"`,
		`{"all":[{"var":"user.tags"},{"==":[{"var":""},1]}]}`: `all(user.tags, it == 1)`,
	} {
		t.Run(logic, func(t *testing.T) {
			if got := condition.Text(decode(t, logic)); got != want {
				t.Errorf("%s: got %s, want %s", logic, got, want)
			}
		})
	}
}

// A condition that is shown as text is parsed as the same condition, if the text can be parsed at
// all.
func FuzzParse(f *testing.F) {
	f.Add("user.plan in pro,team and not user.beta")
	f.Add(`user.name contains 'a "b" c'`)
	f.Add(`{"==":[{"var":"user.plan"},"pro"]}`)
	f.Fuzz(func(t *testing.T, text string) {
		logic, err := condition.Parse(text)
		if err != nil || !utf8.ValidString(text) {
			return
		}
		shown := condition.Text(logic)
		again, err := condition.Parse(shown)
		if err != nil || text[0] == '{' {
			return
		}
		if third := condition.Text(again); third != shown {
			t.Errorf("%q is shown as %q, and that as %q", text, shown, third)
		}
	})
}

func encode(t *testing.T, logic any) string {
	t.Helper()
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(logic); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(text.String())
}

func decode(t *testing.T, text string) any {
	t.Helper()
	logic, err := condition.Decode([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return logic
}
