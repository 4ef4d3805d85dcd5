package environments_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/environments"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

func TestWritable(t *testing.T) {
	t.Parallel()
	managed := map[string]bool{"production": true, "staging": false}
	for key, writable := range map[string]bool{"production": true, "staging": false, "nowhere": false, "": false, "Production": false} {
		t.Run(fmt.Sprintf("%q", key), func(t *testing.T) {
			err := environments.Writable(managed, key)
			if (err == nil) != writable {
				t.Errorf("%q: %v", key, err)
			}
			if err == nil {
				return
			}
			same(t, refusals(err), []refusal{{Code: fault.EnvironmentUnmanaged}})
			same(t, fault.All(err)[0].Meta, map[string]any{"environment": key})
		})
	}
	const wayOut = "Promote it first: signalbox environments promote staging"
	if err := environments.Writable(managed, "staging"); !strings.HasSuffix(err.Error(), wayOut) {
		t.Errorf("it does not name the way out: %v", err)
	}
	if environments.Writable(managed, "staging").Error() == environments.Writable(managed, "nowhere").Error() {
		t.Error("an unmanaged environment and one that does not exist read the same")
	}
}

func TestParseClassification(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]environments.Classification{
		"STANDARD": environments.Standard, "standard": environments.Standard, "Ad_Hoc": environments.AdHoc, "AD_HOC": environments.AdHoc,
	} {
		t.Run(text, func(t *testing.T) {
			if got, known := environments.ParseClassification(text); !known || got != want {
				t.Errorf("%q is %q, %v", text, got, known)
			}
		})
	}
	for _, text := range []string{"", "ADHOC", "AD-HOC", " STANDARD", "OTHER"} {
		t.Run(fmt.Sprintf("%q", text), func(t *testing.T) {
			if got, known := environments.ParseClassification(text); known {
				t.Errorf("%q passes for %q", text, got)
			}
		})
	}
}

func TestFound(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "free")
		production, staging := h.get(t, "production"), h.get(t, "staging")
		same(t, [2]bool{production.Managed, staging.Managed}, [2]bool{true, false})
		same(t, production.Classification, environments.Standard)
		same(t, staging.Classification, environments.Standard)
		same(t, h.orders(t), environments.Orders{Account: []string{"staging", "production"}, Users: map[string][]string{}})
	})
}

