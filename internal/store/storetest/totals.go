package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/signalbox/signalbox/internal/configs"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/flags"
	"github.com/signalbox/signalbox/internal/logging"
	"github.com/signalbox/signalbox/internal/observations"
	"github.com/signalbox/signalbox/internal/store"
	"github.com/signalbox/signalbox/internal/suite"
)

// checkTotals checks that every total is the sum of its rows. It skips enabled jobs, which the domain counts.
func checkTotals(t *testing.T, db *store.DB) {
	t.Helper()
	checkHistoryBytes(t, db)
	wrong, err := db.CorrectTotals(context.Background()) //nolint:usetesting // t.Context has ended when a cleanup runs
	if err != nil {
		t.Error(err)
	}
	for _, each := range wrong {
		if each.What != "enabled jobs" {
			t.Errorf("the total is wrong: %+v", each)
		}
	}
}

func totals(t *testing.T, shared *store.DB) {
	t.Run("random writes of two nodes", func(t *testing.T) {
		database := New(t, shared.Name())
		db := database.Open(t)
		account := newAccount(t, db).ID
		var running sync.WaitGroup
		ring := newRing(t)
		for i, node := range Nodes(t, database, db, func(db *store.DB) *store.DB { return db }) {
			node.SealWith(ring)
			for j := range 2 {
				running.Go(func() {
					random := rand.New(rand.NewPCG(uint64(i), uint64(j))) //nolint:gosec // the same each time
					for range suite.Scale(60, 2000) {
						randomWrite(t, node, account, random)
					}
				})
			}
		}
		running.Wait()
		checkTotals(t, db)
		migratedTotals(t, database, db)
	})
	t.Run("reported things are counted", func(t *testing.T) {
		account := newAccount(t, shared).ID
		newContextType(t, shared, account, "a", nil)
		newContextType(t, shared, account, "a", nil)
		upsert(t, shared, newContext(account, "a", "1"), newContext(account, "a", "2"), newContext(account, "b", "1"))
		do(t, shared, account, func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertServices(ctx, observations.ReportingService{Account: account, Key: "s", Name: "s"})
		})
		same(t, of(t, shared, (*store.ReadTx).CountContextTypes, account), 1)
		same(t, of(t, shared, (*store.ReadTx).CountContexts, account), 3)
		same(t, of(t, shared, (*store.ReadTx).CountServices, account), 1)
	})
	t.Run("wrong totals are corrected", func(t *testing.T) {
		database := New(t, shared.Name())
		db := database.Open(t)
		account, other := newAccount(t, db).ID, newAccount(t, db).ID
		insertFlags(t, db, bareFlag(account, "a"), bareFlag(account, "b"))
		insertFlags(t, db, bareFlag(other, "a"))
		execute(t, database, `DELETE FROM flags WHERE account_id = $1 AND key = 'a'`, account)
		for _, want := range [][]store.Correction{{{Account: account, What: "flags", Was: 2, Is: 1}}, nil} {
			wrong, err := db.CorrectTotals(t.Context())
			must(t, err)
			same(t, wrong, want)
		}
		same(t, of(t, db, (*store.ReadTx).CountFlags, account), 1)
		same(t, of(t, db, (*store.ReadTx).CountFlags, other), 1)
	})
	t.Run("wrong totals among many accounts", func(t *testing.T) { wrongTotalsOfMany(t, shared.Name()) })
}

// wrongTotalsOfMany checks corrections of more accounts than one statement compares.
func wrongTotalsOfMany(t *testing.T, kind string) {
	t.Helper()
	database := New(t, kind)
	db := database.Open(t)
	template, wrong := newAccount(t, db).ID, []string{"many-000", "many-050", "many-119"}
	execute(t, database, `INSERT INTO accounts (id, key, name, plans, settings, environment_order, change_seq, created_at, updated_at)
		WITH RECURSIVE numbers (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM numbers WHERE n < 119)
		SELECT 'many-' || substr(CAST(1000 + n AS text), 2), 'many-' || n, name, plans, settings, environment_order, 0, created_at, updated_at FROM accounts, numbers WHERE id = $1`, template)
	var want []store.Correction
	for _, account := range wrong { // in different statements
		insertFlags(t, db, bareFlag(account, "a"), bareFlag(account, "b"))
		execute(t, database, `DELETE FROM flags WHERE account_id = $1`, account)
		want = append(want, store.Correction{Account: account, What: "flags", Was: 2, Is: 0})
	}
	for _, want := range [][]store.Correction{want, nil} {
		got, err := db.CorrectTotals(t.Context())
		must(t, err)
		same(t, got, want)
	}
}

