package storetest

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// oddValue is oddJSON without spaces, the stored form of values inside documents.
const oddValue = `{"b":1.0,"a":1e5,"b":-0.0,"ü":"\u00e9\/","n":null,"big":12345678901234567890.123,"e":{}}`

// newFlag returns a flag with everything that a flag can have.
func newFlag(account, key string) flags.Flag {
	return flags.Flag{
		Account: account, Key: key, Name: oddText, Description: new(oddText), Type: flageval.JSON, Default: json.RawMessage(oddJSON),
		Values: []flags.Choice{{Name: oddText, Value: json.RawMessage(oddValue)}, {Name: "", Value: json.RawMessage("null")}}, Managed: true,
		Environments: map[string]flags.Environment{
			"production": {Enabled: true, Default: json.RawMessage(oddValue), Rules: []flags.Rule{
				{Description: oddText, Logic: json.RawMessage(`{"==":[{"var":"user.plan"},"pro"]}`), Value: json.RawMessage(`1.50`)},
				{Logic: json.RawMessage(`{}`), Value: json.RawMessage(`null`)},
			}},
			"staging": {Rules: []flags.Rule{}},
		},
		LastEvaluated: new(at(3)), CreatedAt: at(4), UpdatedAt: at(5),
	}
}

// bareFlag returns a flag as discovery makes it, without any optional field.
func bareFlag(account, key string) flags.Flag {
	return flags.Flag{Account: account, Key: key, Name: key, Type: flageval.String, Default: json.RawMessage(`""`),
		Environments: map[string]flags.Environment{}, CreatedAt: at(6), UpdatedAt: at(7)}
}

func saveFlag(t *testing.T, db *store.DB, flag flags.Flag, references ...flags.Reference) flags.Flag {
	t.Helper()
	do(t, db, flag.Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlag(ctx, flag, references) })
	return flag
}

func insertFlags(t *testing.T, db *store.DB, made ...flags.Flag) {
	t.Helper()
	do(t, db, made[0].Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlags(ctx, made) })
}

func deleteFlag(t *testing.T, db *store.DB, account, key string) {
	t.Helper()
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteFlag(ctx, account, key) })
}

// findFlags returns the keys that a filter finds.
func findFlags(t *testing.T, db *store.DB, account string, filter flags.Filter) []string {
	t.Helper()
	return flagKeys(matches(t, db, (*store.ReadTx).Flags, account, filter))
}

func flagKeys(found []flags.Flag) []string {
	return nameOf(found, func(flag flags.Flag) string { return flag.Key })
}

func flagConcept(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for key, flag := range map[string]flags.Flag{"with-everything": newFlag(account, "with-everything"), "with-nulls": bareFlag(account, "with-nulls")} {
		t.Run("a flag "+key+" round trip", func(t *testing.T) {
			saveFlag(t, db, flag)
			same(t, find(t, db, (*store.ReadTx).Flag, account, key), flag)
			lacks(t, db, (*store.ReadTx).Flag, other, key)
		})
	}
	t.Run("keys are case-sensitive and per account", func(t *testing.T) {
		upper, lower, foreign := saveFlag(t, db, newFlag(account, "Case")), saveFlag(t, db, bareFlag(account, "case")), saveFlag(t, db, newFlag(other, "case"))
		same(t, find(t, db, (*store.ReadTx).Flag, account, "Case"), upper)
		same(t, find(t, db, (*store.ReadTx).Flag, account, "case"), lower)
		same(t, find(t, db, (*store.ReadTx).Flag, other, "case"), foreign)
		lacks(t, db, (*store.ReadTx).Flag, other, "Case")
	})
	t.Run("JSON", func(t *testing.T) { flagJSON(t, db) })
	t.Run("save again replaces", func(t *testing.T) { flagReplacement(t, db) })
	t.Run("delete", func(t *testing.T) { flagDeletion(t, db) })
	t.Run("insert many, over deleted ones", func(t *testing.T) { flagInsertion(t, db) })
	t.Run("size of large flags", func(t *testing.T) { flagSizes(t, db) })
	t.Run("by key", func(t *testing.T) { flagsByKey(t, db) })
	t.Run("by environment", func(t *testing.T) { flagsWithEnvironment(t, db) })
	t.Run("list", func(t *testing.T) { flagList(t, db) })
	t.Run("filters", func(t *testing.T) { flagFilters(t, db) })
	t.Run("stale", func(t *testing.T) { staleFlags(t, db) })
	t.Run("references", func(t *testing.T) { flagReferences(t, db) })
}

