package jsonapi_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/jsonapi"
	"github.com/signalbox/signalbox/internal/page"
)

func query(t *testing.T, raw string) *jsonapi.Query {
	t.Helper()
	parsed, err := jsonapi.ParseQuery(raw)
	if err != nil {
		t.Fatalf("%q: %v", raw, err)
	}
	return parsed
}

func TestQuery_Page(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]page.Request{
		"":                                       {Number: 1, Size: 1000},
		"page[number]=3&page[size]=20":           {Number: 3, Size: 20},
		"page%5Bsize%5D=1&meta%5Btotal%5D=true":  {Number: 1, Size: 1, Total: true},
		"meta[total]=False&page[size]=1000":      {Number: 1, Size: 1000},
		"sort=-created_at,name":                  {Number: 1, Size: 1000, Sort: []page.Order{{Field: "created_at", Descending: true}, {Field: "name"}}},
		"page[size]=5&filter=x&page&other&other": {Number: 1, Size: 5}, // unknown parameters are ignored
	} {
		t.Run(fmt.Sprintf("%q", raw), func(t *testing.T) {
			parsed := query(t, raw)
			got := parsed.Page()
			if err := parsed.Err(); err != nil {
				t.Errorf("%q: %v", raw, err)
			}
			if difference := cmp.Diff(want, got); difference != "" {
				t.Errorf("%q: want (-), got (+):\n%s", raw, difference)
			}
		})
	}
}

func TestQuery_AllProblems(t *testing.T) {
	t.Parallel()
	parsed := query(t, "page[number]=0&page[size]=1001&meta[total]=x&sort=a,a&filter[on]=maybe&filter[at]=soon&filter[other]=1&page[x]=1&cascade=perhaps")
	parsed.Page()
	parsed.FilterBool("on")
	parsed.FilterRange("at")
	parsed.Bool("cascade")
	got := map[string]bool{}
	for _, each := range fault.All(parsed.Err()) {
		if each.Code != fault.InvalidParameter || each.Source.Kind != fault.ParameterSource {
			t.Errorf("got %+v", each)
		}
		got[each.Source.Path] = true
	}
	want := map[string]bool{"page[number]": true, "page[size]": true, "meta[total]": true, "sort": true, "filter[on]": true, "filter[at]": true,
		"filter[other]": true, "page[x]": true, "cascade": true}
	if difference := cmp.Diff(want, got); difference != "" {
		t.Error(difference)
	}
}

// TestQuery_Repeated: every way of reading refuses a parameter with two values.
func TestQuery_Repeated(t *testing.T) {
	t.Parallel()
	for name, read := range map[string]func(q *jsonapi.Query){
		"page[size]":     func(q *jsonapi.Query) { q.Page() },
		"sort":           func(q *jsonapi.Query) { q.Page() },
		"meta[total]":    func(q *jsonapi.Query) { q.Page() },
		"page[after]":    func(q *jsonapi.Query) { q.Cursor("-at") },
		"filter[x]":      func(q *jsonapi.Query) { q.Filter("x") },
		"x":              func(q *jsonapi.Query) { q.Filter("x") },
		"filter[on]":     func(q *jsonapi.Query) { q.FilterBool("on") },
		"filter[at]":     func(q *jsonapi.Query) { q.FilterRange("at") },
		"filter[any]":    func(q *jsonapi.Query) { q.Filters() },
		"filter[search]": func(q *jsonapi.Query) { q.Search() },
		"force":          func(q *jsonapi.Query) { q.Bool("force"); q.Bool("force") },
		"from":           func(q *jsonapi.Query) { q.Time("from") },
		"count":          func(q *jsonapi.Query) { q.Integer("count", 1, 0, 9) },
		"name":           func(q *jsonapi.Query) { q.Text("name") },
		"since":          func(q *jsonapi.Query) { q.Know("since") },
		"dry_run":        func(q *jsonapi.Query) { _, _ = q.DryRun(true) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parsed := query(t, name+"=false&"+name+"=true&"+name+"=")
			read(parsed)
			refused := fault.All(parsed.Err())
			if len(refused) != 1 || refused[0].Code != fault.InvalidParameter || refused[0].Source != fault.Parameter(name) ||
				refused[0].Detail != name+" must be sent once; this request has it 3 times." {
				t.Errorf("got %v", refused)
			}
		})
	}
}

