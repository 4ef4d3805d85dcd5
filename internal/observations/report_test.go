package observations_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestReport_CreatesWhatIsNew(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		outcome := h.report(t, reported("environment", "preview"), reported("service", "web app"),
			described("user", "alice", `{"plan":"pro"}`), reported("device", "a:b"))
		same(t, outcome, observations.Outcome{Registered: 4})
		preview := h.environment(t, "preview")
		same(t, []any{preview.Name, preview.Managed, preview.Classification}, []any{"preview", false, environments.AdHoc})
		service, err := h.Service.Service(t.Context(), h.owner, "web app")
		same(t, []any{service.Name, err}, []any{"web app", nil})
		same(t, h.context(t, "user:alice").Attributes, json.RawMessage(`{"plan":"pro"}`))
		same(t, h.context(t, "device:a:b").Attributes, json.RawMessage(`{}`)) // split at the first colon
		same(t, h.learned(t, "user"), `{"plan":{}}`)
		same(t, h.learned(t, "device"), `{}`)
	})
}

func (h *fixture) context(t *testing.T, id string) observations.Context {
	t.Helper()
	found, err := h.Context(t.Context(), h.owner, id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// learned returns the known attributes of a context type.
func (h *fixture) learned(t *testing.T, typeKey string) string {
	t.Helper()
	found, err := h.ContextType(t.Context(), h.owner, typeKey)
	if err != nil {
		t.Fatal(err)
	}
	return string(found.Attributes)
}

func TestReport_RepeatedChangesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		items := []observations.ReportedContext{reported("environment", "e"), reported("service", "s"), described("user", "alice", `{"plan":"pro"}`)}
		h.report(t, items...)
		version := h.version(t.Context(), t)
		environment, alice := h.environment(t, "e"), h.context(t, "user:alice")
		for range 3 {
			same(t, h.report(t, items...).Registered, 3)
		}
		same(t, h.version(t.Context(), t), version)
		same(t, h.environment(t, "e"), environment)
		same(t, h.context(t, "user:alice"), alice)
	})
}

// Most reports contain nothing new. They must not make other writers of the account wait.
func TestReport_NothingNewWritesNothing(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		writes := atomic.Int64{}
		h := newFixture(t, database, func(options *store.Options) {
			options.Observe = func(kind string, _ time.Duration, _ error) {
				if kind == "write" {
					writes.Add(1)
				}
			}
		})
		items := []observations.ReportedContext{reported("environment", "e"), reported("service", "s"),
			described("user", "alice", `{"plan":"pro"}`), reported("user", "bob"), reported("user", "alice")}
		wrote := func(want int64, items ...observations.ReportedContext) {
			t.Helper()
			before := writes.Load()
			h.report(t, items...)
			same(t, writes.Load()-before, want)
		}
		wrote(1, items...)
		wrote(0, items...)
		wrote(0, reported("user", "alice"))
		wrote(0, reported("", ""))
		wrote(1, described("user", "alice", `{"plan":"free"}`))
		same(t, string(h.context(t, "user:alice").Attributes), `{"plan":"free"}`)
		wrote(1, append(items, reported("service", "more"))...)
		wrote(1, reported("environment", "more"))
		wrote(1, reported("device", "d"))
		// If people remove attributes from a type, later reports add them again.
		if _, err := h.ReplaceContextType(t.Context(), h.owner, "user", nameDraft("User"), nil); err != nil {
			t.Fatal(err)
		}
		wrote(1, items...)
		same(t, h.learned(t, "user"), `{"plan":{}}`)
	})
}

// counted counts the calls that a report makes to a transaction.
type counted struct {
	observations.Store
	calls int
}

func (c *counted) Write(ctx context.Context, account string, fn func(context.Context, observations.Tx) error) error {
	return c.Store.Write(ctx, account, func(ctx context.Context, tx observations.Tx) error { return fn(ctx, &countedTx{tx, c}) })
}

type countedTx struct {
	observations.Tx
	of *counted
}

func (c *countedTx) RecordChanges(ctx context.Context, account string, made ...changes.Change) error {
	c.of.calls++
	return c.Tx.RecordChanges(ctx, account, made...)
}

func (c *countedTx) InsertServices(ctx context.Context, services ...observations.ReportingService) error {
	c.of.calls++
	return c.Tx.InsertServices(ctx, services...)
}

func (c *countedTx) SaveContextTypes(ctx context.Context, types ...observations.ContextType) error {
	c.of.calls++
	return c.Tx.SaveContextTypes(ctx, types...)
}

