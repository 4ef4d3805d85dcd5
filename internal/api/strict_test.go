package api_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// strictly asks for unknown members and parameters to be refused.
var strictly = with("Prefer", "handling=strict")

// meta returns what an answer says about its request.
func (a answer) meta() (meta struct {
	Ignored  []string
	Warnings []struct{ Pointer, Detail string }
	DryRun   bool `json:"dry_run"`
},
) {
	a.t.Helper()
	var document struct{ Meta *json.RawMessage }
	if a.decode(&document); document.Meta != nil {
		if err := json.Unmarshal(*document.Meta, &meta); err != nil {
			a.t.Fatal(err)
		}
	}
	return meta
}

// TestStrict_UnknownMembers: what nothing knows is listed in the order of the
// body, and refused if the caller wants that, with the name that was meant.
func TestStrict_UnknownMembers(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.post(environmentsPath, envelope("environment", "reverted", attributes{"name": "Reverted"})).want(201)
	changed := changesPath + "/" + owner.latest().ID
	key := aKey(owner)
	for _, c := range []struct {
		name, method, path, body string
		ignored, sentences       []string
	}{
		{"ttl on a logger", "PUT", loggersPath + "/a", `{"data":{"attributes":{"level":"DEBUG","ttl":600,"environments":{"production":{"level":"WARN","ttl":60}}}}}`,
			[]string{"/data/attributes/ttl", "/data/attributes/environments/production/ttl"},
			[]string{"ttl is not a known member; known are environments, group, group_id, level, level_expires_at, level_ttl_seconds, managed, name. Did you mean level_ttl_seconds?",
				"environments/production/ttl is not a known member; known are expires_at, level, ttl_seconds. Did you mean ttl_seconds?"}},
		{"enable on a flag", "POST", flagsPath, `{"data":{"id":"f","attributes":{"type":"BOOLEAN","default":true,"environments":{"production":{"enable":false,"rules":[{"logic":{"==":[{"var":"a"},1]},"value":true,"descriptin":"x"}]}}}}}`,
			[]string{"/data/attributes/environments/production/enable", "/data/attributes/environments/production/rules/0/descriptin"},
			[]string{"environments/production/enable is not a known member; known are default, enabled, rules. Did you mean enabled?",
				"environments/production/rules/0/descriptin is not a known member; known are description, logic, value. Did you mean description?"}},
		{"expires_in on a key", "PUT", key, `{"data":{"attributes":{"name":"k","expires_in":60}}}`,
			[]string{"/data/attributes/expires_in"}, []string{"expires_in is not a known member; known are access, expires_at, name, role, scopes. Did you mean expires_at?"}},
		{"time_zone on a job", "POST", jobsPath, envelope("job", "j", job(attributes{"time_zone": "Europe/Warsaw"})),
			[]string{"/data/attributes/time_zone"},
			[]string{"time_zone is not a known member; known are alerts, concurrency_policy, configuration, description, enabled, name, overlap, retry, schedule, timezone, type. Did you mean timezone?"}},
		{"members outside of the attributes", "POST", configsPath, `{"dat":1,"data":{"id":"c","attribute":{},"attributes":{"items":{"a~/":{"value":1,"typ":"NUMBER"}}}},"meta":{"a":1},"links":{},"jsonapi":{},"included":[]}`,
			[]string{"/dat", "/data/attribute", "/data/attributes/items/a~0~1/typ"},
			[]string{"dat is not a known member; known are data. Did you mean data?", "data/attribute is not a known member; known are attributes, id, type. Did you mean attributes?",
				"items/a~0~1/typ is not a known member; known are description, schema, type, value. Did you mean type?"}},
		{"an action", "POST", key + "/actions/revoke", `{"reason":"lost"}`,
			[]string{"/reason"}, []string{"reason is not a known member; there are none here."}},
		{"a revert", "POST", changed + "/actions/revert", `{"force":true}`,
			[]string{"/force"}, []string{"force is not a known member; there are none here."}},
		{"attributes of a service", "POST", servicesPath, `{"data":{"id":"s","attributes":{"attributes":{}}}}`,
			[]string{"/data/attributes/attributes"}, []string{"attributes is not a known member; known are name."}},
		{"an evaluation", "POST", flagsPath + "/f/actions/evaluate", `{"environment":"production","contxt":{}}`,
			[]string{"/contxt"}, []string{"contxt is not a known member; known are context, data, environment. Did you mean context?"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			owner := owner.in(t)
			before := owner.latest().ID
			refused := owner.send(c.method, c.path, c.body, strictly).want(400)
			if applied := refused.header.Get("Preference-Applied"); applied != "handling=strict" {
				t.Errorf("the refusal says %q", applied)
			}
			var problems []problem
			for _, each := range c.ignored {
				problems = append(problems, invalid(each))
			}
			refused.refused(400, problems...)
			for _, sentence := range c.sentences {
				if text, _ := json.Marshal(sentence); !refused.contains(string(text)) {
					t.Errorf("no %q in %s", sentence, refused.body)
				}
			}
			if after := owner.latest().ID; after != before {
				t.Errorf("what was refused changed something: %s after %s", after, before)
			}
			accepted := owner.send(c.method, c.path, c.body)
			if difference := cmp.Diff(c.ignored, accepted.meta().Ignored); difference != "" || accepted.status >= 300 {
				t.Errorf("%d, ignored (-want +got):\n%s", accepted.status, difference)
			}
		})
	}
}

