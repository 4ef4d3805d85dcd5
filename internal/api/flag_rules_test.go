package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

const (
	configuration = "/data/attributes/environments/production"
	firstLogic    = configuration + "/rules/0/logic"
)

// nested returns logic of a depth.
func nested(depth int) any {
	var logic any = true
	for range depth {
		logic = attributes{"!": []any{logic}}
	}
	return logic
}

// nestedLoops returns logic that loops over ten numbers for each of ten numbers, and so on.
func nestedLoops(depth int) any {
	var logic any = true
	for range depth {
		logic = attributes{"map": []any{[]int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, logic}}
	}
	return logic
}

func TestFlagRules_Invalid(t *testing.T) {
	t.Parallel()
	many := make([]any, 2001)
	for i := range many {
		many[i] = 1
	}
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		rule   any
		prefix string // of the pointer
	}{
		"an unknown operator":             {attributes{"logic": attributes{"and": []any{true, attributes{"nope": 1}}}, "value": true}, firstLogic + "/and/1"},
		"deeper than 64":                  {attributes{"logic": nested(65), "value": true}, firstLogic},
		"more than 2000 nodes":            {attributes{"logic": attributes{"merge": many}, "value": true}, firstLogic},
		"more than 64 KiB":                {attributes{"logic": equals("user.key", strings.Repeat("x", 65<<10)), "value": true}, firstLogic},
		"loops of more than 100000 steps": {attributes{"logic": nestedLoops(5), "value": true}, firstLogic},
		"no logic":                        {attributes{"value": true}, firstLogic},
		"logic that is no object":         {attributes{"logic": true, "value": true}, firstLogic},
		"no value":                        {attributes{"logic": attributes{}}, configuration + "/rules/0/value"},
		"a value of another type":         {attributes{"logic": attributes{}, "value": "true"}, configuration + "/rules/0/value"},
		"a rule that is no object":        {"rule", configuration + "/rules/0"},
		"a description that is no string": {attributes{"logic": attributes{}, "value": true, "description": 5}, configuration + "/rules/0/description"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			owner := owner.in(t)
			sent := boolean(false, inEnvironment("production", attributes{"rules": []any{c.rule}}))
			got := owner.post(flagsPath, envelope("", unique("refused"), sent)).want(400)
			var document struct{ Errors []refusal }
			got.decode(&document)
			if len(document.Errors) != 1 {
				t.Errorf("one problem is told %d times: %s", len(document.Errors), got.body)
			}
			for _, each := range document.Errors {
				if !strings.HasPrefix(each.Source["pointer"], c.prefix) || each.Code != "validation_error" {
					t.Errorf("got %s, want a pointer to %s", got.body, c.prefix)
				}
			}
		})
	}
}

// TestFlagRules_ExactLimits: a flag at a limit is accepted and served. One above it is refused,
// with a pointer to the part that is too large.
func TestFlagRules_ExactLimits(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for name, c := range map[string]struct {
		logic   func(size int) string
		limit   int
		pointer string // of one more
	}{
		"depth": {func(depth int) string { return strings.Repeat(`{"!":[`, depth) + "1" + strings.Repeat(`]}`, depth) }, 64, strings.Repeat("/!/0", 64)},
		"nodes": {func(nodes int) string { return `{"merge":[1` + strings.Repeat(",1", nodes-2) + `]}` }, 2000, "/merge/1999"},
		"bytes": {func(bytes int) string { return `{"cat":["` + strings.Repeat("x", bytes-len(`{"cat":[""]}`)) + `"]}` }, 64 << 10, ""},
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			body := func(size int) string {
				return envelope("", unique("limit"), boolean(false, inEnvironment("production", attributes{"rules": serving(json.RawMessage(c.logic(size)), true)})))
			}
			key := owner.post(flagsPath, body(c.limit)).want(201).data().ID
			if got := owner.evaluated(key, "production", nil).want(200); got.attribute("reason") == "ERROR" {
				t.Errorf("%s at the limit: got %s", name, got.body)
			}
			owner.post(flagsPath, body(c.limit+1)).refused(400, invalid(firstLogic+c.pointer))
		})
	}
}

func TestFlagRules_EmptyRule(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("empty", inEnvironment("production", attributes{"rules": serving(attributes{}, true)}))
	got := owner.evaluated("empty", "production", nil).want(200)
	if got.attribute("value") != false || got.attribute("reason") != "DEFAULT" || got.attribute("rule") != nil {
		t.Errorf("got %s", got.body)
	}
}

