package api_test

import (
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/api"
)

// numbered is a list with numbered pages.
type numbered struct {
	path  string
	sorts []string // the default first
	// fill makes resources with these names and, where callers choose them,
	// these keys.
	fill func(c client, keys, names []string)
}

// sourceSorts are the orders of both lists of sources.
var sourceSorts = []string{"-last_seen", "service", "environment", "created_at"}

func numberedLists() map[string]numbered {
	byName := []string{"name", "key", "created_at", "updated_at"}
	byKey := []string{"key", "name", "created_at", "updated_at"}
	creating := func(path, kind string) func(client, []string, []string) {
		return func(c client, keys, names []string) {
			for i, key := range keys {
				c.post(path, envelope(kind, key, attributes{"name": names[i]})).want(201)
			}
		}
	}
	reporting := func(path string, id func(key string) (kind, contextKey, id string)) func(client, []string, []string) {
		return func(c client, keys, names []string) {
			for i, key := range keys {
				kind, contextKey, id := id(key)
				c.discover(kind, contextKey)
				c.put(path+"/"+id, envelope("", "", attributes{"name": names[i]})).want(200)
			}
		}
	}
	return map[string]numbered{
		"GET /api/v1/environments": {environmentsPath, byName, creating(environmentsPath, "environment")},
		"GET /api/v1/services":     {servicesPath, byName, creating(servicesPath, "service")},
		"GET /api/v1/context_types": {typesPath, byKey, reporting(typesPath, func(key string) (string, string, string) {
			return key, "x", key
		})},
		"GET /api/v1/contexts": {contextsPath, byKey, reporting(contextsPath, func(key string) (string, string, string) {
			return "user", key, "user%3A" + key
		})},
		"GET /api/v1/flags": {flagsPath, []string{"key", "name", "type", "created_at", "updated_at", "last_evaluated"}, func(c client, keys, names []string) {
			for i, key := range keys {
				c.makeFlag(key, attributes{"name": names[i]})
			}
		}},
		"GET /api/v1/flag_sources": {sourcesPath, sourceSorts, func(c client, keys, names []string) {
			for i, key := range keys {
				c.declare(attributes{"id": key, "type": "STRING", "default": "", "service": names[i], "environment": key}).want(200)
			}
		}},
		"GET /api/v1/flags/{id}/sources": {flagsPath + "/declared/sources", sourceSorts, func(c client, keys, names []string) {
			for i, key := range keys {
				c.declare(attributes{"id": "declared", "type": "STRING", "default": "", "service": names[i], "environment": key}).want(200)
			}
		}},
		"GET /api/v1/loggers": {loggersPath, byKey, func(c client, keys, names []string) {
			for i, key := range keys {
				c.put(loggersPath+"/"+key, envelope("", "", attributes{"name": names[i]})).want(200)
			}
		}},
		"GET /api/v1/log_groups": {groupsPath, byKey, creating(groupsPath, "log_group")},
		"GET /api/v1/logger_sources": {seenPath, sourceSorts, func(c client, keys, names []string) {
			for i, key := range keys {
				c.observe(attributes{"id": key, "service": names[i], "environment": key}).want(200)
			}
		}},
		"GET /api/v1/loggers/{id}/sources": {loggersPath + "/declared/sources", sourceSorts, func(c client, keys, names []string) {
			for i, key := range keys {
				c.observe(attributes{"id": "declared", "service": names[i], "environment": key}).want(200)
			}
		}},
		"GET /api/v1/configs": {configsPath, byKey, func(c client, keys, names []string) {
			for i, key := range keys {
				c.makeConfig(key, attributes{"name": names[i]})
			}
		}},
		"GET /api/v1/jobs": {jobsPath, []string{"-created_at", "name", "key", "updated_at", "next_run_at"}, func(c client, keys, names []string) {
			for i, key := range keys {
				c.makeJob(key, attributes{"name": names[i], "enabled": i%2 == 0, "schedule": fmt.Sprintf("0 0 %d 1 *", 20-i)})
			}
		}},
		"GET /api/v1/webhooks": {webhooksPath, []string{"name", "created_at", "updated_at"}, func(c client, _, names []string) {
			for _, name := range names {
				c.makeWebhook(attributes{"name": name})
			}
		}},
		"GET /api/v1/users": {usersPath, []string{"name", "email", "role", "created_at", "updated_at"}, func(c client, _, names []string) {
			for i, name := range names {
				c.join([]string{"VIEWER", "ADMIN"}[i%2], name)
			}
		}},
		"GET /api/v1/invitations": {invitationsPath, []string{"email", "role", "created_at", "expires_at"}, func(c client, _, names []string) {
			for _, name := range names {
				c.invite(unique(name)+"@example.com", "VIEWER").want(201)
			}
		}},
		"GET /api/v1/links": {linksPath, []string{"-created_at", "expires_at"}, func(c client, keys, _ []string) {
			for range keys {
				aLink(c)
			}
		}},
		"GET /api/v1/sessions": {sessionsPath, []string{"-created_at", "last_used_at", "expires_at"}, func(c client, keys, _ []string) {
			for range keys {
				c.signIn(attributes{"api_key": c.key}).want(201)
			}
		}},
		"GET /api/v1/api_keys": {keysPath, []string{"name", "status", "created_at", "expires_at", "last_used_at"},
			func(c client, _, names []string) {
				for _, name := range names {
					c.makeKey(attributes{"name": name})
				}
			}},
	}
}