func TestReport_FewStatements(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		counting := &counted{Store: h.Reports}
		h.Reports = counting
		h.report(t, reported("service", "known"), described("t0", "known", `{"a":1}`), reported("t1", "known"))
		counting.calls = 0
		items := []observations.ReportedContext{reported("service", "known")}
		want := []string{}
		for i := range 500 {
			items = append(items, reported("environment", fmt.Sprint("e", i)))
			want = append(want, fmt.Sprint("environment created e", i))
		}
		for i := range 1500 {
			items = append(items, reported("service", fmt.Sprint("s", i)))
			want = append(want, fmt.Sprint("service created s", i))
		}
		want = append(want, "context_type updated t0", "context_type updated t1")
		for i := range 500 {
			items = append(items, described(fmt.Sprint("t", i), "a", `{"b":1}`))
			if i > 1 {
				want = append(want, fmt.Sprint("context_type created t", i))
			}
		}
		before := h.version(t.Context(), t)
		same(t, h.report(t, items...).Registered, len(items))
		if counting.calls > 50 {
			t.Errorf("%d items were written with %d calls", len(items), counting.calls)
		}
		found, err := h.db.After(t.Context(), h.owner.Account, before, 10_000)
		if err != nil {
			t.Fatal(err)
		}
		got := []string{}
		for _, change := range found {
			got = append(got, fmt.Sprint(change.Kind, " ", change.Action, " ", change.Key))
		}
		same(t, got, want)
		same(t, h.learned(t, "t0"), `{"a":{},"b":{}}`)
		same(t, h.learned(t, "t499"), `{"b":{}}`)
	})
}

func TestReport_ExistingEnvironment(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	before := h.environment(t, "production")
	h.report(t, reported("environment", "production"))
	same(t, h.environment(t, "production"), before)
}

