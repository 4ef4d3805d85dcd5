package storetest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/optional"
	"github.com/signalbox/signalbox/internal/store"
)

// newLevels returns levels with everything that they can have.
func newLevels() logging.Levels {
	return logging.Levels{Level: loglevel.Warn, LevelExpiresAt: new(at(101)), Environments: map[string]logging.Override{
		"production": {Level: loglevel.Trace, ExpiresAt: new(at(100))}, "staging": {Level: loglevel.Silent},
	}}
}

func noLevels() logging.Levels { return logging.Levels{Environments: map[string]logging.Override{}} }

// newLogger returns a logger with everything that a logger can have.
func newLogger(account, key string) logging.Logger {
	return logging.Logger{Account: account, Key: key, Name: oddText, Levels: newLevels(), Group: "group", Managed: true, CreatedAt: at(40), UpdatedAt: at(41)}
}

// bareLogger returns a logger as discovery makes it.
func bareLogger(account, key string) logging.Logger {
	return logging.Logger{Account: account, Key: key, Name: key, Levels: noLevels(), CreatedAt: at(42), UpdatedAt: at(43)}
}

func leveled(logger logging.Logger, level loglevel.Level) logging.Logger {
	logger.Level = level
	return logger
}

func saveLoggers(t *testing.T, db *store.DB, loggers ...logging.Logger) {
	t.Helper()
	do(t, db, loggers[0].Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, loggers) })
}

func deleteLogger(t *testing.T, db *store.DB, account, key string) {
	t.Helper()
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLogger(ctx, account, key, at(44)) })
}

func loggerKeys(found []logging.Logger) []string {
	return nameOf(found, func(logger logging.Logger) string { return logger.Key })
}

func loggersByKey(t *testing.T, db *store.DB, account string, keys ...string) []logging.Logger {
	t.Helper()
	found := find(t, db, (*store.ReadTx).LoggersByKey, account, keys)
	slices.SortFunc(found, func(a, b logging.Logger) int { return slices.Compare([]string{a.Key}, []string{b.Key}) })
	return found
}

func countLoggers(t *testing.T, db *store.DB, account string) (all, managed int) {
	t.Helper()
	return of(t, db, (*store.ReadTx).CountLoggers, account),
		of(t, db, (*store.ReadTx).CountManagedLoggers, account)
}

func loggerConcept(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for key, logger := range map[string]logging.Logger{"with.everything": newLogger(account, "with.everything"), "with.nulls": bareLogger(account, "with.nulls")} {
		t.Run("a logger "+key+" round trip", func(t *testing.T) {
			saveLoggers(t, db, logger)
			same(t, find(t, db, (*store.ReadTx).Logger, account, key), logger)
			lacks(t, db, (*store.ReadTx).Logger, other, key)
		})
	}
	t.Run("every level", func(t *testing.T) {
		for _, level := range append(loglevel.Levels(), loglevel.None) {
			logger := leveled(bareLogger(account, "level"), level)
			saveLoggers(t, db, logger)
			same(t, find(t, db, (*store.ReadTx).Logger, account, "level"), logger)
		}
	})
	t.Run("domain transactions", func(t *testing.T) {
		must(t, db.Logging().Write(ctx, account, func(ctx context.Context, tx logging.Tx) error {
			return tx.SaveLoggers(ctx, []logging.Logger{bareLogger(account, "room")})
		}))
		must(t, db.Logging().Read(ctx, func(ctx context.Context, tx logging.ReadTx) error {
			_, err := tx.Logger(ctx, account, "room")
			return err
		}))
	})
	t.Run("save again replaces", func(t *testing.T) {
		saveLoggers(t, db, newLogger(account, "again"))
		saveLoggers(t, db, bareLogger(account, "again"))
		same(t, find(t, db, (*store.ReadTx).Logger, account, "again"), bareLogger(account, "again"))
	})
	t.Run("delete", func(t *testing.T) { loggerDeletion(t, db) })
	t.Run("save many", func(t *testing.T) { loggerInsertion(t, db) })
	t.Run("by key, group and environment", func(t *testing.T) { loggersFound(t, db) })
	t.Run("cascade clears unmanaged descendants only", func(t *testing.T) { descendants(t, db) })
	t.Run("promotion is remembered", func(t *testing.T) { promotions(t, db) })
	t.Run("size of large overrides", func(t *testing.T) { overrideSizes(t, db) })
	t.Run("expiring levels", func(t *testing.T) { expiries(t, db) })
	t.Run("list", func(t *testing.T) { loggerList(t, db) })
	t.Run("filters", func(t *testing.T) { loggerFilters(t, db) })
}

