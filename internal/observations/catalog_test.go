package observations_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func nameDraft(name string) observations.Draft {
	return observations.Draft{Name: optional.Of(name)}
}

func keyDraft(key string) observations.Draft {
	return observations.Draft{Key: optional.Of(key)}
}

func TestCreateService(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		made, err := h.CreateService(t.Context(), h.owner, keyDraft("web: app/1"))
		if err != nil || made.Name != "web: app/1" {
			t.Fatalf("made %+v, %v", made, err)
		}
		before := h.version(t.Context(), t)
		h.report(t, reported("service", "web: app/1"))
		same(t, h.version(t.Context(), t), before)
	})
}

func TestCreateService_Exists(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		h.report(t, reported("service", "web"))
		_, err := h.CreateService(t.Context(), h.owner, keyDraft("web"))
		same(t, refusals(err), []refusal{{fault.AlreadyExists, fault.Pointer("/data/id")}})
		if !strings.Contains(fault.All(err)[0].Detail, "web") {
			t.Errorf("it does not say which: %v", err)
		}
	})
}

func TestCreateService_Rules(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	atID := []refusal{{fault.Validation, fault.Pointer("/data/id")}}
	for name, each := range map[string]struct {
		draft observations.Draft
		want  []refusal
	}{
		"a key":              {keyDraft("ok"), nil},
		"no key":             {observations.Draft{}, atID},
		"a long key":         {keyDraft(strings.Repeat("x", 256)), atID},
		"a control in a key": {keyDraft("a\x7f"), atID},
		"an empty name":      {observations.Draft{Key: optional.Of("k"), Name: optional.Of("")}, invalid("name")},
		"a long name":        {observations.Draft{Key: optional.Of("k"), Name: optional.Of(strings.Repeat("x", 256))}, invalid("name")},
		"both":               {observations.Draft{Name: optional.Of("")}, append(append([]refusal{}, atID...), invalid("name")...)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.CreateService(t.Context(), h.owner, each.draft)
			if got := refusals(err); len(got) != len(each.want) {
				t.Error(err)
			}
			same(t, refusals(err), each.want)
		})
	}
}

func TestCreateContextType_RowLimit(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		items := make([]observations.ReportedContext, 999)
		for i := range items {
			items[i] = reported(fmt.Sprint("type", i), "key")
		}
		h.report(t, items...)
		if _, err := h.CreateContextType(t.Context(), h.owner, keyDraft("last")); err != nil {
			t.Fatal(err)
		}
		_, err := h.CreateContextType(t.Context(), h.owner, keyDraft("one-more"))
		if !fault.Is(err, fault.RowLimitReached) || fault.All(err)[0].Meta["limit_key"] != "platform.context_type_rows" {
			t.Errorf("got %v", err)
		}
		_, err = h.CreateContextType(t.Context(), h.owner, keyDraft("last"))
		same(t, refusals(err), []refusal{{fault.AlreadyExists, fault.Pointer("/data/id")}})
	})
}

func TestCreateService_Limit(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	items := make([]observations.ReportedContext, 10_000)
	for i := range items {
		items[i] = reported("service", fmt.Sprint("s", i))
	}
	h.report(t, items...)
	_, err := h.CreateService(t.Context(), h.owner, keyDraft("one-more"))
	if !fault.Is(err, fault.RowLimitReached) || fault.All(err)[0].Meta["limit_key"] != "platform.service_rows" {
		t.Errorf("got %v", err)
	}
}

// TestService_ReportsApart: writes of people never wait for the transactions of reports.
func TestService_ReportsApart(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.report(t, reported("user", "alice"))
	h.Reports = nil // so that every use of it panics
	for name, err := range map[string]error{
		"create": failure(h.CreateService(t.Context(), h.owner, keyDraft("web"))),
		"get":    failure(h.Service.Service(t.Context(), h.owner, "web")),
		"list":   failure(h.Contexts(t.Context(), h.owner, observations.Filter{}, page.Request{Size: 1})),
		"series": failure(h.Metrics(t.Context(), h.owner, observations.SeriesQuery{Name: "m", Step: time.Hour})),
	} {
		t.Run(name, func(t *testing.T) {
			if err != nil {
				t.Error(err)
			}
		})
	}
}

func failure[T any](_ T, err error) error { return err }

func TestReplace_WithoutName(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.report(t, reported("service", "web"), described("user", "alice", `{"plan":"pro"}`))
	for name, c := range map[string]struct {
		draft observations.Draft
		want  string
	}{
		"a name": {nameDraft("Called so"), "Called so"},
		"none":   {observations.Draft{}, ""},
		"null":   {observations.Draft{Name: optional.Null[string]()}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			service, err := h.ReplaceService(t.Context(), h.owner, "web", c.draft, nil)
			same(t, []any{service.Name, err}, []any{or(c.want, "web"), nil})
			context, err := h.RenameContext(t.Context(), h.owner, "user:alice", c.draft, nil)
			same(t, []any{context.Name, string(context.Attributes), err}, []any{or(c.want, "alice"), `{"plan":"pro"}`, nil})
			contextType, err := h.ReplaceContextType(t.Context(), h.owner, "user", c.draft, nil)
			same(t, []any{contextType.Name, string(contextType.Attributes), err}, []any{or(c.want, "user"), `{}`, nil})
		})
	}
}

