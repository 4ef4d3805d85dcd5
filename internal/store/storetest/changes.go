package storetest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/store"
)

// record writes a change and returns the change that the store must return.
func record(t *testing.T, db *store.DB, account string, change changes.Change) changes.Change {
	t.Helper()
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		change.CreatedAt = tx.Now()
		return tx.RecordChanges(ctx, account, change)
	})
	heads, err := db.Heads(t.Context())
	must(t, err)
	change.Account, change.Seq = account, heads[account]
	return change
}

func changeConcept(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	actor := changes.Actor{Type: changes.ActorKey, ID: newID(), Name: oddText}
	t.Run("round trip", func(t *testing.T) {
		for seq, written := range []changes.Change{
			{Kind: "flag", Key: oddText, Action: changes.Updated, Actor: actor, Before: []byte(oddJSON), After: []byte(`[ 1.0 ]`)},
			{Kind: "flag", Key: "created", Action: changes.Created, Actor: changes.Operator(), After: []byte(`{}`), Reverts: new(int64(1))},
			{Kind: "flag", Key: "deleted", Action: changes.Deleted, Before: []byte(`null`)},
		} {
			want := record(t, db, account, written)
			same(t, want.Seq, int64(seq+1))
			same(t, of(t, db, (*store.ReadTx).LastChange, account), want.Seq)
			same(t, find(t, db, (*store.ReadTx).Change, account, want.Seq), want)
			found, err := db.History().Change(ctx, account, want.Seq)
			must(t, err)
			same(t, found, want)
		}
	})
	t.Run("numbered per account", func(t *testing.T) {
		same(t, record(t, db, other, changes.Change{}).Seq, int64(1))
		lacks(t, db, (*store.ReadTx).Change, other, 2)
		lacks(t, db, (*store.ReadTx).Change, account, 4)
	})
	t.Run("several in one transaction", func(t *testing.T) { severalChanges(t, db) })
	t.Run("unknown account", func(t *testing.T) {
		err := db.Write(ctx, "", func(ctx context.Context, tx *store.Tx) error {
			return tx.RecordChanges(ctx, "nobody", changes.Change{})
		})
		refused(t, err, fault.NotFound)
	})
	t.Run("version", func(t *testing.T) { versions(t, db) })
	t.Run("history pages", func(t *testing.T) { history(t, db) })
	t.Run("large documents", func(t *testing.T) { largeHistory(t, db) })
	t.Run("filters", func(t *testing.T) { historyFilters(t, db) })
	t.Run("events", func(t *testing.T) { eventHistory(t, db) })
	t.Run("later changes of a resource", func(t *testing.T) { laterChanges(t, db) })
}

// laterChanges tests that the later changes of a resource include the changes of several resources
// that name it, unless these sum up single changes.
func laterChanges(t *testing.T, db *store.DB) {
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	flag := func(key string) changes.Change {
		return changes.Change{Kind: "flag", Key: key, Action: changes.Cascaded, Before: []byte(`{}`)}
	}
	several := func(keys, more string) changes.Change {
		return changes.Change{Kind: "flag", Key: changes.AllKeys, Action: changes.Cascaded, After: []byte(`{"keys":[` + keys + `]` + more + `}`)}
	}
	undoing := flag("a_%")
	undoing.Reverts = new(int64(1))
	record(t, db, other, flag("a_%"))
	for _, made := range [][]changes.Change{
		{flag("a_%")}, {undoing}, {flag("A_%")}, {several(`"b","a_%"`, "")}, {several(`"A_%","a_","aa%"`, "")},
		{flag("a_%"), several(`"a_%"`, `,"cause":"environment:qa"`)}, {{Kind: "logger", Key: "a_%"}}, {several(`"a_%"`, `,"cause":"flag:a"`)},
	} {
		do(t, db, account, func(ctx context.Context, tx *store.Tx) error { return tx.RecordChanges(ctx, account, made...) })
	}
	for after, want := range map[int64][]int64{0: {1, 2, 4, 6, 9}, 2: {4, 6, 9}, 9: nil} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			var got []int64
			for _, change := range get(t, db, func(ctx context.Context, tx *store.ReadTx) ([]changes.Change, error) {
				return tx.LaterChanges(ctx, account, "flag", "a_%", after)
			}) {
				got = append(got, change.Seq)
				same(t, change.Reverts != nil, change.Seq == 2)
			}
			same(t, got, want)
		})
	}
}

