package flagd_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/flagd"
)

// ruled returns a BOOLEAN flag with one rule.
func ruled(logic string) flagd.Flag {
	return flagd.Flag{Key: "made", Type: flageval.Boolean, Default: json.RawMessage(`false`), Environment: flageval.Environment{
		Enabled: true, Rules: []flageval.Rule{{Logic: json.RawMessage(logic), Value: json.RawMessage(`true`)}},
	}}
}

// TestTranslate_Targeting: the exact form of common rules.
func TestTranslate_Targeting(t *testing.T) {
	t.Parallel()
	for logic, want := range map[string]string{
		`{"==":[{"var":"tenant.plan"},"pro"]}`:                      `{"===":[{"var":"tenant.plan"},"pro"]}`,
		`{"==":[{"var":"user.plan"},"pro"]}`:                        `{"if":[{"!==":[{"var":"user.plan"},null]},{"===":[{"var":"user.plan"},"pro"]},{"===":[{"var":"plan"},"pro"]}]}`,
		`{"<":[{"var":"tenant.seats"},5]}`:                          `{"or":[{"===":[{"var":"tenant.seats"},null]},{"<":[{"var":"tenant.seats"},5]}]}`,
		`{">":[{"var":"tenant.seats"},5]}`:                          `{"and":[{"!==":[{"var":"tenant.seats"},null]},{">":[{"var":"tenant.seats"},5]}]}`,
		`{"!":[{"missing":["tenant.key"]}]}`:                        `{"!":[{"or":[{"===":[{"var":"tenant.key"},null]},{"===":[{"var":"tenant.key"},""]}]}]}`,
		`{"==":[{"substr":[{"var":"tenant.key"},0,2]},"eu"]}`:       `{"and":[{"!==":[{"var":"tenant.key"},null]},{"starts_with":[{"var":"tenant.key"},"eu"]}]}`,
		`{"sem_ver":[{"var":"tenant.version"},">=","v2"]}`:          `{"and":[{"!==":[{"var":"tenant.version"},null]},{"sem_ver":[{"var":"tenant.version"},">=","2.0.0"]}]}`,
		`{"==":[{"starts_with":[{"var":"tenant.key"},"eu"]},true]}`: `{"and":[{"!==":[{"var":"tenant.key"},null]},{"starts_with":[{"var":"tenant.key"},"eu"]}]}`,
		`{"==":[1,1]}`: `true`,
	} {
		t.Run(logic, func(t *testing.T) {
			_, read := translate(t, ruled(logic))
			if got := string(read.Flags["made"].Targeting); got != `{"if":[`+want+`,"rule-0"]}` {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestTranslate_ManyValues: each rule has a value of its own. Comparing each with all before it would take minutes.
func TestTranslate_ManyValues(t *testing.T) {
	t.Parallel()
	flag := flagd.Flag{Key: "made", Type: flageval.String, Default: json.RawMessage(`"none"`), Environment: flageval.Environment{Enabled: true}}
	const rules = 2_000
	for i := range rules {
		flag.Rules = append(flag.Rules, flageval.Rule{
			Logic: json.RawMessage(`{"==":[{"var":"tenant.plan"},"pro"]}`), Value: json.RawMessage(fmt.Sprintf(`"value %d"`, i)),
		})
	}
	_, read := translate(t, flag)
	if got := len(read.Flags["made"].Variants); got != rules+1 {
		t.Errorf("got %d variants", got)
	}
}

// TestTranslate_Omits: what providers evaluate differently is left out, and the reason says why.
func TestTranslate_Omits(t *testing.T) {
	t.Parallel()
	for logic, why := range map[string]string{
		`{"<":[{"var":"user.name"},"m"]}`:                                     "no number",
		`{"and":[{"==":[{"var":"user.a"},5]},{"==":[{"var":"user.a"},"5"]}]}`: `"user.a" with numbers and with texts`,
		`{"merge":[{"var":"user.a"}]}`:                                        "merge",
		`{"==":[{"reduce":[{"var":"user.a"},{"var":"current"},0]},1]}`:        "different types",
		`{"var":[{"cat":["user.",{"var":"user.a"}]}]}`:                        "computes the name",
		`{"!!":[{"var":"tenant"}]}`:                                           "context type",
		`{"!!":[{"var":""}]}`:                                                 "no attribute",
		`{"<":[{"var":"user.tags.length"},2]}`:                                "length",
		`{"==":[{"/":[{"var":"user.a"},0]},1]}`:                               "by 0",
		`{"==":[{"var":"user.a"},9007199254740993]}`:                          "represent",
		`{"some":[{"var":"user.a"},{"==":[{"var":"b"},1]}]}`:                  "member of an element",
		`{"in":[{"var":"user.a"},[1,true]]}`:                                  "numbers and booleans",
		`{"==":[{"substr":[{"var":"user.a"},2]},"x"]}`:                        "substr",
		`{"missing_some":[2,["user.a","user.b"]]}`:                            "missing_some",
		`{"==":[{"starts_with":[{"var":"user.a"},"x"]},false]}`:               "tells false from null",
		`{"!=":[{"sem_ver":[{"var":"user.a"},">","1.0.0"]},null]}`:            "tells false from null",
	} {
		t.Run(logic, func(t *testing.T) {
			made, read := translate(t, ruled(logic))
			if len(made.Omitted) != 1 || read.Metadata["signalbox.omitted"] != "made" || len(read.Flags) != 0 {
				t.Errorf("got %s", made.Text)
			} else if reason := made.Omitted[0].Reason; !strings.Contains(reason, why) {
				t.Errorf("got the reason %q, want %q", reason, why)
			}
		})
	}
}

// TestTranslate_Flags: states, variants and metadata.
func TestTranslate_Flags(t *testing.T) {
	t.Parallel()
	off := ruled(`{"==":[1,1]}`)
	off.Enabled, off.Environment.Default = false, json.RawMessage(`true`)
	large := flagd.Flag{Key: "large", Type: flageval.Numeric, Default: json.RawMessage(`12345678901`), Environment: flageval.Environment{Enabled: true}}
	names := flagd.Flag{Key: "names", Type: flageval.String, Default: json.RawMessage(`"a"`), Environment: flageval.Environment{Enabled: true,
		Default: json.RawMessage(`"b"`), Rules: []flageval.Rule{{Logic: json.RawMessage(`{"!!":[true]}`), Value: json.RawMessage(`"c"`)}}},
		Sent: func(value json.RawMessage) (text, name json.RawMessage) {
			return value, map[string]json.RawMessage{`"b"`: json.RawMessage(`"Fine name"`), `"c"`: json.RawMessage(`"a \"name\""`)}[string(value)]
		}}
	made, _ := translate(t, off, large, names,
		flagd.Flag{Key: "list", Type: flageval.JSON, Default: json.RawMessage(`[1]`)},
		flagd.Flag{Key: "exact", Type: flageval.Numeric, Default: json.RawMessage(`9007199254740993`)},
		flagd.Flag{Key: "null", Type: flageval.JSON, Default: json.RawMessage(`null`)})
	want := `{"flags":{` +
		`"made":{"state":"ENABLED","variants":{"environment":true},"defaultVariant":"environment","metadata":{"signalbox.disabled":true}},` +
		`"large":{"state":"ENABLED","variants":{"default":12345678901.0},"defaultVariant":"default"},` +
		`"names":{"state":"ENABLED","variants":{"Fine name":"b","rule-0":"c"},"defaultVariant":"Fine name","targeting":{"if":[true,"rule-0"]}}},` +
		`"metadata":{"signalbox.environment":"production","signalbox.omitted":"list,exact,null"}}` + "\n"
	if string(made.Text) != want {
		t.Errorf("got  %s\nwant %s", made.Text, want)
	}
}

// TestTranslate_Percentage: a percentage has a warning, and the text that is hashed is the server's.
func TestTranslate_Percentage(t *testing.T) {
	t.Parallel()
	_, read := translate(t, ruled(`{"==":[{"fractional":[["a",30],["b",70]]},"a"]}`))
	flag := read.Flags["made"]
	if flag.Metadata["signalbox.warning"] == nil || !strings.Contains(string(flag.Targeting), `{"===":[{"fractional":[["0",30],["1",70]]},"0"]}`) {
		t.Errorf("got %s and %v", flag.Targeting, flag.Metadata)
	}
}
