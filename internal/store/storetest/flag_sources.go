package storetest

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func newSource(account, flag, service, environment string) flags.Source {
	return flags.Source{ID: newID(), Account: account, Flag: flag, Service: service, Environment: environment,
		DeclaredType: flageval.JSON, DeclaredDefault: json.RawMessage(oddJSON),
		FirstObserved: at(20), LastSeen: at(21), CreatedAt: at(22), UpdatedAt: at(23)}
}

func insertSources(t *testing.T, db *store.DB, sources ...flags.Source) {
	t.Helper()
	do(t, db, sources[0].Account, func(tx *store.Tx) error { return tx.InsertFlagSources(t.Context(), sources) })
}

func countSources(t *testing.T, db *store.DB, account string) int {
	t.Helper()
	return get(t, db, func(tx *store.ReadTx) (int, error) { return tx.CountFlagSources(t.Context(), account) })
}

// knownSources asks an account for sources by what they are sources of.
func knownSources(t *testing.T, db *store.DB, account string, sources ...flags.Source) map[flags.SourceKey]flags.Source {
	t.Helper()
	keys := slices.Collect(maps.Keys(bySource(sources...)))
	return get(t, db, func(tx *store.ReadTx) (map[flags.SourceKey]flags.Source, error) {
		return tx.KnownFlagSources(t.Context(), account, keys)
	})
}

// bySource is what KnownFlagSources gives of sources.
func bySource(sources ...flags.Source) map[flags.SourceKey]flags.Source {
	found := map[flags.SourceKey]flags.Source{}
	for _, source := range sources {
		found[flags.SourceKey{Flag: source.Flag, Service: source.Service, Environment: source.Environment}] = source
	}
	return found
}

func flagSources(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("a source comes back as it was written", func(t *testing.T) {
		odd, plain := newSource(account, "f", oddText, oddText), newSource(account, "f", "s", "e")
		insertSources(t, db, odd, plain, newSource(account, "F", "s", "e"), newSource(other, "f", "s", "e"))
		same(t, knownSources(t, db, account, odd, plain), bySource(odd, plain))
		same(t, countSources(t, db, account), 3)
		same(t, countSources(t, db, other), 1)
		same(t, countSources(t, db, "nobody"), 0)
	})
	t.Run("sources are known by flag, service and environment together", func(t *testing.T) {
		named := func(flag, service, environment string) flags.Source {
			return newSource(account, flag, service, environment)
		}
		same(t, len(knownSources(t, db, account)), 0)
		same(t, len(knownSources(t, db, account, named("f", "s", "e"), named("F", "s", "e"), named("f", oddText, oddText))), 3)
		same(t, len(knownSources(t, db, account, named("f", "s", oddText), named("f", "S", "e"), named("%", "s", "e"), named("", "", ""), named(`f","s","e`, "s", "e"))), 0)
		same(t, len(knownSources(t, db, other, named("f", "s", "e"), named("F", "s", "e"))), 1)
	})
	t.Run("there is one source of a flag, a service and an environment", func(t *testing.T) {
		err := db.Write(t.Context(), account, func(tx *store.Tx) error {
			return tx.InsertFlagSources(t.Context(), []flags.Source{newSource(account, "f", "s", "e")})
		})
		refused(t, err, fault.AlreadyExists)
		insertSources(t, db, newSource(account, "f", "S", "e"), newSource(account, "f", "s", "E"))
	})
	t.Run("a flag was last seen when the newest of its sources was", func(t *testing.T) { lastSeen(t, db) })
	t.Run("an update changes what is declared", func(t *testing.T) { sourceUpdates(t, db) })
	t.Run("what declares the same is refreshed", func(t *testing.T) { sourceRefreshes(t, db) })
	for _, count := range []int{0, 1, 2500} {
		t.Run("touching "+strconv.Itoa(count)+" changes when they were last seen", func(t *testing.T) { sourceTouches(t, db, count) })
	}
	t.Run("the list", func(t *testing.T) { sourceList(t, db) })
	t.Run("the filters", func(t *testing.T) { sourceFilters(t, db) })
}

