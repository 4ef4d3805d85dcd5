package api_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// outcome is the answer to a report.
type outcome struct {
	Registered int
	Meta       *struct {
		Rejected []struct {
			Index  int
			Detail string
		}
	}
}

// rejected returns the indices of skipped items.
func (o outcome) rejected() []int {
	var indices []int
	if o.Meta != nil {
		for _, each := range o.Meta.Rejected {
			indices = append(indices, each.Index)
		}
	}
	return indices
}

func (a answer) outcome() outcome {
	a.t.Helper()
	var result outcome
	a.want(200).decode(&result)
	if result.Meta != nil {
		for _, each := range result.Meta.Rejected {
			if !strings.HasSuffix(each.Detail, ".") || strings.TrimSpace(each.Detail) != each.Detail {
				a.t.Errorf("%s: the detail of item %d is no sentence: %q", a.what, each.Index, each.Detail)
			}
		}
	}
	return result
}

func TestReport_CreatesNew(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	got := owner.report(
		attributes{"type": "environment", "key": "preview-42"}, attributes{"type": "environment", "key": "production"},
		attributes{"type": "service", "key": "checkout"},
		attributes{"type": "user", "key": "alice", "attributes": attributes{"plan": "pro", "age": 7}},
		attributes{"type": "user", "key": "bob"},
	)
	if strings.TrimSpace(string(got.body)) != `{"registered":5}` {
		t.Errorf("got %s", got.body)
	}
	environment := owner.get(environmentsPath + "/preview-42").want(200).data().Attributes
	delete(environment, "created_at")
	delete(environment, "updated_at")
	want := map[string]any{"name": "preview-42", "color": nil, "classification": "AD_HOC", "managed": false}
	if difference := cmp.Diff(want, environment); difference != "" {
		t.Error(difference)
	}
	if production := owner.get(environmentsPath + "/production").want(200); production.attribute("managed") != true || production.text("name") != "Production" {
		t.Errorf("a report changed an environment: %s", production.body)
	}
	if order := owner.order(settingsPath); len(order) != 2 {
		t.Errorf("a report put an environment into the order: %v", order)
	}
	if service := owner.get(servicesPath + "/checkout").want(200); service.text("name") != "checkout" {
		t.Errorf("got %s", service.body)
	}
	requireJSON(t, owner.get(typesPath+"/user").want(200).attribute("attributes"), `{"plan":{},"age":{}}`)
	requireJSON(t, owner.get(contextsPath+"/user%3Aalice").want(200).attribute("attributes"), `{"plan":"pro","age":7}`)
	requireJSON(t, owner.get(contextsPath+"/user%3Abob").want(200).attribute("attributes"), `{}`)
	for _, missing := range []string{contextsPath + "/environment%3Apreview-42", typesPath + "/service", typesPath + "/environment"} {
		t.Run(missing, func(t *testing.T) { owner.in(t).get(missing).want(404) })
	}
}

func requireJSON(t *testing.T, got any, want string) {
	t.Helper()
	var wanted any
	if err := json.Unmarshal([]byte(want), &wanted); err != nil {
		t.Fatal(err)
	}
	if difference := cmp.Diff(wanted, got); difference != "" {
		t.Errorf("want (-), got (+):\n%s", difference)
	}
}

