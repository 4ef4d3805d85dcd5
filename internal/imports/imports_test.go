package imports_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/jsonlogic"
	"github.com/signalbox/signalbox/internal/imports"
)

// imported is a result with methods for tests.
type imported struct {
	t *testing.T
	imports.Result
}

func run(t *testing.T, format string, documents ...string) imported {
	t.Helper()
	result, err := tryRun(format, documents...)
	if err != nil {
		t.Fatal(err)
	}
	return imported{t, result}
}

func tryRun(format string, documents ...string) (imports.Result, error) {
	formats := imports.Formats()
	at := slices.IndexFunc(formats, func(f imports.Format) bool { return f.Name == format })
	var texts [][]byte
	for _, document := range documents {
		texts = append(texts, []byte(document))
	}
	return formats[at].Import(texts, imports.Options{Environment: "production"})
}

// document returns a resource as JSON.
func (i imported) document(id string) json.RawMessage {
	i.t.Helper()
	for _, document := range i.Documents {
		var named struct{ ID string }
		if err := json.Unmarshal(document, &named); err != nil {
			i.t.Fatal(err)
		}
		if named.ID == id {
			return document
		}
	}
	i.t.Fatalf("there is no %q in %s", id, i.Documents)
	return nil
}

// flag returns a flag that can be evaluated.
func (i imported) flag(id string) *flageval.Flag {
	i.t.Helper()
	var definition flageval.Definition
	if err := json.Unmarshal(i.document(id), &definition); err != nil {
		i.t.Fatal(err)
	}
	definition.Key = id
	flag := flageval.Compile(definition)
	if problems := flag.Problems(); len(problems) > 0 {
		i.t.Fatalf("%s: %v", id, problems)
	}
	return flag
}

// serves checks which values a flag serves to contexts.
func (i imported) serves(id, environment string, want map[string]string) {
	i.t.Helper()
	flag := i.flag(id)
	for context, value := range want {
		data, err := jsonlogic.Parse([]byte(context))
		if err != nil {
			i.t.Fatal(err)
		}
		if got := flag.Evaluate(environment, data).Raw(); string(got) != value {
			i.t.Errorf("%s in %s for %s: got %s, want %s", id, environment, context, got, value)
		}
	}
}

// portion counts how many of a thousand users get a value from a flag.
func (i imported) portion(id, value string) (count int) {
	i.t.Helper()
	flag := i.flag(id)
	for n := range 1000 {
		key := fmt.Sprint("user-", n)
		text, _ := json.Marshal(map[string]any{"user": map[string]any{"key": key, "company": key}})
		data, err := jsonlogic.Parse(text)
		if err != nil {
			i.t.Fatal(err)
		}
		if string(flag.Evaluate("production", data).Raw()) == value {
			count++
		}
	}
	return count
}

func (i imported) about(id, value string, want int) {
	i.t.Helper()
	if got := i.portion(id, value); got < want-60 || got > want+60 {
		i.t.Errorf("%s serves %s to %d of 1000 users, want about %d", id, value, got, want)
	}
}

// lost checks that the report has exactly one sentence for each of the parts.
func (i imported) lost(parts ...string) {
	i.t.Helper()
	if len(i.Lost) != len(parts) {
		i.t.Errorf("%d sentences, want %d:\n%s", len(i.Lost), len(parts), strings.Join(i.Lost, "\n"))
	}
	for _, part := range parts {
		if !slices.ContainsFunc(i.Lost, func(sentence string) bool { return strings.Contains(sentence, part) }) {
			i.t.Errorf("nothing about %q:\n%s", part, strings.Join(i.Lost, "\n"))
		}
	}
}

// is compares a resource with JSON.
func (i imported) is(id, want string) {
	i.t.Helper()
	if got := string(i.document(id)); got != want {
		i.t.Errorf("%s is\n%s, want\n%s", id, got, want)
	}
}

func TestFormats_RefuseOthers(t *testing.T) {
	t.Parallel()
	for _, format := range imports.Formats() {
		t.Run(format.Name, func(t *testing.T) {
			for _, document := range []string{`[]`, `{}`, `7`, ``, `{"flags": 7, "features": 7, "items": 7}`} {
				if format.Name == "crontab" && document != "" || format.Name == "spring-logging" && strings.HasPrefix(document, `{"`) {
					continue // these formats report line by line, or have nothing to report
				}
				if result, err := tryRun(format.Name, document); err == nil {
					t.Errorf("%s takes %q: %s", format.Name, document, result.Documents)
				}
			}
		})
	}
}