func lastSeen(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	flag := saveFlag(t, db, newFlag(account, "f"))
	foreign := newSource(other, "f", "s", "e")
	foreign.LastSeen = at(900)
	first, second, third := newSource(account, "f", "a", "e"), newSource(account, "f", "b", "e"), newSource(account, "g", "a", "e")
	first.LastSeen, second.LastSeen, third.LastSeen = at(500), at(400), at(800)
	insertSources(t, db, foreign)
	insertSources(t, db, first, second, third)
	flag.LastSeen = new(at(500))
	same(t, get(t, db, readFlag(t.Context(), account, "f")), flag)
	saveFlag(t, db, flag) // what is observed is not written
	do(t, db, account, func(tx *store.Tx) error {
		return tx.TouchFlagSources(t.Context(), account, []string{second.ID}, at(600))
	})
	flag.LastSeen = new(at(600))
	same(t, get(t, db, readFlag(t.Context(), account, "f")), flag)
	same(t, get(t, db, func(tx *store.ReadTx) (page.List[flags.Flag], error) {
		return tx.Flags(t.Context(), account, flags.Filter{}, page.First())
	}).Items, []flags.Flag{flag})
}

func sourceUpdates(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	first, second, kept := newSource(account, "f", "a", "e"), newSource(account, "f", "b", "e"), newSource(account, "f", "c", "e")
	foreign := newSource(other, "f", "a", "e")
	insertSources(t, db, first, second, kept)
	insertSources(t, db, foreign)
	sent := []flags.Source{first, second}
	for i := range sent {
		sent[i].DeclaredType, sent[i].DeclaredDefault = flageval.Numeric, json.RawMessage(`1.0`)
		sent[i].LastSeen, sent[i].UpdatedAt = at(300+i), at(400+i)
	}
	sent[1].DeclaredDefault = json.RawMessage(`"a\u0000\\\"\ud800ü"`) // escapes stay escapes
	first, second = sent[0], sent[1]
	sent[0].Service, sent[0].Flag, sent[0].Environment = "x", "x", "x" // may not change
	sent[1].FirstObserved, sent[1].CreatedAt = at(999), at(999)
	stranger := foreign
	stranger.Account, stranger.LastSeen = account, at(999)
	do(t, db, account, func(tx *store.Tx) error { return tx.UpdateFlagSources(t.Context(), append(sent, stranger)) })
	do(t, db, account, func(tx *store.Tx) error { return tx.UpdateFlagSources(t.Context(), nil) })
	same(t, knownSources(t, db, account, first, second, kept, sent[0]), bySource(first, second, kept))
	same(t, knownSources(t, db, other, foreign), bySource(foreign))
}

func sourceRefreshes(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	first, second, spelled := newSource(account, "f", "a/b", "e"), newSource(account, "g", "a", "é e"), newSource(account, "f", "c", "e")
	retyped, foreign := newSource(account, "f", "d", "e"), newSource(other, "f", "a/b", "e")
	spelled.DeclaredType, spelled.DeclaredDefault = flageval.Numeric, json.RawMessage("1")
	insertSources(t, db, first, second, spelled, retyped)
	insertSources(t, db, foreign)
	sent := []flags.Source{first, second, spelled, retyped, newSource(account, "f", "new", "e")}
	for i := range sent {
		sent[i].ID, sent[i].LastSeen = "", at(700)
	}
	sent[2].DeclaredDefault = json.RawMessage("1.0")
	sent[3].DeclaredType = flageval.String
	refresh := func(sources ...flags.Source) (others []flags.SourceKey) {
		do(t, db, account, func(tx *store.Tx) (err error) {
			others, err = tx.RefreshFlagSources(t.Context(), sources)
			return err
		})
		return others
	}
	same(t, refresh(sent...), []flags.SourceKey{{Flag: "f", Service: "c", Environment: "e"}, {Flag: "f", Service: "d", Environment: "e"},
		{Flag: "f", Service: "new", Environment: "e"}})
	same(t, refresh(sent[:2]...), nil)
	same(t, refresh(), nil)
	first.LastSeen, second.LastSeen = at(700), at(700)
	same(t, knownSources(t, db, account, sent...), bySource(first, second, spelled, retyped))
	same(t, knownSources(t, db, other, foreign), bySource(foreign))
}