func TestReport_RefreshesKnown(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	alice := contextsPath + "/user%3Aalice"
	owner.report(attributes{"type": "user", "key": "alice", "attributes": attributes{"plan": "free"}}).want(200)
	owner.put(alice, envelope("context", "user:alice", attributes{"name": "Alice", "attributes": attributes{"plan": "mine"}, "key": "x"})).want(200)
	requireJSON(t, owner.get(alice).attribute("attributes"), `{"plan":"free"}`) // PUT changes the name only
	owner.put(typesPath+"/user", envelope("", "", attributes{"name": "Person", "attributes": attributes{"plan": attributes{"note": "x"}}})).want(200)

	owner.discover("user", "alice") // without attributes: the earlier ones stay
	requireJSON(t, owner.get(alice).attribute("attributes"), `{"plan":"free"}`)
	owner.report(attributes{"type": "user", "key": "alice", "attributes": nil}).want(200)
	requireJSON(t, owner.get(alice).attribute("attributes"), `{"plan":"free"}`)
	owner.report(attributes{"type": "user", "key": "alice", "attributes": attributes{"country": "de"}}).want(200)
	requireJSON(t, owner.get(alice).attribute("attributes"), `{"country":"de"}`)
	owner.report(attributes{"type": "user", "key": "alice", "attributes": attributes{}}).want(200)
	requireJSON(t, owner.get(alice).attribute("attributes"), `{}`)
	if name := owner.get(alice).text("name"); name != "Alice" {
		t.Errorf("a report renamed the context to %q", name)
	}
	requireJSON(t, owner.get(typesPath+"/user").attribute("attributes"), `{"plan":{"note":"x"},"country":{}}`)
	if name := owner.get(typesPath + "/user").text("name"); name != "Person" {
		t.Errorf("a report renamed the type to %q", name)
	}
}

func TestReport_SkipsInvalidItems(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	items := []string{
		`{"type":"user","key":"kept"}`,         // 0
		`null`,                                 // 1
		`"user:alice"`,                         // 2
		`[]`,                                   // 3
		`{}`,                                   // 4
		`{"type":"user"}`,                      // 5
		`{"key":"alice"}`,                      // 6
		`{"type":"","key":"alice"}`,            // 7
		`{"type":"user","key":""}`,             // 8
		`{"type":7,"key":"alice"}`,             // 9
		`{"type":"user","key":7}`,              // 10
		`{"type":"a:b","key":"alice"}`,         // 11
		`{"type":"user","key":"` + long + `"}`, // 12
		`{"type":"` + long[:101] + `","key":"alice"}`,                                      // 13
		`{"type":"user","key":"line\nbreak"}`,                                              // 14
		`{"type":"user","key":"zero\u0000"}`,                                               // 15
		`{"type":"environment","key":"no spaces"}`,                                         // 16
		`{"type":"environment","key":"` + long[:101] + `"}`,                                // 17
		`{"type":"user","key":"alice","attributes":[]}`,                                    // 18
		`{"type":"user","key":"alice","attributes":"x"}`,                                   // 19
		`{"type":"user","key":"` + long[:255] + `"}`,                                       // 20, kept
		`{"type":"user","key":"kept","attributes":{"a":1}}`,                                // 21, the same as 0
		`{"type":"` + long[:100] + `","key":"with space"}`,                                 // 22, kept
		`{"type":"user","key":"a","attributes":{"a":"` + strings.Repeat(long, 257) + `"}}`, // 23
		`{"type":"service","key":"any thing/at:all"}`,                                      // 24, kept
	}
	owner := newOwner(t, "pro")
	got := owner.post(contextsPath+"/bulk", `{"contexts":[`+strings.Join(items, ",")+`]}`, offContract).outcome()
	want := []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 23}
	if difference := cmp.Diff(want, got.rejected()); difference != "" {
		t.Errorf("rejected: want (-), got (+):\n%s", difference)
	}
	if got.Registered != 4 {
		t.Errorf("registered %d, want 4 distinct ones", got.Registered)
	}
	requireJSON(t, owner.get(contextsPath+"/user%3Akept").want(200).attribute("attributes"), `{"a":1}`)
	owner.get(servicesPath + "/" + encodeAll("any thing/at:all")).want(200)
	owner.get(contextsPath + "/user%3Aalice").want(404)
	if got := owner.post(contextsPath+"/bulk", `{"contexts":[]}`).outcome(); got.Registered != 0 || got.Meta != nil {
		t.Errorf("an empty report: got %+v", got)
	}
}