// TestStrict_Reports: an item with an unknown member is rejected, like any other
// that cannot be stored as it is.
func TestStrict_Reports(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	const items = `[{"id":"a","type":"BOOLEAN","default":true},{"id":"b","type":"BOOLEAN","default":true,"env":"x"}]`
	owner.post(flagsPath+"/bulk", `{"flags":`+items+`,"srvice":"s"}`, strictly).refused(400, invalid("/srvice"))
	owner.get(flagsPath + "/a").want(404)
	got := owner.post(flagsPath+"/bulk", `{"flags":`+items+`}`, strictly).want(200)
	const want = `{"registered":1,"meta":{"rejected":[{"index":1,"detail":"env is not a known member; known are default, environment, id, service, type. Did you mean environment?"}]}}`
	if strings.TrimSpace(string(got.body)) != want {
		t.Errorf("got %s", got.body)
	}
	if got := owner.post(flagsPath+"/bulk", `{"flags":`+items+`}`).want(200); got.contains("meta") {
		t.Errorf("got %s", got.body)
	}
}

// TestStrict_RoundTrip: whatever is read can be sent back.
func TestStrict_RoundTrip(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for route, make := range matched() {
		t.Run(route, func(t *testing.T) {
			owner := owner.in(t)
			if !strings.HasPrefix(route, "PUT ") {
				return
			}
			path := make(owner)
			read := owner.get(path).want(200)
			if got := owner.put(path, string(read.body), strictly); got.status != 200 || got.contains(`"ignored"`) {
				t.Errorf("got %s", got.body)
			}
		})
	}
	created := owner.post(keysPath, envelope("", "", attributes{"name": "k"})).want(201)
	owner.put(keysPath+"/"+created.data().ID, string(created.body), strictly).want(200)
}

// TestStrict_EveryRoute: every answer says that it was strict, the requests of the
// access table have no unknown members, and an unknown parameter is refused before any effect.
func TestStrict_EveryRoute(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, row := range accessTable() {
		method, pattern, _ := strings.Cut(row.route, " ")
		if strings.HasPrefix(pattern, "/ofrep/") {
			continue
		}
		t.Run(row.route, func(t *testing.T) {
			t.Parallel()
			owner := owner.in(t)
			path, body := row.target(owner)
			bogus := withQuery(path, "bogus=1")
			if method == http.MethodGet && !strings.Contains(row.route, "/ws/") {
				owner.get(bogus, offContract) // which may be cached
			}
			refused := owner.send(method, bogus, body, strictly)
			refused.refused(400, wrongParameter("bogus"))
			answered := owner.send(method, path, body, strictly)
			if want := strings.Fields(row.want)[5]; strconv.Itoa(answered.status) != want {
				t.Errorf("got %d, want %s: %s", answered.status, want, answered.body)
			}
			for _, each := range []answer{refused, answered, owner.as("").send(method, path, body, strictly)} {
				if each.header.Get("Preference-Applied") != "handling=strict" {
					t.Errorf("a %d does not say that it was strict", each.status)
				}
			}
		})
	}
}

