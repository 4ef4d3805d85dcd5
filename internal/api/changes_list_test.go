package api_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// follow reads a list to its end, page by page, as links.next says. visit is
// called between two pages.
func (c client) follow(path string, visit func()) []string {
	c.t.Helper()
	ids := []string{}
	for pages := 0; ; pages++ {
		got := c.get(path).want(200)
		ids = append(ids, got.ids()...)
		next := got.page().Links.Next
		if next == nil {
			return ids
		}
		if !strings.HasPrefix(*next, c.node.URL+changesPath+"?") || pages > 1000 {
			c.t.Fatalf("%s leads to %s", path, *next)
		}
		path = strings.TrimPrefix(*next, c.node.URL)
		visit()
	}
}

// downFrom lists numbers from one down to 1.
func downFrom(seq int) []string {
	numbers := []string{}
	for ; seq > 0; seq-- {
		numbers = append(numbers, strconv.Itoa(seq))
	}
	return numbers
}

func TestChanges_Pages(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		for range 8 {
			owner.makeEnvironment(unique("environment"))
		}
		total := owner.seq()
		for _, size := range []int{1, 2, 5, total - 1, total, total + 1, 1000} {
			t.Run(fmt.Sprint(size), func(t *testing.T) {
				owner := owner.in(t)
				path := changesPath + "?page[size]=" + strconv.Itoa(size)
				first := owner.get(path).want(200).page()
				if first.Meta.PageSize != size || len(first.Data) != min(size, total) || (first.Links.Next == nil) != (size >= total) {
					t.Errorf("pages of %d: got %d and next %v", size, len(first.Data), first.Links.Next)
				}
				if difference := cmp.Diff(downFrom(total), owner.follow(path, func() {})); difference != "" {
					t.Errorf("pages of %d: want (-), got (+):\n%s", size, difference)
				}
			})
		}
		if size := owner.get(changesPath).want(200).page().Meta.PageSize; size != 50 {
			t.Errorf("a page has %d by default, want 50", size)
		}
		// What arrives while a list is read does not disturb it.
		arriving := owner.follow(changesPath+"?page[size]=3", func() { owner.makeEnvironment(unique("environment")) })
		if difference := cmp.Diff(downFrom(total), arriving); difference != "" {
			t.Errorf("while changes arrive: want (-), got (+):\n%s", difference)
		}
		if rest := owner.get(changesPath + "?page[after]=1").want(200); len(rest.page().Data) != 0 || rest.page().Links.Next != nil || !rest.contains(`"data":[]`) {
			t.Errorf("after the first change comes %s", rest.body)
		}
		if ids := owner.get(changesPath + "?page[after]=9223372036854775807&page[size]=1").want(200).ids(); ids[0] != owner.latest().ID {
			t.Errorf("after a number that is not reached yet comes %v", ids)
		}
	})
}