// TestFormats_SayWhatIsWrong: files of other products, empty ones and wrong types get an error that a person understands.
func TestFormats_SayWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ name, format, document, want string }{
		{"another product", "launchdarkly", `{"flags": {"a": {"state": "ENABLED"}}}`, "it is no list of flags of LaunchDarkly, or an empty one"},
		{"an error of the API", "growthbook", `{"status": 400, "error": "Invalid API key"}`, "it is no list of features of GrowthBook, or an empty one"},
		{"a list in place of an object", "flagd", `{"flags": [{"key": "a"}]}`, "the file is no flag definition of flagd: flags must be an object, not a list"},
		{"no object at all", "unleash", `[]`, "the file is no export of Unleash: it must be an object, not a list"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if _, err := tryRun(test.format, test.document); err == nil || !strings.HasSuffix(err.Error(), test.want) {
				t.Errorf("got %v, want %q", err, test.want)
			}
		})
	}
}

func TestLaunchDarkly_Rules(t *testing.T) {
	t.Parallel()
	i := run(t, "launchdarkly", `{"items": [
	  {"key": "checkout", "name": "Checkout", "description": "New", "variations": [{"value": true}, {"value": false}],
	   "environments": {
	     "production": {"on": true, "offVariation": 1, "fallthrough": {"variation": 1},
	       "targets": [{"values": ["alice", "bob"], "variation": 0}],
	       "contextTargets": [{"values": ["acme"], "variation": 0, "contextKind": "company"}],
	       "rules": [
	         {"variation": 0, "clauses": [{"attribute": "email", "op": "endsWith", "values": ["@example.com"]}, {"attribute": "plan", "op": "in", "values": ["free"], "negate": true}]},
	         {"variation": 0, "clauses": [{"attribute": "email", "op": "matches", "values": [".*"]}]},
	         {"variation": 0, "clauses": [{"attribute": "/address/city", "op": "in", "values": ["Rome", "Oslo"], "contextKind": "user"}]},
	         {"variation": 0, "clauses": [{"attribute": "version", "op": "semVerGreaterThan", "values": ["2.0.0"]}]}]},
	     "test": {"on": false, "offVariation": 1, "fallthrough": {"variation": 0}}}},
	  {"key": "color", "variations": [{"name": "Red", "value": "red"}, {"name": "Blue", "value": "blue"}],
	   "environments": {"production": {"on": true, "offVariation": 0, "prerequisites": [{"key": "checkout"}],
	     "fallthrough": {"rollout": {"variations": [{"variation": 0, "weight": 80000}, {"variation": 1, "weight": 20000}]}}}}},
	  {"key": "old", "archived": true, "variations": [{"value": 1}]},
	  {"key": "no such id", "variations": [{"value": 1}], "environments": {"test": {"on": true, "offVariation": 0, "fallthrough": {"variation": 0}}}}]}`)
	i.serves("checkout", "production", map[string]string{
		`{"user": {"key": "alice"}}`:                              "true",
		`{"user": {"key": "carl"}}`:                               "false",
		`{"company": {"key": "acme"}}`:                            "true",
		`{"user": {"email": "x@example.com", "plan": "pro"}}`:     "true",
		`{"user": {"email": "x@example.com", "plan": "free"}}`:    "false",
		`{"user": {"address": {"city": "Oslo"}}}`:                 "true",
		`{"user": {"version": "2.1.0"}}`:                          "true",
		`{"user": {"version": "1.9.0", "email": "x@other.test"}}`: "false",
	})
	i.serves("checkout", "test", map[string]string{`{}`: "false"})
	i.about("color", `"blue"`, 200)
	i.lost(`rule 2 is left out, because rules have no operator like "matches"`, "color in production: flags have no prerequisites in Signalbox; it decides as if its prerequisite checkout were met", "color in production: its percentages",
		"old: left out", `"no such id"`)
	if notes := strings.Join(i.Notes, " "); !strings.Contains(notes, "production, test") {
		t.Error(notes)
	}
	if !strings.Contains(string(i.document("color")), `"values":[{"name":"Red","value":"red"},{"name":"Blue","value":"blue"}]`) {
		t.Errorf("%s", i.document("color"))
	}
}

// TestLaunchDarkly_OnePage: a file with some of the flags does not look complete.
func TestLaunchDarkly_OnePage(t *testing.T) {
	t.Parallel()
	page := `{"totalCount": %d, "items": [{"key": "a", "variations": [{"value": true}, {"value": false}],
	  "environments": {"production": {"on": true, "offVariation": 1, "fallthrough": {"variation": 0}}}}]}`
	run(t, "launchdarkly", fmt.Sprintf(page, 1)).lost()
	run(t, "launchdarkly", fmt.Sprintf(page, 21)).lost("the file has 1 of 21 flags")
}

// TestLaunchDarkly_Switches: switching an imported flag on has the same effect as in LaunchDarkly.
func TestLaunchDarkly_Switches(t *testing.T) {
	t.Parallel()
	i := run(t, "launchdarkly", `{"items": [{"key": "a", "variations": [{"value": 12345678901234567890}, {"value": 2}],
	  "environments": {"production": {"on": false, "offVariation": 1, "fallthrough": {"variation": 0}}}}]}`)
	i.serves("a", "production", map[string]string{`{}`: "2"})
	i.Documents[0] = json.RawMessage(strings.Replace(string(i.Documents[0]), `"enabled":false`, `"enabled":true`, 1))
	i.serves("a", "production", map[string]string{`{}`: "12345678901234567890"})
}