// searchable reports whether a list has filter[search]: sources, links and sessions have none.
func (l numbered) searchable() bool {
	return !strings.HasSuffix(l.path, "sources") && l.path != sessionsPath && l.path != linksPath
}

// chosen reports whether callers choose the ids of the listed resources.
func (l numbered) chosen() bool {
	return !slices.Contains([]string{keysPath, usersPath, invitationsPath, webhooksPath}, l.path)
}

func TestLists_TableHasEveryList(t *testing.T) {
	t.Parallel()
	lists := numberedLists()
	for _, route := range api.RoutePatterns() {
		path, reads := strings.CutPrefix(route, "GET ")
		if !reads || path == changesPath || path == runsPath || path == "/api/v1/connections" || strings.HasSuffix(path, "/deliveries") || !isList(path) {
			continue
		}
		if _, tested := lists[route]; !tested {
			t.Errorf("the list %s is not tested", route)
		}
	}
}

func isList(path string) bool {
	item := contract().Paths.Value(path)
	return item != nil && slices.ContainsFunc(item.Get.Parameters, func(parameter *openapi3.ParameterRef) bool {
		return parameter.Value.Name == "page[size]"
	})
}

// TestLists_FilterWithoutValue takes the filters from the interface
// description. Empty means something in two of them.
func TestLists_FilterWithoutValue(t *testing.T) {
	t.Parallel()
	owner, tried := newOwner(t, "pro"), 0
	owner.discoverFlag("x")
	owner.observe(attributes{"id": "x"}).want(200)
	for template, item := range contract().Paths.Map() {
		if item.Get == nil || template == "/api/v1/metrics" { // which filters by any dimension
			continue
		}
		path := strings.ReplaceAll(template, "{id}", "x")
		for _, parameter := range item.Get.Parameters {
			name := parameter.Value.Name
			bare, isFilter := strings.CutPrefix(strings.TrimSuffix(name, "]"), "filter[")
			switch {
			case !isFilter:
			case bare == "search" || bare == "parent":
				owner.get(path + "?" + name + "=").want(200)
			default:
				tried++
				owner.get(path+"?"+name+"=", offContract).refused(400, wrongParameter(name))
				owner.get(path+"?"+bare+"=", offContract).refused(400, wrongParameter(bare))
			}
		}
	}
	if tried < 20 {
		t.Errorf("only %d filters were tried", tried)
	}
}

func TestLists_SortNamesFields(t *testing.T) {
	t.Parallel()
	got := newOwner(t, "pro").get(flagsPath + "?sort=name,foo")
	got.refused(400, wrongParameter("sort"))
	if want := `sort must name fields of this list, which are created_at, key, last_evaluated, name, type, updated_at; \"foo\" is none of them.`; !strings.Contains(string(got.body), want) {
		t.Errorf("got %s", got.body)
	}
}