func TestChanges_Filters(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		actor := owner.makeKey(attributes{"role": "OWNER"})
		other := owner.as(actor.secret)
		path := owner.makeEnvironment("watched")
		for i := range 6 {
			other.put(path, envelope("", "", attributes{"name": "N" + strconv.Itoa(i)})).want(200)
			other.makeEnvironment(unique("environment"))
		}
		owner.discover("user", "a:b")
		owner.put(contextsPath+"/user%3Aa%3Ab", envelope("", "", attributes{"name": "N"})).want(200)
		all := owner.get(changesPath + "?page[size]=1000").want(200).page().Data
		middle := all[len(all)/2].Attributes["created_at"].(string)
		where := func(keep func(change map[string]any) bool) []string {
			ids := []string{}
			for _, change := range all {
				if keep(change.Attributes) {
					ids = append(ids, change.ID)
				}
			}
			return ids
		}
		watched := func(change map[string]any) bool { return change["kind"] == "environment" && change["key"] == "watched" }
		byOther := func(change map[string]any) bool { return change["actor"].(map[string]any)["id"] == actor.id }
		isLate := func(change map[string]any) bool {
			return sortableTime(change["created_at"].(string)) >= sortableTime(middle)
		}
		for query, want := range map[string][]string{
			"filter[resource]=environment:watched":                         where(watched),
			"filter%5Bresource%5D=environment%3Awatched":                   where(watched),
			"resource=environment:watched":                                 where(watched),
			"filter[resource]=environment:nowhere":                         {},
			"filter[resource]=service:watched":                             {},
			"filter[resource]=environment:":                                {},
			"filter[resource]=context:user:a:b":                            where(func(c map[string]any) bool { return c["key"] == "user:a:b" }),
			"filter[resource]=api_key:" + actor.id:                         where(func(c map[string]any) bool { return c["key"] == actor.id }),
			"filter[actor]=" + actor.id:                                    where(byOther),
			"filter[actor]=command-line":                                   where(func(c map[string]any) bool { return c["actor"].(map[string]any)["type"] == "operator" }),
			"filter[actor]=nobody":                                         {},
			"filter[created_at]=[" + middle + ",*)":                        where(isLate),
			"filter[created_at]=[*," + middle + ")":                        where(func(c map[string]any) bool { return !isLate(c) }),
			"filter[created_at]=[*,*)":                                     where(func(map[string]any) bool { return true }),
			"filter[created_at]=[" + middle + "," + middle + ")":           {},
			"filter[created_at]=[2001-01-01T00:00:00,2001-01-02T00:00:00)": {},
			"filter[created_at]=" + url.QueryEscape("["+middle+",*)") + "&filter[actor]=" + actor.id + "&filter[resource]=environment:watched": where(func(c map[string]any) bool {
				return isLate(c) && byOther(c) && watched(c)
			}),
			"sort=-created_at&filter[resource]=environment:watched": where(watched),
		} {
			t.Run(query, func(t *testing.T) {
				owner := owner.in(t)
				for _, size := range []string{"1000", "2"} {
					got := owner.follow(changesPath+"?"+query+"&page[size]="+size, func() {})
					if difference := cmp.Diff(want, got); difference != "" {
						t.Errorf("?%s in pages of %s: want (-), got (+):\n%s", query, size, difference)
					}
				}
			})
		}
	})
}

func TestChanges_InvalidParameters(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for parameter, values := range map[string][]string{
		"sort":             {"created_at", "name", "", "-created_at,key", "-id"},
		"page[size]":       {"0", "1001", "-1", "x", ""},
		"page[after]":      {"0", "-1", "x", "01", "+1", "1.5", "99999999999999999999"},
		"page[number]":     {"1"},
		"filter[resource]": {"environment", "", ":staging", ":"},
		"filter[created_at]": {"", "x", "2030-01-01T00:00:00Z", "[x,*)", "[*,y)", "[*)", "[*,*,*)", "(*,*)", "[*,*]", "[2030-01-01,*)", "[,]", "[,)",
			"[2030-02-30T00:00:00Z,*)", "*,*"},
		"filter[kind]": {"environment"},
	} {
		t.Run(parameter, func(t *testing.T) {
			owner := owner.in(t)
			for _, value := range values {
				owner.get(changesPath+"?"+url.QueryEscape(parameter)+"="+url.QueryEscape(value)).refused(400, wrongParameter(parameter))
			}
		})
	}
	for _, value := range []string{"%00", "%ff"} {
		t.Run(value, func(t *testing.T) {
			owner := owner.in(t)
			owner.get(changesPath+"?filter[actor]="+value).refused(400, wrongParameter("filter[actor]"))
			owner.get(changesPath+"?page[after]="+value).refused(400, wrongParameter("page[after]"))
		})
	}
	owner.get(changesPath+"?sort=key&page[size]=0&filter[resource]=x&filter[created_at]=y").refused(400,
		wrongParameter("sort"), wrongParameter("page[size]"), wrongParameter("filter[resource]"), wrongParameter("filter[created_at]"))
}

func TestLinks_PublicURL(t *testing.T) {
	t.Parallel()
	const public = "https://signalbox.example/below"
	published := start(t, storetest.New(t, "sqlite"), func(s *settings.Settings) { s.PublicURL = public })
	next := *published.get(changesPath + "?page[size]=1&filter[actor]=command-line").want(200).page().Links.Next
	parsed, err := url.Parse(next)
	if err != nil {
		t.Fatal(err)
	}
	want := url.Values{"page[size]": {"1"}, "page[after]": {"4"}, "filter[actor]": {"command-line"}}
	if !strings.HasPrefix(next, public+changesPath+"?") || !cmp.Equal(parsed.Query(), want) {
		t.Errorf("got %s", next)
	}
	requireBracketsAreReadable(t, published, strings.TrimPrefix(next, public))
}