func TestUnleash_Strategies(t *testing.T) {
	t.Parallel()
	i := run(t, "unleash", `{"features": [{"name": "a"}, {"name": "half"}, {"name": "on"}, {"name": "gone", "archived": true}],
	  "featureEnvironments": [{"featureName": "a", "environment": "production", "enabled": true, "variants": [{"name": "x"}]},
	    {"featureName": "half", "environment": "production", "enabled": true}, {"featureName": "on", "environment": "production", "enabled": true}],
	  "featureStrategies": [
	    {"featureName": "a", "name": "userWithId", "sortOrder": 2, "parameters": {"userIds": "alice, bob"}},
	    {"featureName": "a", "name": "default", "sortOrder": 1, "constraints": [
	      {"contextName": "region", "operator": "IN", "values": ["eu", "uk"]}, {"contextName": "age", "operator": "NUM_GTE", "value": "18"}]},
	    {"featureName": "a", "name": "default", "constraints": [{"contextName": "email", "operator": "STR_ENDS_WITH", "values": ["@x.test"], "inverted": true},
	      {"contextName": "beta", "operator": "IN", "values": ["yes"]}]},
	    {"featureName": "a", "name": "remoteAddress", "parameters": {"IPs": "10.0.0.1"}},
	    {"featureName": "a", "name": "default", "constraints": [{"contextName": "currentTime", "operator": "DATE_AFTER", "value": "2026-01-01"}]},
	    {"featureName": "a", "name": "default", "disabled": true},
	    {"featureName": "half", "name": "flexibleRollout", "parameters": {"rollout": "50", "stickiness": "company"}}]}`)
	i.serves("a", "production", map[string]string{
		`{"user": {"key": "bob", "email": "b@x.test"}}`:                    "true",
		`{"user": {"key": "eve", "email": "e@x.test"}}`:                    "false",
		`{"user": {"region": "uk", "age": 20, "email": "e@x.test"}}`:       "true",
		`{"user": {"region": "uk", "age": 17, "email": "e@x.test"}}`:       "false",
		`{"user": {"key": "eve", "email": "e@other.test", "beta": "yes"}}`: "true",
	})
	i.serves("on", "production", map[string]string{`{}`: "true"})
	i.about("half", "true", 500)
	i.lost("variants are a second value", "a strategy remoteAddress", "rules cannot read the time", "disabled", "gone: left out", "half in production: its percentages")
}

func TestFlagd_Targeting(t *testing.T) {
	t.Parallel()
	i := run(t, "flagd", `{"flags": {
	  "header": {"state": "ENABLED", "variants": {"red": "#f00", "blue": "#00f", "green": "#0f0"}, "defaultVariant": "red",
	    "targeting": {"if": [{"$ref": "staff"}, "blue", {"==": [{"var": "locale"}, "de"]}, "green"]}},
	  "nested": {"state": "ENABLED", "variants": {"on": true, "off": false}, "defaultVariant": "off",
	    "targeting": {"if": [{"var": ["plan", ""]}, {"if": [{"in": [{"var": "plan"}, ["pro"]]}, "on", "off"]}, null]}},
	  "spread": {"state": "ENABLED", "variants": {"a": 1, "b": 2}, "defaultVariant": "a", "targeting": {"fractional": [["a", 30], ["b", 70]]}},
	  "bools": {"state": "ENABLED", "variants": {"true": true, "false": false}, "defaultVariant": "false", "targeting": {"==": [{"var": "targetingKey"}, "alice"]}},
	  "off": {"state": "DISABLED", "variants": {"a": {"x": 1}}, "defaultVariant": "a"},
	  "timed": {"state": "ENABLED", "variants": {"a": "x"}, "defaultVariant": "a", "targeting": {"if": [{">": [{"var": "$flagd.timestamp"}, 5]}, "a"]}},
	  "loop": {"state": "ENABLED", "variants": {"a": "x"}, "defaultVariant": "a", "targeting": {"if": [{"$ref": "loop"}, "a"]}},
	  "code": {"state": "ENABLED", "variants": {"a": "x"}, "defaultVariant": null}},
	  "$evaluators": {"staff": {"ends_with": [{"var": "email"}, "@x.test"]}, "loop": {"!": {"$ref": "loop"}}}}`)
	i.serves("header", "production", map[string]string{
		`{"user": {"email": "a@x.test", "locale": "de"}}`: `"#00f"`,
		`{"user": {"locale": "de"}}`:                      `"#0f0"`,
		`{}`:                                              `"#f00"`,
	})
	i.serves("nested", "production", map[string]string{`{"user": {"plan": "pro"}}`: "true", `{"user": {"plan": "free"}}`: "false", `{}`: "false"})
	i.serves("bools", "production", map[string]string{`{"user": {"key": "alice"}}`: "true", `{"user": {"key": "bob"}}`: "false"})
	i.serves("off", "production", map[string]string{`{}`: `{"x":1}`})
	i.about("spread", "2", 700)
	i.lost("timed: its targeting is left out, because rules cannot read the time", "loop: its targeting", "code: left out", "off: it is disabled")
}

