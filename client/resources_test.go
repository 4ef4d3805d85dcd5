package signalbox

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/client/internal/testenv"
	"github.com/signalbox/signalbox/client/loglevel"
)

// pagesOf serves a list of numbered services.
func pagesOf(t *testing.T, count, defaultSize int) (*Client, *atomic.Int32) {
	t.Helper()
	calls := new(atomic.Int32)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		calls.Add(1)
		query := r.URL.Query()
		number, size := 1, defaultSize
		if text := query.Get("page[number]"); text != "" {
			number, _ = strconv.Atoi(text)
		}
		if text := query.Get("page[size]"); text != "" {
			size, _ = strconv.Atoi(text)
		}
		var items []string
		for i := (number - 1) * size; i < min(number*size, count); i++ {
			items = append(items, fmt.Sprintf(`{"id":"s%d","attributes":{"name":"Service %[1]d"}}`, i))
		}
		fmt.Fprintf(w, `{"data":[%s],"meta":{"pagination":{"page":%d,"size":%d}}}`, strings.Join(items, ","), number, size)
	}))
	t.Cleanup(server.Close)
	client, err := New(server.URL, "k")
	if err != nil {
		t.Fatal(err)
	}
	return client, calls
}

func TestAll_Pages(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		count, size, first, want int
		calls                    int32
	}{
		"none":                    {0, 3, 0, 0, 1},
		"less than a page":        {2, 3, 0, 2, 1},
		"exactly a page":          {3, 3, 0, 3, 2},
		"several pages":           {8, 3, 0, 8, 3},
		"several full pages":      {9, 3, 0, 9, 4},
		"from the second page on": {8, 3, 2, 5, 2},
		"the server's own size":   {12, 0, 0, 12, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client, calls := pagesOf(t, test.count, 5)
			got := 0
			for service, err := range client.Services.All(t.Context(), ServiceParams{Paging: Paging{Size: test.size, Number: test.first}}) {
				if err != nil {
					t.Fatal(err)
				}
				if want := fmt.Sprintf("s%d", got+test.count-test.want); service.ID != want {
					t.Errorf("got %s instead of %s", service.ID, want)
				}
				got++
			}
			if got != test.want || calls.Load() != test.calls {
				t.Errorf("%d items in %d calls", got, calls.Load())
			}
		})
	}
}

func TestAll_BreakStopsRequests(t *testing.T) {
	t.Parallel()
	client, calls := pagesOf(t, 100, 10)
	for range client.Services.All(t.Context(), ServiceParams{}) {
		break
	}
	if calls.Load() != 1 {
		t.Errorf("%d calls", calls.Load())
	}
}

// TestAll_ServerWithoutSize: a server without page sizes, or a proxy before it, might send the same
// page forever.
func TestAll_ServerWithoutSize(t *testing.T) {
	t.Parallel()
	server := newStub(t, ok(`{"data":[{"id":"a","attributes":{"name":"A"}}]}`), refused(http.StatusUnauthorized, CodeUnauthorized))
	client, _ := server.client(t)
	for service, err := range client.Services.All(t.Context(), ServiceParams{}) {
		if service.ID != "a" || err != nil {
			t.Errorf("got %q and %v after the only page", service.ID, err)
		}
	}
}