func loggerDeletion(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for _, each := range []string{account, other} {
		saveLoggers(t, db, newLogger(each, "l"), newLogger(each, "kept"))
		saveSources(t, db, seenBy(each, "l", "s", "e"), seenBy(each, "kept", "s", "e"))
	}
	deleteLogger(t, db, account, "l")
	deleteLogger(t, db, account, "nothing")
	lacks(t, db, (*store.ReadTx).Logger, account, "l")
	same(t, loggerKeys(loggersByKey(t, db, account, "l", "kept")), []string{"kept"})
	all, managed := countLoggers(t, db, account)
	same(t, [2]int{all, managed}, [2]int{1, 1})
	same(t, of(t, db, (*store.ReadTx).CountLoggerSources, account), 1)
	same(t, of(t, db, (*store.ReadTx).CountLoggerSources, other), 2)
	saveLoggers(t, db, bareLogger(account, "l"))
	same(t, find(t, db, (*store.ReadTx).Logger, account, "l"), bareLogger(account, "l"))
}

func overrideSizes(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	overriding := func(owner, key, environment string) logging.Logger {
		logger := bareLogger(owner, key)
		logger.Environments = map[string]logging.Override{environment: {Level: loglevel.Info}}
		return logger
	}
	const around = len(`{"":{"level":"INFO"}}`)
	wide, edge := strings.Repeat("é", logging.SmallBytes/2), strings.Repeat("a", logging.SmallBytes-around)
	saveLoggers(t, db, bareLogger(account, "none"), overriding(account, "edge", edge), overriding(account, "large", wide),
		overriding(account, "deleted", wide))
	saveLoggers(t, db, overriding(other, "large", wide))
	deleteLogger(t, db, account, "deleted")
	group := newGroup(account, "group")
	group.Environments = overriding(account, "", wide).Environments
	saveGroup(t, db, group)
	large := func() int {
		return of(t, db, (*store.ReadTx).LargeOverrideBytes, account)
	}
	same(t, large(), 2*(logging.SmallBytes+around))
	saveLoggers(t, db, overriding(account, "edge", edge+"a"))
	same(t, large(), 2*(logging.SmallBytes+around)+logging.SmallBytes+1)
	saveLoggers(t, db, overriding(account, "edge", edge), bareLogger(account, "large"))
	same(t, large(), logging.SmallBytes+around)
}

func loggerInsertion(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, nil) })
	var many []logging.Logger
	var keys []string
	for i := range 451 { // more than two full statements, and a rest
		many = append(many, bareLogger(account, strconv.Itoa(1000+i)))
		keys = append(keys, many[i].Key)
	}
	many[3].Managed = true
	saveLoggers(t, db, many...)
	all, managed := countLoggers(t, db, account)
	same(t, [2]int{all, managed}, [2]int{451, 1})
	same(t, loggersByKey(t, db, account, keys...), many)
	kinds := find(t, db, (*store.ReadTx).LoggerKinds, account, append(keys, "nothing"))
	same(t, len(kinds), 451)
}