func flagJSON(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	for i, text := range []string{`1`, `1.0`, `1e0`, `-0.0`, `1E+2`, `12345678901234567890.1`, `"a<b>&c"`, `"\u003c"`, `"\u0000"`, `"\ud83d\udea6"`,
		"\"\U0001F6A6 é e\u0301 \u2028\"", `{"z":1,"a":2,"z":3}`, `[ 1 , 2 ]`, `null`, `"` + `\\%_'` + `"`} {
		t.Run("the default "+text+" to the letter", func(t *testing.T) {
			flag := bareFlag(account, "f"+strconv.Itoa(i))
			flag.Type, flag.Default = flageval.JSON, json.RawMessage(text)
			saveFlag(t, db, flag)
			same(t, string(find(t, db, (*store.ReadTx).Flag, account, flag.Key).Default), text)
		})
	}
	t.Run("values and rules", func(t *testing.T) {
		const marked = "\"a<b>&c\u2028\""
		flag := newFlag(account, "marked")
		flag.Values = []flags.Choice{{Name: "<&>", Value: json.RawMessage(marked)}}
		flag.Environments = map[string]flags.Environment{"e": {Default: json.RawMessage(marked),
			Rules: []flags.Rule{{Logic: json.RawMessage(`{"<":[1, 2]}`), Value: json.RawMessage(marked)}}}}
		saveFlag(t, db, flag)
		got := find(t, db, (*store.ReadTx).Flag, account, flag.Key)
		environment := got.Environments["e"]
		same(t, got.Values[0].Name, "<&>")
		for _, value := range []json.RawMessage{got.Values[0].Value, environment.Default, environment.Rules[0].Value} {
			same(t, meaning(t, value), meaning(t, json.RawMessage(marked)))
		}
		same(t, meaning(t, environment.Rules[0].Logic), meaning(t, flag.Environments["e"].Rules[0].Logic))
	})
	t.Run("null default of an environment", func(t *testing.T) {
		flag := newFlag(account, "none")
		flag.Environments = map[string]flags.Environment{"e": {Default: json.RawMessage("null")}}
		saveFlag(t, db, flag)
		flag.Environments = map[string]flags.Environment{"e": {}}
		same(t, find(t, db, (*store.ReadTx).Flag, account, flag.Key), flag)
	})
}

func meaning(t *testing.T, text json.RawMessage) (value any) {
	t.Helper()
	must(t, json.Unmarshal(text, &value))
	return value
}

func flagReplacement(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	first := saveFlag(t, db, newFlag(account, "f"))
	kept, foreign := saveFlag(t, db, newFlag(account, "kept")), saveFlag(t, db, newFlag(other, "f"))
	for _, after := range []flags.Flag{bareFlag(account, "f"), newFlag(account, "f"), bareFlag(account, "f")} {
		after.CreatedAt, after.UpdatedAt = at(100), at(200)
		saveFlag(t, db, after)
		after.LastEvaluated = first.LastEvaluated // saving does not change it
		same(t, find(t, db, (*store.ReadTx).Flag, account, "f"), after)
	}
	same(t, find(t, db, (*store.ReadTx).Flag, account, "kept"), kept)
	same(t, find(t, db, (*store.ReadTx).Flag, other, "f"), foreign)
	same(t, of(t, db, (*store.ReadTx).CountFlags, account), 2)
}