func TestFlagRules_PlanLimit(t *testing.T) {
	t.Parallel()
	first := newOwner(t, "pro")
	owner := first.account("free")
	owner.makeEnvironment("qa")
	rules := func(count int) attributes {
		list := make([]attributes, count)
		for i := range list {
			list[i] = attributes{"logic": equals("user.key", i), "value": true}
		}
		return attributes{"rules": list}
	}
	sent := func(production, qa int) attributes {
		return boolean(false, attributes{"environments": attributes{"production": rules(production), "qa": rules(qa)}})
	}
	over := func(count float64) problem {
		return problem{code: "entitlement_limit_reached", meta: map[string]any{"limit_key": "flags.rules", "current": count, "maximum": 5.0, "plan": "free"}}
	}
	owner.post(flagsPath, envelope("", "ruled", sent(3, 3))).refused(402, over(6))
	owner.get(flagsPath + "/ruled").want(404)
	owner.post(flagsPath, envelope("", "ruled", sent(3, 2))).want(201)
	owner.put(flagsPath+"/ruled", envelope("", "", sent(4, 5))).refused(402, over(9))
	owner.put(flagsPath+"/ruled", envelope("", "", sent(5, 0))).want(200)
	first.post(flagsPath, envelope("", "ruled", boolean(false, attributes{"environments": attributes{"production": rules(30)}}))).want(201)

	// Frozen rules count when they are sent, and not when they are left out.
	owner.put(flagsPath+"/ruled", envelope("", "", sent(3, 2))).want(200)
	owner.put(environmentsPath+"/qa", envelope("", "", attributes{"name": "QA", "managed": false})).want(200)
	owner.put(flagsPath+"/ruled", envelope("", "", sent(4, 2))).refused(402, over(6))
	onlyProduction := func(count int) string {
		return envelope("", "", boolean(false, attributes{"environments": attributes{"production": rules(count)}}))
	}
	owner.put(flagsPath+"/ruled", onlyProduction(6)).refused(402, over(6))
	if got := owner.put(flagsPath+"/ruled", onlyProduction(5)).want(200).environment("qa"); len(got["rules"].([]any)) != 2 {
		t.Errorf("the frozen rules are %v", got)
	}
}

func TestFlags_Filters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("alice", inEnvironment("production", attributes{"rules": serving(equals("user.key", "alice"), true)}))
		owner.makeFlag("listed", inEnvironment("production", attributes{"rules": serving(attributes{"in": []any{attributes{"var": "user.key"}, []any{"alice", "bob"}}}, true)}))
		owner.makeFlag("plan", inEnvironment("production", attributes{"rules": serving(equals("user.plan", "alice"), true)}))
		owner.makeFlag("tenant", inEnvironment("production", attributes{"rules": serving(equals("tenant.key", "alice"), true)}))
		owner.makeFlag("plain", nil)
		owner.declare(attributes{"id": "text", "type": "STRING", "default": ""}).want(200)
		for query, want := range map[string]string{
			"filter[references_context]=user:alice":                                            "alice listed",
			"references_context=user%3Abob":                                                    "listed",
			"filter[references_context]=user:carol":                                            "",
			"filter[references_context_type]=user":                                             "alice listed plan",
			"references_context_type=tenant":                                                   "tenant",
			"filter[references_context_type]=use":                                              "",
			"filter[references_context_type]=user&filter[references_context]=user:bob":         "listed",
			"filter[type]=string":                                                              "text",
			"type=BOOLEAN&managed=true&search=PLA":                                             "plain plan",
			"filter[managed]=false":                                                            "text",
			"filter[search]=Alice&filter[type]=BOOLEAN&filter[references_context_type]=tenant": "",
		} {
			t.Run(fmt.Sprintf("%.40q", query), func(t *testing.T) {
				if got := strings.Join(owner.in(t).get(flagsPath+"?"+query).want(200).ids(), " "); got != want {
					t.Errorf("?%s: got %q, want %q", query, got, want)
				}
			})
		}
		for query, parameter := range map[string]string{
			"filter[references_context]=alice": "filter[references_context]", "filter[references_context]=:a": "filter[references_context]",
			"references_context=user:": "references_context", "filter[type]=ENUM": "filter[type]", "managed=yes": "managed",
		} {
			t.Run(query, func(t *testing.T) {
				owner.in(t).get(flagsPath+"?"+query).refused(400, wrongParameter(parameter))
			})
		}
		// After a rule no longer reads an attribute, the filter by that attribute no longer finds
		// the flag.
		owner.put(flagsPath+"/alice", envelope("", "", boolean(false, nil))).want(200)
		owner.delete(flagsPath + "/listed").want(204)
		if got := owner.get(flagsPath + "?references_context=user:alice").want(200).ids(); len(got) != 0 {
			t.Errorf("got %v", got)
		}
	})
}

// TestFlags_BothReferenceFilters: filters of a list narrow it together.
func TestFlags_BothReferenceFilters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.makeFlag("bob", inEnvironment("production", attributes{"rules": serving(equals("user.key", "bob"), true)}))
		if got := owner.get(flagsPath + "?filter[references_context_type]=tenant&filter[references_context]=user:bob").want(200).ids(); len(got) != 0 {
			t.Errorf("got %v, and no rule refers to a tenant", got)
		}
	})
}
