package api_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// unreadable returns values that some parsers cannot read, or read in different ways,
// with the place of the problem in the value.
func unreadable() map[string]string {
	return map[string]string{
		`1e999`:                          "",
		`[1,{"a":-1e400}]`:               "/1/a",
		`"half \ud800 of a pair"`:        "",
		`{"x":{"\udfff":1}}`:             "/x",
		`{"a":1,"b":2,"a":3}`:            "/a",
		`{"line\nbreak":{"a":1,"a":{}}}`: "/line\nbreak/a",
	}
}

// arrays returns a value of many arrays, one in another.
func arrays(levels int) string { return strings.Repeat("[", levels) + strings.Repeat("]", levels) }

// TestBodies_Unreadable tries every place where callers store JSON of their own.
func TestBodies_Unreadable(t *testing.T) {
	t.Parallel()
	const attributes = "/data/attributes"
	owner := newOwner(t, "pro")
	owner.makeFlag("made", nil)
	config := owner.makeConfig("config", nil)
	contextType := aContextType(owner)
	for name, place := range map[string]struct{ method, path, before, after, pointer string }{
		"a flag's default":         {"POST", flagsPath, `"id":"f","attributes":{"type":"JSON","default":`, `}`, attributes + "/default"},
		"a flag's values":          {"POST", flagsPath, `"id":"f","attributes":{"type":"JSON","default":1,"values":[1,`, `]}`, attributes + "/values/1"},
		"a labeled value":          {"POST", flagsPath, `"id":"f","attributes":{"type":"JSON","default":1,"values":[{"name":"a","value":`, `}]}`, attributes + "/values/0/value"},
		"a rule's value":           {"PUT", flagsPath + "/made", `"attributes":{"type":"JSON","default":1,"environments":{"production":{"rules":[{"logic":{"==":[1,1]},"value":`, `}]}}}`, attributes + "/environments/production/rules/0/value"},
		"a rule's logic":           {"PUT", flagsPath + "/made", `"attributes":{"type":"JSON","default":1,"environments":{"production":{"rules":[{"value":1,"logic":{"==":[1,`, `]}}]}}}`, attributes + "/environments/production/rules/0/logic/==/1"},
		"an environment's default": {"PUT", flagsPath + "/made", `"attributes":{"type":"JSON","default":1,"environments":{"production":{"default":`, `}}}`, attributes + "/environments/production/default"},
		"a config's item":          {"PUT", config, `"attributes":{"items":{"a":{"type":"JSON","value":`, `}}}`, attributes + "/items/a/value"},
		"a config's schema":        {"PUT", config, `"attributes":{"items":{"a":{"value":1,"schema":{"enum":[1,`, `]}}}}`, attributes + "/items/a/schema/enum/1"},
		"a config's override":      {"PUT", config, `"attributes":{"items":{"a":{"type":"JSON","value":1}},"environments":{"production":{"a":`, `}}}`, attributes + "/environments/production/a"},
		"settings":                 {"PUT", settingsPath, `"attributes":{"theme":`, `}`, attributes + "/theme"},
		"a user's settings":        {"PUT", ownSettingsPath, `"attributes":{"theme":`, `}`, attributes + "/theme"},
		"a context type":           {"PUT", contextType, `"attributes":{"attributes":{"plan":`, `}}`, attributes + "/attributes/plan"},
		"what nobody reads":        {"POST", environmentsPath, `"id":"e","attributes":{"name":"E","more":`, `}`, attributes + "/more"},
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			for value, at := range unreadable() {
				got := owner.send(place.method, place.path, `{"data":{`+place.before+value+place.after+`}}`, offContract)
				got.what += ", " + name + " " + value
				got.refused(400, invalid(place.pointer+at))
			}
		})
	}
	owner.put(settingsPath, `{"a":`+arrays(900)+`}`, with("Content-Type", "application/json")).refused(400, invalid("/a"+strings.Repeat("/0", 139)))
	owner.post(servicesPath, `{"data":{"id":"a","attributes":{}},"data":{"id":"b","attributes":{}}}`).refused(400, invalid("/data"))
	owner.post(servicesPath, `{"data":{"id":"a","id":"b","attributes":{"name":"x","name":"y"}}}`, offContract).
		refused(400, invalid("/data/id"), invalid("/data/attributes/name"))
	owner.get(servicesPath + "/a").want(404)
}