func TestLists_InvalidParameters(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	owner.discoverFlag("declared")
	owner.observe(attributes{"id": "declared"}).want(200)
	for route, list := range numberedLists() {
		t.Run(route, func(t *testing.T) {
			t.Parallel()
			owner := owner.in(t)
			for parameter, values := range map[string][]string{
				"page[number]": {"0", "-1", "x", "", "1.5", "1e1", " 1", "2147483648", "99999999999999999999", "１"},
				"page[size]":   {"0", "-1", "1001", "x", "", "1.0", "1000000000000"},
				"page[after]":  {"1"}, "page[offset]": {"0"}, "page[]": {"1"},
				"meta[total]":     {"1", "yes", "", "truefalse"},
				"sort":            {"", "-", "nope", "name;drop table", "created_at,created_at", "name,-name", "name,", ",name", "--name", "+name", "id", strings.Repeat("a,", 50) + "b", "account_id"},
				"filter[unknown]": {"x", ""}, "filter[]": {"x"}, "filter[search": {"x"},
			} {
				t.Run(parameter, func(t *testing.T) {
					for _, value := range values {
						got := owner.in(t).get(list.path + "?" + url.QueryEscape(parameter) + "=" + url.QueryEscape(value))
						got.refused(400, wrongParameter(parameter))
					}
				})
			}
			owner.get(list.path+"?page[number]=0&page[size]=0&meta[total]=0&sort=,&filter[x]=1").refused(400, wrongParameter("page[number]"),
				wrongParameter("page[size]"), wrongParameter("meta[total]"), wrongParameter("sort"), wrongParameter("filter[x]"))
			for _, value := range []string{"%00", "%ff", "a%00b"} {
				t.Run(value, func(t *testing.T) {
					owner := owner.in(t)
					if list.searchable() {
						owner.get(list.path+"?filter[search]="+value).refused(400, wrongParameter("filter[search]"))
					}
					owner.get(list.path+"?sort="+value).refused(400, wrongParameter("sort"))
				})
			}
			for _, query := range []string{"%zz", "a;b", "page[size]=%", "x=%f"} {
				t.Run(query, func(t *testing.T) {
					got := owner.in(t).get(list.path + "?" + query)
					if got.want(400); checkErrorDocument(400, got.body) != nil {
						t.Errorf("?%s: %s", query, got.body)
					}
				})
			}
		})
	}
	owner.get(environmentsPath+"?filter[managed]=yes").refused(400, wrongParameter("filter[managed]"))
	owner.get(environmentsPath+"?managed=yes").refused(400, wrongParameter("managed"))
	owner.get(environmentsPath+"?filter[classification]=x").refused(400, wrongParameter("filter[classification]"))
	owner.get(environmentsPath+"?classification=x").refused(400, wrongParameter("classification"))
	owner.get(sourcesPath+"?filter[search]=x").refused(400, wrongParameter("filter[search]"))
	owner.get(servicesPath+"?filter[managed]=true").refused(400, wrongParameter("filter[managed]"))
	owner.delete(environmentsPath+"/staging?cascade=perhaps").refused(400, wrongParameter("cascade"))
}

func TestLists_Pages(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, list := range numberedLists() {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				list.fill(owner, []string{"k1", "k2", "k3", "k4", "k5"}, []string{"n1", "n2", "n3", "n4", "n5"})
				all := owner.get(list.path).want(200)
				requirePagination(t, all, map[string]int{"page": 1, "size": 1000})
				total := len(all.page().Data)
				pages := (total + 1) / 2

				var walked []string
				for number := 1; number <= pages; number++ {
					got := owner.get(fmt.Sprintf("%s?page[number]=%d&page[size]=2&meta[total]=true", list.path, number)).want(200)
					requirePagination(t, got, map[string]int{"page": number, "size": 2, "total": total, "total_pages": pages})
					walked = append(walked, got.ids()...)
				}
				if difference := cmp.Diff(all.ids(), walked); difference != "" {
					t.Errorf("walking the pages misses or repeats something:\n%s", difference)
				}
				beyond := owner.get(list.path + "?page[number]=2147483647&page[size]=1000&meta[total]=true").want(200)
				requirePagination(t, beyond, map[string]int{"page": 2147483647, "size": 1000, "total": total, "total_pages": 1})
				if !beyond.contains(`"data":[]`) {
					t.Errorf("beyond the end: got %s, want an empty array", beyond.body)
				}
				// Brackets arrive literally and encoded; the total is not given unasked.
				for _, query := range []string{"page[size]=1&page[number]=2", "page%5Bsize%5D=1&page%5Bnumber%5D=2", "page%5bsize%5d=1&page[number]=2&meta[total]=false"} {
					t.Run(query, func(t *testing.T) {
						got := owner.in(t).get(list.path + "?" + query).want(200)
						requirePagination(t, got, map[string]int{"page": 2, "size": 1})
						if ids := got.ids(); len(ids) != 1 || ids[0] != all.ids()[1] {
							t.Errorf("?%s: got %v, want the second of %v", query, ids, all.ids())
						}
					})
				}
				owner.get(list.path+"?meta[total]=TRUE", offContract).want(200)
				owner.get(list.path + "?whatever=1&include=x&fields[environment]=name").want(200)
			})
		}
	})
}

