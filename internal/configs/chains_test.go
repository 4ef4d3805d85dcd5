package configs_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// refusals returns the sentences of a refusal by the place in the input that they name.
func refusals(t *testing.T, err error) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, refusal := range fault.All(err) {
		found[refusal.Source.Path] = refusal.Detail
	}
	if len(found) == 0 {
		t.Fatalf("got %v, want a refusal", err)
	}
	return found
}

// requireRefused checks that a write is refused at exactly these places. Each sentence must
// contain the given words.
func requireRefused(t *testing.T, err error, want values) {
	t.Helper()
	got := refusals(t, err)
	for place, words := range want {
		for word := range strings.FieldsSeq(words) {
			if !strings.Contains(got[place], word) {
				t.Errorf("%s: got %q, want it to say %q (%v)", place, got[place], word, err)
			}
		}
	}
	if len(got) != len(want) {
		t.Errorf("got %v, want refusals at %v", err, want)
	}
}

// family creates a chain of three configs: the root declares items, the child overrides them,
// and the leaf repeats one item and overrides another.
func family(t *testing.T, h *fixture) {
	t.Helper()
	h.create(t, draft("root", "", values{"port": "1", "name": `"x"`, "on": "true", "db": `{"host":"a"}`, "unused": "1"}))
	h.create(t, in(draft("child", "root", values{"own": "1"}), "production", values{"port": "2"}))
	h.create(t, in(draft("leaf", "child", values{"name": `"y"`, "mine": `[]`}), "production", values{"db": `{"port":1}`, "own": "3"}))
}

func TestReplace_BreaksChain(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		family(t, h)
		rootWithout := func(missing string) configs.Draft {
			made := draft("root", "", values{"port": "1", "name": `"x"`, "on": "true", "db": `{"host":"a"}`, "unused": "1"})
			delete(made.Items, missing)
			return made
		}
		rootWith := func(key, value string) configs.Draft {
			made := rootWithout("")
			made.Items[key] = configs.ItemDraft{Value: json.RawMessage(value)}
			return made
		}
		for name, each := range map[string]struct {
			draft configs.Draft
			want  values
		}{
			"a parent that does not exist":       {draft("child", "nothing", nil), values{"parent": "nothing"}},
			"a parent that cannot be":            {draft("child", "not a key", nil), values{"parent": "key"}},
			"itself as parent":                   {draft("child", "child", nil), values{"parent": "another"}},
			"a circle of two":                    {draft("child", "leaf", nil), values{"parent": "child → leaf"}},
			"a circle of three":                  {draft("root", "leaf", nil), values{"parent": "root → child → leaf"}},
			"an item of another type than above": {draft("leaf", "child", values{"port": `"1"`, "name": "1", "on": "{}"}), values{"items/port/type": "NUMBER root", "items/name/type": "STRING root", "items/on/type": "BOOLEAN root"}},
			"overrides of nothing and of another type": {in(draft("leaf", "child", nil), "production", values{"nothing": "1", "port": `"1"`, "own": "true", "name": "1"}),
				values{"environments/production/nothing": "declares", "environments/production/port": "NUMBER", "environments/production/own": "NUMBER", "environments/production/name": "STRING"}},
			"removing what a child overrides":       {rootWithout("port"), values{"items/port": "child port production"}},
			"removing what a grandchild overrides":  {rootWithout("db"), values{"items/db": "leaf db production"}},
			"retyping what a child overrides":       {rootWith("port", `"1"`), values{"items/port/type": "child port production"}},
			"retyping what a grandchild declares":   {rootWith("name", `1`), values{"items/name/type": "leaf name STRING"}},
			"declaring what a grandchild has else":  {rootWith("mine", `1`), values{"items/mine": "leaf mine JSON"}},
			"removing what the child's own leaf is": {draft("child", "root", nil), values{"items/own": "leaf own production"}},
			"losing what a child overrides by moving": {draft("child", "", values{"own": "1"}),
				values{"parent": "leaf db"}},
			"many things at once": {in(draft("root", "", values{"port": `""`, "name": `1`, "db": `{}`, "a": "1"}), "nowhere", values{"a": "1"}),
				values{"items/port/type": "child", "items/name/type": "leaf", "environments/nowhere": "nowhere"}},
		} {
			t.Run(name, func(t *testing.T) {
				key := each.draft.Key.Or("")
				before, history := h.get(t, key), len(h.history(t))
				_, err := h.Replace(t.Context(), h.owner, key, each.draft, nil)
				requireRefused(t, err, each.want)
				same(t, h.get(t, key), before)
				same(t, len(h.history(t)), history)
			})
		}
		for name, allowed := range map[string]configs.Draft{
			"removing what nobody overrides":    rootWithout("unused"),
			"removing what is declared below":   rootWithout("name"),
			"retyping what nobody uses":         rootWith("unused", `"text"`),
			"another value":                     rootWith("port", `7`),
			"declaring what is declared alike":  rootWith("mine", `{}`),
			"moving where everything is too":    draft("leaf", "root", values{"name": `"y"`}),
			"going back to where it came from":  in(draft("leaf", "child", values{"name": `"y"`, "mine": `[]`}), "production", values{"own": "3"}),
			"standing alone without overriding": draft("leaf", "", values{"port": `"a text here"`}),
		} {
			t.Run(name, func(t *testing.T) {
				if _, err := h.Replace(t.Context(), h.owner, allowed.Key.Or(""), allowed, nil); err != nil {
					t.Error(err)
				}
				for _, again := range []configs.Draft{rootWithout(""), in(draft("leaf", "child", values{"name": `"y"`, "mine": `[]`}), "production", values{"db": `{"port":1}`, "own": "3"})} {
					h.replace(t, again)
				}
			})
		}
	})
}