func TestDraft_Rules(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	color := func(text string) environments.Draft {
		return named(func(draft *environments.Draft) { draft.Color = optional.Of(text) })
	}
	var read environments.Draft
	read.Problems.Attribute("name", "must be a string")
	for name, each := range map[string]struct {
		draft environments.Draft
		want  []refusal
	}{
		"a name is enough":             {named(nil), nil},
		"no name":                      {environments.Draft{}, invalid("name")},
		"a null name":                  {environments.Draft{Name: optional.Null[string]()}, invalid("name")},
		"an empty name":                {environments.Draft{Name: optional.Of("")}, invalid("name")},
		"255 characters":               {environments.Draft{Name: optional.Of(strings.Repeat("日", 255))}, nil},
		"256 characters":               {environments.Draft{Name: optional.Of(strings.Repeat("x", 256))}, invalid("name")},
		"#rgb":                         {color("#fA0"), nil},
		"#rrggbb":                      {color("#00ff7F"), nil},
		"#rrggbbaa":                    {color("#00ff7F80"), nil},
		"no color":                     {named(func(draft *environments.Draft) { draft.Color = optional.Null[string]() }), nil},
		"an empty color":               {color(""), invalid("color")},
		"a color without #":            {color("ff0000"), invalid("color")},
		"a color of four digits":       {color("#ff00"), invalid("color")},
		"a color by name":              {color("red"), invalid("color")},
		"a color with a newline":       {color("#fff\n"), invalid("color")},
		"a classification in any case": {classify("ad_hoc"), nil},
		"an unknown classification":    {classify("SPECIAL"), invalid("classification")},
		"what reading found":           {read, invalid("name")},
		"everything that is wrong": {environments.Draft{Color: optional.Of("x"), Classification: optional.Of("x")},
			append(append(invalid("name"), invalid("color")...), invalid("classification")...)},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := h.Replace(t.Context(), h.owner, "staging", each.draft, nil)
			same(t, refusals(err), each.want)
			each.draft.Key = optional.Of("new")
			_, err = h.Create(t.Context(), h.owner, each.draft)
			same(t, refusals(err), each.want)
			if err == nil {
				if err := h.Delete(t.Context(), h.owner, "new", false, nil); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

func TestCreate_Key(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	for key, good := range map[string]bool{
		"a": true, "A.b_c-9": true, "9": true, strings.Repeat("x", 100): true,
		"": false, strings.Repeat("x", 101): false, "-a": false, ".a": false, "_a": false, "a b": false, "a/b": false, "ä": false, "a\n": false,
	} {
		t.Run(fmt.Sprintf("%.40q", key), func(t *testing.T) {
			_, err := h.Create(t.Context(), h.owner, fresh(key))
			if good != (err == nil) {
				t.Errorf("%q got %v", key, err)
			}
			if !good {
				same(t, refusals(err), []refusal{{fault.Validation, fault.Pointer("/data/id")}})
			}
		})
	}
	_, err := h.Create(t.Context(), h.owner, environments.Draft{})
	same(t, refusals(err), append([]refusal{{fault.Validation, fault.Pointer("/data/id")}}, invalid("name")...))
}

func TestCreate_StandardAndManaged(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		draft := fresh("new")
		draft.Classification, draft.Managed, draft.Color = optional.Of("AD_HOC"), optional.Of(false), optional.Of("#fff")
		made, err := h.Create(t.Context(), h.owner, draft)
		if err != nil {
			t.Fatal(err)
		}
		same(t, h.get(t, "new"), made)
		same(t, made.Managed, true)
		same(t, made.Classification, environments.Standard)
		same(t, *made.Color, "#fff")
		same(t, h.orders(t).Account, []string{"staging", "production", "new"})
		_, err = h.Create(t.Context(), h.owner, fresh("new"))
		same(t, refusals(err), []refusal{{fault.AlreadyExists, fault.Pointer("/data/id")}})
		same(t, h.get(t, "new"), made)
	})
}

func TestReplace_KeepsWhatIsNotSent(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	draft := fresh("new")
	draft.Color = optional.Of("#fff")
	made, err := h.Create(t.Context(), h.owner, draft)
	if err != nil {
		t.Fatal(err)
	}
	after, err := h.Replace(t.Context(), h.owner, "new", environments.Draft{Name: optional.Of("Other")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := made
	want.Name, want.Color, want.UpdatedAt = "Other", nil, after.UpdatedAt
	same(t, after, want)
	same(t, h.get(t, "new"), want)
	if !after.UpdatedAt.After(made.UpdatedAt) {
		t.Error("updated_at did not move")
	}
}

func TestReplace_Production(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	before := h.get(t, "production")
	_, demoted := h.Replace(t.Context(), h.owner, "production", manage(false), nil)
	same(t, refusals(demoted), []refusal{{fault.EnvironmentProtected, fault.Attribute("managed")}})
	same(t, refusals(h.Delete(t.Context(), h.owner, "production", true, nil)), []refusal{{Code: fault.EnvironmentProtected}})
	same(t, h.get(t, "production"), before)
	if _, err := h.Replace(t.Context(), h.owner, "production", classify(environments.AdHoc), nil); err != nil {
		t.Errorf("it may become AD_HOC: %v", err)
	}
	if _, err := h.Replace(t.Context(), h.owner, "production", manage(true), nil); err != nil {
		t.Errorf("it may be told what it is: %v", err)
	}
}

func TestService_OtherAccounts(t *testing.T) {
	t.Parallel()
	storetest.Each(t, func(t *testing.T, database storetest.Database) {
		h := newFixture(t, database, "pro")
		stranger := storetest.NewTenant(t, h.db, "pro").Owner
		if _, err := h.Create(t.Context(), h.owner, fresh("mine")); err != nil {
			t.Fatal(err)
		}
		_, got := h.Environment(t.Context(), stranger, "mine")
		_, replaced := h.Replace(t.Context(), stranger, "mine", named(nil), nil)
		_, used := h.Usage(t.Context(), stranger, "mine")
		deleted := h.Delete(t.Context(), stranger, "mine", true, nil)
		for name, err := range map[string]error{"get": got, "replace": replaced, "usage": used, "delete": deleted} {
			if !fault.Is(err, fault.NotFound) {
				t.Errorf("%s got %v", name, err)
			}
		}
		list, err := h.Environments(t.Context(), stranger, environments.Filter{}, page.First())
		if err != nil || len(list.Items) != 2 {
			t.Errorf("listed %+v, %v", list.Items, err)
		}
	})
}

func TestService_VersionMismatch(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	before, version := h.get(t, "staging"), h.version(t.Context(), t)
	stale := func(environments.Environment) bool { return false }
	_, replaced := h.Replace(t.Context(), h.owner, "staging", manage(true), stale)
	for _, err := range []error{replaced, h.Delete(t.Context(), h.owner, "staging", false, stale)} {
		same(t, refusals(err), []refusal{{Code: fault.VersionMismatch}})
	}
	same(t, h.get(t, "staging"), before)
	same(t, h.version(t.Context(), t), version)
}

// products has values for environments, as flags and loggers do.
type products struct {
	db      *store.DB
	usage   environments.Usage
	strips  []string
	failing error
}

func (p *products) Read(ctx context.Context, fn func(context.Context, environments.ReadTx) error) error {
	return p.db.Read(ctx, func(ctx context.Context, tx *store.ReadTx) error { return fn(ctx, productReads{tx, p}) })
}

func (p *products) Write(ctx context.Context, account string, fn func(context.Context, environments.Tx) error) error {
	return p.db.Write(ctx, account, func(ctx context.Context, tx *store.Tx) error { return fn(ctx, productWrites{tx, p}) })
}

type productReads struct {
	*store.ReadTx
	of *products
}

func (tx productReads) CountValues(context.Context, string, string) (environments.Usage, error) {
	return tx.of.usage, tx.of.failing
}

type productWrites struct {
	*store.Tx
	of *products
}

func (tx productWrites) CountValues(context.Context, string, string) (environments.Usage, error) {
	return tx.of.usage, tx.of.failing
}

func (tx productWrites) StripValues(_ context.Context, _ accounts.Caller, environment string) error {
	tx.of.strips = append(tx.of.strips, environment)
	return tx.of.failing
}

func TestDelete_ValuesOfProducts(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	held := &products{db: h.db, usage: environments.Usage{FlagRules: 7, LoggerOverrides: 2}}
	h.Store = held
	usage, err := h.Usage(t.Context(), h.owner, "staging")
	if err != nil {
		t.Fatal(err)
	}
	same(t, usage, held.usage)
	if _, err := h.Usage(t.Context(), h.owner, "nowhere"); !fault.Is(err, fault.NotFound) {
		t.Errorf("got %v", err)
	}
	for _, key := range []string{"kept", "stripped"} {
		if _, err := h.Create(t.Context(), h.owner, fresh(key)); err != nil {
			t.Fatal(err)
		}
	}
	if err := h.Delete(t.Context(), h.owner, "kept", false, nil); err != nil || len(held.strips) > 0 {
		t.Errorf("values were stripped without cascade: %v, %v", held.strips, err)
	}
	if err := h.Delete(t.Context(), h.owner, "stripped", true, nil); err != nil {
		t.Error(err)
	}
	same(t, held.strips, []string{"stripped"})
	held.failing = fault.New(fault.Unavailable, "down")
	if err := h.Delete(t.Context(), h.owner, "staging", true, nil); !fault.Is(err, fault.Unavailable) {
		t.Errorf("got %v", err)
	}
	h.get(t, "staging") // the deletion is undone as a whole
}

// Environments that programs report never prevent people from creating one. A limit applies to
// people too.
func TestCreate_RowCap(t *testing.T) {
	t.Parallel()
	h := newFixture(t, storetest.New(t, "sqlite"), "pro")
	var keys []string
	for i := range 1000 {
		keys = append(keys, fmt.Sprint("e", i))
	}
	same(t, h.discover(t, keys...), 2) // production and staging count
	create := func(key string) error {
		_, err := h.Create(t.Context(), h.owner, environments.Draft{Key: optional.Of(key), Name: optional.Of(key)})
		return err
	}
	if err := create("one"); err != nil {
		t.Fatal(err)
	}
	err := h.db.Write(t.Context(), h.owner.Account, func(ctx context.Context, tx *store.Tx) error {
		var err error
		for i := range 999 {
			key := fmt.Sprint("p", i)
			made := environments.Environment{Account: h.owner.Account, Key: key, Name: key, Classification: environments.Standard, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
			err = errors.Join(err, tx.InsertEnvironments(ctx, made))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	refusal, _ := errors.AsType[*fault.Error](create("more"))
	if refusal == nil || refusal.Code != fault.RowLimitReached || refusal.Meta["limit_key"] != "platform.environment_rows" || refusal.Meta["maximum"] != 2000 {
		t.Errorf("got %v", refusal)
	}
}