// requireBracketsAreReadable requests a link exactly as it was returned.
func requireBracketsAreReadable(t *testing.T, c client, path string) {
	t.Helper()
	if ids := c.get(path).want(200).ids(); !slices.Equal(ids, []string{"3"}) {
		t.Errorf("the link leads to %v", ids)
	}
}

func TestLinks_HostOfRequest(t *testing.T) {
	t.Parallel()
	owner := newOwner(t, "pro")
	for proto, want := range map[string]string{"": "http://jobs.localhost:8080", "https": "https://jobs.localhost:8080", "gopher": "http://jobs.localhost:8080"} {
		t.Run(fmt.Sprintf("%q", proto), func(t *testing.T) {
			owner := owner.in(t)
			request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, owner.node.URL+changesPath+"?page%5Bsize%5D=1", nil)
			if err != nil {
				t.Fatal(err)
			}
			request.Host = "jobs.localhost:8080"
			request.Header.Set("Authorization", "Bearer "+owner.key)
			request.Header.Set("X-Forwarded-Proto", proto)
			response, err := owner.http.Do(request)
			if err != nil {
				t.Fatal(err)
			}
			got := answer{t: t, what: "GET " + changesPath, status: response.StatusCode, body: readAll(t, response)}.want(200)
			if next := *got.page().Links.Next; !strings.HasPrefix(next, want+changesPath+"?") {
				t.Errorf("behind %q: got %s, want it to start with %s", proto, next, want)
			}
		})
	}
}

// TestChanges_NumbersHaveNoGaps: many concurrent writers leave no gap.
func TestChanges_NumbersHaveNoGaps(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		before := owner.seq()
		const writers, writes = 8, 10
		var group sync.WaitGroup
		for range writers {
			group.Go(func() {
				for range writes {
					id := unique("service")
					if owner.post(servicesPath, envelope("", id, attributes{})).status != 201 {
						t.Error("a write failed")
					}
				}
			})
		}
		group.Wait()
		all := owner.follow(changesPath+"?page[size]=7", func() {})
		if difference := cmp.Diff(downFrom(before+writers*writes), all); difference != "" {
			t.Error(difference)
		}
	})
}

func TestChanges_TimesInOrder(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		began := time.Now().UTC().Truncate(time.Microsecond)
		for range 5 {
			owner.makeEnvironment(unique("environment"))
		}
		last := ""
		for _, change := range slices.Backward(owner.get(changesPath).want(200).page().Data) {
			at := sortableTime(change.Attributes["created_at"].(string))
			if at < last {
				t.Errorf("change %s is older than the one before it", change.ID)
			}
			last = at
		}
		if last < began.Format("2006-01-02T15:04:05.000000") {
			t.Errorf("the last change is from %s, before %s", last, began)
		}
	})
}

// TestChanges_OfLoggerInAnySpelling: the filter takes a logger's name as the path of the logger does.
func TestChanges_OfLoggerInAnySpelling(t *testing.T) {
	t.Parallel()
	onBoth(t, "pro", func(t *testing.T, owner client) {
		owner.setLogger("com.acme.Shop", attributes{"level": "DEBUG"})
		for _, name := range []string{"com.acme.shop", "com.acme.Shop", "com/acme:SHOP", "com%2Facme%3AShop"} {
			t.Run(name, func(t *testing.T) {
				if found := owner.in(t).get(changesPath + "?filter[resource]=logger:" + name).want(200).page().Data; len(found) != 1 || found[0].Attributes["key"] != "com.acme.shop" {
					t.Errorf("found %v", found)
				}
			})
		}
		owner.makeFlag("Flag", nil)
		for name, want := range map[string]int{"Flag": 1, "flag": 0} { // other keys have one spelling
			t.Run(name, func(t *testing.T) {
				if found := owner.in(t).get(changesPath + "?filter[resource]=flag:" + name).want(200).page().Data; len(found) != want {
					t.Errorf("found %v", found)
				}
			})
		}
	})
}
