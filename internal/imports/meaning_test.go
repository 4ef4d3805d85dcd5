package imports_test

import (
	"fmt"
	"strings"
	"testing"
)

// TestFormats_RulesForEverybody: the server accepts only objects as logic.
func TestFormats_RulesForEverybody(t *testing.T) {
	t.Parallel()
	for format, document := range map[string]string{
		"launchdarkly": `{"items": [{"key": "a", "variations": [{"value": true}, {"value": false}], "environments": {"production": {"on": true, "offVariation": 1, "fallthrough": {"variation": 0}}}}]}`,
		"unleash":      `{"features": [{"name": "a", "enabled": true, "strategies": [{"name": "default"}, {"name": "userWithId", "parameters": {"userIds": "bob"}}]}]}`,
		"flagd":        `{"flags": {"a": {"state": "ENABLED", "variants": {"on": true, "off": false}, "defaultVariant": "off", "targeting": {"if": [{"==": [{"var": "plan"}, "x"]}, "off", "on"]}}}}`,
		"flipt": `{"flags": [{"key": "a", "type": "BOOLEAN_FLAG_TYPE", "enabled": false, "rollouts": [{"threshold": {"percentage": 0, "value": false}}, {"segment": {"key": "all", "value": true}}]}],
		  "segments": [{"key": "all", "match_type": "ALL_MATCH_TYPE"}]}`,
		"growthbook": `{"features": {"a": {"defaultValue": false, "rules": [{"force": true}, {"condition": {"plan": "x"}, "force": false}]}}}`,
	} {
		t.Run(format, func(t *testing.T) {
			t.Parallel()
			i := run(t, format, document)
			i.serves("a", "production", map[string]string{`{}`: "true"})
			i.lost()
			if text := string(i.document("a")); !strings.HasSuffix(text, `"logic":{"!!":[true]},"value":true}]}}}`) {
				t.Errorf("the last rule is not for everybody: %s", text)
			}
		})
	}
}

func TestLaunchDarkly_Summary(t *testing.T) {
	t.Parallel()
	_, err := tryRun("launchdarkly", `{"items": [{"key": "a", "variations": [{"value": true}, {"value": false}], "environments": {"production": {
	  "on": true, "_summary": {"variations": {"0": {"rules": 1, "nullRules": 0, "targets": 2, "isFallthrough": true}}, "prerequisites": 0}}}}]}`)
	if err == nil || !strings.Contains(err.Error(), "?summary=0") {
		t.Errorf("got %v", err)
	}
	i := run(t, "launchdarkly", `{"items": [{"key": "a", "variations": [{"value": true}, {"value": false}]}]}`)
	i.lost("flag a: left out, because the file has no environments for it")
}

// TestLaunchDarkly_LongLists: the size of a rule is limited, but lists of targets are not.
func TestLaunchDarkly_LongLists(t *testing.T) {
	t.Parallel()
	var keys []string
	for n := range 5000 {
		keys = append(keys, fmt.Sprintf("%q", fmt.Sprint("user-", n)))
	}
	environments := `{"production": {"on": true, "offVariation": 1, "fallthrough": {"variation": 1}, %s}}`
	list := strings.Join(keys, ",")
	i := run(t, "launchdarkly", `{"items": [{"key": "targets", "variations": [{"value": true}, {"value": false}], "environments": `+
		fmt.Sprintf(environments, `"targets": [{"variation": 0, "values": [`+list+`]}]`)+`},
	  {"key": "clause", "variations": [{"value": true}, {"value": false}], "environments": `+
		fmt.Sprintf(environments, `"rules": [{"variation": 0, "clauses": [{"attribute": "key", "op": "in", "values": [`+list+`]}]}]`)+`}]}`)
	i.serves("targets", "production", map[string]string{`{"user": {"key": "user-4999"}}`: "true", `{"user": {"key": "user-5000"}}`: "false"})
	i.lost("flag clause in production: rule 1 of the translation is left out, because a rule may have at most 2000 nodes")
}