func TestFlipt_SegmentsAndRollouts(t *testing.T) {
	t.Parallel()
	i := run(t, "flipt", `{"version": "1.2", "flags": [
	  {"key": "color", "name": "Color", "type": "VARIANT_FLAG_TYPE", "enabled": true,
	   "variants": [{"key": "red", "default": true}, {"key": "blue", "attachment": {"hex": "00f"}}],
	   "rules": [{"segment": "staff", "distributions": [{"variant": "blue", "rollout": 100}]},
	     {"segment": {"keys": ["eu", "adult"], "operator": "AND_SEGMENT_OPERATOR"}, "distributions": [{"variant": "blue", "rollout": 100}]},
	     {"segment": "nope", "distributions": []}]},
	  {"key": "beta", "type": "BOOLEAN_FLAG_TYPE", "enabled": false, "rollouts": [
	    {"segment": {"key": "eu", "value": true}}, {"threshold": {"percentage": 30, "value": true}}, {"segment": {"key": "dated", "value": true}}]},
	  {"key": "off", "enabled": false, "variants": [{"key": "x"}]}],
	  "segments": [
	   {"key": "staff", "match_type": "ANY_MATCH_TYPE", "constraints": [
	     {"type": "STRING_COMPARISON_TYPE", "property": "email", "operator": "suffix", "value": "@x.test"},
	     {"type": "ENTITY_ID_COMPARISON_TYPE", "property": "entity", "operator": "isoneof", "value": "[\"alice\", \"bob\"]"}]},
	   {"key": "eu", "match_type": "ALL_MATCH_TYPE", "constraints": [{"type": "STRING_COMPARISON_TYPE", "property": "region", "operator": "eq", "value": "eu"}]},
	   {"key": "adult", "constraints": [{"type": "NUMBER_COMPARISON_TYPE", "property": "age", "operator": "gte", "value": "18"}]},
	   {"key": "dated", "constraints": [{"type": "DATETIME_COMPARISON_TYPE", "property": "at", "operator": "lt", "value": "2026-01-01"}]}]}`)
	i.serves("color", "production", map[string]string{
		`{"user": {"key": "bob"}}`:                 `"blue"`,
		`{"user": {"email": "a@x.test"}}`:          `"blue"`,
		`{"user": {"region": "eu", "age": 20}}`:    `"blue"`,
		`{"user": {"region": "eu", "age": 9}}`:     `"red"`,
		`{"user": {"key": "eve", "region": "us"}}`: `"red"`,
	})
	i.serves("beta", "production", map[string]string{`{"user": {"region": "eu"}}`: "true"})
	i.about("beta", "true", 300)
	i.serves("off", "production", map[string]string{`{}`: `""`})
	i.lost("attachment of the variant blue", `no segment "nope"`, "dates are compared", "beta: its percentages")
}

func TestFlipt_OperatorInCapitals(t *testing.T) {
	t.Parallel()
	i := run(t, "flipt", `{"flags": [{"key": "adults", "type": "BOOLEAN_FLAG_TYPE", "rollouts": [{"segment": {"key": "adult", "value": true}}]}],
	  "segments": [{"key": "adult", "constraints": [{"type": "NUMBER_COMPARISON_TYPE", "property": "age", "operator": "GTE", "value": "18"}]}]}`)
	i.serves("adults", "production", map[string]string{`{"user": {"age": 20}}`: "true", `{"user": {"age": 9}}`: "false"})
}

