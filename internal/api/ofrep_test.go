package api_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/store/storetest"
	"github.com/signalbox/signalbox/internal/suite"
)

// ofrep evaluates over OFREP in production.
func (c client) ofrep(key, body string, options ...option) answer {
	c.t.Helper()
	path := strings.TrimSuffix(ofrepPath+"/"+key, "/")
	return c.post(path, body, append([]option{with("Content-Type", "application/json"), inProduction(path)}, options...)...)
}

// members reads the body as an object.
func (a answer) members() map[string]any {
	a.t.Helper()
	var found map[string]any
	a.decode(&found)
	return found
}

func TestOFREP_Reasons(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	everybody := attributes{"fractional": []any{[]any{true, 1}}}
	owner.makeFlag("static", nil)
	owner.makeFlag("ruled", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), true)}))
	owner.makeFlag("split", inEnvironment("production", attributes{"rules": serving(everybody, true)}))
	owner.makeFlag("off", inEnvironment("production", attributes{"enabled": false, "default": true, "rules": serving(everybody, false)}))
	free := func(key string, more attributes) { // without a list of values
		owner.post(flagsPath, envelope("", key, flag("STRING", "<x>", more))).want(201)
	}
	free("text", nil)
	free("text-environment", inEnvironment("production", attributes{"default": "e"}))
	free("text-rule", inEnvironment("production", attributes{"default": "e", "rules": []any{
		attributes{"logic": equals("user.key", "bob"), "value": "b"}, attributes{"logic": equals("user.key", "alice"), "value": "a"},
	}}))
	free("text-off", inEnvironment("production", attributes{"enabled": false, "default": "e"}))
	want := map[string]string{
		"static": "STATIC False false map[]", "ruled": "TARGETING_MATCH True true map[]", "split": "SPLIT True true map[]",
		"off": "STATIC True true map[disabled:true]", "text": "STATIC default <x> map[]", "text-environment": "STATIC environment e map[]",
		"text-rule": "TARGETING_MATCH rule-1 a map[]", "text-off": "STATIC environment e map[disabled:true]",
	}
	shown := func(result map[string]any) string {
		return fmt.Sprint(result["reason"], " ", result["variant"], " ", result["value"], " ", result["metadata"])
	}
	bulk := map[string]string{}
	for _, each := range owner.ofrep("", `{"context":{"targetingKey":"alice"}}`).want(200).members()["flags"].([]any) {
		result := each.(map[string]any)
		bulk[result["key"].(string)] = shown(result)
	}
	if difference := cmp.Diff(want, bulk); difference != "" {
		t.Errorf("bulk: want (-), got (+):\n%s", difference)
	}
	for key, wanted := range want {
		t.Run(key, func(t *testing.T) {
			got := owner.in(t).ofrep(key, `{"context":{"targetingKey":"alice"}}`).want(200)
			result := got.members()
			if shown(result) != wanted || result["key"] != key {
				t.Errorf("got %s, want %s", got.body, wanted)
			}
		})
	}
	if got := owner.ofrep("ruled", `{"context":{"targetingKey":"bob"}}`).want(200).members(); got["reason"] != "DEFAULT" || got["value"] != false {
		t.Errorf("got %v", got)
	}
}

// TestOFREP_DiscoveredFlag: a report of a service in one environment does not change what services in other
// environments get.
func TestOFREP_DiscoveredFlag(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("made", nil)
		reporter := owner.as(owner.makeKey(attributes{"scopes": attributes{"environments": []string{"staging"}}}).secret)
		report := attributes{"id": "found", "type": "BOOLEAN", "default": true, "service": "shop", "environment": "staging"}
		served := func(want ...string) {
			t.Helper()
			var evaluated, loaded []string
			for _, each := range owner.ofrep("", `{}`).want(200).members()["flags"].([]any) {
				evaluated = append(evaluated, each.(map[string]any)["key"].(string))
			}
			for _, each := range owner.snapshot("production").Flags {
				loaded = append(loaded, each.ID)
			}
			if !slices.Equal(evaluated, want) || !slices.Equal(loaded, want) {
				t.Errorf("evaluated are %v, loaded %v, want %v", evaluated, loaded, want)
			}
		}
		missing := func() {
			t.Helper()
			want := map[string]any{"key": "found", "errorCode": "FLAG_NOT_FOUND", "errorDetails": "There is no managed flag with this key."}
			if difference := cmp.Diff(want, owner.ofrep("found", `{}`).want(404).members()); difference != "" {
				t.Errorf("want (-), got (+):\n%s", difference)
			}
			served("made")
		}
		missing()
		reporter.declare(report).want(200)
		missing()
		if got := owner.evaluated("found", "production", nil).want(200); got.attribute("value") != true || got.attribute("reason") != "STATIC" {
			t.Errorf("asked what it would serve: got %s", got.body)
		}
		owner.put(flagsPath+"/found", envelope("flag", "found", boolean(true, attributes{"managed": true}))).want(200)
		if got := owner.ofrep("found", `{}`).want(200).members(); got["value"] != true {
			t.Errorf("managed: got %v", got)
		}
		served("found", "made")
		owner.delete(flagsPath + "/found").want(204)
		reporter.declare(report).want(200)
		missing()
	})
}