func requirePagination(t *testing.T, got answer, want map[string]int) {
	t.Helper()
	if difference := cmp.Diff(want, got.page().Meta.Pagination); difference != "" {
		t.Errorf("%s: pagination: want (-), got (+):\n%s", got.what, difference)
	}
}

func TestLists_Sorts(t *testing.T) {
	t.Parallel()
	keys, names := []string{"k3", "k1", "k4", "k2", "K5"}, []string{"beta", "Alpha", "alpha", "beta", "ähre"}
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, list := range numberedLists() {
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				list.fill(owner, keys, names)
				if difference := cmp.Diff(owner.get(list.path+"?sort="+list.sorts[0]).want(200).ids(), owner.get(list.path).want(200).ids()); difference != "" {
					t.Errorf("the default order is not %s:\n%s", list.sorts[0], difference)
				}
				for _, field := range list.sorts {
					t.Run(field, func(t *testing.T) {
						owner := owner.in(t)
						field = strings.TrimPrefix(field, "-")
						for _, order := range []string{field, "-" + field} {
							got := owner.get(list.path + "?sort=" + order).want(200)
							requireSorted(t, got, order)
						}
						several := strings.Join(append([]string{"-" + field}, slices.DeleteFunc(slices.Clone(list.sorts), func(each string) bool { return strings.TrimPrefix(each, "-") == field })...), ",")
						owner.get(list.path + "?sort=" + several).want(200)
					})
				}
			})
		}
	})
}

// requireSorted checks that a field is in order, missing values last, and ids
// break ties.
func requireSorted(t *testing.T, got answer, order string) {
	t.Helper()
	field, descending := strings.CutPrefix(order, "-")
	value := func(each resource) (string, bool) {
		if field == "key" {
			_, key, isContext := strings.Cut(each.ID, ":")
			if isContext {
				return key, true
			}
			return each.ID, true
		}
		text, ok := each.Attributes[field].(string)
		if strings.HasSuffix(field, "_at") || field == "last_seen" || field == "last_evaluated" {
			text = sortableTime(text)
		}
		return text, ok
	}
	data := got.page().Data
	for i := 1; i < len(data); i++ {
		before, hasBefore := value(data[i-1])
		after, hasAfter := value(data[i])
		ordered := before <= after
		if descending {
			ordered = before >= after
		}
		switch {
		case !hasBefore && hasAfter:
			t.Errorf("%s: a missing value comes before %q", got.what, after)
		case hasBefore && hasAfter && !ordered:
			t.Errorf("%s: %q comes before %q", got.what, before, after)
		case before == after && hasBefore == hasAfter && data[i-1].ID >= data[i].ID:
			t.Errorf("%s: the tie between %s and %s is not broken by id", got.what, data[i-1].ID, data[i].ID)
		}
	}
}

// TestContexts_SortBreaksTiesByID: the id starts with the type.
func TestContexts_SortBreaksTiesByID(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.report(attributes{"type": "b", "key": "a"}, attributes{"type": "a", "key": "z"}, attributes{"type": "c", "key": "m"}).want(200)
		want := []string{"a:z", "b:a", "c:m"} // all three came at the same time
		if difference := cmp.Diff(want, owner.get(contextsPath+"?sort=created_at").want(200).ids()); difference != "" {
			t.Errorf("want (-), got (+):\n%s", difference)
		}
	})
}

// sortableTime fills up the fraction of a time, which is cut off after its
// last digit that counts.
func sortableTime(text string) string {
	whole, fraction, _ := strings.Cut(strings.TrimSuffix(text, "Z"), ".")
	return whole + "." + (fraction + "000000")[:6]
}