// TestLaunchDarkly_RolloutWithoutAttribute: users without the hashed attribute get the first variation.
func TestLaunchDarkly_RolloutWithoutAttribute(t *testing.T) {
	t.Parallel()
	i := run(t, "launchdarkly", `{"items": [{"key": "a", "variations": [{"value": 1}, {"value": 2}], "environments": {"production": {"on": true, "offVariation": 0,
	  "fallthrough": {"rollout": {"bucketBy": "team", "variations": [{"variation": 1, "weight": 1}, {"variation": 0, "weight": 99999}]}}}}}]}`)
	i.serves("a", "production", map[string]string{`{"user": {"key": "a"}}`: "2", `{"user": {"team": "x"}}`: "1"})
}

func TestLaunchDarkly_NamesThatRulesCannotRead(t *testing.T) {
	t.Parallel()
	for name, attribute := range map[string]string{"a dot": "a.b", "an element": "/groups/0", "a length": "/name/length", "nothing": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			i := run(t, "launchdarkly", `{"items": [{"key": "a", "variations": [{"value": true}, {"value": false}], "environments": {"production": {"on": true, "offVariation": 1,
			  "fallthrough": {"variation": 1}, "rules": [{"variation": 0, "clauses": [{"attribute": "`+attribute+`", "op": "in", "values": ["x"], "contextKind": "user"}]}]}}}]}`)
			i.lost("flag a in production: rule 1 is left out, because rules cannot read the attribute")
		})
	}
}

// TestFlagd_Scopes: variables inside a loop belong to an element. The arguments of missing are variables too.
func TestFlagd_Scopes(t *testing.T) {
	t.Parallel()
	flag := `{"state": "ENABLED", "variants": {"on": true, "off": false}, "defaultVariant": "off", "targeting": {"if": [%s, "on"]}}`
	i := run(t, "flagd", `{"flags": {
	  "loop": `+fmt.Sprintf(flag, `{"some": [{"var": "groups"}, {"==": [{"var": "name"}, "staff"]}]}`)+`,
	  "missing": `+fmt.Sprintf(flag, `{"missing": ["email", "targetingKey"]}`)+`,
	  "missing-some": `+fmt.Sprintf(flag, `{"missing_some": [1, ["email", "phone"]]}`)+`,
	  "whole": `+fmt.Sprintf(flag, `{"var": ""}`)+`,
	  "computed": `+fmt.Sprintf(flag, `{"var": {"cat": ["a", "b"]}}`)+`}}`)
	i.serves("loop", "production", map[string]string{`{"user": {"groups": [{"name": "staff"}]}}`: "true", `{"user": {"name": "staff", "groups": [{}]}}`: "false"})
	i.serves("missing", "production", map[string]string{`{"user": {"email": "a", "key": "b"}}`: "false", `{"user": {"email": "a"}}`: "true"})
	i.serves("missing-some", "production", map[string]string{`{"user": {"phone": "1"}}`: "false", `{"user": {"key": "b"}}`: "true"})
	i.lost("flag whole: its targeting is left out", "flag computed: its targeting is left out")
}

func TestFlagd_OldFractional(t *testing.T) {
	t.Parallel()
	i := run(t, "flagd", `{"flags": {"a": {"state": "ENABLED", "variants": {"x": "X", "y": "Y"}, "defaultVariant": "x", "targeting": {"fractionalEvaluation": ["company", ["x", 30], ["y", 70]]}}}}`)
	i.about("a", `"Y"`, 700)
	i.serves("a", "production", map[string]string{`{"user": {"key": "a"}}`: `"X"`})
	i.lost("flag a: its percentages")
}

// TestFlagd_Fractional: users keep their buckets. The buckets depend on the version of flagd.
func TestFlagd_Fractional(t *testing.T) {
	t.Parallel()
	i := run(t, "flagd", `{"flags": {"a": {"state": "ENABLED", "variants": {"x": "X", "y": "Y"}, "defaultVariant": "x", "targeting": {"fractional": [["x", 30], ["y", 70]]}}}}`)
	i.lost()
	if notes := strings.Join(i.Notes, "\n"); !strings.Contains(notes, "0.13 and older give other users each value: a.") {
		t.Error(notes)
	}
}