// TestOFREP_FractionalNumbers: typed providers tell floats from integers by the fraction, so that a flag with 0.5 sends 1 as 1.0.
func TestOFREP_FractionalNumbers(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		number := func(key, base string, more attributes) {
			owner.post(flagsPath, envelope("flag", key, flag("NUMERIC", jsonNumber(base), more))).want(201)
		}
		half := inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), jsonNumber("0.5"))})
		number("a-ruled", "1", half)
		number("b-environment", "0.25", inEnvironment("production", attributes{"default": 2}))
		number("c-plain", "3", nil)
		number("d-value", "4", attributes{"values": []any{labeled("four", 4), labeled("half", jsonNumber("0.5"))}})
		number("e-exponent", "1e2", half)
		number("f-large", "12345678901234567890", half)
		number("g-whole", "7", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), 8)}))
		number("h-spelled", "1.0", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), 8)}))
		want := map[string]string{"a-ruled": "1.0", "b-environment": "2.0", "c-plain": "3", "d-value": "4.0", "e-exponent": "1.0e2",
			"f-large": "12345678901234567890.0", "g-whole": "7", "h-spelled": "1.0"}
		var bulk []string
		for _, key := range slices.Sorted(maps.Keys(want)) {
			single := owner.ofrep(key, `{"context":{"targetingKey":"bob"}}`).want(200)
			if !single.contains(`"value":` + want[key] + `,`) {
				t.Errorf("%s: got %s, want %s", key, single.body, want[key])
			}
			bulk = append(bulk, string(single.body))
		}
		if all := owner.ofrep("", `{"context":{"targetingKey":"bob"}}`).want(200); !all.contains(`{"flags":[` + strings.Join(bulk, ",") + `]`) {
			t.Errorf("got %s, want %s", all.body, bulk)
		}
		if got := owner.ofrep("d-value", `{}`).want(200); got.members()["variant"] != "four" {
			t.Errorf("got %s", got.body)
		}
		if got := owner.ofrep("a-ruled", `{"context":{"targetingKey":"alice"}}`).want(200); !got.contains(`"value":0.5,`) {
			t.Errorf("got %s", got.body)
		}
	})
}

func TestOFREP_Context(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		variable string
		value    any
		context  string
		matches  bool
	}{
		"targetingKey is user.key":         {"user.key", "a", `{"targetingKey":"a"}`, true},
		"a user that has a key wins":       {"user.key", "b", `{"targetingKey":"a","user":{"key":"b"}}`, true},
		"a user without a key gets it":     {"user.key", "a", `{"user":{"plan":"pro"},"targetingKey":"a"}`, true},
		"its attributes stay":              {"user.plan", "pro", `{"user":{"plan":"pro"},"targetingKey":"a"}`, true},
		"scalars are attributes of user":   {"user.age", 7, `{"targetingKey":"a","age":7}`, true},
		"objects are context types":        {"tenant.key", "x", `{"tenant":{"key":"x"}}`, true},
		"and no attributes of user":        {"user.tenant.key", "x", `{"tenant":{"key":"x"}}`, false},
		"scalars are at the top no longer": {"age", 7, `{"age":7}`, false},
		"the same key with another value":  {"user.key", "a", `{"targetingKey":"b"}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			key := unique("context")
			owner.makeFlag(key, inEnvironment("production", attributes{"rules": serving(equals(c.variable, c.value), true)}))
			if got := owner.ofrep(key, `{"context":`+c.context+`}`).want(200).members(); got["value"] != c.matches {
				t.Errorf("got %v", got)
			}
		})
	}
	key := unique("context")
	owner.makeFlag(key, nil)
	for _, body := range []string{"", `{}`, `{"context":null}`, `{"context":{}}`} {
		t.Run(fmt.Sprintf("%q", body), func(t *testing.T) { owner.in(t).ofrep(key, body).want(200) })
	}
}

func TestOFREP_Refusals(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for _, key := range []string{"made", ""} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			owner := owner.in(t)
			for body, code := range map[string]string{
				`{`: "PARSE_ERROR", `[]`: "PARSE_ERROR", `5`: "PARSE_ERROR", `{"context":5}`: "INVALID_CONTEXT", `{"context":[]}`: "INVALID_CONTEXT", `{"context":"a"}`: "INVALID_CONTEXT",
				`{"context":{"a":1,"a":2}}`: "PARSE_ERROR", `{"context":{"a":1e999}}`: "PARSE_ERROR", `{"context":{"a":"\ud800"}}`: "PARSE_ERROR", "{\"context\":{\"a\":\"\xff\"}}": "PARSE_ERROR",
				`{"context":{"a":` + strings.Repeat("[", 150) + strings.Repeat("]", 150) + `}}`: "PARSE_ERROR",
			} {
				t.Run(fmt.Sprintf("%.60q", body), func(t *testing.T) {
					if got := owner.in(t).ofrep(key, body).want(400); got.members()["errorCode"] != code {
						t.Errorf("got %s, want %s", got.body, code)
					}
				})
			}
			owner.ofrep(key, `{}`, with("X-Signalbox-Environment", "")).want(400)
			owner.ofrep(key, `{}`, with("X-Signalbox-Environment", "nowhere")).want(400)
			if got := owner.ofrep(key, `{}`, with("X-Signalbox-Environment", "prod")).want(400); !got.contains(`The environment \"prod\" does not exist. Did you mean production?`) {
				t.Errorf("got %s", got.body)
			}
			owner.ofrep(key, `{}`, with("Content-Type", "text/plain")).want(415)
			owner.ofrep(key, strings.Repeat(" ", 9<<20)).want(413)
		})
	}
}