// migratedTotals checks that the migration that added totals fills them from the rows.
func migratedTotals(t *testing.T, database Database, db *store.DB) {
	t.Helper()
	text, err := os.ReadFile("migrations/" + database.Kind + "/0009_totals.sql")
	must(t, err)
	_, fill, _ := strings.Cut(string(text), ";") // after the column
	execute(t, database, `DELETE FROM account_totals WHERE what NOT IN ('config bytes', 'jobs', 'enabled jobs', 'job configuration bytes')`)
	execute(t, database, fill)
	checkTotals(t, db)
}

// randomWrite makes one or two random writes in one transaction, which is sometimes rolled back.
func randomWrite(t *testing.T, db *store.DB, account string, random *rand.Rand) {
	t.Helper()
	writes := randomWrites(account, random)
	first, second, undone := random.IntN(len(writes)), random.IntN(len(writes)), random.IntN(5) == 0
	givenUp := errors.New("given up")
	err := db.Write(t.Context(), account, func(ctx context.Context, tx *store.Tx) error {
		for _, write := range []int{first, second} {
			if err := writes[write](ctx, tx); err != nil {
				return err
			}
		}
		if undone {
			return givenUp
		}
		return nil
	})
	if err != nil && !errors.Is(err, givenUp) && !fault.Is(err, fault.AlreadyExists) {
		t.Error(err)
	}
}

// randomWrites returns writes of few keys, of every kind of row that has a total.
func randomWrites(account string, random *rand.Rand) []func(context.Context, *store.Tx) error {
	key := func() string { return "k" + strconv.Itoa(random.IntN(6)) }
	wide := strings.Repeat("w", random.IntN(2)*9_000)
	flag, logger, group := bareFlag(account, key()), bareLogger(account, key()), newGroup(account, "g"+key())
	flag.Default = json.RawMessage(`"` + wide + `"`)
	logger.Managed, logger.Environments = random.IntN(2) == 0, map[string]logging.Override{"e" + wide: {}}
	config := bareConfig(account, key(), "")
	config.Items = map[string]configs.Item{"i" + wide: {Value: json.RawMessage(`1`), Type: "NUMBER"}}
	one, two, gone := newContext(account, "t"+key(), key()), newContext(account, "t"+key(), key()), key()
	two.Attributes = nil
	job := NewJob(account, newID(), "http://a/"+wide)
	return []func(context.Context, *store.Tx) error{
		func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveFlags(ctx, []flags.Flag{flag, bareFlag(account, "other")})
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.DeleteFlag(ctx, account, gone) },
		func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.DeleteFlag(ctx, account, flag.Key), tx.CreateFlags(ctx, []flags.Flag{flag}))
		},
		func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveFlagSources(ctx, []flags.Source{newSource(account, flag.Key, key(), "e"), newSource(account, flag.Key, "other", "e")})
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.SaveLoggers(ctx, []logging.Logger{logger}) },
		func(ctx context.Context, tx *store.Tx) error { return tx.DeleteLogger(ctx, account, gone, at(1)) },
		func(ctx context.Context, tx *store.Tx) error {
			return errors.Join(tx.DeleteLogger(ctx, account, logger.Key, at(1)), tx.CreateLoggers(ctx, []logging.Logger{logger}))
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.SaveLogGroups(ctx, []logging.Group{group}) },
		func(ctx context.Context, tx *store.Tx) error {
			return tx.DeleteLogGroup(ctx, account, group.Key, at(1))
		},
		func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveLoggerSources(ctx, []logging.Source{seenBy(account, logger.Key, key(), "e"), seenBy(account, logger.Key, "other", "e")})
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.SaveConfigs(ctx, config) },
		func(ctx context.Context, tx *store.Tx) error { return tx.DeleteConfig(ctx, account, gone) },
		func(ctx context.Context, tx *store.Tx) error {
			return tx.InsertServices(ctx, observations.ReportingService{Account: account, Key: key(), Name: "n"})
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.DeleteService(ctx, account, gone) },
		func(ctx context.Context, tx *store.Tx) error {
			return tx.SaveContextTypes(ctx, observations.ContextType{Account: account, Key: one.Type, Name: "n", Attributes: json.RawMessage(`{}`)})
		},
		func(ctx context.Context, tx *store.Tx) error { return tx.DeleteContextType(ctx, account, one.Type) },
		func(ctx context.Context, tx *store.Tx) error {
			return tx.UpsertContexts(ctx, []observations.Context{one, two, newContext(account, "other", "other")})
		},
		func(ctx context.Context, tx *store.Tx) error {
			return tx.DeleteContext(ctx, account, one.Type, one.Key)
		},
		func(ctx context.Context, tx *store.Tx) error {
			if err := tx.InsertJob(ctx, job); err != nil {
				return err
			}
			if err := tx.InsertJobRequest(ctx, job); err != nil || random.IntN(2) == 0 {
				return err
			}
			_, err := tx.DeleteJob(ctx, job, at(1))
			return err
		},
	}
}