func TestReplace_ChainTooLong(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	parent := ""
	for i := range configs.MaxDepth {
		key := fmt.Sprint("level-", i)
		h.create(t, draft(key, parent, nil))
		parent = key
	}
	_, err := h.Create(t.Context(), h.owner, draft("one-more", parent, nil))
	requireRefused(t, err, values{"parent": "32"})
	h.create(t, draft("top", "", nil))
	_, err = h.Replace(t.Context(), h.owner, "level-0", draft("level-0", "top", nil), nil)
	requireRefused(t, err, values{"parent": "level-31 32"})
	h.replace(t, draft("level-1", "top", nil))
}

func TestReplace_AbsentParentStays(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	family(t, h)
	made := draft("child", "", values{"own": "1"})
	made.Parent = optional.Value[string]{}
	same(t, *h.replace(t, made).Parent, "root")
	made = draft("new", "", nil)
	made.Parent = optional.Value[string]{}
	same(t, *h.create(t, made).Parent, configs.Common)
	same(t, h.replace(t, draft("new", "", nil)).Parent, nil)
}

func TestReplace_SchemasHoldHereAndBelow(t *testing.T) {
	t.Parallel()
	const server = `{"type":"object","required":["host","port"],"properties":{"port":{"type":"integer"},"mode":{"enum":["a","b"]}}}`
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		root := func(value string) configs.Draft { return fitting(draft("root", "", values{"db": value}), "db", server) }
		h.create(t, root(`{"host":"a","port":1}`))
		h.create(t, in(draft("child", "root", nil), "production", values{"db": `{"port":2}`})) // an override may have only a part of an object
		h.create(t, fitting(draft("leaf", "child", values{"db": `{"mode":"a"}`}), "db", `{"maxProperties":3}`))

		for name, each := range map[string]struct {
			draft configs.Draft
			want  values
		}{
			"a value":                           {root(`{"host":"a","port":"1"}`), values{"items/db/value/port": "integer"}},
			"a value without a member":          {root(`{"port":1}`), values{"items/db/value": "host"}},
			"an override":                       {in(root(`{"host":"a","port":1}`), "production", values{"db": `{"mode":"c","port":1.5}`}), values{"environments/production/db/mode": "production", "environments/production/db/port": "integer"}},
			"an override that is no object":     {in(root(`{"host":"a","port":1}`), "production", values{"db": `1`}), values{"environments/production/db": "object"}},
			"an override of a child":            {in(draft("child", "root", nil), "production", values{"db": `{"port":null}`}), values{"environments/production/db/port": "integer"}},
			"a value of a leaf":                 {draft("leaf", "child", values{"db": `{"mode":"c"}`}), values{"items/db/value/mode": "db"}},
			"both schemas of a leaf":            {draft("leaf", "child", values{"db": `{"mode":"c","x":1}`}), values{"items/db/value/mode": "db", "items/db/value": "3"}},
			"another schema, because of a leaf": {fitting(root(`{"host":"a","port":1}`), "db", `{"properties":{"mode":{"const":"b"}}}`), values{"items/db/schema": "leaf db"}},
			"a value, because of a leaf":        {root(`{"host":"a","port":1,"x":1}`), values{"items/db/value": "leaf db"}},
			"an override, because of a leaf":    {in(root(`{"host":"a","port":1}`), "production", values{"db": `{"x":1}`}), values{"environments/production/db": "leaf db production"}},
			"a schema that is none":             {fitting(root(`{}`), "db", `{"properties":{"a":{"type":1}}}`), values{"items/db/schema/properties/a/type": "schema"}},
			"a schema of a text":                {fitting(draft("root", "", values{"db": `"x"`}), "db", `{}`), values{"items/db/schema": "JSON STRING"}},
		} {
			t.Run(name, func(t *testing.T) {
				_, err := h.Replace(t.Context(), h.owner, each.draft.Key.Or(""), each.draft, nil)
				requireRefused(t, err, each.want)
			})
		}
		t.Run("a new parent must fit", func(t *testing.T) {
			h.create(t, draft("other", "", values{"db": `{"host":"b","port":1,"y":1}`}))
			_, err := h.Replace(t.Context(), h.owner, "child", draft("child", "other", nil), nil)
			requireRefused(t, err, values{"parent": "leaf db"})
		})
		t.Run("a write that does not mention the schema keeps it, to the letter", func(t *testing.T) {
			after := h.replace(t, draft("root", "", values{"db": `{"host":"b","port":1}`}))
			same(t, string(after.Items["db"].Schema), server)
			same(t, string(h.get(t, "root").Items["db"].Schema), server)
		})
		t.Run("null removes it", func(t *testing.T) {
			made := draft("root", "", values{"db": `{"port":"anything"}`})
			made.Items["db"] = configs.ItemDraft{Value: made.Items["db"].Value, Schema: optional.Null[json.RawMessage]()}
			same(t, h.replace(t, made).Items["db"].Schema, nil)
		})
	})
}

func TestCreate_HostileSchema(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	deep, wide := strings.Repeat(`{"a":`, 60)+"1"+strings.Repeat("}", 60), "["+strings.Repeat("1,", 10_000)+"1]"
	for name, each := range map[string]struct {
		value, schema string
		want          values
	}{
		"recursion": {deep, `{"anyOf":[{"properties":{"a":{"$ref":"#"}},"required":["b"]},{"properties":{"a":{"$ref":"#"}},"required":["c"]}]}`,
			values{"items/a/schema/anyOf/0/properties/a/$ref": "lead back"}},
		"many parts for many values": {wide, `{"items":{"allOf":[` + strings.Repeat(`{"minimum":2},`, 400) + `true]}}`,
			values{"items/a/value": "work smaller"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Create(t.Context(), h.owner, fitting(draft("hostile", "", values{"a": each.value}), "a", each.schema))
			requireRefused(t, err, each.want)
			same(t, h.count(t), 0)
		})
	}
}