func TestGrowthBook_Conditions(t *testing.T) {
	t.Parallel()
	i := run(t, "growthbook", `{"features": {
	  "dark": {"defaultValue": false, "rules": [
	    {"condition": {"country": {"$in": ["IT", "NO"]}, "premium": true}, "force": true},
	    {"condition": {"$or": [{"id": "alice"}, {"version": {"$vgte": "2.0.0"}}]}, "force": true},
	    {"condition": {"email": {"$regex": "x"}}, "force": true},
	    {"condition": {"$not": {"tier": {"$exists": true}}, "age": {"$gt": 64}}, "force": true}]},
	  "part": {"defaultValue": "a", "rules": [{"force": "b", "coverage": 0.25, "hashAttribute": "company"}]},
	  "test": {"defaultValue": 0, "rules": [{"variations": [1, 2], "weights": [0.3, 0.7], "coverage": 1, "key": "exp"}]},
	  "some": {"defaultValue": 0, "rules": [{"variations": [1, 2], "coverage": 0.5}, {"parentConditions": [{"id": "x"}], "force": 3}]}}}`)
	i.serves("dark", "production", map[string]string{
		`{"user": {"country": "IT", "premium": true, "tier": 1}}`:  "true",
		`{"user": {"country": "IT", "premium": false, "tier": 1}}`: "false",
		`{"user": {"key": "alice", "tier": 1}}`:                    "true",
		`{"user": {"version": "2.0.1", "tier": 1}}`:                "true",
		`{"user": {"email": "x", "tier": 1, "age": 70}}`:           "false",
		`{"user": {"age": 70}}`:                                    "true",
	})
	i.about("part", `"b"`, 250)
	i.about("test", "2", 700)
	i.about("some", "1", 250)
	i.about("some", "2", 250)
	i.lost("dark: rule 2 compares versions", `no operator like "$regex"`, "part: its percentages", "test: its percentages", "some: its percentages", "depends on the flag x")
}

// TestGrowthBook_SpreadsByAnotherMember: all rules of a rollout use the same buckets.
func TestGrowthBook_SpreadsByAnotherMember(t *testing.T) {
	t.Parallel()
	i := run(t, "growthbook", `{"features": {
	  "three": {"defaultValue": 0, "rules": [{"variations": [1, 2, 3], "weights": [0.2, 0.3, 0.5], "coverage": 1, "hashAttribute": "company"}]}}}`)
	i.about("three", "1", 200)
	i.about("three", "2", 300)
	i.about("three", "3", 500)
	i.lost("three: its percentages")
}

func TestCrontab_Calls(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `# m h dom mon dow command
SHELL=/bin/sh

# Nightly report
30 2 * * *  /usr/bin/curl -fsS -X POST -H 'Authorization: Bearer s3cret' -H "X-Team: shop" -d '{"a": 1}' https://hooks.example.com/report >/dev/null 2>&1
@hourly wget -q -O /dev/null --timeout=10 https://example.com/ping
*/5 * * * * curl https://example.com/ping
0 4 * * 1	curl -ksm 2.5 "https://example.com/a b"
0 5 * * * curl $URL
0 6 * * * curl https://a.test | grep x
0 7 * * * /opt/backup.sh
@reboot curl https://a.test
0 8 * * * curl -F file=@x https://a.test
0 9 * * * curl -I https://a.test
1 2 3
0 10 * * * curl 'https://a.test`)
	i.is("hooks-example-com-report", `{"kind":"job","id":"hooks-example-com-report","name":"Nightly report","schedule":"30 2 * * *","configuration":`+
		`{"method":"POST","url":"https://hooks.example.com/report","headers":[{"name":"Authorization","valueFrom":"env:HOOKS_EXAMPLE_COM_REPORT_AUTHORIZATION"},`+
		`{"name":"X-Team","value":"shop"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"}],"body":"{\"a\": 1}"}}`)
	i.is("example-com-ping", `{"kind":"job","id":"example-com-ping","name":"GET https://example.com/ping","schedule":"0 * * * *","configuration":`+
		`{"method":"GET","url":"https://example.com/ping","timeout":10}}`)
	i.is("example-com-ping-2", `{"kind":"job","id":"example-com-ping-2","name":"GET https://example.com/ping","schedule":"*/5 * * * *","configuration":`+
		`{"method":"GET","url":"https://example.com/ping"}}`)
	i.is("example-com-a-b", `{"kind":"job","id":"example-com-a-b","name":"GET https://example.com/a b","schedule":"0 4 * * 1","configuration":`+
		`{"method":"GET","url":"https://example.com/a b","timeout":3,"tls_verify":false}}`)
	i.lost("line 2: left out, because jobs have no variables", "line 9", "line 10", "line 11: left out, because it does not call", "line 12: left out, because jobs have no schedule like @reboot",
		"line 13: left out, because the import does not know the option -F", "line 14: left out, because jobs cannot send HEAD", "line 15", "line 16: left out, because a quote")
	if strings.Contains(string(slices.Concat(toBytes(i.Documents)...)), "s3cret") {
		t.Error("a credential is in the file")
	}
}