// severalChanges records changes one by one and many at once, in one transaction.
func severalChanges(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	record(t, db, other, changes.Change{Key: "foreign"})
	var want []string
	made := make([]changes.Change, 600) // more than two statements
	for i := range made {
		made[i] = changes.Change{Kind: "flag", Key: strconv.Itoa(i), After: []byte(oddJSON)}
		if i%2 == 1 {
			made[i].Before, made[i].After = made[i].After, nil
		}
		want = append(want, made[i].Key)
	}
	made[0].Action = changes.Cascaded // a consequence, which is recorded before its cause
	var now time.Time
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		now = tx.Now()
		same(t, tx.OwnChange(), int64(0))
		for _, part := range [][]changes.Change{made[:1], nil, made[1:2], made[2:]} {
			if err := tx.RecordChanges(ctx, account, part...); err != nil {
				return err
			}
		}
		same(t, tx.OwnChange(), int64(2))
		return nil
	})
	found, err := db.After(ctx, account, 0, 1000)
	must(t, err)
	same(t, keysOf(found), want)
	for i, change := range found {
		made[i].Account, made[i].Seq, made[i].CreatedAt = account, int64(i+1), now
		if !same(t, change, made[i]) {
			break
		}
	}
	heads, err := db.Heads(ctx)
	must(t, err)
	same(t, [2]int64{heads[account], heads[other]}, [2]int64{600, 1})
}

func versions(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	for want := range int64(4) {
		for range 2 { // once from the database and once from memory
			version, err := db.Version(ctx, account)
			must(t, err)
			same(t, version, want)
		}
		record(t, db, account, changes.Change{})
		record(t, db, other, changes.Change{})
	}
}

func keysOf(found []changes.Change) []string {
	return nameOf(found, func(change changes.Change) string { return change.Key })
}

func history(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	var written []changes.Change
	for i := range 7 {
		written = append(written, record(t, db, account, changes.Change{Kind: "flag", Key: strconv.Itoa(i)}))
		record(t, db, other, changes.Change{Kind: "flag", Key: "foreign"})
	}
	t.Run("newest first, by pages", func(t *testing.T) {
		for _, each := range []struct {
			before int64
			size   int
			want   []string
			more   bool
		}{
			{0, 3, []string{"6", "5", "4"}, true},
			{5, 3, []string{"3", "2", "1"}, true},
			{2, 3, []string{"0"}, false},
			{0, 7, []string{"6", "5", "4", "3", "2", "1", "0"}, false},
			{1, 3, nil, false},
		} {
			t.Run(fmt.Sprintf("%d before %d", each.size, each.before), func(t *testing.T) {
				tail, err := db.History().Changes(ctx, account, changes.Filter{}, each.before, each.size)
				must(t, err)
				same(t, keysOf(tail.Items), each.want)
				same(t, tail.More, each.more)
			})
		}
	})
	t.Run("after a number", func(t *testing.T) {
		for after, want := range map[int64][]changes.Change{0: written[:3], 2: written[2:5], 6: written[6:], 7: nil, 99: nil} {
			t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
				found, err := db.After(ctx, account, after, 3)
				must(t, err)
				same(t, found, want)
			})
		}
	})
}

func historyFilters(t *testing.T, db *store.DB) {
	account := newAccount(t, db).ID
	alice, bob := changes.Actor{ID: "alice"}, changes.Actor{ID: "bob"}
	record(t, db, account, changes.Change{Kind: "flag", Key: "a", Actor: alice})
	second := record(t, db, account, changes.Change{Kind: "flag", Key: "b", Actor: bob})
	record(t, db, account, changes.Change{Kind: "logger", Key: "a", Actor: bob})
	third := find(t, db, (*store.ReadTx).Change, account, 3)
	for name, each := range map[string]struct {
		filter changes.Filter
		want   []int64
	}{
		"nothing":           {changes.Filter{}, []int64{3, 2, 1}},
		"a resource":        {changes.Filter{Kind: "flag", Key: "a"}, []int64{1}},
		"another kind":      {changes.Filter{Kind: "logger", Key: "b"}, nil},
		"an actor":          {changes.Filter{ActorID: "bob"}, []int64{3, 2}},
		"both":              {changes.Filter{ActorID: "bob", Kind: "flag", Key: "b"}, []int64{2}},
		"from, included":    {changes.Filter{From: second.CreatedAt}, []int64{3, 2}},
		"to, not included":  {changes.Filter{To: second.CreatedAt}, []int64{1}},
		"a microsecond":     {changes.Filter{From: second.CreatedAt, To: second.CreatedAt.Add(time.Microsecond)}, []int64{2}},
		"an empty interval": {changes.Filter{From: third.CreatedAt, To: third.CreatedAt}, nil},
	} {
		t.Run("to "+name, func(t *testing.T) {
			tail := get(t, db, func(ctx context.Context, tx *store.ReadTx) (page.Tail[changes.Change], error) {
				return tx.Changes(ctx, account, each.filter, 0, 10)
			})
			var found []int64
			for _, change := range tail.Items {
				found = append(found, change.Seq)
			}
			same(t, found, each.want)
		})
	}
}

