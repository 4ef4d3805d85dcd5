package storetest

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/store"
)

// Run tests everything that the rest of Signalbox expects of the store. Every concept has its own
// file; a new concept adds a line here.
func Run(t *testing.T, database Database) {
	t.Helper()
	db := database.Open(t)
	t.Cleanup(func() { checkTotals(t, db) })
	for name, concept := range map[string]func(*testing.T, *store.DB){
		"transactions":   transactions,
		"accounts":       accountConcept,
		"users":          users,
		"invitations":    invitations,
		"links":          links,
		"reset links":    resetLinks,
		"sessions":       sessions,
		"settings":       settings,
		"keys":           keys,
		"environments":   environmentConcept,
		"orders":         orders,
		"services":       services,
		"context types":  contextTypes,
		"contexts":       contexts,
		"metrics":        metrics,
		"refreshes":      refreshes,
		"similar keys":   similarKeys,
		"changes":        changeConcept,
		"history bytes":  boundedHistory,
		"seals":          seals,
		"flags":          flagConcept,
		"flag sources":   flagSources,
		"loggers":        loggerConcept,
		"log groups":     logGroups,
		"logger sources": loggerSources,
		"configs":        configConcept,
		"jobs":           jobConcept,
		"runs":           runConcept,
		"job engine":     jobEngine,
		"retention":      retention,
		"pace":           pace,
		"clock":          clockConcept,
		"totals":         totals,
		"connections":    connectionConcept,
		"requests":       requestConcept,
		"webhooks":       webhookConcept,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			concept(t, db)
		})
	}
}

// oddText must come back unchanged from every text column.
const oddText = "Żółw  \"quoted\" 'single' \\ % _ ; -- \U0001F6A6 \t日本語 e\u0301"

// oddJSON must come back to the letter: spaces, the order and repetition of
// members, the spelling of numbers and of characters.
const oddJSON = `{ "b":1.0,"a" : 1e5, "b":-0.0, "ü":"\u00e9\/", "n":null,"big":12345678901234567890.123, "e":{} }`

// at returns an instant that loses digits if it is stored less precisely than in microseconds.
func at(micros int) time.Time {
	return time.Date(2031, 2, 3, 4, 5, 6, 789_012_000, time.UTC).Add(time.Duration(micros) * time.Microsecond)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// changed applies the test's change, if there is one, and returns the result.
func changed[T any](made T, change func(*T)) T {
	if change != nil {
		change(&made)
	}
	return made
}

// must ends the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// get returns the result of a read.
func get[T any](t testing.TB, db *store.DB, read func(context.Context, *store.ReadTx) (T, error)) T {
	t.Helper()
	found, err := tryGet(t, db, read)
	must(t, err)
	return found
}

// tryGet is get for reads that may fail.
func tryGet[T any](t testing.TB, db *store.DB, read func(context.Context, *store.ReadTx) (T, error)) (found T, err error) {
	t.Helper()
	err = db.Read(t.Context(), func(ctx context.Context, tx *store.ReadTx) error {
		found, err = read(ctx, tx)
		return err
	})
	return found, err
}

// of returns the result of a read with one argument, such as the number of an account's flags.
func of[A, T any](t testing.TB, db *store.DB, read func(*store.ReadTx, context.Context, A) (T, error), owner A) T {
	t.Helper()
	return get(t, db, func(ctx context.Context, tx *store.ReadTx) (T, error) { return read(tx, ctx, owner) })
}

// find returns the result of a read with two arguments, such as the flag that an account has by a key.
func find[A, B, T any](t testing.TB, db *store.DB, read func(*store.ReadTx, context.Context, A, B) (T, error), account A, key B) T {
	t.Helper()
	return get(t, db, func(ctx context.Context, tx *store.ReadTx) (T, error) { return read(tx, ctx, account, key) })
}

// list returns the result of a read with three arguments, such as a page of an account's flags.
func list[A, B, C, T any](t testing.TB, db *store.DB, read func(*store.ReadTx, context.Context, A, B, C) (T, error), account A, filter B, request C) T {
	t.Helper()
	return get(t, db, func(ctx context.Context, tx *store.ReadTx) (T, error) { return read(tx, ctx, account, filter, request) })
}

// do runs a write that must succeed.
func do(t testing.TB, db *store.DB, account string, write func(context.Context, *store.Tx) error) {
	t.Helper()
	must(t, db.Write(t.Context(), account, write))
}

func same[T any](t testing.TB, got, want T) bool {
	t.Helper()
	if reflect.DeepEqual(got, want) { // much faster than to look for a difference
		return true
	}
	t.Errorf("differs (-want +got):\n%s", cmp.Diff(want, got))
	return false
}

// refused checks that something was refused with a code.
func refused(t *testing.T, err error, code fault.Code) {
	t.Helper()
	if !fault.Is(err, code) {
		t.Errorf("got %v, want the refusal %s", err, code)
	}
}

// missing checks that a read finds nothing.
func missing[T any](t *testing.T, db *store.DB, read func(context.Context, *store.ReadTx) (T, error)) {
	t.Helper()
	_, err := tryGet(t, db, read)
	refused(t, err, fault.NotFound)
}

// lacks checks that an account has nothing with a key.
func lacks[K, T any](t *testing.T, db *store.DB, read func(*store.ReadTx, context.Context, string, K) (T, error), account string, key K) {
	t.Helper()
	missing(t, db, func(ctx context.Context, tx *store.ReadTx) (T, error) { return read(tx, ctx, account, key) })
}
