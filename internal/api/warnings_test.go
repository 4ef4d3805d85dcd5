package api_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestWarnings_Writes: a write that is accepted but probably a mistake gets a warning.
func TestWarnings_Writes(t *testing.T) {
	t.Parallel()
	rule := func(logic any) attributes { return attributes{"logic": logic, "value": true} }
	flag := func(environment attributes) string {
		return envelope("flag", "f", boolean(false, attributes{"environments": attributes{"production": environment}}))
	}
	reads := attributes{"==": []any{attributes{"var": "user.plan"}, "pro"}}
	split := attributes{"fractional": []any{[]any{"on", 10}, []any{"off", 90}}}
	const rules = "/data/attributes/environments/production/rules/"
	for _, c := range []struct {
		name, method, path, body string
		warnings                 []string
	}{
		{"nothing", "POST", flagsPath, flag(attributes{"rules": []attributes{rule(reads), rule(attributes{"==": []any{split, "on"}})}}), nil},
		{"a constant", "POST", flagsPath, flag(attributes{"rules": []attributes{rule(attributes{"==": []any{1, 1}})}}),
			[]string{rules + `0/logic: environments/production/rules/0/logic is true for every context: give the environment a default instead, or compare with something, as in {"==": [{"var": "user.plan"}, "pro"]}.`}},
		{"a fractional", "POST", flagsPath, flag(attributes{"rules": []attributes{rule(split)}}),
			[]string{rules + `0/logic: environments/production/rules/0/logic is true for every context, because every outcome of its fractional is: compare the outcome, as in {"==": [{"fractional":[["on",10],["off",90]]}, "on"]}.`}},
		{"rules that never decide", "POST", flagsPath, flag(attributes{"rules": []attributes{
			rule(attributes{}), rule(reads), rule(reads), rule(attributes{"!!": []any{true}}), rule(attributes{"var": "a"})}}),
			[]string{
				rules + "0/logic: environments/production/rules/0/logic is false for every context, so the rule never applies.",
				rules + "2: Rule 3 in production is never reached: rule 2 before it has the same logic.",
				rules + `3/logic: environments/production/rules/3/logic is true for every context: give the environment a default instead, or compare with something, as in {"==": [{"var": "user.plan"}, "pro"]}.`,
				rules + "4: Rule 5 in production is never reached: rule 4 before it applies to every context.",
			}},
		{"a default", "POST", flagsPath, flag(attributes{"default": false}),
			[]string{"/data/attributes/environments/production/default: environments/production/default is the same as the flag's default: leave it out, and the environment follows the flag."}},
		{"a level", "PUT", loggersPath + "/l", envelope("", "", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "info"}}}),
			[]string{"/data/attributes/environments/production/level: environments/production/level is the same as the level that it overrides: leave it out."}},
		{"other levels", "PUT", loggersPath + "/l", envelope("", "", attributes{"environments": attributes{"production": attributes{"level": "info"}}}), nil},
		{"a group's level", "POST", groupsPath, envelope("", "g", attributes{"level": "INFO", "environments": attributes{"production": attributes{"level": "INFO"}}}),
			[]string{"/data/attributes/environments/production/level: environments/production/level is the same as the level that it overrides: leave it out."}},
		{"an override", "POST", configsPath, envelope("", "c", attributes{"parent": "base", "items": items(attributes{"b": 1.0}),
			"environments": attributes{"production": attributes{"a": "x", "b": 1, "c": "z"}}}),
			[]string{"/data/attributes/environments/production/a: environments/production/a is the same as the value that it overrides: leave it out.",
				"/data/attributes/environments/production/b: environments/production/b is the same as the value that it overrides: leave it out."}},
		{"a rare schedule", "POST", jobsPath, envelope("job", "j", job(attributes{"enabled": false, "schedule": "0 0 29 2 *"})), []string{"/data/attributes/schedule: …"}},
		{"a yearly schedule", "POST", jobsPath, envelope("job", "j", job(attributes{"enabled": false, "schedule": "0 0 1 1 *"})), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			owner := newOwner(t, "pro")
			owner.post(configsPath, envelope("", "base", attributes{"items": items(attributes{"a": "x", "c": "y"})})).want(201)
			got := owner.send(c.method, c.path, c.body, strictly)
			if got.status >= 300 {
				t.Fatalf("got %d: %s", got.status, got.body)
			}
			var warnings []string
			for _, each := range got.meta().Warnings {
				if each.Pointer == "/data/attributes/schedule" {
					each.Detail = "…" // it names instants
				}
				warnings = append(warnings, each.Pointer+": "+each.Detail)
			}
			if difference := cmp.Diff(c.warnings, warnings); difference != "" {
				t.Errorf("(-want +got):\n%s", difference)
			}
		})
	}
}

// TestWarnings_SimilarIDs: two ids that people take for one another are rarely both meant.
func TestWarnings_SimilarIDs(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for path, create := range map[string]func(client, string) answer{
			flagsPath: func(owner client, id string) answer {
				return owner.post(flagsPath, envelope("", id, boolean(true, nil)))
			},
			jobsPath: func(owner client, id string) answer { return owner.post(jobsPath, envelope("", id, job(nil))) },
			loggersPath: func(owner client, id string) answer {
				return owner.put(loggersPath+"/"+id, envelope("", "", attributes{"level": "INFO"}))
			},
			groupsPath: func(owner client, id string) answer {
				return owner.post(groupsPath, envelope("", "group"+id, attributes{}))
			},
			configsPath: func(owner client, id string) answer { return owner.post(configsPath, envelope("", id, attributes{})) },
			environmentsPath: func(owner client, id string) answer {
				return owner.post(environmentsPath, envelope("", id, attributes{"name": id}))
			},
			servicesPath: func(owner client, id string) answer { return owner.post(servicesPath, envelope("", id, attributes{})) },
			typesPath:    func(owner client, id string) answer { return owner.post(typesPath, envelope("", id, attributes{})) },
		} {
			t.Run(path, func(t *testing.T) {
				owner := owner.in(t)
				if first := create(owner, "check-out.v2").meta(); len(first.Warnings) != 0 {
					t.Errorf("got %v", first.Warnings)
				}
				second := create(owner, "check_out_v2")
				warnings := second.meta().Warnings
				if len(warnings) != 1 || warnings[0].Pointer != "/data/id" || !second.contains(`has the id \"`) || !second.contains(`check-out.v2\", which differs`) || second.status >= 300 {
					t.Errorf("got %d, %s", second.status, second.body)
				}
				if again := create(owner, "something-else").meta(); len(again.Warnings) != 0 {
					t.Errorf("got %v", again.Warnings)
				}
			})
		}
	})
}