// TestReport_RejectionSentences: each sentence starts with the member that is
// wrong.
func TestReport_RejectionSentences(t *testing.T) {
	t.Parallel()
	notObject, wrongLevel := `The item must be an object.`, `must be TRACE, DEBUG, INFO, WARN, ERROR, FATAL or SILENT.`
	label := `must have 1 to 255 characters and no control characters or bidirectional overrides.`
	owner := newOwner(t, "pro")
	owner.makeGroup("group", attributes{})
	scoped := owner.as(owner.makeKey(attributes{"scopes": attributes{"environments": []string{"production"}}}).secret)
	for path, items := range map[string][][2]string{
		flagsPath: {
			{`7`, notObject},
			{`{"id":7,"type":"STRING"}`, `id must be a string.`},
			{`{"id":"","type":"STRING"}`, `id must be 1 to 200 letters, digits, dots, underscores or hyphens and start with a letter or digit.`},
			{`{"id":"a","type":"DATE"}`, `type must be BOOLEAN, STRING, NUMERIC or JSON.`},
			{`{"id":"a","type":"STRING"}`, `default is required and must be a string.`},
			{`{"id":"a","type":"BOOLEAN","default":"on"}`, `default must be true or false, as the flag is BOOLEAN.`},
			{`{"id":"a","type":"STRING","default":"x","service":"\n"}`, `service ` + label},
			{`{"id":"a","type":"STRING","default":"x","service":"a\u202e"}`, `service ` + label},
			{`{"id":"a","type":"STRING","default":"x","environment":""}`, `environment ` + label},
			{`{"id":"a","type":"STRING","default":"x","environment":"staging"}`, `environment must be one that this key may report.`},
		},
		loggersPath: {
			{`[]`, notObject},
			{`{}`, `id must have 1 to 255 characters and no control characters or bidirectional overrides, and must not be *.`},
			{`{"id":"a\u202e"}`, `id must have 1 to 255 characters and no control characters or bidirectional overrides, and must not be *.`},
			{`{"id":"/"}`, `id must not be "/", "." or "..", which no path can name.`},
			{`{"id":"a","level":"LOUD"}`, `level ` + wrongLevel},
			{`{"id":"a","resolved_level":"LOUD"}`, `resolved_level ` + wrongLevel},
			{`{"id":"a","service":""}`, `service ` + label},
			{`{"id":"a","environment":"staging"}`, `environment must be one that this key may report.`},
			{`{"id":"group","environment":"production"}`, `id must not be that of a log group: loggers and log groups share their ids.`},
		},
		contextsPath: {
			{`null`, notObject},
			{`{"key":"a"}`, `type must have 1 to 100 characters.`},
			{`{"type":"a:b","key":"a"}`, `type must not contain a colon.`},
			{`{"type":"user","key":"\n"}`, `key must not contain U+000A, a control character.`},
			{`{"type":"user","key":"a\u202eb"}`, `key must not contain U+202E, which changes the order in which text is shown.`},
			{`{"type":"us\u001ber","key":"a"}`, `type must not contain U+001B, a control character.`},
			{`{"type":"service","key":".."}`, `key must not be "/", "." or "..", which no path can name.`},
			{`{"type":"user","key":"a","attributes":{"a":"` + strings.Repeat("x", 16<<10) + `"}}`, `attributes must have at most 16384 bytes.`},
			{`{"type":"environment","key":"staging"}`, `key must be an environment that this API key may report.`},
		},
	} {
		t.Run(path, func(t *testing.T) {
			scoped := scoped.in(t)
			for _, item := range items {
				t.Run(fmt.Sprintf("%.60s", item[0]), func(t *testing.T) {
					name := path[strings.LastIndex(path, "/")+1:]
					got := scoped.in(t).post(path+"/bulk", `{"`+name+`":[`+item[0]+`]}`, offContract).outcome()
					if got.Meta == nil || got.Meta.Rejected[0].Detail != item[1] {
						t.Errorf("%s %.80s: got %+v, want %s", path, item[0], got, item[1])
					}
				})
			}
		})
	}
}