func loggersFound(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	a, b, c := newLogger(account, "a"), newLogger(account, "b"), bareLogger(account, "c")
	b.Group, b.Environments = "Group", map[string]logging.Override{"prod": {Level: loglevel.Info}, "p_od": {Level: loglevel.Info}}
	saveLoggers(t, db, a, b, c)
	saveLoggers(t, db, newLogger(other, "a"))
	saveGroup(t, db, newGroup(account, "g"))
	same(t, loggersByKey(t, db, account), nil)
	same(t, loggersByKey(t, db, account, "b", "a", "a", "g", "%", `a","c`), []logging.Logger{a, b})
	for group, want := range map[string][]string{"group": {"a"}, "Group": {"b"}, "g": nil, "": nil} {
		t.Run(fmt.Sprintf("%q", group), func(t *testing.T) {
			found := find(t, db, (*store.ReadTx).LoggersOfGroup, account, group)
			same(t, loggerKeys(found), want)
		})
	}
	for environment, want := range map[string][]string{"production": {"a"}, "prod": {"b"}, "p_od": {"b"}, "p%": nil, "level": nil, "Prod": nil} {
		t.Run(environment, func(t *testing.T) {
			found := find(t, db, (*store.ReadTx).LoggersWithEnvironment, account, environment)
			same(t, loggerKeys(found), want)
		})
	}
	kinds := find(t, db, (*store.ReadTx).LoggerKinds, account, []string{"a", "g", "G", "nothing"})
	same(t, kinds, map[string]string{"a": logging.Kind, "g": logging.KindGroup})
}

func descendants(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	var family []logging.Logger
	for _, key := range []string{"a", "a.b", "a.b.c", "a.", "a-b", "ab", "a%", "b", "a.é"} {
		family = append(family, leveled(bareLogger(account, key), loglevel.Warn))
	}
	managed, empty := newLogger(account, "a.managed"), bareLogger(account, "a.empty")
	saveLoggers(t, db, append(family, managed, empty)...)
	saveLoggers(t, db, leveled(bareLogger(other, "a.b"), loglevel.Warn))
	saveGroup(t, db, newGroup(account, "a.group"))
	var cleared []string
	do(t, db, account, func(ctx context.Context, tx *store.Tx) (err error) {
		cleared, err = tx.ClearDescendants(ctx, account, "a", at(99))
		return err
	})
	same(t, cleared, []string{"a.", "a.b", "a.b.c", "a.é"})
	after := bareLogger(account, "a.b")
	after.UpdatedAt = at(99)
	same(t, find(t, db, (*store.ReadTx).Logger, account, "a.b"), after)
	same(t, find(t, db, (*store.ReadTx).Logger, account, "a.managed"), managed)
	same(t, find(t, db, (*store.ReadTx).Logger, account, "a.empty"), empty)
	for _, key := range []string{"a", "a-b", "ab", "a%", "b"} {
		t.Run(key, func(t *testing.T) {
			same(t, find(t, db, (*store.ReadTx).Logger, account, key).Level, loglevel.Warn)
		})
	}
	same(t, find(t, db, (*store.ReadTx).Logger, other, "a.b").Level, loglevel.Warn)
	same(t, find(t, db, (*store.ReadTx).LogGroup, account, "a.group"), newGroup(account, "a.group"))
}

func promotions(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	cascaded := func(account, key string) bool {
		t.Helper()
		return find(t, db, (*store.ReadTx).LoggerCascaded, account, key)
	}
	saveLoggers(t, db, bareLogger(account, "a"), bareLogger(account, "b"))
	saveLoggers(t, db, bareLogger(other, "a"))
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.MarkLoggerCascaded(ctx, account, "a") })
	same(t, []bool{cascaded(account, "a"), cascaded(account, "b"), cascaded(account, "c"), cascaded(other, "a")}, []bool{true, false, false, false})
	deleteLogger(t, db, account, "a")
	same(t, cascaded(account, "a"), true)
	saveGroup(t, db, newGroup(account, "a")) // meanwhile a group may have the key
	deleteGroup(t, db, account, "a")
	saveLoggers(t, db, bareLogger(account, "a"))
	same(t, cascaded(account, "a"), true)
}