func TestReport_MergesItems(t *testing.T) {
	t.Parallel()
	for name, each := range map[string]struct {
		items      []observations.ReportedContext
		attributes string
	}{
		"the last counts":             {[]observations.ReportedContext{described("user", "a", `{"x":1}`), described("user", "a", `{"y":2}`)}, `{"y":2}`},
		"one of them has attributes":  {[]observations.ReportedContext{reported("user", "a"), described("user", "a", `{"x":1}`)}, `{"x":1}`},
		"the other of them has":       {[]observations.ReportedContext{described("user", "a", `{"x":1}`), reported("user", "a")}, `{"x":1}`},
		"an empty object is said too": {[]observations.ReportedContext{described("user", "a", `{"x":1}`), described("user", "a", `{}`)}, `{}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, storetest.New(t, "sqlite"))
			same(t, h.report(t, each.items...).Registered, 1)
			// Two reports with the same items must give the same result.
			same(t, string(h.context(t, "user:a").Attributes), each.attributes)
			h.report(t, described("user", "b", `{}`))
			for _, item := range each.items {
				item.Key = "b"
				h.report(t, item)
			}
			same(t, string(h.context(t, "user:b").Attributes), each.attributes)
		})
	}
}

func TestReport_TypesLearnAttributes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	learn := func(attributes, want string, changes int64) {
		t.Helper()
		before := h.version(t.Context(), t)
		h.report(t, described("user", "a", attributes))
		same(t, h.learned(t, "user"), want)
		same(t, h.version(t.Context(), t)-before, changes)
	}
	learn(`{"b":1,"a":2}`, `{"a":{},"b":{}}`, 1)
	learn(`{"a":3}`, `{"a":{},"b":{}}`, 0)
	learn(`{"ü":null,"a":1}`, `{"a":{},"b":{},"ü":{}}`, 1)
	learn(`{}`, `{"a":{},"b":{},"ü":{}}`, 0)
	h.report(t, described("user", "b", `{"c":1}`), described("user", "c", `{"d":1}`), described("device", "c", `{"e":1}`))
	same(t, h.learned(t, "user"), `{"a":{},"b":{},"c":{},"d":{},"ü":{}}`)
	same(t, h.learned(t, "device"), `{"e":{}}`)
}

func TestReport_SkipsBadItems(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 256)
	for name, item := range map[string]observations.ReportedContext{
		"no type":                     reported("", "a"),
		"no key":                      reported("user", ""),
		"a long type":                 reported(strings.Repeat("x", 101), "a"),
		"a long key":                  reported("user", long),
		"a type with a colon":         reported("a:b", "c"),
		"a type with a tab":           reported("a\tb", "c"),
		"a key with a NUL":            reported("user", "a\x00"),
		"large attributes":            described("user", "a", `{"a":"`+strings.Repeat("x", 64<<10)+`"}`),
		"an environment with a space": reported("environment", "a b"),
		"an environment of nothing":   reported("environment", "-"),
		"a long environment":          reported("environment", strings.Repeat("x", 101)),
		"a long service":              reported("service", long),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, storetest.New(t, "sqlite"))
			outcome := h.report(t, reported("user", "good"), item, reported("service", "good"))
			same(t, outcome.Registered, 2)
			if len(outcome.Rejected) != 1 || outcome.Rejected[0].Index != 1 || outcome.Rejected[0].Detail == "" {
				t.Errorf("rejected %+v", outcome.Rejected)
			}
			h.context(t, "user:good")
			same(t, h.report(t, item).Registered, 0)
		})
	}
}

func TestReport_LongestItems(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		widest := strings.Repeat("\U0001F6A6", 255)
		outcome := h.report(t, reported("user", widest), reported(widest[:400], "a"), reported("service", widest),
			described("user", "a", `{"a":"`+strings.Repeat("x", 16_000)+`"}`), reported("environment", strings.Repeat("x", 100)))
		same(t, outcome, observations.Outcome{Registered: 5})
		if _, err := h.ReplaceService(t.Context(), h.owner, widest, nameDraft(widest), nil); err != nil {
			t.Error(err)
		}
	})
}

func TestReport_ScopedKey(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	scoped := h.owner
	scoped.Role, scoped.Environments = accounts.Viewer, []string{"mine"}
	outcome, err := h.Report(t.Context(), scoped, []observations.ReportedContext{
		reported("environment", "others"), reported("environment", "mine"), reported("service", "s"), reported("user", "u")})
	if err != nil || outcome.Registered != 3 || len(outcome.Rejected) != 1 || outcome.Rejected[0].Index != 0 {
		t.Errorf("got %+v, %v", outcome, err)
	}
}

func TestReport_ManyContexts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		var items []observations.ReportedContext
		for i := range 1000 {
			items = append(items, described("user", fmt.Sprint(i), fmt.Sprintf(`{"a%d":%d}`, i%7, i)))
		}
		same(t, h.report(t, items...).Registered, 1000)
		list, err := h.Contexts(t.Context(), h.owner, observations.Filter{ContextType: "user"}, page.Request{Number: 1, Size: 1, Total: true})
		if err != nil || list.Total != 1000 {
			t.Errorf("%d contexts, %v", list.Total, err)
		}
	})
}

// Resources that reports create are limited. Existing ones are still updated.
func TestReport_EnvironmentAndTypeCaps(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	var items []observations.ReportedContext
	for i := range 1001 {
		items = append(items, reported("environment", fmt.Sprint("e", i)))
	}
	same(t, h.report(t, items...).Registered, 998) // production and staging count
	same(t, h.report(t, items[:3]...).Registered, 3)
	same(t, h.report(t, reported("environment", "more"), reported("service", "s")).Registered, 1)
	items = nil
	for i := range 1001 {
		items = append(items, reported(fmt.Sprint("t", i), "a"), reported(fmt.Sprint("t", i), "b"))
	}
	same(t, h.report(t, items...).Registered, 2000)
	list, err := h.Contexts(t.Context(), h.owner, observations.Filter{}, page.Request{Number: 1, Size: 1, Total: true})
	if err != nil || list.Total != 2000 {
		t.Errorf("%d contexts, %v", list.Total, err)
	}
	same(t, h.report(t, described("t0", "c", `{"x":1}`)).Registered, 1)
}

func TestReport_ContextCap(t *testing.T) {
	t.Parallel()
	database := storetest.New(t, "sqlite")
	h := newFixture(t, database)
	h.report(t, described("user", "first", `{"a":1}`), described("user", "filler 1", `{}`))
	_, err := database.Raw(t).ExecContext(t.Context(), `UPDATE account_totals SET amount = 99999 WHERE what = 'contexts'`)
	if err != nil {
		t.Fatal(err)
	}
	items := []observations.ReportedContext{described("user", "second", `{"b":1}`), described("user", "third", `{"c":1}`),
		described("user", "first", `{"d":1}`), reported("device", "fourth"), reported("service", "s")}
	same(t, h.report(t, items...).Registered, 3)
	same(t, h.report(t, items...).Registered, 3)
	same(t, string(h.context(t, "user:first").Attributes), `{"d":1}`)
	same(t, string(h.context(t, "user:second").Attributes), `{"b":1}`)
	same(t, h.learned(t, "user"), `{"a":{},"b":{},"d":{}}`) // without the attributes of dropped contexts
	_, err = h.ContextType(t.Context(), h.owner, "device")
	same(t, fault.Is(err, fault.NotFound), true)
	if err := h.DeleteContext(t.Context(), h.owner, "user:filler 1", nil); err != nil {
		t.Fatal(err)
	}
	same(t, h.report(t, items...).Registered, 4)
}

func TestReport_AttributeNameCap(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	for i := range 5 {
		attributes := map[string]int{}
		for j := range 100 {
			attributes[fmt.Sprint("a", i, "-", j)] = j
		}
		text, err := json.Marshal(attributes)
		if err != nil {
			t.Fatal(err)
		}
		h.report(t, described("user", fmt.Sprint(i), string(text)))
	}
	var learned map[string]any
	if err := json.Unmarshal([]byte(h.learned(t, "user")), &learned); err != nil || len(learned) != 200 {
		t.Errorf("it knows %d names, %v", len(learned), err)
	}
}