func TestReport_ScopedKey(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	scoped := owner.as(owner.makeKey(attributes{"role": "VIEWER", "scopes": attributes{"environments": []string{"staging"}}}).secret)
	got := scoped.report(attributes{"type": "environment", "key": "preview"}, attributes{"type": "environment", "key": "staging"},
		attributes{"type": "service", "key": "checkout"}, attributes{"type": "user", "key": "alice"}).outcome()
	if got.Registered != 3 || !cmp.Equal(got.rejected(), []int{0}) {
		t.Errorf("got %+v", got)
	}
	owner.get(environmentsPath + "/preview").want(404)
	owner.get(servicesPath + "/checkout").want(200)
}

func TestReport_Large(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		var items []attributes
		for i := range 1500 {
			items = append(items, attributes{"type": "user", "key": fmt.Sprintf("user-%04d", i), "attributes": attributes{"n": i}})
		}
		if got := owner.report(items...).outcome(); got.Registered != len(items) {
			t.Errorf("registered %d of %d", got.Registered, len(items))
		}
		got := owner.get(contextsPath + "?page[number]=2&meta[total]=true").want(200)
		requirePagination(t, got, map[string]int{"page": 2, "size": 1000, "total": 1500, "total_pages": 2})
		if first := got.ids()[0]; first != "user:user-1000" {
			t.Errorf("the second page starts with %s", first)
		}
	})
}

func TestServicesAndContexts_Lifecycle(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for _, make := range []func(client) string{aService, aContextType, aContext} {
		path := make(owner)
		t.Run(path, func(t *testing.T) {
			owner := owner.in(t)
			made := owner.get(path).want(200)
			renamed := owner.put(path, envelope(made.data().Type, made.data().ID, attributes{"name": "Renamed"})).want(200)
			if renamed.text("name") != "Renamed" || renamed.data().ID != made.data().ID || renamed.text("created_at") != made.text("created_at") {
				t.Errorf("got %s", renamed.body)
			}
			for _, body := range []attributes{{}, {"name": nil}} {
				id := made.data().ID
				if _, key, isContext := strings.Cut(id, ":"); isContext {
					id = key
				}
				owner.put(path, envelope("", "", attributes{"name": "Again"})).want(200)
				if got := owner.put(path, envelope("", "", body)).want(200); got.text("name") != id {
					t.Errorf("without a name it is called %q", got.text("name"))
				}
			}
			owner.delete(path).want(204)
			owner.get(path).refused(404, problem{code: "not_found"})
			owner.put(path, envelope("", "", attributes{"name": "N"})).refused(404, problem{code: "not_found"})
			owner.delete(path).refused(404, problem{code: "not_found"})
		})
	}
	t.Run("a context type takes its contexts along", func(t *testing.T) {
		owner := owner.in(t)
		owner.discover("tenant", "a")
		owner.discover("tenants", "a")
		owner.delete(typesPath + "/tenant").want(204)
		owner.get(contextsPath + "/tenant%3Aa").want(404)
		owner.get(contextsPath + "/tenants%3Aa").want(200)
		owner.discover("tenant", "a") // and comes back when it is reported again
		owner.get(typesPath + "/tenant").want(200)
	})
	t.Run("the attributes of a context type are replaced and never null", func(t *testing.T) {
		owner := owner.in(t)
		path := aContextType(owner)
		owner.put(path, envelope("", "", attributes{"attributes": attributes{"b": attributes{}, "a": 1}})).want(200)
		requireJSON(t, owner.get(path).attribute("attributes"), `{"b":{},"a":1}`)
		for _, body := range []attributes{{"attributes": nil}, {}} {
			requireJSON(t, owner.put(path, envelope("", "", body)).want(200).attribute("attributes"), `{}`)
		}
	})
	t.Run("there is no way to make a context by hand", func(t *testing.T) {
		owner.in(t).post(contextsPath, envelope("", "user:x", attributes{})).refused(405, problem{code: "method_not_allowed"})
	})
}