// TestOFREP_StepsOfRequest: the rules of all flags share the steps of a request. Flags for which no steps are left have
// no value, and each of them can be evaluated alone.
func TestOFREP_StepsOfRequest(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	never := attributes{"some": []any{attributes{"var": "user.lists"}, attributes{"some": []any{attributes{"var": ""}, attributes{"==": []any{attributes{"var": ""}, -1}}}}}}
	rules := serving(never, true)
	for range 4 {
		rules = append(rules, rules[0])
	}
	for i := range 24 {
		owner.makeFlag(fmt.Sprintf("flag-%02d", i), inEnvironment("production", attributes{"rules": rules}))
	}
	list := "[" + strings.TrimSuffix(strings.Repeat("1,", 120), ",") + "]"
	body := `{"context":{"lists":[` + strings.TrimSuffix(strings.Repeat(list+",", 120), ",") + `]}}`
	var served, refused int
	for _, each := range owner.ofrep("", body).want(200).members()["flags"].([]any) {
		switch result := each.(map[string]any); {
		case result["reason"] == "DEFAULT" && refused == 0:
			served++
		case result["errorCode"] == "GENERAL" && strings.Contains(result["errorDetails"].(string), "more steps than one request may use"):
			refused++
		default:
			t.Errorf("got %v after %d refused flags", result, refused)
		}
	}
	if served < 10 || refused == 0 {
		t.Errorf("%d flags have values, %d were refused", served, refused)
	}
	owner.ofrep("flag-23", body).want(200)
	context := strings.TrimSuffix(strings.TrimPrefix(body, `{"context":{`), "}}")
	got := owner.post(flagsPath+"/actions/evaluate", `{"context":{"user":{`+context+`}}}`).want(400)
	if !got.contains("more steps than one request may use") {
		t.Errorf("got %s", got.body)
	}
}

// TestOFREP_RefusalNamesFlag: the protocol requires key in every
// failed evaluation of one flag.
func TestOFREP_RefusalNamesFlag(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for _, body := range []string{`{`, `{"context":5}`} {
		t.Run(body, func(t *testing.T) {
			if got := owner.in(t).ofrep("made", body).want(400); got.members()["key"] != "made" {
				t.Errorf("got %s", got.body)
			}
		})
	}
}

func TestOFREP_UnknownFlag(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, key := range []string{"nowhere", "%00", "a%2Fb", "%22", strings.Repeat("x", 5000)} {
		t.Run(fmt.Sprintf("%.40q", key), func(t *testing.T) {
			if got := owner.in(t).ofrep(key, `{"context":{}}`).want(404); got.members()["errorCode"] != "FLAG_NOT_FOUND" {
				t.Errorf("%s: got %s", key, got.body)
			}
		})
	}
}

func TestOFREP_Environment(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeEnvironment("qa")
	owner.makeFlag("made", attributes{"environments": attributes{"qa": attributes{"default": true}}})
	key := func(environments ...string) client {
		return owner.as(owner.makeKey(attributes{"role": "VIEWER", "scopes": attributes{"environments": environments}}).secret)
	}
	for name, c := range map[string]struct {
		client client
		header string
		want   any
	}{
		"of the key, qa":              {key("qa"), "", true},
		"of the key, production":      {key("production"), "", false},
		"header beside the key's":     {key("qa"), "production", false},
		"header with any key":         {owner, "qa", true},
		"header without a value":      {owner, "staging", false},
		"header and two environments": {key("qa", "staging"), "qa", true},
	} {
		t.Run(name, func(t *testing.T) {
			if got := c.client.in(t).ofrep("made", `{}`, with("X-Signalbox-Environment", c.header)).want(200); got.members()["value"] != c.want {
				t.Errorf("header %q: got %s", c.header, got.body)
			}
		})
	}
	key("qa", "staging").ofrep("made", `{}`, with("X-Signalbox-Environment", "")).want(400)
}