func flagDeletion(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	user := flags.Reference{ContextType: "user"}
	for _, owner := range []string{account, other} {
		for _, key := range []string{"f", "kept"} {
			saveFlag(t, db, newFlag(owner, key), user)
			saveFlagSources(t, db, newSource(owner, key, "s", "e"))
		}
	}
	deleteFlag(t, db, account, "f")
	lacks(t, db, (*store.ReadTx).Flag, account, "f")
	same(t, of(t, db, (*store.ReadTx).CountFlags, account), 1)
	same(t, findFlags(t, db, account, flags.Filter{}), []string{"kept"})
	same(t, findFlags(t, db, account, flags.Filter{References: []flags.Reference{{ContextType: "user"}}}), []string{"kept"})
	same(t, existing(t, db, account, "f", "kept"), []string{"kept"})
	same(t, flagKeys(withEnvironment(t, db, account, "production")), []string{"kept"})
	same(t, of(t, db, (*store.ReadTx).CountFlagSources, account), 1)
	same(t, len(storedSources(t, db, account)), 1)
	same(t, findFlags(t, db, other, flags.Filter{References: []flags.Reference{{ContextType: "user"}}}), []string{"f", "kept"})
	same(t, of(t, db, (*store.ReadTx).CountFlagSources, other), 2)
	for name, again := range map[string]func(flags.Flag){
		"saved":    func(flag flags.Flag) { saveFlag(t, db, flag) },
		"inserted": func(flag flags.Flag) { insertFlags(t, db, flag) },
	} {
		t.Run("all its fields are new when it is "+name+" again", func(t *testing.T) {
			flag := bareFlag(account, "f")
			again(flag)
			same(t, find(t, db, (*store.ReadTx).Flag, account, "f"), flag)
			same(t, findFlags(t, db, account, flags.Filter{References: []flags.Reference{{ContextType: "user"}}}), []string{"kept"})
			deleteFlag(t, db, account, "f")
		})
	}
	t.Run("delete a missing flag", func(t *testing.T) { deleteFlag(t, db, account, "nothing") })
}

func flagSizes(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	same(t, of(t, db, (*store.ReadTx).LargeFlagBytes, account), 0)
	sized := func(owner, key string, bytes int) flags.Flag {
		flag := bareFlag(owner, key)
		flag.Default = json.RawMessage(`"` + strings.Repeat("é", (bytes-len(`""{}`))/len("é")) + `"`)
		return flag
	}
	insertFlags(t, db, sized(account, "small", 10), sized(account, "large", 20_000), sized(account, "edge", flags.SmallBytes),
		sized(account, "deleted", 9_000))
	insertFlags(t, db, sized(other, "large", 10_000))
	deleteFlag(t, db, account, "deleted")
	same(t, of(t, db, (*store.ReadTx).LargeFlagBytes, account), 20_000)
	chosen := sized(account, "edge", flags.SmallBytes)
	chosen.Values = []flags.Choice{{Name: "n", Value: json.RawMessage(`1`)}}
	saveFlag(t, db, chosen)
	same(t, of(t, db, (*store.ReadTx).LargeFlagBytes, account), 20_000+flags.SmallBytes+len(`[{"name":"n","value":1}]`))
	insertFlags(t, db, sized(account, "edge", flags.SmallBytes), sized(account, "deleted", 9_000))
	same(t, of(t, db, (*store.ReadTx).LargeFlagBytes, account), 29_000)
}