func sourceTouches(t *testing.T, db *store.DB, count int) {
	t.Helper()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	foreign, kept := newSource(other, "f", "s", "e"), newSource(account, "f", "kept", "e")
	insertSources(t, db, foreign)
	want, ids := []flags.Source{kept}, []string{}
	for i := range count {
		source := newSource(account, "f", "s"+strconv.Itoa(i), "e")
		want, ids = append(want, source), append(ids, source.ID)
	}
	insertSources(t, db, want...)
	touch := func(ids []string) {
		t.Helper()
		do(t, db, account, func(tx *store.Tx) error { return tx.TouchFlagSources(t.Context(), account, ids, at(700)) })
	}
	touch(ids)
	touch([]string{foreign.ID, "nothing", "%"})
	for i := range want[1:] {
		want[i+1].LastSeen = at(700)
	}
	same(t, knownSources(t, db, account, want...), bySource(want...))
	same(t, knownSources(t, db, other, foreign), bySource(foreign))
}

func sourceList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	insertSources(t, db, newSource(newAccount(t, db).ID, "f", "s", "e"))
	var written []flags.Source
	for i, name := range append(oddNames(), oddNames()...) {
		source := newSource(account, []string{"f", "g"}[i%2], name, []string{"x", "Y", name}[i%3]+strconv.Itoa(i))
		source.LastSeen, source.CreatedAt = at(i%5), at(i%4)
		written = append(written, source)
	}
	insertSources(t, db, written...)
	listing[flags.Source]{
		byDefault: "last_seen", newestFirst: true,
		read: func(tx *store.ReadTx, request page.Request) (page.List[flags.Source], error) {
			return tx.FlagSources(t.Context(), account, flags.SourceFilter{}, request)
		},
		id: func(source flags.Source) string { return source.ID },
		fields: map[string]func(flags.Source) any{
			"last_seen":   func(source flags.Source) any { return source.LastSeen.UnixMicro() },
			"service":     func(source flags.Source) any { return source.Service },
			"environment": func(source flags.Source) any { return source.Environment },
			"created_at":  func(source flags.Source) any { return source.CreatedAt.UnixMicro() },
		},
	}.check(t, db, written)
}

func sourceFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	insertSources(t, db, newSource(newAccount(t, db).ID, "f", "s", "e"))
	for _, flag := range []string{"f", "g"} {
		for _, service := range []string{"s", "S", oddText} {
			insertSources(t, db, newSource(account, flag, service, "e"), newSource(account, flag, service, "e2"))
		}
	}
	for name, each := range map[string]struct {
		filter flags.SourceFilter
		want   int
	}{
		"all of an account":      {flags.SourceFilter{}, 12},
		"of a flag":              {flags.SourceFilter{Flag: "f"}, 6},
		"of a service":           {flags.SourceFilter{Service: "s"}, 4},
		"of an odd service":      {flags.SourceFilter{Service: oddText}, 4},
		"of an environment":      {flags.SourceFilter{Environment: "e"}, 6},
		"of a flag in a service": {flags.SourceFilter{Flag: "g", Service: "S"}, 2},
		"of everything":          {flags.SourceFilter{Flag: "g", Service: "S", Environment: "e2"}, 1},
		"in another case":        {flags.SourceFilter{Flag: "F"}, 0},
		"of a pattern":           {flags.SourceFilter{Service: "%"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			found := get(t, db, func(tx *store.ReadTx) (page.List[flags.Source], error) {
				return tx.FlagSources(t.Context(), account, each.filter, page.Request{Number: 1, Size: page.MaxSize, Total: true})
			})
			same(t, [2]int{len(found.Items), found.Total}, [2]int{each.want, each.want})
		})
	}
}