func TestQuery_EmptyFilter(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"filter[job]", "job"} {
		t.Run(name, func(t *testing.T) {
			parsed := query(t, name+"=")
			if value := parsed.Filter("job"); !value.IsAbsent() {
				t.Errorf("got %v", value)
			}
			refusals := fault.All(parsed.Err())
			if len(refusals) != 1 || refusals[0].Source != fault.Parameter(name) || refusals[0].Detail != name+" must have a value; leave it out to see everything." {
				t.Errorf("got %v", refusals)
			}
		})
	}
	parsed := query(t, "filter[search]=&filter[parent]=")
	if parent, sent := parsed.FilterOrEmpty("parent").Get(); !sent || parent != "" || parsed.Search() != "" || parsed.Err() != nil {
		t.Errorf("got %v", parsed.Err())
	}
}

func TestQuery_Cursor(t *testing.T) {
	t.Parallel()
	for raw, want := range map[string]page.Cursor{
		"":                               {Size: 50},
		"page[after]=17&page[size]=1000": {After: "17", Size: 1000},
		"sort=-created_at":               {Size: 50},
	} {
		t.Run(fmt.Sprintf("%q", raw), func(t *testing.T) {
			parsed := query(t, raw)
			if got := parsed.Cursor("-created_at"); got != want || parsed.Err() != nil {
				t.Errorf("%q: got %+v, %v", raw, got, parsed.Err())
			}
		})
	}
	for _, raw := range []string{"sort=created_at", "sort=", "page[size]=0", "page[number]=1", "page[after]=%00"} {
		t.Run(raw, func(t *testing.T) {
			parsed := query(t, raw)
			parsed.Cursor("-created_at")
			if parsed.Err() == nil {
				t.Errorf("%q is accepted", raw)
			}
		})
	}
}

func TestQuery_FilterRange(t *testing.T) {
	t.Parallel()
	first, second := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(2030, 1, 2, 0, 0, 0, 0, time.UTC)
	for raw, want := range map[string][2]time.Time{
		"":                                    {},
		"filter[at]=[*,*)":                    {},
		"filter[at]=[2030-01-01T00:00:00Z,*)": {first, time.Time{}},
		"at=[*,2030-01-02T00:00:00)":          {time.Time{}, second},
		"filter[at]=[2030-01-01T00:00,2030-01-02T01:00:00%2B01:00)": {first, second},
	} {
		t.Run(fmt.Sprintf("%q", raw), func(t *testing.T) {
			parsed := query(t, raw)
			from, to := parsed.FilterRange("at")
			if !from.Equal(want[0]) || !to.Equal(want[1]) || parsed.Err() != nil {
				t.Errorf("%q: got %v to %v, %v", raw, from, to, parsed.Err())
			}
		})
	}
}

func TestParseQuery_Malformed(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"%", "a=%zz", "a;b", "a=1;b=2"} {
		t.Run(raw, func(t *testing.T) {
			if _, err := jsonapi.ParseQuery(raw); !fault.Is(err, fault.InvalidParameter) {
				t.Error(err)
			}
		})
	}
}

func TestNewCollection(t *testing.T) {
	t.Parallel()
	render := func(id string) jsonapi.Resource {
		return jsonapi.Resource{ID: id, Type: "t", Attributes: map[string]int{}}
	}
	total, pages := 5, 3
	empty := jsonapi.NewCollection(page.List[string]{}, page.Request{Number: 2, Size: 2}, render)
	if empty.Data == nil || empty.Meta.Pagination != (jsonapi.Pagination{Page: 2, Size: 2}) {
		t.Errorf("got %+v", empty)
	}
	counted := jsonapi.NewCollection(page.List[string]{Items: []string{"a"}, Total: total}, page.Request{Number: 1, Size: 2, Total: true}, render)
	want := jsonapi.Pagination{Page: 1, Size: 2, Total: &total, TotalPages: &pages}
	if difference := cmp.Diff(want, counted.Meta.Pagination); difference != "" || counted.Data[0].ID != "a" {
		t.Error(difference)
	}
}