func flagInsertion(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlags(ctx, nil) })
	same(t, of(t, db, (*store.ReadTx).CountFlags, account), 0)
	saveFlag(t, db, newFlag(account, "k007"))
	deleteFlag(t, db, account, "k007")
	var many []flags.Flag
	for i := range 451 { // more than two full statements, and a rest
		key := strconv.Itoa(1000 + i)
		if i == 7 {
			key = "k007"
		}
		many = append(many, bareFlag(account, key))
	}
	insertFlags(t, db, many...)
	same(t, of(t, db, (*store.ReadTx).CountFlags, account), len(many))
	found := find(t, db, (*store.ReadTx).FlagsByKey, account, nil)
	same(t, byKey(found), byKey(many))
}

func byKey(list []flags.Flag) map[string]flags.Flag {
	found := map[string]flags.Flag{}
	for _, flag := range list {
		found[flag.Key] = flag
	}
	return found
}

func existing(t *testing.T, db *store.DB, account string, keys ...string) []string {
	t.Helper()
	found := find(t, db, (*store.ReadTx).ExistingFlags, account, keys)
	return slices.Sorted(slices.Values(found))
}

func flagsByKey(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	a, b := saveFlag(t, db, newFlag(account, "a")), saveFlag(t, db, bareFlag(account, "b"))
	saveFlag(t, db, newFlag(other, "foreign"))
	saveFlag(t, db, newFlag(account, "gone"))
	deleteFlag(t, db, account, "gone")
	for name, each := range map[string]struct {
		keys []string
		want []flags.Flag
	}{
		"nil names all":            {nil, []flags.Flag{a, b}},
		"no keys name none":        {[]string{}, nil},
		"a key names one":          {[]string{"b"}, []flags.Flag{b}},
		"a repeated key names one": {[]string{"a", "a", "b"}, []flags.Flag{a, b}},
		"what does not exist":      {[]string{"A", "", "%", "gone", "foreign", `"a"`, `a","b`, "<", oddText}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			found := find(t, db, (*store.ReadTx).FlagsByKey, account, each.keys)
			same(t, len(found), len(each.want))
			same(t, byKey(found), byKey(each.want))
			if each.keys != nil {
				same(t, existing(t, db, account, each.keys...), slices.Sorted(slices.Values(flagKeys(each.want))))
			}
		})
	}
	t.Run("many keys", func(t *testing.T) {
		keys := []string{"a"}
		for i := range 10_000 {
			keys = append(keys, "k"+strconv.Itoa(i))
		}
		same(t, existing(t, db, account, keys...), []string{"a"})
	})
}

func withEnvironment(t *testing.T, db *store.DB, account, environment string) []flags.Flag {
	t.Helper()
	return find(t, db, (*store.ReadTx).FlagsWithEnvironment, account, environment)
}

func flagsWithEnvironment(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	save := func(account, key string, names ...string) {
		flag := newFlag(account, key)
		flag.Environments = map[string]flags.Environment{}
		for _, name := range names {
			flag.Environments[name] = flags.Environment{Enabled: true, Default: json.RawMessage(`"mentioned"`), Rules: []flags.Rule{}}
		}
		saveFlag(t, db, flag)
	}
	save(account, "one", "prod")
	save(account, "longer", "production", "a.prod", "prod-2")
	save(account, "upper", "PROD")
	save(account, "like", "p_od", "a.b")
	save(account, "nothing")
	save(account, "several", "prod", "p-od", "axb")
	save(newAccount(t, db).ID, "foreign", "prod")
	for environment, want := range map[string][]string{
		"prod": {"one", "several"}, "production": {"longer"}, "a.prod": {"longer"}, "PROD": {"upper"}, "Prod": nil,
		"p_od": {"like"}, "p-od": {"several"}, "a.b": {"like"}, "axb": {"several"}, "%": nil, "p%": nil, `p\od`: nil,
		"mentioned": nil, "enabled": nil, "": nil,
	} {
		t.Run("of "+strconv.Quote(environment), func(t *testing.T) {
			same(t, slices.Sorted(slices.Values(flagKeys(withEnvironment(t, db, account, environment)))), want)
		})
	}
}