func or(text, fallback string) string {
	if text == "" {
		return fallback
	}
	return text
}

func TestReplaceContextType_Attributes(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.report(t, described("user", "alice", `{"plan":"pro"}`))
	draft := nameDraft("User")
	draft.Attributes = optional.Of(json.RawMessage(`{"email":{"label":"E-mail"}}`))
	if _, err := h.ReplaceContextType(t.Context(), h.owner, "user", draft, nil); err != nil {
		t.Fatal(err)
	}
	same(t, h.learned(t, "user"), `{"email":{"label":"E-mail"}}`)
	h.report(t, described("user", "alice", `{"plan":"free"}`)) // a description of an attribute stays
	same(t, h.learned(t, "user"), `{"email":{"label":"E-mail"},"plan":{}}`)
	draft.Attributes = optional.Of(json.RawMessage(`{"a":"` + strings.Repeat("x", 64<<10) + `"}`))
	_, err := h.ReplaceContextType(t.Context(), h.owner, "user", draft, nil)
	same(t, refusals(err), invalid("attributes"))
}

func TestReport_DeletedResources(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		items := []observations.ReportedContext{reported("service", "web"), described("user", "alice", `{"plan":"pro"}`)}
		h.report(t, items...)
		if err := h.DeleteService(t.Context(), h.owner, "web", nil); err != nil {
			t.Error(err)
		}
		if err := h.DeleteContext(t.Context(), h.owner, "user:alice", nil); err != nil {
			t.Error(err)
		}
		if err := h.DeleteContextType(t.Context(), h.owner, "user", nil); err != nil {
			t.Error(err)
		}
		for name, err := range h.lookups(t) {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s is still there: %v", name, err)
			}
		}
		h.report(t, items...)
		for name, err := range h.lookups(t) {
			if err != nil {
				t.Errorf("%s did not come back: %v", name, err)
			}
		}
	})
}

func (h *fixture) lookups(t *testing.T) map[string]error {
	_, service := h.Service.Service(t.Context(), h.owner, "web")
	_, context := h.Context(t.Context(), h.owner, "user:alice")
	_, contextType := h.ContextType(t.Context(), h.owner, "user")
	return map[string]error{"the service": service, "the context": context, "the type": contextType}
}

func TestSplitContextID(t *testing.T) {
	t.Parallel()
	for id, want := range map[string][2]string{"user:alice": {"user", "alice"}, "user:a:b": {"user", "a:b"}, "user:": {"user", ""}, ":a": {"", "a"}} {
		t.Run(id, func(t *testing.T) {
			typeKey, key, ok := observations.SplitContextID(id)
			if !ok || typeKey != want[0] || key != want[1] || (observations.Context{Type: typeKey, Key: key}).ID() != id {
				t.Errorf("%q is %q and %q, %v", id, typeKey, key, ok)
			}
		})
	}
	h := newFixture(t, storetest.New(t, "sqlite"))
	for _, id := range []string{"user", "", "user:nobody", ":"} {
		t.Run(fmt.Sprintf("%q", id), func(t *testing.T) {
			if _, err := h.Context(t.Context(), h.owner, id); !fault.Is(err, fault.NotFound) {
				t.Errorf("%q got %v", id, err)
			}
		})
	}
}

func TestService_Lists(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"))
	h.report(t, reported("service", "Web"), reported("service", "worker"), reported("user", "alice"), reported("device", "phone"))
	for search, want := range map[string][3]int{"": {2, 2, 2}, "WEB": {1, 0, 0}, "user": {0, 1, 0}, "phone": {0, 0, 1}} {
		t.Run(fmt.Sprintf("%q", search), func(t *testing.T) {
			request, filter := page.First(), observations.Filter{Search: search}
			services, first := h.Services(t.Context(), h.owner, filter, request)
			types, second := h.ContextTypes(t.Context(), h.owner, filter, request)
			contexts, third := h.Contexts(t.Context(), h.owner, filter, request)
			if err := errors.Join(first, second, third); err != nil {
				t.Fatal(err)
			}
			same(t, [3]int{len(services.Items), len(types.Items), len(contexts.Items)}, want)
		})
	}
}

func TestService_OtherAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database)
		h.report(t, reported("service", "web"), reported("user", "alice"))
		stranger := &fixture{Service: h.Service, db: h.db, owner: storetest.NewTenant(t, h.db, "free").Owner}
		found := stranger.lookups(t)
		_, found["replacing the service"] = h.ReplaceService(t.Context(), stranger.owner, "web", nameDraft("n"), nil)
		_, found["replacing the type"] = h.ReplaceContextType(t.Context(), stranger.owner, "user", nameDraft("n"), nil)
		_, found["renaming the context"] = h.RenameContext(t.Context(), stranger.owner, "user:alice", nameDraft("n"), nil)
		found["deleting the service"] = h.DeleteService(t.Context(), stranger.owner, "web", nil)
		found["deleting the type"] = h.DeleteContextType(t.Context(), stranger.owner, "user", nil)
		found["deleting the context"] = h.DeleteContext(t.Context(), stranger.owner, "user:alice", nil)
		for name, err := range found {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s: %v", name, err)
			}
		}
		for name, err := range h.lookups(t) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			}
		}
	})
}
