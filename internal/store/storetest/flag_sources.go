package storetest

import (
	"context"
	"encoding/json"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/client/flageval"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

func newSource(account, flag, service, environment string) flags.Source {
	return flags.Source{ID: newID(), Account: account, Flag: flag, Service: service, Environment: environment,
		DeclaredType: flageval.JSON, DeclaredDefault: json.RawMessage(oddJSON),
		FirstObserved: at(20), LastSeen: at(21), CreatedAt: at(22), UpdatedAt: at(23)}
}

func saveFlagSources(t *testing.T, db *store.DB, sources ...flags.Source) {
	t.Helper()
	do(t, db, sources[0].Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlagSources(ctx, sources) })
}

// storedSources reads all sources of an account.
func storedSources(t *testing.T, db *store.DB, account string) map[observations.SourceKey]flags.Source {
	t.Helper()
	return bySource(list(t, db, (*store.ReadTx).FlagSources, account, flags.SourceFilter{}, page.Request{Number: 1, Size: 10_000}).Items...)
}

func bySource(sources ...flags.Source) map[observations.SourceKey]flags.Source {
	found := map[observations.SourceKey]flags.Source{}
	for _, source := range sources {
		found[source.SourceKey()] = source
	}
	return found
}

func flagSources(t *testing.T, db *store.DB) {
	t.Run("round trip", func(t *testing.T) {
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		written := []flags.Source{newSource(account, "f", oddText, oddText), newSource(account, "f", "s", "e"), newSource(account, "F", "s", "e"),
			newSource(account, "f", "S", "e"), newSource(account, "f", "s", "E")}
		saveFlagSources(t, db, written...)
		saveFlagSources(t, db, newSource(other, "f", "s", "e"))
		same(t, storedSources(t, db, account), bySource(written...))
		for owner, want := range map[string]int{account: 5, other: 1, "nobody": 0} {
			same(t, of(t, db, (*store.ReadTx).CountFlagSources, owner), want)
		}
	})
	t.Run("known sources", func(t *testing.T) { knownSources(t, db) })
	t.Run("last seen of a flag", func(t *testing.T) { lastSeen(t, db) })
	t.Run("save again keeps id and first observed", func(t *testing.T) { savedAgain(t, db) })
	t.Run("list", func(t *testing.T) { sourceList(t, db) })
	t.Run("filters", func(t *testing.T) { sourceFilters(t, db) })
}

func knownSources(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	var many []flags.Source
	for i := range 2500 { // more than one statement
		many = append(many, newSource(account, "f", "s"+strconv.Itoa(i), "e"))
	}
	saveFlagSources(t, db, many...)
	saveFlagSources(t, db, newSource(account, "f", oddText, oddText))
	saveFlagSources(t, db, newSource(other, "f", "s0", "e"))
	known := func(account string, reported ...flags.Source) map[observations.SourceKey]flags.Source {
		return find(t, db, (*store.ReadTx).KnownFlagSources, account, reported)
	}
	same(t, len(known(account)), 0)
	same(t, len(known(account, many...)), len(many))
	same(t, len(known(account, newSource(account, "f", oddText, oddText), newSource(account, "f", "S0", "e"), newSource(account, "%", "s0", "e"),
		newSource(account, "", "", ""), newSource(account, `f","s0","e`, "s0", "e"))), 1)
	same(t, len(known(other, many[:2]...)), 1)
	// The stored declaration comes back, whatever is reported.
	other1, other2, same1 := many[0], many[1], many[2]
	other1.DeclaredType, other2.DeclaredDefault = flageval.String, json.RawMessage(`"a\u0000\\\"\ud800ü"`)
	for key, found := range known(account, other1, other2, same1) {
		stored := bySource(many[:3]...)[key]
		same(t, [3]string{found.ID, string(found.DeclaredType), string(found.DeclaredDefault)},
			[3]string{stored.ID, string(stored.DeclaredType), string(stored.DeclaredDefault)})
	}
}

func lastSeen(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	flag := saveFlag(t, db, newFlag(account, "f"))
	foreign := newSource(other, "f", "s", "e")
	foreign.LastSeen = at(900)
	first, second, third := newSource(account, "f", "a", "e"), newSource(account, "f", "b", "e"), newSource(account, "g", "a", "e")
	first.LastSeen, second.LastSeen, third.LastSeen = at(500), at(400), at(800)
	saveFlagSources(t, db, foreign)
	saveFlagSources(t, db, first, second, third)
	flag.LastSeen = new(at(500))
	same(t, find(t, db, (*store.ReadTx).Flag, account, "f"), flag)
	saveFlag(t, db, flag) // does not write when the flag was last seen
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		return tx.Refresh(ctx, account, []observations.Refresh{{What: observations.FlagSourceSeen, Key: second.ID, At: at(600)}})
	})
	flag.LastSeen = new(at(600))
	same(t, find(t, db, (*store.ReadTx).Flag, account, "f"), flag)
	same(t, list(t, db, (*store.ReadTx).Flags, account, flags.Filter{}, page.First()).Items, []flags.Flag{flag})
}

func savedAgain(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	first, second, kept := newSource(account, "f", "a", "e"), newSource(account, "f", "b", "e"), newSource(account, "f", "c", "e")
	foreign := newSource(other, "f", "a", "e")
	saveFlagSources(t, db, first, second, kept)
	saveFlagSources(t, db, foreign)
	sent := []flags.Source{first, second}
	for i := range sent {
		sent[i].DeclaredType, sent[i].DeclaredDefault = flageval.Numeric, json.RawMessage(`1.0`)
		sent[i].LastSeen, sent[i].UpdatedAt = at(300+i), at(400+i)
	}
	sent[1].DeclaredDefault = json.RawMessage(`"a\u0000\\\"\ud800ü"`) // escapes stay escapes
	first, second = sent[0], sent[1]
	for i := range sent { // may not change
		sent[i].ID, sent[i].FirstObserved, sent[i].CreatedAt = newID(), at(999), at(999)
	}
	saveFlagSources(t, db, sent...)
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveFlagSources(ctx, nil) })
	same(t, storedSources(t, db, account), bySource(first, second, kept))
	same(t, storedSources(t, db, other), bySource(foreign))
}

func sourceList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveFlagSources(t, db, newSource(newAccount(t, db).ID, "f", "s", "e"))
	var written []flags.Source
	for i, name := range append(oddNames(), oddNames()...) {
		source := newSource(account, []string{"f", "g"}[i%2], name, []string{"x", "Y", name}[i%3]+strconv.Itoa(i))
		source.LastSeen, source.CreatedAt = at(i%5), at(i%4)
		written = append(written, source)
	}
	saveFlagSources(t, db, written...)
	listing[flags.Source, flags.SourceFilter]{
		read: (*store.ReadTx).FlagSources, id: func(source flags.Source) string { return source.ID },
		byDefault: "last_seen", newestFirst: true, fields: []string{"last_seen", "service", "environment", "created_at"},
	}.check(t, db, account, written)
}

func sourceFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveFlagSources(t, db, newSource(newAccount(t, db).ID, "f", "s", "e"))
	for _, flag := range []string{"f", "g"} {
		for _, service := range []string{"s", "S", oddText} {
			saveFlagSources(t, db, newSource(account, flag, service, "e"), newSource(account, flag, service, "e2"))
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
			same(t, len(matches(t, db, (*store.ReadTx).FlagSources, account, each.filter)), each.want)
		})
	}
}
