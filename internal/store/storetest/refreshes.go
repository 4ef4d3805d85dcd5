package storetest

import (
	"context"
	"strconv"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
)

// refreshes checks that instants only move forward, and only in one account.
func refreshes(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	seenFlag, seenLogger := newSource(account, "f", "s", "e"), seenBy(account, "l", "s", "e")
	saveFlagSources(t, db, seenFlag)
	saveSources(t, db, seenLogger)
	flag, key := saveFlag(t, db, bareFlag(account, "f")), newKey(t, db, account, nil)
	keptFlag, keptKey := saveFlag(t, db, bareFlag(account, "kept")), newKey(t, db, account, fullKey)
	session := newSession(t, db, account, newID(), func(s *accounts.Session) { s.LastUsedAt = at(1) })
	write := func(account string, refreshes ...observations.Refresh) {
		t.Helper()
		err := db.Refreshes().Write(ctx, account, func(ctx context.Context, tx observations.RefreshTx) error { return tx.Refresh(ctx, account, refreshes) })
		same(t, err, nil)
	}
	all := func(micros int) []observations.Refresh {
		return []observations.Refresh{
			{What: observations.FlagSourceSeen, Key: seenFlag.ID, At: at(micros)}, {What: observations.LoggerSourceSeen, Key: seenLogger.ID, At: at(micros)},
			{What: observations.FlagEvaluated, Key: "f", At: at(micros)}, {What: observations.KeyUsed, Key: key.ID, At: at(micros)},
			{What: observations.SessionUsed, Key: session.ID, At: at(micros)},
			{What: observations.FlagSourceSeen, Key: "nothing", At: at(micros)}, {What: observations.FlagEvaluated, Key: "nothing", At: at(micros)},
		}
	}
	for _, each := range []struct{ sent, want int }{{100, 100}, {99, 100}, {100, 100}, {101, 101}} {
		write(account, all(each.sent)...)
		write(other, all(500)...) // rows of another account
		seenFlag.LastSeen, seenLogger.LastSeen = at(each.want), at(each.want)
		flag.LastEvaluated, flag.LastSeen, key.LastUsedAt = new(at(each.want)), new(at(each.want)), new(at(each.want))
		session.LastUsedAt = at(each.want)
		same(t, storedSources(t, db, account), bySource(seenFlag))
		same(t, known(t, db, account, seenLogger), []logging.Source{seenLogger})
		same(t, find(t, db, (*store.ReadTx).Flag, account, "f"), flag)
		same(t, find(t, db, (*store.ReadTx).Key, account, key.ID), key)
		same(t, find(t, db, (*store.ReadTx).Session, account, session.ID), session)
	}
	write(account)
	same(t, find(t, db, (*store.ReadTx).Flag, account, "kept"), keptFlag)
	same(t, find(t, db, (*store.ReadTx).Key, account, keptKey.ID), keptKey)
	lacks(t, db, (*store.ReadTx).Flag, account, "nothing")
	t.Run("many at once", func(t *testing.T) {
		account := newAccount(t, db).ID
		var sources []logging.Source
		var moved []observations.Refresh
		for i := range 2_351 { // more than one statement
			source := seenBy(account, "l", strconv.Itoa(i), "e")
			sources = append(sources, source)
			moved = append(moved, observations.Refresh{What: observations.LoggerSourceSeen, Key: source.ID, At: at(90).Add(time.Duration(i) * time.Second)})
		}
		saveSources(t, db, sources...)
		write(account, moved...)
		for i := range sources {
			sources[i].LastSeen = moved[i].At
		}
		same(t, known(t, db, account, sources...), sources)
	})
}