func TestLists_Search(t *testing.T) {
	t.Parallel()
	keys, names := []string{"one-key", "two-key", "Three", "per_cent"}, []string{"Grün 100%", "second", "underscore", `back\slash`}
	onBoth(t, "pro", func(t *testing.T, first client) {
		for route, list := range numberedLists() {
			if !list.searchable() || !list.chosen() { // TestLists_SearchKeys
				continue
			}
			t.Run(route, func(t *testing.T) {
				t.Parallel()
				owner := first.in(t).account("pro")
				list.fill(owner, keys, names)
				for text, want := range map[string][]string{
					"one-key": {"one-key"}, "KEY": {"one-key", "two-key"}, "GRÜN": {"one-key"}, "%": {"one-key"}, "_": {"per_cent"}, `\`: {"per_cent"},
					"three": {"Three"}, "underscore": {"Three"}, "keyGrün": {}, "0%0": {}, "nothing-like-it": {}, "' OR 1=1 --": {},
				} {
					t.Run(text, func(t *testing.T) {
						for _, parameter := range []string{"filter[search]", "filter%5Bsearch%5D", "search"} {
							found := []string{}
							for _, id := range owner.in(t).get(list.path + "?sort=key&" + parameter + "=" + url.QueryEscape(text)).want(200).ids() {
								found = append(found, strings.TrimPrefix(id, "user:"))
							}
							if list.path == loggersPath { // whose keys have no case
								want = strings.Split(strings.ToLower(strings.Join(want, " ")), " ")
								want = slices.DeleteFunc(want, func(key string) bool { return key == "" })
							}
							slices.Sort(found)
							slices.Sort(want)
							if difference := cmp.Diff(want, found); difference != "" {
								t.Errorf("searching %q:\n%s", text, difference)
							}
						}
					})
				}
				if all := owner.get(list.path + "?filter[search]=").want(200).ids(); len(all) < len(keys) {
					t.Errorf("an empty search finds %v, want everything", all)
				}
			})
		}
	})
}

func TestLists_SearchKeys(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		green, other := owner.makeKey(attributes{"name": "Grün 100%"}), owner.makeKey(attributes{"name": "Checkout"})
		owner.put(other.path, envelope("", "", attributes{"name": "Renamed"})).want(200)
		for text, want := range map[string][]string{
			"GRÜN": {green.id}, "0%": {green.id}, "rename": {other.id}, "checkout": {}, other.id: {other.id}, other.id[:18] + "x": {},
		} {
			t.Run(text, func(t *testing.T) {
				owner := owner.in(t)
				for _, parameter := range []string{"filter[search]", "search"} {
					requireSame(t, owner.get(keysPath+"?"+parameter+"="+url.QueryEscape(text)).want(200).ids(), want)
				}
			})
		}
		if all := owner.get(keysPath + "?filter[search]=").want(200).ids(); len(all) < 3 {
			t.Errorf("an empty search finds %v, want everything", all)
		}
	})
}

func TestLists_SearchDoesNotSpanKeyAndName(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for _, text := range []string{"staging\nStaging", "\n"} {
			t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
				if found := owner.in(t).get(environmentsPath + "?filter[search]=" + url.QueryEscape(text)).want(200).ids(); len(found) != 0 {
					t.Errorf("searching %q finds %v, and no key and no name has it", text, found)
				}
			})
		}
	})
}

func TestLists_FilterInBothSpellings(t *testing.T) {
	t.Parallel()
	newOwner(t, "pro").get(environmentsPath+"?filter[managed]=yes&managed=true").refused(400, wrongParameter("filter[managed]"))
}

func TestLists_FiltersOfEnvironmentsAndContexts(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.discover("environment", "preview")
		owner.discover("user", "alice")
		owner.discover("tenant", "alice")
		for query, want := range map[string][]string{
			"":                                {"preview", "production", "staging"},
			"filter[managed]=true":            {"production"},
			"filter[managed]=false":           {"preview", "staging"},
			"managed=false":                   {"preview", "staging"},
			"filter[classification]=AD_HOC":   {"preview"},
			"filter[classification]=standard": {"production", "staging"},
			"classification=Standard":         {"production", "staging"},
			"filter[classification]=STANDARD&filter[managed]=false": {"staging"},
			"filter[classification]=AD_HOC&filter[managed]=true":    {},
			"filter%5Bmanaged%5D=true&filter%5Bsearch%5D=PROD":      {"production"},
		} {
			t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
				if difference := cmp.Diff(want, owner.in(t).get(environmentsPath+"?sort=key&"+strings.TrimPrefix(query, "&")).want(200).ids()); difference != "" {
					t.Errorf("?%s:\n%s", query, difference)
				}
			})
		}
		for query, want := range map[string][]string{
			"":                           {"tenant:alice", "user:alice"},
			"filter[context_type]=user":  {"user:alice"},
			"context_type=tenant":        {"tenant:alice"},
			"filter[context_type]=USER":  {},
			"filter[context_type]=users": {},
		} {
			t.Run(fmt.Sprintf("%q", query), func(t *testing.T) {
				if difference := cmp.Diff(want, owner.in(t).get(contextsPath+"?"+query).want(200).ids()); difference != "" {
					t.Errorf("contexts?%s:\n%s", query, difference)
				}
			})
		}
	})
}