// TestFlagd_SameValues: the server refuses repeated values.
func TestFlagd_SameValues(t *testing.T) {
	t.Parallel()
	i := run(t, "flagd", `{"flags": {"a": {"state": "ENABLED", "variants": {"x": 1, "y": 1.0}, "defaultVariant": "x"}}}`)
	i.is("a", `{"kind":"flag","id":"a","type":"NUMERIC","default":1,"environments":{"production":{"enabled":true}}}`)
	i.lost("flag a: the names of its values are left out")
}

func TestGrowthBook_Encrypted(t *testing.T) {
	t.Parallel()
	run(t, "growthbook", `{"status": 200, "features": {}, "encryptedFeatures": "x.y"}`).lost("are encrypted")
}

// TestFlipt_Distributions: a sum below 100 % is reported, because versions of Flipt treat it differently.
func TestFlipt_Distributions(t *testing.T) {
	t.Parallel()
	i := run(t, "flipt", `{"flags": [{"key": "a", "enabled": true, "variants": [{"key": "x"}], "rules": [{"segments": ["all"], "distributions": [{"variant": "x", "rollout": 30}]}]}], "segments": [{"key": "all"}]}`)
	i.about("a", `"x"`, 300)
	i.lost("the distributions of rule 1 are less than 100 %", "flag a: its percentages")
}

// TestUnleash_OwnFields: fields that Unleash's clients add to every context are reported, because other clients do not
// send them.
func TestUnleash_OwnFields(t *testing.T) {
	t.Parallel()
	i := run(t, "unleash", `{"features": [{"name": "a", "enabled": true, "strategies": [{"name": "default", "constraints": [{"contextName": "appName", "operator": "IN", "values": ["shop"]}]},
	  {"name": "gradualRolloutRandom", "parameters": {"percentage": "50"}}]}]}`)
	i.serves("a", "production", map[string]string{`{"user": {"appName": "shop"}}`: "true", `{}`: "false"})
	i.lost("it reads appName", "chance decided", "its percentages")
}

// TestCrontab_Zones: CRON_TZ is the zone of the lines below it.
func TestCrontab_Zones(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `0 1 * * * curl https://a.test/before
CRON_TZ="Europe/Berlin"
0 2 * * * curl https://a.test/berlin
CRON_TZ = Asia/Tokyo
0 3 * * * curl https://a.test/tokyo
CRON_TZ=
0 4 * * * curl https://a.test/utc`)
	for id, zone := range map[string]string{"a-test-before": "", "a-test-berlin": "Europe/Berlin", "a-test-tokyo": "Asia/Tokyo", "a-test-utc": ""} {
		text := string(i.document(id))
		if strings.Contains(text, "timezone") != (zone != "") || !strings.Contains(text, zone) {
			t.Errorf("%s: %s", id, text)
		}
	}
}

func TestCrontab_OptionsWithoutEqual(t *testing.T) {
	t.Parallel()
	i := run(t, "crontab", `0 1 * * * curl --retry 3 --connect-timeout 5 -o /tmp/answer -u 'ada:hunter2' https://a.test/x
0 2 * * * curl -u ada https://a.test/y
0 3 * * * wget -q -O - --tries=1 https://a.test/z
0 4 * * * curl -u ada:hunter2 -H 'Authorization: Bearer 1' https://a.test/v`)
	i.lost("job a-test-x: --retry 3 is left out", "job a-test-x: --connect-timeout is left out", "job a-test-x: -o is left out", "line 2: left out, because -u has no password")
	if notes := strings.Join(i.Notes, "\n"); !strings.Contains(notes, `set A_TEST_X_AUTHORIZATION where apply runs to "Basic " and the Base64 of USER:PASSWORD`) {
		t.Error(notes)
	}
	if text := string(i.document("a-test-v")); strings.Count(text, "uthorization") != 1 {
		t.Errorf("an existing header is replaced: %s", text)
	}
}