func TestAll_EndsWithFirstError(t *testing.T) {
	t.Parallel()
	server := newStub(t,
		ok(`{"data":[{"id":"a","attributes":{"name":"A"}}],"meta":{"pagination":{"page":1,"size":1}}}`),
		refused(http.StatusUnauthorized, CodeUnauthorized))
	client, _ := server.client(t)
	var got []string
	for service, err := range client.Services.All(t.Context(), ServiceParams{Paging: Paging{Size: 1}}) {
		got = append(got, fmt.Sprintf("%s %t", service.ID, IsUnauthorized(err)))
	}
	if diff := testenv.Diff([]string{"a false", " true"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestParams_Query(t *testing.T) {
	t.Parallel()
	yes := true
	from := time.Date(2030, 1, 1, 13, 0, 0, 0, time.FixedZone("", 3600))
	tests := []struct{ got, want url.Values }{
		{Paging{}.query(), url.Values{}},
		{Paging{Number: 2, Size: 10, Sort: []string{"-created_at", "name"}, Total: true}.query(),
			url.Values{"page[number]": {"2"}, "page[size]": {"10"}, "sort": {"-created_at,name"}, "meta[total]": {"true"}}},
		{EnvironmentParams{Search: "a&b", Classification: ClassificationAdHoc, Managed: &yes}.query(),
			url.Values{"filter[search]": {"a&b"}, "filter[classification]": {"AD_HOC"}, "filter[managed]": {"true"}}},
		{ContextParams{Type: "user", Search: "x"}.query(), url.Values{"filter[context_type]": {"user"}, "filter[search]": {"x"}}},
		{ContextTypeParams{Search: "x"}.query(), url.Values{"filter[search]": {"x"}}},
		{ServiceParams{Search: "x"}.query(), url.Values{"filter[search]": {"x"}}},
		{FlagParams{}.query(), url.Values{}},
		{FlagParams{Search: "x", Type: flageval.Numeric, Managed: &yes, ReferencesContext: ContextID("user", "a:b"), ReferencesContextType: "team", Stale: &yes}.query(),
			url.Values{"filter[search]": {"x"}, "filter[type]": {"NUMERIC"}, "filter[managed]": {"true"},
				"filter[references_context]": {"user:a:b"}, "filter[references_context_type]": {"team"}, "filter[stale]": {"true"}}},
		{SourceParams{Service: "s", Environment: "e", Paging: Paging{Sort: []string{"service"}}}.query(),
			url.Values{"filter[service]": {"s"}, "filter[environment]": {"e"}, "sort": {"service"}}},
		{LoggerParams{Search: "x", Managed: &yes, Group: "g", Service: "s", SeenSince: from}.query(),
			url.Values{"filter[search]": {"x"}, "filter[managed]": {"true"}, "filter[group]": {"g"}, "filter[service]": {"s"},
				"filter[last_seen]": {"[2030-01-01T12:00:00Z,*)"}}},
		{LogGroupParams{Search: "x"}.query(), url.Values{"filter[search]": {"x"}}},
		{ConfigParams{Parent: "common", Search: "x"}.query(), url.Values{"filter[parent]": {"common"}, "filter[search]": {"x"}}},
		{JobParams{Search: "x", Enabled: &yes, Paging: Paging{Size: 5}}.query(),
			url.Values{"filter[search]": {"x"}, "filter[enabled]": {"true"}, "page[size]": {"5"}}},
		{RunParams{}.query(), url.Values{}},
		{RunParams{Job: "j", Status: RunFailed, Trigger: RunTriggerRerun, From: from, Size: 7, After: "a"}.query(),
			url.Values{"filter[job]": {"j"}, "filter[status]": {"FAILED"}, "filter[trigger]": {"RERUN"},
				"filter[created_at]": {"[2030-01-01T12:00:00Z,*)"}, "page[size]": {"7"}, "page[after]": {"a"}}},
		{ChangeParams{}.query(), url.Values{}},
		{ChangeParams{Resource: "flag:x", Actor: "a", From: from, Size: 3, After: "9"}.query(),
			url.Values{"filter[resource]": {"flag:x"}, "filter[actor]": {"a"}, "filter[created_at]": {"[2030-01-01T12:00:00Z,*)"},
				"page[size]": {"3"}, "page[after]": {"9"}}},
		{ChangeParams{To: from}.query(), url.Values{"filter[created_at]": {"[*,2030-01-01T12:00:00Z)"}}},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%q", test.want.Encode()), func(t *testing.T) {
			if diff := testenv.Diff(test.want, test.got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// The link to the next page has the server's public address. The key must not be sent there.
func TestChangesAPI_All_SendsCursorNotLink(t *testing.T) {
	t.Parallel()
	page := func(id, next string) reply {
		return ok(`{"data":[{"id":"` + id + `","attributes":{"kind":"environment","key":"x","before":null,"after":{"name":"X"}}}],"meta":{"page_size":1},"links":{"next":` + next + `}}`)
	}
	server := newStub(t,
		page("9", `"https://elsewhere.example/api/v1/changes?page%5Bafter%5D=9&page%5Bsize%5D=1"`),
		page("8", `"https://elsewhere.example/api/v1/changes?page%5Bafter%5D=8&page%5Bsize%5D=1"`),
		page("7", `null`))
	client, _ := server.client(t)
	var got []string
	for change, err := range client.Changes.All(t.Context(), ChangeParams{Size: 1, Resource: "environment:x"}) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, change.ID+string(change.Before)+string(change.After))
	}
	if diff := testenv.Diff([]string{`9null{"name":"X"}`, `8null{"name":"X"}`, `7null{"name":"X"}`}, got); diff != "" {
		t.Error(diff)
	}
	var uris []string
	for _, each := range server.requests() {
		uris = append(uris, each.uri)
	}
	const base = "/api/v1/changes?filter%5Bresource%5D=environment%3Ax&"
	want := []string{base + "page%5Bsize%5D=1", base + "page%5Bafter%5D=9&page%5Bsize%5D=1", base + "page%5Bafter%5D=8&page%5Bsize%5D=1"}
	if diff := testenv.Diff(want, uris); diff != "" {
		t.Error(diff)
	}
}

func TestChangesAPI_All_EndsEarlyOrWithFirstError(t *testing.T) {
	t.Parallel()
	first := ok(`{"data":[{"id":"9","attributes":{}},{"id":"8","attributes":{}}],"meta":{"page_size":2},"links":{"next":"/?page[after]=8"}}`)
	server := newStub(t, first, refused(http.StatusForbidden, CodeForbidden))
	client, _ := server.client(t)
	for range client.Changes.All(t.Context(), ChangeParams{}) {
		break
	}
	server.only(t)

	server = newStub(t, first, refused(http.StatusForbidden, CodeForbidden))
	client, _ = server.client(t)
	var got []string
	for change, err := range client.Changes.All(t.Context(), ChangeParams{}) {
		got = append(got, fmt.Sprintf("%s %t", change.ID, IsForbidden(err)))
	}
	if diff := testenv.Diff([]string{"9 false", "8 false", " true"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestChangesAPI_List_LinkWithoutCursor(t *testing.T) {
	t.Parallel()
	for _, link := range []string{`"http://host/?page=2"`, `"http://[::1"`} {
		t.Run(link, func(t *testing.T) {
			server := newStub(t, ok(`{"data":[],"meta":{"page_size":1},"links":{"next":`+link+`}}`))
			client, _ := server.client(t)
			if _, err := client.Changes.List(t.Context(), ChangeParams{}); err == nil || !strings.Contains(err.Error(), "the link to the next page") {
				t.Error(err)
			}
		})
	}
}

func TestDrafts_JSON(t *testing.T) {
	t.Parallel()
	color, no := "#0a7", false
	at := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	tests := []struct {
		draft any
		want  string
	}{
		{EnvironmentDraft{Name: "A"}, `{"name":"A","color":null}`},
		{EnvironmentDraft{Name: "A", Color: &color, Classification: ClassificationAdHoc, Managed: &no},
			`{"name":"A","color":"#0a7","classification":"AD_HOC","managed":false}`},
		{KeyDraft{Name: "A"}, `{"name":"A"}`},
		{KeyDraft{Name: "A", Role: RoleViewer, Scopes: &KeyScopes{}, ExpiresAt: &time.Time{}},
			`{"expires_at":null,"name":"A","role":"VIEWER","scopes":{}}`},
		{KeyDraft{Name: "A", Access: AccessEvaluate, Scopes: &KeyScopes{Environments: []string{"e"}, Origins: []string{"https://o"}}},
			`{"access":"evaluate","name":"A","scopes":{"environments":["e"],"origins":["https://o"]}}`},
		{KeyDraft{Name: "A", Scopes: &KeyScopes{Environments: []string{"e"}}, ExpiresAt: &at},
			`{"expires_at":"2030-01-01T00:00:00Z","name":"A","scopes":{"environments":["e"]}}`},
		{AccountDraft{Name: "A"}, `{"name":"A"}`},
		{SettingsDraft{}, `{}`},
		{SettingsDraft{EnvironmentOrder: []string{}, Other: map[string]json.RawMessage{"theme": []byte(`"dark"`), "environment_order": []byte(`["x"]`)}},
			`{"environment_order":[],"theme":"dark"}`},
		{ServiceDraft{}, `{}`},
		{ContextTypeDraft{Name: "U", Attributes: map[string]json.RawMessage{"plan": []byte(`{}`)}}, `{"name":"U","attributes":{"plan":{}}}`},
		{ContextDraft{Name: "A"}, `{"name":"A"}`},
		{FlagDraft{Type: flageval.JSON}, `{"description":null,"type":"JSON","default":null,"values":null,"environments":null}`},
		{FlagDraft{Name: "A", Description: &color, Type: flageval.Numeric, Default: []byte("1"), Values: []FlagChoice{{"One", []byte("1")}}, Managed: &no,
			Environments: map[string]flageval.Environment{"e": {Rules: []flageval.Rule{{Logic: []byte(`{}`), Value: []byte("1")}}}}},
			`{"name":"A","description":"#0a7","type":"NUMERIC","default":1,"values":[{"name":"One","value":1}],"managed":false,` +
				`"environments":{"e":{"enabled":false,"default":null,"rules":[{"description":"","logic":{},"value":1}]}}}`},
		{LoggerDraft{}, `{"level":null}`},
		{LoggerDraft{Name: "A", Base: LevelSetting{Level: loglevel.Warn, ExpiresAt: &at}, Group: "g", Release: true,
			Environments: map[string]LevelSetting{"e": {Level: loglevel.Debug, TTL: 90 * time.Second}, "f": {Level: loglevel.Info, Permanent: true}}},
			`{"environments":{"e":{"level":"DEBUG","ttl_seconds":90},"f":{"expires_at":null,"level":"INFO"}},"group":"g","level":"WARN",` +
				`"level_expires_at":"2030-01-01T00:00:00Z","managed":false,"name":"A"}`},
		{LogGroupDraft{Name: "A", Base: LevelSetting{Level: loglevel.Warn}}, `{"level":"WARN","name":"A"}`},
		{JobDraft{Name: "A", Schedule: ScheduleNow, Configuration: JobConfiguration{URL: "http://h/"}},
			`{"name":"A","description":null,"schedule":"now","configuration":{"url":"http://h/","headers":null,"ca_cert":null,"body":null}}`},
		{ConfigDraft{}, `{"description":null,"environments":null,"items":null}`},
		{ConfigDraft{Name: "A", Standalone: true, Items: map[string]ConfigItem{"a": {Value: []byte("1")}}},
			`{"description":null,"environments":null,"items":{"a":{"value":1,"description":null}},"name":"A","parent":null}`},
		{ConfigDraft{Parent: &color, Environments: map[string]ConfigOverrides{"e": {"a": []byte("2")}}},
			`{"description":null,"environments":{"e":{"a":2}},"items":null,"parent":"#0a7"}`},
	}
	for _, test := range tests {
		t.Run(fmt.Sprintf("%.40q", test.want), func(t *testing.T) {
			if got, err := json.Marshal(test.draft); err != nil || string(got) != test.want {
				t.Errorf("%T: %s, %v instead of %s", test.draft, got, err, test.want)
			}
		})
	}
}

func TestSettings_KeepsUnknownMembers(t *testing.T) {
	t.Parallel()
	server := newStub(t, ok(`{"data":{"id":"current","type":"account_settings","attributes":{"environment_order":["a"],"big":12345678901234567890,"deep":{"z":1,"a":2}}}}`))
	client, _ := server.client(t)
	settings, err := client.Account.Settings(t.Context())
	if err != nil || settings.ID != "current" {
		t.Fatal(settings, err)
	}
	if _, err := client.Account.ReplaceSettings(t.Context(), settings.Draft()); err != nil {
		t.Fatal(err)
	}
	want := `{"data":{"id":"current","type":"account_settings","attributes":{"big":12345678901234567890,"deep":{"z":1,"a":2},"environment_order":["a"]}}}`
	if got := server.requests()[1].body; got != want {
		t.Errorf("sent %s", got)
	}
	if err := new(Settings).UnmarshalJSON([]byte(`{"environment_order":7}`)); err == nil {
		t.Error("an order that is no list was read")
	}
	if err := new(Settings).UnmarshalJSON([]byte(`7`)); err == nil {
		t.Error("settings that are no object were read")
	}
}

func TestReport_EmptySendsNothing(t *testing.T) {
	t.Parallel()
	server := newStub(t, refused(500, CodeInternal))
	client, _ := server.client(t)
	if _, err := client.Contexts.Report(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := client.Flags.Report(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if _, err := client.Loggers.Report(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if err := client.Metrics.Report(t.Context(), nil); err != nil {
		t.Error(err)
	}
	if len(server.requests()) != 0 {
		t.Error("something was sent")
	}
}