func TestCrontab_OptionsOfEachProgram(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `0 1 * * * curl -O https://a.test/one 2>/dev/null
0 2 * * * curl -d 'a >/dev/null' https://a.test/two &> /dev/null
0 3 * * * wget -U robot -T 5 --post-data=@text https://a.test/three>/dev/null
0 4 * * * curl -U me:s3cret https://a.test/four
0 5 * * * curl -T file https://a.test/five
0 6 * * * wget --user me --password s3cret https://a.test/six
0 7 * * * wget -d https://a.test/seven
0 8 * * * wget -nv https://a.test/eight
0 9 * * * curl -sSgkI -X GET https://a.test/nine`)
	i.is("a-test-one", `{"kind":"job","id":"a-test-one","name":"GET https://a.test/one","schedule":"0 1 * * *","configuration":{"method":"GET","url":"https://a.test/one"}}`)
	i.is("a-test-two", `{"kind":"job","id":"a-test-two","name":"POST https://a.test/two","schedule":"0 2 * * *","configuration":{"method":"POST","url":"https://a.test/two",`+
		`"headers":[{"name":"Content-Type","value":"application/x-www-form-urlencoded"}],"body":"a >/dev/null"}}`)
	i.is("a-test-three", `{"kind":"job","id":"a-test-three","name":"POST https://a.test/three","schedule":"0 3 * * *","configuration":{"method":"POST","url":"https://a.test/three",`+
		`"headers":[{"name":"User-Agent","value":"robot"},{"name":"Content-Type","value":"application/x-www-form-urlencoded"}],"body":"@text","timeout":5}}`)
	i.is("a-test-eight", `{"kind":"job","id":"a-test-eight","name":"GET https://a.test/eight","schedule":"0 8 * * *","configuration":{"method":"GET","url":"https://a.test/eight"}}`)
	i.is("a-test-nine", `{"kind":"job","id":"a-test-nine","name":"GET https://a.test/nine","schedule":"0 9 * * *","configuration":{"method":"GET","url":"https://a.test/nine","tls_verify":false}}`)
	i.lost("line 4: left out, because the import does not know the option -U", "line 5: left out, because the import does not know the option -T",
		"line 6: left out, because the import does not know the option --user", "line 7: left out, because the import does not know the option -d")
}

// TestCrontab_Backslashes: in double quotes a shell removes a backslash before $, `, " and another backslash only; outside of
// quotes before every character, and in single quotes before none.
func TestCrontab_Backslashes(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ word, sent string }{
		"JSON":                      {`"{\"text\": \"a\nb\"}"`, `{"text": "a\nb"}`},
		"before what a shell reads": {`"\$5 \` + "`" + `x\` + "`" + ` \\ \""`, "$5 `x` \\ \""},
		"a path":                    {`"C:\temp\\new"`, `C:\temp\new`},
		"outside of quotes":         {`C:\\temp\n`, `C:\tempn`},
		"single quotes":             {`'a\nb\\"'`, `a\nb\\"`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			body, err := json.Marshal(c.sent)
			if err != nil {
				t.Fatal(err)
			}
			i := run(t, "crontab", "0 1 * * * curl -H Content-Type:text/plain -d "+c.word+" https://a.test/x")
			i.is("a-test-x", `{"kind":"job","id":"a-test-x","name":"POST https://a.test/x","schedule":"0 1 * * *","configuration":{"method":"POST","url":"https://a.test/x",`+
				`"headers":[{"name":"Content-Type","value":"text/plain"}],"body":`+string(body)+`}}`)
			i.lost()
		})
	}
}

// TestCrontab_RefusedTimes: a line that the server would refuse is left out, so that it does not stop the others.
func TestCrontab_RefusedTimes(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `0 25 * * * curl https://a.test/hour
0 0 30 2 * curl https://a.test/never
CRON_TZ=Europe/Berlin
0 1 * * * curl https://a.test/one
CRON_TZ=Mars/Olympus
0 2 * * * curl https://a.test/two`)
	i.is("a-test-one", `{"kind":"job","id":"a-test-one","name":"GET https://a.test/one","schedule":"0 1 * * *","timezone":"Europe/Berlin",`+
		`"configuration":{"method":"GET","url":"https://a.test/one"}}`)
	i.lost(`line 1: left out, because the hour field "25" is wrong: 25 is above 23`, `line 2: left out, because the expression never fires`,
		`line 6: left out, because "Mars/Olympus" is no time zone: 0 2 * * * curl …`)
}

// TestCrontab_Globs: curl sends several requests for a URL with braces or brackets, which one job would not do.
func TestCrontab_Globs(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `29 1 * * * curl "https://a.test/{a,b}/[1-3]"
0 2 * * * curl -sg "https://a.test/{id}"
0 3 * * * curl "https://[2001:db8::1]/x"
0 4 * * * curl https://user:secret@a.test/[1-3]`)
	i.is("a-test-id", `{"kind":"job","id":"a-test-id","name":"GET https://a.test/{id}","schedule":"0 2 * * *","configuration":{"method":"GET","url":"https://a.test/{id}"}}`)
	i.is("2001-db8-1-x", `{"kind":"job","id":"2001-db8-1-x","name":"GET https://[2001:db8::1]/x","schedule":"0 3 * * *",`+
		`"configuration":{"method":"GET","url":"https://[2001:db8::1]/x"}}`)
	const why = "left out, because curl sends a request for each of the {…} or […] in its URL; write a line for each, or use curl -g: "
	i.lost("line 1: "+why+"29 1 * * * curl …", "line 4: "+why+"0 4 * * * curl …")
}