func TestOFREP_KeyHeader(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	for _, key := range []string{"made", ""} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			owner := owner.in(t)
			owner.as("").ofrep(key, `{}`, with("X-API-Key", owner.key)).want(200)
			owner.as("").ofrep(key, `{}`, with("X-API-Key", "sk_api_nobody")).want(401)
			got := owner.as("").ofrep(key, `{}`, with("Origin", "https://shop.example")).want(401)
			if got.header.Get("Access-Control-Allow-Origin") != "*" {
				t.Error("a web page cannot read why it was refused")
			}
		})
	}
	owner.as("").get(flagsPath, with("X-API-Key", owner.key)).refused(401, problem{code: "unauthorized"})
}

func TestOFREP_ETag(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), true)}))
	page := owner.evaluator() // the tag covers the URL of the event stream, which each key has for itself
	alice, bob := `{"context":{"targetingKey":"alice"}}`, `{"context":{"targetingKey":"bob"}}`
	tag := page.ofrep("", alice).want(200).header.Get("Etag")
	again := page.ofrep("", alice, with("If-None-Match", tag), with("Origin", shop)).want(304)
	if len(again.body) != 0 || again.header.Get("Etag") != tag || again.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("got %v and %q", again.header, again.body)
	}
	page.ofrep("", alice, with("If-None-Match", "W/"+tag)).want(304)
	other := page.ofrep("", bob, with("If-None-Match", tag)).want(200).header.Get("Etag")
	if other == tag {
		t.Error("two results have one tag")
	}
	// After a change that does not change bob's values, his ETag stays; alice gets another one.
	owner.put(path, envelope("", "", boolean(false, inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), false)})))).want(200)
	page.ofrep("", bob, with("If-None-Match", other)).want(304)
	page.ofrep("", alice, with("If-None-Match", tag)).want(200)
	owner.put(path, envelope("", "", boolean(true, nil))).want(200)
	page.ofrep("", bob, with("If-None-Match", other)).want(200)
	owner.delete(path).want(204)
	if got := page.ofrep("", bob).want(200); !got.contains(`"flags":[]`) {
		t.Errorf("got %s", got.body)
	}
}

func TestOFREP_WebPages(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, key := range []string{"", "made", "nowhere"} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			got := owner.in(t).as("").send("OPTIONS", strings.TrimSuffix(ofrepPath+"/"+key, "/"), "", with("Origin", "https://shop.example"),
				with("Access-Control-Request-Method", "POST")).want(204)
			for _, name := range []string{"Authorization", "X-API-Key", "Content-Type", "If-None-Match", "X-Signalbox-Environment"} {
				if !strings.Contains(got.header.Get("Access-Control-Allow-Headers"), name) {
					t.Errorf("a page may not send %s", name)
				}
			}
			if got.readableBy() != "*" {
				t.Errorf("a page of any origin may ask; got %v", got.header)
			}
		})
	}
}

func TestOFREP_SeesWritesOfOtherNodes(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "postgres")
	one, two := speakTo(t, apptest.Start(t, database)), speakTo(t, apptest.Start(t, database))
	one.post(flagsPath, envelope("", "count", flag("NUMERIC", -1, nil))).want(201)
	for i := range suite.Scale(10, 100) {
		writer, reader := one, two
		if i%2 == 1 {
			writer, reader = two, one
		}
		writer.put(flagsPath+"/count", envelope("", "", flag("NUMERIC", i, nil))).want(200)
		if got := reader.ofrep("count", `{}`).want(200).members(); got["value"] != float64(i) {
			t.Fatalf("after %d was written, the other node serves %v", i, got["value"])
		}
		if got := reader.evaluated("count", "production", nil).want(200); got.attribute("value") != float64(i) {
			t.Fatalf("after %d was written, the other node says %s", i, got.body)
		}
	}
	one.discoverFlag("found")
	two.evaluated("found", "production", nil).want(200)
	two.put(flagsPath+"/found", envelope("", "", boolean(true, attributes{"managed": true}))).want(200)
	one.ofrep("found", `{}`).want(200)
	two.delete(flagsPath + "/found").want(204)
	one.ofrep("found", `{}`).want(404)
	one.makeEnvironment("qa")
	two.ofrep("count", `{}`, with("X-Signalbox-Environment", "qa")).want(200)
}