// eventHistory tests the reads of the change feed and of event streams.
func eventHistory(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account, other := newAccount(t, db).ID, newAccount(t, db).ID
	document := []byte(oddJSON)
	var written []changes.Change
	for _, each := range []struct {
		change changes.Change
		needed bool
	}{
		{changes.Change{Kind: "flag", Key: oddText, Action: changes.Updated}, false},
		{changes.Change{Kind: "logger", Key: oddText, Action: changes.Updated}, true},
		{changes.Change{Kind: "logger", Key: oddText, Action: changes.Cascaded}, false},
		{changes.Change{Kind: "logger", Key: changes.AllKeys, Action: changes.Discovered}, false},
		{changes.Change{Kind: "api_key", Key: oddText, Action: changes.Revoked}, true},
		{changes.Change{Kind: "flag", Key: oddText, Action: changes.Updated}, false},
	} {
		each.change.Before, each.change.After = document, document
		change := record(t, db, account, each.change)
		change.Before, change.Actor = nil, changes.Actor{}
		if !each.needed {
			change.After = nil
		}
		written = append(written, change)
		record(t, db, other, changes.Change{Kind: "config"})
	}
	for after, want := range map[int64][]changes.Change{0: written[:3], 2: written[2:5], 4: written[4:], 6: nil, 99: nil} {
		t.Run(fmt.Sprint("after ", after), func(t *testing.T) {
			found, err := db.EventsAfter(ctx, account, after, 3)
			must(t, err)
			same(t, found, want)
		})
	}
	for since, want := range map[time.Time][]string{
		written[0].CreatedAt:                  {"flag", "logger"},
		written[5].CreatedAt:                  {"flag"},
		written[5].CreatedAt.Add(time.Second): nil,
	} {
		t.Run(fmt.Sprint(want), func(t *testing.T) {
			found, err := db.ChangedKinds(ctx, account, since, "flag", "config", "logger")
			must(t, err)
			same(t, found, want)
		})
	}
}

// largeHistory tests documents that are too large to be in memory all at once.
func largeHistory(t *testing.T, db *store.DB) {
	ctx := t.Context()
	account := newAccount(t, db).ID
	document := []byte(`"` + strings.Repeat("x", 1_900_000) + `"`)
	const count = 5
	for i := range count {
		record(t, db, account, changes.Change{Kind: "logger", Key: strconv.Itoa(i), Before: document, After: document})
	}
	for _, read := range []func(context.Context, string, int64, int) ([]changes.Change, error){db.After, db.EventsAfter} {
		var news []string
		for seq := int64(0); seq < count; {
			found, err := read(ctx, account, seq, count)
			if err != nil || len(found) == 0 || len(found) == count {
				t.Fatalf("after %d: %d changes, %v", seq, len(found), err)
			}
			news, seq = append(news, keysOf(found)...), found[len(found)-1].Seq
		}
		same(t, news, []string{"0", "1", "2", "3", "4"})
	}
	var old []string
	for before, more := int64(0), true; more; {
		tail, err := db.History().Changes(ctx, account, changes.Filter{}, before, count)
		if err != nil || len(tail.Items) == 0 {
			t.Fatalf("before %d: %d changes, %v", before, len(tail.Items), err)
		}
		old, before, more = append(old, keysOf(tail.Items)...), tail.Items[len(tail.Items)-1].Seq, tail.More
	}
	same(t, old, []string{"4", "3", "2", "1", "0"})
}