// TestBodies_DeepValues: a value of 64 levels is taken wherever callers store JSON,
// and one of 65 is not.
func TestBodies_DeepValues(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.makeFlag("made", attributes{"type": "JSON", "default": 1, "values": nil})
	config, contextType := owner.makeConfig("config", nil), aContextType(owner)
	for name, place := range map[string]struct{ method, path, before, after, pointer string }{
		"a flag's values":  {"PUT", flagsPath + "/made", `{"type":"JSON","default":1,"values":[1,`, `]}`, "values/1"},
		"a flag's default": {"PUT", flagsPath + "/made", `{"type":"JSON","default":`, `}`, "default"},
		"a rule's value":   {"PUT", flagsPath + "/made", `{"type":"JSON","default":1,"environments":{"production":{"rules":[{"logic":{"==":[1,1]},"value":`, `}]}}}`, "environments/production/rules/0/value"},
		"a config's item":  {"PUT", config, `{"items":{"a":{"type":"JSON","value":`, `}}}`, "items/a/value"},
		"an override":      {"PUT", config, `{"items":{"a":{"type":"JSON","value":1}},"environments":{"production":{"a":`, `}}}`, "environments/production/a"},
		"settings":         {"PUT", settingsPath, `{"theme":`, `}`, "theme"},
	} {
		t.Run(name, func(t *testing.T) {
			owner := owner.in(t)
			for levels, status := range map[int]int{64: 200, 65: 400} {
				got := owner.send(place.method, place.path, `{"data":{"attributes":`+place.before+arrays(levels)+place.after+`}}`)
				got.what += ", " + name
				if got.want(status); status == 400 {
					got.refused(400, invalid("/data/attributes/"+place.pointer))
				}
			}
		})
	}
	for levels, status := range map[int]int{63: 200, 64: 400} {
		t.Run(fmt.Sprint(levels), func(t *testing.T) {
			owner := owner.in(t)
			got := owner.put(contextType, `{"data":{"attributes":{"attributes":{"a":`+arrays(levels)+`}}}}`)
			if got.want(status); status == 400 {
				got.refused(400, invalid("/data/attributes/attributes"))
			}
			reported := owner.post(contextsPath+"/bulk", `{"contexts":[{"type":"user","key":"a","attributes":{"a":`+arrays(levels)+`}}]}`).want(200)
			if reported.contains("rejected") != (status == 400) {
				t.Errorf("%d levels in a report: got %s", levels+1, reported.body)
			}
		})
	}
}

// TestReports_UnreadableItem: whatever one service reports, the others' reports and
// all lists stay readable.
func TestReports_UnreadableItem(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for value := range unreadable() {
			t.Run(fmt.Sprintf("%.40q", value), func(t *testing.T) {
				owner := owner.in(t)
				for path, body := range map[string]string{
					contextsPath + "/bulk": `{"contexts":[{"type":"user","key":"a","attributes":{"x":%}},{"type":"user","key":"b","attributes":{"x":1}},{"type":"user","key":"c","more":[%]}]}`,
					flagsPath + "/bulk":    `{"flags":[{"id":"a","type":"JSON","default":%},{"id":"b","type":"JSON","default":{"x":1}},{"id":"c","type":"JSON","default":[%]}]}`,
					loggersPath + "/bulk":  `{"loggers":[{"id":"a","more":%},{"id":"b"},{"id":"c","resolved_level":"INFO","x":{"y":%}}]}`,
				} {
					t.Run(path, func(t *testing.T) {
						got := owner.in(t).post(path, strings.ReplaceAll(body, "%", value), with("Content-Type", "application/json"), offContract).want(200)
						var outcome struct {
							Registered int
							Meta       struct {
								Rejected []struct {
									Index  int
									Detail string
								}
							}
						}
						got.decode(&outcome)
						rejected := outcome.Meta.Rejected
						if outcome.Registered != 1 || len(rejected) != 2 || rejected[0].Index != 0 || rejected[1].Index != 2 || rejected[0].Detail == "" {
							t.Errorf("%s with %s: got %s", path, value, got.body)
						}
					})
				}
				metrics := `{"data":[{"type":"metric","attributes":{"name":"n","value":1,"dimensions":{"x":` + value + `}}},{"type":"metric","attributes":{"name":"n","value":1}}]}`
				owner.post("/api/v1/metrics/bulk", metrics, offContract).want(202)
			})
		}
		owner.post(contextsPath+"/bulk", `{"contexts":[],"contexts":[]}`, offContract).refused(400, invalid("/contexts"))
		owner.post(contextsPath+"/bulk", `{"contexts":[],"more":1e999}`, offContract).refused(400, invalid("/more"))
		for _, path := range []string{contextsPath, typesPath, flagsPath, loggersPath} {
			if got := owner.get(path).want(200); !json.Valid(got.body) || len(got.ids()) != 1 {
				t.Errorf("%s: got %s", path, got.body)
			}
		}
	})
}

func TestEvaluate_UnreadableContext(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	path := owner.makeFlag("made", nil) + "/actions/evaluate"
	for value, at := range unreadable() {
		t.Run(fmt.Sprintf("%.40q", value), func(t *testing.T) {
			owner := owner.in(t)
			context := `{"user":{"key":` + value + `}}`
			owner.post(path, `{"environment":"production","context":`+context+`}`, offContract).refused(400, invalid("/context/user/key"+at))
			for _, key := range []string{"made", ""} {
				got := owner.ofrep(key, `{"context":`+context+`}`).want(400)
				if got.members()["errorCode"] != "PARSE_ERROR" || !strings.HasPrefix(got.members()["errorDetails"].(string), "context/user/key"+at) {
					t.Errorf("got %s", got.body)
				}
			}
		})
	}
	for name, body := range map[string]string{"not UTF-8": "{\"context\":{\"user\":\"\xff\"}}", "nested too deeply": `{"context":{"a":` + arrays(900) + `}}`} {
		t.Run(name, func(t *testing.T) {
			if got := owner.in(t).ofrep("made", body).want(400); got.members()["errorCode"] != "PARSE_ERROR" {
				t.Errorf("got %s", got.body)
			}
		})
	}
}