func flagList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveFlag(t, db, newFlag(newAccount(t, db).ID, "foreign"))
	saveFlag(t, db, newFlag(account, "gone"))
	deleteFlag(t, db, account, "gone")
	types := []flageval.Type{flageval.Boolean, flageval.String, flageval.Numeric, flageval.JSON}
	var written []flags.Flag
	for i, name := range append(oddNames(), oddNames()...) {
		flag := newFlag(account, name+strconv.Itoa(i))
		if i%3 == 0 {
			flag = bareFlag(account, name+strconv.Itoa(i))
		}
		flag.Name, flag.Type, flag.CreatedAt, flag.UpdatedAt = name, types[i%4], at(i%4), at(i%5)
		written = append(written, flag)
	}
	insertFlags(t, db, written...)
	listing[flags.Flag, flags.Filter]{
		read: (*store.ReadTx).Flags, id: func(flag flags.Flag) string { return flag.Key },
		byDefault: "key", fields: []string{"key", "name", "type", "created_at", "updated_at"},
	}.check(t, db, account, written)
}

func flagFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	names, _ := searches()
	for i, name := range names {
		flag := bareFlag(account, "k"+strconv.Itoa(i))
		if i == 0 {
			flag = newFlag(account, "k0")
		}
		flag.Name = name
		saveFlag(t, db, flag)
	}
	saveFlag(t, db, newFlag(newAccount(t, db).ID, "k0"))
	checkSearch(t, func(t *testing.T, text string) (found []string) {
		for _, key := range findFlags(t, db, account, flags.Filter{Search: text}) {
			found = append(found, find(t, db, (*store.ReadTx).Flag, account, key).Name)
		}
		return found
	})
	others := len(names) - 1
	for name, each := range map[string]struct {
		filter flags.Filter
		want   int
	}{
		"a search looks at the key as well": {flags.Filter{Search: "K1"}, 1},
		"JSON":                              {flags.Filter{Type: "JSON"}, 1},
		"STRING":                            {flags.Filter{Type: "STRING"}, others},
		"a type that none has":              {flags.Filter{Type: "BOOLEAN"}, 0},
		"managed":                           {flags.Filter{Managed: optional.Of(true)}, 1},
		"discovered":                        {flags.Filter{Managed: optional.Of(false)}, others},
		"null does not filter":              {flags.Filter{Managed: optional.Null[bool]()}, len(names)},
		"together":                          {flags.Filter{Search: "ä", Type: "JSON", Managed: optional.Of(true)}, 1},
		"together without a match":          {flags.Filter{Search: "ä", Type: "JSON", Managed: optional.Of(false)}, 0},
	} {
		t.Run(name, func(t *testing.T) { same(t, len(findFlags(t, db, account, each.filter)), each.want) })
	}
	t.Run("search after a rename", func(t *testing.T) {
		renamed := find(t, db, (*store.ReadTx).Flag, account, "k8")
		renamed.Name = "Grün"
		saveFlag(t, db, renamed)
		same(t, findFlags(t, db, account, flags.Filter{Search: "GRÜN"}), []string{"k8"})
		same(t, findFlags(t, db, account, flags.Filter{Search: "plain"}), nil)
	})
}