func TestContextTypes_Create(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		member := owner.withRole("MEMBER")
		made := member.post(typesPath, envelope("context_type", "tenant", attributes{"name": "Tenant", "attributes": attributes{"plan": attributes{}}})).want(201)
		if made.data().ID != "tenant" || made.text("name") != "Tenant" || made.header.Get("Etag") != owner.get(typesPath+"/tenant").want(200).header.Get("Etag") {
			t.Errorf("got %s", made.body)
		}
		requireJSON(t, made.attribute("attributes"), `{"plan":{}}`)
		latest := owner.latest().Attributes
		if latest["kind"] != "context_type" || latest["key"] != "tenant" || latest["action"] != "created" {
			t.Errorf("the history has %v", latest)
		}
		// Some clients send the id with the attributes.
		inner := member.post(typesPath, `{"data":{"attributes":{"id":"device"}}}`, strictly).want(201)
		if inner.data().ID != "device" || inner.text("name") != "device" {
			t.Errorf("got %s", inner.body)
		}
		requireJSON(t, inner.attribute("attributes"), `{}`)
		exists := problem{code: "already_exists", source: "pointer /data/id"}
		member.post(typesPath, envelope("", "tenant", attributes{})).refused(409, exists)
		member.post(typesPath, `{"data":{"attributes":{"id":"device"}}}`).refused(409, exists)
		owner.discover("found", "key")
		member.post(typesPath, envelope("", "found", attributes{})).refused(409, exists)
		for _, id := range []string{"", "a:b", "a\nb", ".", strings.Repeat("x", 101)} {
			t.Run(fmt.Sprintf("%.40q", id), func(t *testing.T) {
				member.in(t).post(typesPath, envelope("", id, attributes{}), offContract).refused(400, invalid("/data/id"))
			})
		}
		owner.withRole("VIEWER").post(typesPath, envelope("", "viewed", attributes{})).refused(403, problem{code: "forbidden"})
		member.delete(typesPath + "/tenant").want(204)
		member.post(typesPath, envelope("", "tenant", attributes{})).want(201)
	})
}

// metric returns one measurement as clients send it.
func metric(name string, value any, more attributes) attributes {
	measured := attributes{"name": name, "value": value}
	maps.Copy(measured, more)
	return attributes{"type": "metric", "attributes": measured}
}

func (c client) measure(metrics ...any) answer {
	c.t.Helper()
	text, err := json.Marshal(attributes{"data": metrics})
	if err != nil {
		c.t.Fatal(err)
	}
	return c.post("/api/v1/metrics/bulk", string(text), with("Content-Type", "application/json"), offContract)
}

func TestReport_Metrics(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	account := owner.get(accountPath).data().ID
	now := time.Now().UTC().Format(time.RFC3339Nano)
	for _, batch := range [][]any{
		{metric("flags.evaluations", 118, attributes{"unit": "count", "period_seconds": 60, "dimensions": attributes{"flag": "a", "env": "b"}, "recorded_at": now})},
		{metric("flags.evaluations", 2, attributes{"unit": "count", "dimensions": attributes{"env": "b", "flag": "a"}, "recorded_at": now}), metric("latency", -1.5, nil)},
		{}, {nil, 5, "x", []any{}, attributes{}, attributes{"attributes": nil}, metric("", 1, nil), metric("no-value", nil, nil), metric("text", "5", nil),
			metric("bad-time", 1, attributes{"recorded_at": "yesterday"}), metric("old", 1, attributes{"recorded_at": "2001-01-01T00:00:00Z"}),
			metric("future", 1, attributes{"recorded_at": later(48 * time.Hour)}), metric("bad-unit", 1, attributes{"unit": strings.Repeat("u", 51)}),
			metric("zero\x00byte", 1, nil), metric("dimensions", 1, attributes{"dimensions": []int{1}})},
	} {
		if got := owner.measure(batch...).want(202); len(got.body) != 0 || got.header.Get("Content-Type") != "" {
			t.Errorf("got the body %q", got.body)
		}
	}
	if open := string(owner.get("/metrics").want(200).body); strings.Contains(open, account) || strings.Contains(open, "flags.evaluations") {
		t.Error("/metrics, which needs no key, shows what an account reports")
	}
	recorder := httptest.NewRecorder()
	owner.node.App.MetricsHandler().ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	page := recorder.Body.String()
	for _, line := range []string{
		fmt.Sprintf(`signalbox_reported_sum{account=%q,name="flags.evaluations",unit="count"} 120`, account),
		fmt.Sprintf(`signalbox_reported_samples_total{account=%q,name="flags.evaluations",unit="count"} 2`, account),
		fmt.Sprintf(`signalbox_reported_sum{account=%q,name="latency",unit=""} -1.5`, account),
	} {
		if !strings.Contains(page, line+"\n") {
			t.Errorf("the operator's metrics do not have %s", line)
		}
	}
	for _, name := range []string{"no-value", "text", "bad-time", "old", "future", "bad-unit", "dimensions", "zero"} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(page, `name="`+name) {
				t.Errorf("the operator's metrics have the unusable %s", name)
			}
		})
	}
	requireMinutes(t, owner.node.Database, account)
}