func TestCrontab_Timeouts(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `0 1 * * * curl --max-time 1000000 https://a.test/long
0 2 * * * curl -m 899.5 https://a.test/short
0 3 * * * curl -m 0 https://a.test/none
0 4 * * * curl -m NaN https://a.test/nan`)
	i.is("a-test-long", `{"kind":"job","id":"a-test-long","name":"GET https://a.test/long","schedule":"0 1 * * *","configuration":{"method":"GET","url":"https://a.test/long"}}`)
	i.is("a-test-short", `{"kind":"job","id":"a-test-short","name":"GET https://a.test/short","schedule":"0 2 * * *","configuration":{"method":"GET","url":"https://a.test/short","timeout":900}}`)
	i.is("a-test-none", `{"kind":"job","id":"a-test-none","name":"GET https://a.test/none","schedule":"0 3 * * *","configuration":{"method":"GET","url":"https://a.test/none"}}`)
	i.lost("job a-test-long: --max-time 1000000 is left out: the timeout of a job is at most 900 s", "line 4: left out, because -m has no number of seconds")
}

func TestCrontab_AnotherFile(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"{}", "\x7fELF\x00\x01 1 2 3 4 5 6", "\xff\xfe", "just a line", "a line of more words than five"} {
		t.Run(text, func(t *testing.T) {
			t.Parallel()
			at := slices.IndexFunc(imports.Formats(), func(f imports.Format) bool { return f.Name == "crontab" })
			if _, err := imports.Formats()[at].Import([][]byte{[]byte(text)}, imports.Options{}); err == nil || !strings.Contains(err.Error(), "it is no crontab") {
				t.Errorf("got %v", err)
			}
		})
	}
}

// TestCrontab_OfTheSystem: in /etc/crontab the name of a user precedes each command.
func TestCrontab_OfTheSystem(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `17 * * * *	root    cd / && run-parts --report /etc/cron.hourly
0 1 * * *	www-data	/usr/bin/curl https://a.test/one
0 2 * * * nice curl https://a.test/two`)
	i.is("a-test-one", `{"kind":"job","id":"a-test-one","name":"GET https://a.test/one","schedule":"0 1 * * *","configuration":{"method":"GET","url":"https://a.test/one"}}`)
	i.lost("line 1: left out", "line 3: left out, because it does not call a URL with curl or wget: 0 2 * * * nice …")
}

func toBytes(documents []json.RawMessage) (all [][]byte) {
	for _, document := range documents {
		all = append(all, document)
	}
	return all
}

func TestSpringLogging_Properties(t *testing.T) {
	t.Parallel()
	i := run(t, "spring-logging", `# levels
server.port=8080
logging.level.root=WARN
logging.level.org.Hibernate = debug
logging.level.com.example.Shop: OFF
logging.level.bad=LOUD
logging.level.web=DEBUG
logging.group.tomcat=org.apache.catalina, org.apache.coyote
logging.level.tomcat=TRACE
#---
spring.config.activate.on-profile=production
logging.level.com.example.Shop=ERROR
#---
spring.config.activate.on-profile=a | b
logging.level.x=ERROR
`)
	i.is("org.hibernate", `{"kind":"logger","id":"org.hibernate","name":"org.Hibernate","level":"DEBUG"}`)
	i.is("com.example.shop", `{"kind":"logger","id":"com.example.shop","name":"com.example.Shop","level":"SILENT","environments":{"production":{"level":"ERROR"}}}`)
	i.is("tomcat", `{"kind":"log_group","id":"tomcat","name":"tomcat","level":"TRACE"}`)
	i.is("org.apache.coyote", `{"kind":"logger","id":"org.apache.coyote","name":"org.apache.coyote","group":"tomcat"}`)
	i.lost("logging.level.root", `"LOUD" is no level`, "the group web", `"a | b"`)
}

func TestSpringLogging_YAML(t *testing.T) {
	t.Parallel()
	i := run(t, "spring-logging", `{"logging": {"level": {"org.hibernate.SQL": "DEBUG", "com": {"example": "warn"}}, "group": {"db": ["org.hibernate", "org.jooq"]}}}`,
		`{"spring": {"config": {"activate": {"on-profile": "staging"}}}, "logging": {"level": {"db": "TRACE"}}}`)
	i.is("org.hibernate.sql", `{"kind":"logger","id":"org.hibernate.sql","name":"org.hibernate.SQL","level":"DEBUG"}`)
	i.is("com.example", `{"kind":"logger","id":"com.example","name":"com.example","level":"WARN"}`)
	i.is("db", `{"kind":"log_group","id":"db","name":"db","environments":{"staging":{"level":"TRACE"}}}`)
	i.is("org.jooq", `{"kind":"logger","id":"org.jooq","name":"org.jooq","group":"db"}`)
	i.lost()
}