func TestStrict_Header(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for preference, want := range map[string]string{
		"handling=strict": "handling=strict", `Handling = "STRICT"`: "handling=strict", "respond-async, handling=strict; wait=5": "handling=strict",
		"handling=lenient": "", "handling=lenient, handling=strict": "", "handling": "", "strict": "", "": "",
	} {
		t.Run(fmt.Sprintf("%q", preference), func(t *testing.T) {
			owner := owner.in(t)
			for _, path := range []string{accountPath, "/api/v1/nowhere", "/api/liveness"} {
				if got := owner.get(path, with("Prefer", preference)).header.Get("Preference-Applied"); got != want {
					t.Errorf("%s, %q: got %q", path, preference, got)
				}
			}
		})
	}
	if got := owner.delete(accountPath, strictly).want(405); got.header.Get("Preference-Applied") == "" {
		t.Error("a 405 does not say that it was strict")
	}
}

// TestStrict_Parameters: the refusal names the known parameters of the list.
func TestStrict_Parameters(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	const known = "known are filter[managed], filter[references_context], filter[references_context_type], filter[search], filter[stale], filter[type], meta[total], page[number], page[size], sort."
	for query, sentence := range map[string]string{
		"?filter[serch]=a": "filter[serch] is not known here; " + known + " Did you mean filter[search]?",
		"?page[sice]=a":    "page[sice] is not known here; " + known + " Did you mean page[size]?",
	} {
		t.Run(query, func(t *testing.T) {
			if got := owner.in(t).get(flagsPath + query).want(400); !got.contains(sentence) {
				t.Errorf("no %q in %s", sentence, got.body)
			}
		})
	}
	owner.get(flagsPath+"?limit=5", offContract).want(200)
	limited := owner.get(flagsPath+"?limit=5", strictly)
	if limited.refused(400, wrongParameter("limit")); !limited.contains(known) {
		t.Errorf("got %s", limited.body)
	}
	owner.get(flagsPath+"?managed=true&page[size]=1&sort=key&meta[total]=true", strictly).want(200)
	owner.delete(anEnvironment(owner)+"?cascade=true&dry_run=true", strictly).want(204)
	owner.delete(anEnvironment(owner)+"?cascad=true", strictly).refused(400, wrongParameter("cascad"))
}

// withQuery adds a parameter to a path that may have some.
func withQuery(path, parameter string) string {
	if strings.Contains(path, "?") {
		return path + "&" + parameter
	}
	return path + "?" + parameter
}

// TestErrors_SayTheWayOut: errors name the place of the mistake and suggest what was probably
// meant.
func TestErrors_SayTheWayOut(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	config := aConfig(owner)
	for _, c := range []struct{ method, path, body, sentence string }{
		{"POST", loggersPath, envelope("logger", "a", attributes{}), "This path supports GET. A logger is created by PUT /api/v1/loggers/{id}, or reported by POST /api/v1/loggers/bulk."},
		{"PATCH", accountPath, "{}", "This path supports GET and PUT."},
		{"POST", flagsPath, "{\n  \"data\": {\n    \"ü\" 1}}", "The body is not valid JSON: line 3, column 9: invalid character '1' after object key."},
		{"PUT", loggersPath + "/a", envelope("", "", attributes{"environments": attributes{"prod": attributes{"level": "INFO"}}}), `The environment "prod" does not exist. Did you mean production?`},
		{"GET", config + "/resolved?environment=stagin", "", `environment must be an environment of this account, or be left out: "stagin" does not exist. Did you mean staging?`},
		{"POST", flagsPath, `{"data":{"id":"a"}}`, `data/attributes is required and must be an object such as {"name": "An example"}.`},
	} {
		t.Run(c.method+" "+c.path, func(t *testing.T) {
			got := owner.in(t).send(c.method, c.path, c.body)
			if text, _ := json.Marshal(c.sentence); got.status < 400 || !got.contains(string(text)) {
				t.Errorf("%s %s: no %q in %d, %s", c.method, c.path, c.sentence, got.status, got.body)
			}
		})
	}
}