// requireMinutes checks that equal dimensions were added up, whatever the order
// of their members.
func requireMinutes(t *testing.T, database storetest.Database, account string) {
	t.Helper()
	minutes := storetest.MetricSums(t, database.Open(t), account, observations.ByMinute, observations.MetricFilter{})
	for _, minute := range minutes {
		if minute.Name == "flags.evaluations" && (minute.Samples != 2 || minute.Sum != 120 || minute.Minimum != 2 || minute.Maximum != 118) {
			t.Errorf("stored %+v", minute)
		}
	}
	if len(minutes) != 2 {
		t.Errorf("stored %+v, want two series", minutes)
	}
}

// TestReport_MetricOverflow: each value is finite, their sum is not.
func TestReport_MetricOverflow(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(_ *testing.T, owner client) {
		for _, batch := range [][]any{
			{metric("huge", 1e308, nil)}, {metric("huge", 1e308, nil)}, {metric("huge", -1e308, nil), metric("huge", -1e308, nil)},
			{metric("both", 1.7e308, nil), metric("both", 1.7e308, nil)}, {metric("both", -1.7e308, nil), metric("both", -1.7e308, nil)},
			{metric("tiny", 5e-324, nil)}, {metric("tiny", -5e-324, nil)},
		} {
			owner.measure(batch...).want(202)
		}
		owner.get("/metrics").want(200)
	})
}

// TestReport_LongestKeys: a key's length is counted in characters, and the
// indexes of a database in bytes.
func TestReport_LongestKeys(t *testing.T) {
	t.Parallel()
	rockets := func(count int) string { return strings.Repeat("🚀", count) }
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.post(servicesPath, envelope("", rockets(255), attributes{"name": rockets(255)})).want(201)
		owner.get(servicesPath + "/" + encodeAll(rockets(255))).want(200)
		if got := owner.report(attributes{"type": rockets(100), "key": rockets(255), "attributes": attributes{rockets(1000): "\x00"}}).outcome(); got.Registered != 1 {
			t.Errorf("registered %+v", got)
		}
		owner.put(contextsPath+"/"+encodeAll(rockets(100)+":"+rockets(255)), envelope("", "", attributes{"name": rockets(255)})).want(200)
		owner.makeKey(attributes{"name": rockets(255)})
		owner.measure(metric(rockets(255), 1, attributes{"unit": rockets(50), "dimensions": attributes{"a": strings.Repeat("x", 1000)}})).want(202)
		owner.put(settingsPath, envelope("", "", attributes{rockets(1000): rockets(50_000)})).want(200)
		owner.get(changesPath + "?filter[resource]=" + "service:" + encodeAll(rockets(255))).want(200)
	})
}
