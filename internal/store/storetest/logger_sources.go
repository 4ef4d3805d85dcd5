package storetest

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/signalbox/signalbox/client/loglevel"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

func seenBy(account, logger, service, environment string) logging.Source {
	key := observations.SourceKey{Name: logger, Service: service, Environment: environment}
	return logging.Source{ID: key.ID(account), Account: account, Logger: logger, Service: service, Environment: environment,
		Level: loglevel.Debug, ResolvedLevel: loglevel.Info, FirstObserved: at(60), LastSeen: at(61), CreatedAt: at(62), UpdatedAt: at(63)}
}

// at2 returns a source that was last seen at another instant.
func at2(source logging.Source, micros int) logging.Source {
	source.LastSeen = at(micros)
	return source
}

func saveSources(t *testing.T, db *store.DB, sources ...logging.Source) {
	t.Helper()
	do(t, db, sources[0].Account, func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggerSources(ctx, sources) })
}

// known returns the stored rows of some sources of one logger.
func known(t *testing.T, db *store.DB, account string, sources ...logging.Source) []logging.Source {
	t.Helper()
	rows := map[string]logging.Source{}
	for _, row := range list(t, db, (*store.ReadTx).NewestSources, account, []string{sources[0].Logger}, 10_000) {
		rows[row.ID] = row
	}
	found := find(t, db, (*store.ReadTx).KnownLoggerSources, account, sources)
	var ordered []logging.Source
	for _, source := range sources {
		if levels, is := found[source.SourceKey()]; is {
			same(t, levels.Agrees(rows[levels.ID]), true)
			ordered = append(ordered, rows[levels.ID])
		}
	}
	return ordered
}

func loggerSources(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	t.Run("level files", func(t *testing.T) { levelFiles(t, db) })
	odd, plain, foreign := seenBy(account, "l", oddText, oddText), seenBy(account, "l", "s", "e"), seenBy(other, "l", "s", "e")
	odd.Level = loglevel.None
	t.Run("round trip", func(t *testing.T) {
		saveSources(t, db, odd, plain)
		saveSources(t, db, foreign)
		same(t, known(t, db, account, odd, plain, seenBy(account, "l", "s", "nowhere")), []logging.Source{odd, plain})
		same(t, len(known(t, db, account, foreign)), 0)
		for owner, want := range map[string]int{account: 2, other: 1, "nobody": 0} {
			same(t, of(t, db, (*store.ReadTx).CountLoggerSources, owner), want)
		}
	})
	t.Run("save again keeps first observed", func(t *testing.T) {
		again := plain
		again.Level, again.ResolvedLevel, again.LastSeen, again.UpdatedAt = loglevel.None, loglevel.Silent, at(70), at(71)
		sent := again
		sent.FirstObserved, sent.CreatedAt = at(72), at(73)
		saveSources(t, db, sent)
		same(t, known(t, db, account, plain), []logging.Source{again})
		saveSources(t, db, plain)
	})
	t.Run("by logger", func(t *testing.T) {
		saveSources(t, db, seenBy(account, "m", "s", "e"))
		for _, each := range []struct {
			loggers []string
			limit   int
			want    int
		}{{nil, 9, 0}, {[]string{"l"}, 9, 2}, {[]string{"l", "m"}, 9, 3}, {[]string{"m", "l"}, 1, 2}, {[]string{"%", "L"}, 9, 0}} {
			t.Run(fmt.Sprint(each.loggers, each.limit), func(t *testing.T) {
				found := list(t, db, (*store.ReadTx).NewestSources, account, each.loggers, each.limit)
				same(t, len(found), each.want)
			})
		}
	})
	t.Run("newest sources and their levels", func(t *testing.T) { newestSources(t, db) })
	t.Run("many at once", func(t *testing.T) { manySources(t, db) })
	t.Run("list and filters", func(t *testing.T) { loggerSourceList(t, db) })
}

func newestSources(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	var want []logging.Source
	for i := range 9 {
		source := at2(seenBy(account, "l", strconv.Itoa(i), []string{"e", "f"}[i%2]), i)
		source.ResolvedLevel = []loglevel.Level{loglevel.Silent, loglevel.Trace, loglevel.Warn}[i/3]
		saveSources(t, db, source, at2(seenBy(account, "m", strconv.Itoa(i), "e"), i))
		if i >= 5 {
			want = append(want, source)
		}
	}
	found := list(t, db, (*store.ReadTx).NewestSources, account, []string{"l"}, 4)
	slices.SortFunc(found, func(a, b logging.Source) int { return a.LastSeen.Compare(b.LastSeen) })
	same(t, found, want)
	levels := list(t, db, (*store.ReadTx).LevelsSeen, account, []string{"l", "nothing", "m", "l"}, 4)
	slices.SortFunc(levels, func(a, b logging.LevelSeen) int {
		return cmp.Or(cmp.Compare(a.Logger, b.Logger), cmp.Compare(a.Environment, b.Environment), cmp.Compare(a.Level, b.Level))
	})
	same(t, levels, []logging.LevelSeen{{Logger: "l", Environment: "e", Level: loglevel.Trace}, {Logger: "l", Environment: "e", Level: loglevel.Warn},
		{Logger: "l", Environment: "e", Level: loglevel.Silent}, {Logger: "l", Environment: "f", Level: loglevel.Silent},
		{Logger: "m", Environment: "e", Level: loglevel.Info}})
}

func manySources(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	var many []logging.Source
	for i := range 2_351 {
		many = append(many, seenBy(account, "l", strconv.Itoa(i), "e"))
	}
	saveSources(t, db, many...)
	same(t, known(t, db, account, many...), many)
}

func loggerSourceList(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	saveSources(t, db, seenBy(newAccount(t, db).ID, "l", "s", "e"))
	var written []logging.Source
	for i, name := range slices.Concat(oddNames(), oddNames()) {
		source := at2(seenBy(account, []string{"l", "m"}[i%2], name, []string{"x", "Y", name}[i%3]+strconv.Itoa(i)), i%5)
		source.CreatedAt = at(i % 4)
		written = append(written, source)
	}
	saveSources(t, db, written...)
	listing[logging.Source, logging.SourceFilter]{
		read: (*store.ReadTx).LoggerSources, id: func(source logging.Source) string { return source.ID },
		byDefault: "last_seen", newestFirst: true, fields: []string{"last_seen", "service", "environment", "created_at"},
	}.check(t, db, account, written)
	for _, each := range []struct {
		filter logging.SourceFilter
		want   int
	}{
		{logging.SourceFilter{Logger: "l"}, 19}, {logging.SourceFilter{Service: "b"}, 2}, {logging.SourceFilter{Environment: "x0"}, 1},
		{logging.SourceFilter{Logger: "m", Service: "B"}, 1}, {logging.SourceFilter{Logger: "L"}, 0}, {logging.SourceFilter{Service: "%"}, 0},
	} {
		t.Run(fmt.Sprintf("%+v", each.filter), func(t *testing.T) {
			same(t, len(matches(t, db, (*store.ReadTx).LoggerSources, account, each.filter)), each.want)
		})
	}
}