func expiries(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	at := func(years int) *time.Time { return new(time.Date(1900+years, 1, 1, 0, 0, 0, 0, time.UTC)) } // before the times of other tests
	expiring := func(key string, base, override *time.Time) logging.Logger {
		logger := bareLogger(account, key)
		logger.LevelExpiresAt, logger.Environments = base, map[string]logging.Override{"e": {Level: loglevel.Info, ExpiresAt: override}}
		return logger
	}
	group := newGroup(account, "group")
	group.LevelExpiresAt = at(2)
	saveLoggers(t, db, expiring("third", at(5), at(3)), expiring("never", nil, nil), expiring("first", at(1), at(4)), expiring("gone", at(0), nil))
	saveGroup(t, db, group)
	deleteLogger(t, db, account, "gone")
	want := []logging.Expiring{{Account: account, Kind: logging.Kind, Key: "first", At: *at(1)},
		{Account: account, Kind: logging.KindGroup, Key: "group", At: *at(2)}, {Account: account, Kind: logging.Kind, Key: "third", At: *at(3)}}
	same(t, find(t, db, (*store.ReadTx).ExpiringLevels, nil, 3), want)
	saveLoggers(t, db, expiring("first", nil, nil))
	same(t, find(t, db, (*store.ReadTx).ExpiringLevels, nil, 1), want[1:2])
	others := find(t, db, (*store.ReadTx).ExpiringLevels, []string{"nobody", account}, 10)
	same(t, slices.ContainsFunc(others, func(each logging.Expiring) bool { return each.Account == account }), false)
}

func loggerList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveLoggers(t, db, newLogger(newAccount(t, db).ID, "foreign"))
	saveGroup(t, db, newGroup(account, "a group"))
	var written []logging.Logger
	for i, name := range oddNames() {
		logger := newLogger(account, "k"+strconv.Itoa(i))
		logger.Name, logger.CreatedAt, logger.UpdatedAt = name, at(i%5), at(i%4)
		written = append(written, logger)
	}
	saveLoggers(t, db, written...)
	listing[logging.Logger, logging.Filter]{
		read: (*store.ReadTx).Loggers, id: func(logger logging.Logger) string { return logger.Key },
		byDefault: "key", fields: []string{"key", "name", "created_at", "updated_at"},
	}.check(t, db, account, written)
	keys := of(t, db, (*store.ReadTx).LoggerKeys, account)
	want := loggerKeys(written)
	slices.Sort(keys)
	slices.Sort(want)
	same(t, keys, want)
}

func loggerFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	a, b, c := newLogger(account, "a"), bareLogger(account, "b"), bareLogger(account, "c")
	saveLoggers(t, db, a, b, c)
	saveSources(t, db, at2(seenBy(account, "a", "s", "e"), 10), at2(seenBy(account, "a", "t", "e"), 20), at2(seenBy(account, "b", "s", "e"), 15))
	for name, each := range map[string]struct {
		filter logging.Filter
		want   []string
	}{
		"none":                    {logging.Filter{}, []string{"a", "b", "c"}},
		"managed":                 {logging.Filter{Managed: optional.Of(true)}, []string{"a"}},
		"discovered":              {logging.Filter{Managed: optional.Of(false)}, []string{"b", "c"}},
		"of a group":              {logging.Filter{Group: "group"}, []string{"a"}},
		"of a group, discovered":  {logging.Filter{Group: "group", Managed: optional.Of(false)}, nil},
		"of a service":            {logging.Filter{Service: "s"}, []string{"a", "b"}},
		"of another service":      {logging.Filter{Service: "t"}, []string{"a"}},
		"of a service in a case":  {logging.Filter{Service: "S"}, nil},
		"seen from":               {logging.Filter{SeenFrom: at(15)}, []string{"a", "b"}},
		"seen later":              {logging.Filter{SeenFrom: at(16)}, []string{"a"}},
		"seen before":             {logging.Filter{SeenTo: at(20)}, []string{"b"}},
		"seen between":            {logging.Filter{SeenFrom: at(5), SeenTo: at(21)}, []string{"a", "b"}},
		"of all at once":          {logging.Filter{Service: "s", SeenFrom: at(5), Managed: optional.Of(true), Group: "group", Search: "A"}, []string{"a"}},
		"of a search in a key":    {logging.Filter{Search: "C"}, []string{"c"}},
		"of a search in any name": {logging.Filter{Search: "żółw"}, []string{"a"}},
	} {
		t.Run(name, func(t *testing.T) {
			same(t, loggerKeys(matches(t, db, (*store.ReadTx).Loggers, account, each.filter)), each.want)
		})
	}
}