// staleFlags checks that the rule decides, and that SQL leaves out no flag that the rule calls
// stale.
func staleFlags(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	rule := flags.NewStaleRule(accounts.StaleFlags{UnevaluatedDays: 30, UnchangedDays: 90}, map[string]bool{"production": true}, at(0))
	old, used := at(0).AddDate(-1, 0, 0), at(0)
	var stale, fresh []string
	for i, each := range []flags.Flag{
		{Managed: true}, // neither declared nor evaluated
		{Managed: true, LastEvaluated: &old},
		{Managed: true, LastEvaluated: &used}, // one value
		{Managed: true, LastEvaluated: &used, UpdatedAt: used},
		{},
	} {
		flag := bareFlag(account, "k"+strconv.Itoa(i))
		flag.Managed, flag.LastEvaluated, flag.CreatedAt, flag.UpdatedAt = each.Managed, each.LastEvaluated, old, each.UpdatedAt
		if flag.UpdatedAt.IsZero() {
			flag.UpdatedAt = old
		}
		saveFlag(t, db, flag)
		if i < 3 {
			stale = append(stale, flag.Key)
		} else {
			fresh = append(fresh, flag.Key)
		}
	}
	same(t, findFlags(t, db, account, flags.Filter{Stale: optional.Of(true), StaleRule: rule}), stale)
	same(t, findFlags(t, db, account, flags.Filter{Stale: optional.Of(false), StaleRule: rule}), fresh)
	found := list(t, db, (*store.ReadTx).Flags, account, flags.Filter{Stale: optional.Of(true), StaleRule: rule},
		page.Request{Number: 2, Size: 2, Total: true, Sort: []page.Order{{Field: "key", Descending: true}}})
	same(t, flagKeys(found.Items), []string{"k0"})
	same(t, [2]any{found.Total, found.Items[0].Stale.Reason}, [2]any{3, flags.NotDeclared})
}

func flagReferences(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	whole, alice := flags.Reference{ContextType: "user"}, flags.Reference{ContextType: "user", ContextKey: "alice"}
	odd := flags.Reference{ContextType: oddText, ContextKey: oddText}
	saveFlag(t, db, newFlag(account, "both"), whole, alice, alice) // alice twice
	saveFlag(t, db, newFlag(account, "odd"), odd)
	saveFlag(t, db, newFlag(account, "whole"), whole)
	saveFlag(t, db, newFlag(newAccount(t, db).ID, "foreign"), whole, alice)
	find := func(t *testing.T, contextType, key string) []string {
		t.Helper()
		return findFlags(t, db, account, flags.Filter{References: []flags.Reference{{ContextType: contextType, ContextKey: key}}})
	}
	same(t, find(t, "user", ""), []string{"both", "whole"})
	same(t, find(t, "user", "alice"), []string{"both"})
	same(t, find(t, oddText, oddText), []string{"odd"})
	for _, each := range [][2]string{{"User", ""}, {"user", "Alice"}, {"use", ""}, {"%", ""}, {"user", "%"}, {oddText, ""}} {
		t.Run(fmt.Sprintf("%q", each), func(t *testing.T) {
			same(t, find(t, each[0], each[1]), nil)
		})
	}
	saveFlag(t, db, newFlag(account, "both"), odd) // replaces its references
	same(t, find(t, "user", ""), []string{"whole"})
	same(t, find(t, "user", "alice"), nil)
	same(t, find(t, oddText, oddText), []string{"both", "odd"})
	saveFlag(t, db, newFlag(account, "both"))
	same(t, find(t, oddText, oddText), []string{"odd"})
	t.Run("replace the references of several flags", func(t *testing.T) {
		set := func(references map[string][]flags.Reference) {
			t.Helper()
			do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SetFlagReferences(ctx, account, references) })
		}
		set(nil)
		set(map[string][]flags.Reference{"both": {alice, whole, alice}, "odd": nil})
		same(t, find(t, "user", ""), []string{"both", "whole"})
		same(t, find(t, "user", "alice"), []string{"both"})
		same(t, find(t, oddText, oddText), nil)
		set(map[string][]flags.Reference{"both": nil})
		same(t, find(t, "user", "alice"), nil)
		insertFlags(t, db, newFlag(account, "whole")) // keeps the references
	})
	t.Run("rollback", func(t *testing.T) {
		err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
			if err := tx.SaveFlag(ctx, newFlag(account, "whole"), nil); err != nil {
				return err
			}
			return fault.New(fault.VersionMismatch, "no")
		})
		refused(t, err, fault.VersionMismatch)
		same(t, find(t, "user", ""), []string{"whole"})
	})
}
