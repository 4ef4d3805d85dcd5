package jsonlogic_test

import (
	"testing"

	"github.com/signalbox/signalbox/client/jsonlogic"
)

func TestRule_Invariant(t *testing.T) {
	t.Parallel()
	for source, want := range map[string]string{
		`{}`: "true", `true`: "true", `0`: "false", `[]`: "false", `[0]`: "true",
		`{"==": [1, 1]}`: "true", `{"==": [1, 2]}`: "false", `{"in": ["a", ["b"]]}`: "false", `{"cat": []}`: "false",
		`{"==": [{"var": "user.key"}, 1]}`: "", `{"missing": ["a"]}`: "", `{"!": {"var": "a"}}`: "",
		`{"and": [{"var": "a"}, false]}`: "false", `{"and": [{"var": "a"}, true]}`: "", `{"and": [true, {"==": [1, 1]}]}`: "true", `{"and": []}`: "false",
		`{"or": [{"var": "a"}, 1]}`: "true", `{"or": [{"var": "a"}, 0]}`: "", `{"or": [0, ""]}`: "false", `{"or": []}`: "false",
		`{"!": [true]}`: "false", `{"!!": ["x"]}`: "true", `{"!": {"or": [{"var": "a"}, 1]}}`: "false",
		`{"if": [true, 1, {"var": "a"}]}`: "true", `{"if": [{"var": "a"}, 1, 2]}`: "true", `{"if": [{"var": "a"}, 1, 0]}`: "",
		`{"if": [false, 1, 0]}`: "false", `{"if": [{"var": "a"}, 1]}`: "", `{"if": [false, 1]}`: "false", `{"if": []}`: "false",
		`{"fractional": [["on", 50], ["off", 50]]}`: "true", `{"fractional": [[true, 50], [false, 50]]}`: "", `{"fractional": [[0, 50], ["", 50]]}`: "false",
		`{"fractional": [{"var": "account.key"}, ["a"], ["b"]]}`: "true", `{"fractional": []}`: "",
		`{"==": [{"fractional": [["on", 50], ["off", 50]]}, "on"]}`: "",
		`{"some": [[1, 2], {"==": [{"var": ""}, 2]}]}`:              "true", `{"some": [{"var": "a"}, {"==": [{"var": ""}, 2]}]}`: "",
	} {
		t.Run(source, func(t *testing.T) {
			rule, err := jsonlogic.Compile([]byte(source))
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			if truthy, ok := rule.Invariant(); ok {
				got = map[bool]string{true: "true", false: "false"}[truthy]
			}
			if got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
}