// TestCrontab_NoCredentials: the output of an import has no password, neither in jobs, nor in names, nor in the report.
func TestCrontab_NoCredentials(t *testing.T) {
	t.Parallel()
	tests := map[string]struct{ line, name, report string }{
		"user info":              {"0 1 * * * curl https://admin:hunter2@a.test/x", "GET https://a.test/x", ""},
		"user info, @ inside":    {"0 1 * * * curl https://admin:@hunter2@a.test/x", "GET https://a.test/x", ""},
		"user info, not escaped": {"0 1 * * * curl https://admin:\\%zzhunter2@a.test/x", "GET https://a.test/x", ""},
		"an option":              {"0 1 * * * curl -u admin:hunter2 https://a.test/x", "GET https://a.test/x", ""},
		"a header":               {"0 1 * * * curl -H 'Authorization: Bearer hunter2' https://a.test/x", "GET https://a.test/x", ""},
		"a comment":              {"# see https://admin:hunter2@wiki.test/?token=hunter2\n0 1 * * * curl https://a.test/x", "see https://<redacted>@wiki.test/?token=<redacted>", ""},
		"a switched off line":    {"#0 1 * * * mysqldump -phunter2\n0 1 * * * curl https://a.test/x", "GET https://a.test/x", ""},
		"a command in a comment": {"# was: curl -u admin:hunter2 https://a.test\n0 1 * * * curl https://a.test/x", "GET https://a.test/x", ""},
		"two URLs":               {"0 1 * * * curl https://a.test https://admin:hunter2@a.test", "", "line 1: left out, because it calls several URLs: 0 1 * * * curl …"},
		"another program":        {"0 1 * * * mysqldump -phunter2 shop", "", "line 1: left out, because it does not call a URL with curl or wget: 0 1 * * * mysqldump …"},
		"a variable before it":   {"0 1 * * * PGPASSWORD=hunter2 pg_dump", "", "line 1: left out, because it does not call a URL with curl or wget: 0 1 * * * …"},
		"a variable":             {"PASSWORD=hunter2", "", "line 1: left out, because jobs have no variables"},
		"no schedule":            {"A=\nmysql -u root -p hunter2 -e x", "", "line 1: left out, because jobs have no variables\nline 2: left out, because it does not call a URL with curl or wget"},
		"a header without value": {"0 1 * * * curl -H 'Bearer hunter2' https://a.test", "", "line 1: left out, because a header in it has no value: 0 1 * * * curl …"},
		"a wrong timeout":        {"0 1 * * * curl -m hunter2 https://a.test", "", "line 1: left out, because -m has no number of seconds: 0 1 * * * curl …"},
		"an unknown option":      {"0 1 * * * curl --oauth2-bearer=hunter2 https://a.test", "", "line 1: left out, because the import does not know the option --oauth2-bearer: 0 1 * * * curl …"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := run(t, "crontab", test.line)
			printed := string(slices.Concat(toBytes(i.Documents)...)) + strings.Join(slices.Concat(i.Lost, i.Notes), "\n")
			if strings.Contains(printed, "hunter2") {
				t.Errorf("it has the password: %s", printed)
			}
			if test.name != "" && !strings.Contains(printed, `"name":"`+test.name+`"`) || strings.Join(i.Lost, "\n") != test.report {
				t.Errorf("got %s", printed)
			}
		})
	}
}

// TestCrontab_UserOfURL: user information of a URL is sent in the header that curl would send.
func TestCrontab_UserOfURL(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", "0 1 * * * curl https://admin:h\\%40nter2@a.test/x\n0 2 * * * curl -H 'authorization: Bearer 1' https://admin:2@a.test/y?page=2&token=abc")
	i.is("a-test-x", `{"kind":"job","id":"a-test-x","name":"GET https://a.test/x","schedule":"0 1 * * *","configuration":{"method":"GET","url":"https://a.test/x",`+
		`"headers":[{"name":"Authorization","valueFrom":"env:A_TEST_X_AUTHORIZATION"}]}}`)
	i.lost("line 2: left out, because it has '&'")

	i = run(t, "crontab", `0 2 * * * curl -H 'authorization: Bearer 1' 'https://admin:2@a.test/y?page=2&token=abc'`)
	i.is("a-test-y", `{"kind":"job","id":"a-test-y","name":"GET https://a.test/y?page=2&token=<redacted>","schedule":"0 2 * * *","configuration":{"method":"GET",`+
		`"url":"https://a.test/y?page=2&token=abc","headers":[{"name":"authorization","valueFrom":"env:A_TEST_Y_AUTHORIZATION"}]}}`)
	if !strings.Contains(strings.Join(i.Notes, "\n"), "job a-test-y: the parameter token of its URL looks like a credential") {
		t.Errorf("got %q", i.Notes)
	}
}
