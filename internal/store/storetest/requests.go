package storetest

import (
	"context"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/once"
	"github.com/signalbox/signalbox/internal/store"
)

// keyed begins and carries out requests of an account.
type keyed struct {
	db      *store.DB
	account string
}

func (k keyed) begin(t *testing.T, ticket once.Ticket, fingerprint string, forget, abandoned time.Duration) (once.Kept, bool) {
	t.Helper()
	kept, begun, err := k.db.BeginRequest(t.Context(), ticket, k.account, fingerprint, forget, abandoned)
	must(t, err)
	return kept, begun
}

func (k keyed) carryOut(t *testing.T, ticket once.Ticket) error {
	t.Helper()
	return k.db.Write(t.Context(), k.account, func(ctx context.Context, tx *store.Tx) error { return tx.CarryOut(ctx, ticket) })
}

// requestConcept checks that one attempt carries out a request with an idempotency key, and that its answer
// is kept.
func requestConcept(t *testing.T, shared *store.DB) {
	db := OpenSealed(t, New(t, shared.Name())) // sealed values need a ring of their own
	k := keyed{db, newAccount(t, db).ID}
	t.Run("answer is kept", func(t *testing.T) {
		first, again := once.Ticket{ID: newID(), Token: "1"}, "same"
		_, begun := k.begin(t, first, again, time.Hour, time.Hour)
		same(t, begun, true)
		second := once.Ticket{ID: first.ID, Token: "2"}
		kept, begun := k.begin(t, second, again, time.Hour, time.Hour)
		same(t, begun, false)
		same(t, kept, once.Kept{Fingerprint: again})
		must(t, k.carryOut(t, first))
		kept, _ = k.begin(t, second, again, time.Hour, -time.Second)
		same(t, kept, once.Kept{Fingerprint: again, CarriedOut: true, Abandoned: true})
		must(t, db.FinishRequest(t.Context(), second, []byte("of another attempt")))
		must(t, db.FinishRequest(t.Context(), first, []byte(oddText)))
		kept, _ = k.begin(t, second, "other", time.Hour, time.Hour)
		same(t, kept, once.Kept{Fingerprint: again, CarriedOut: true, Answer: []byte(oddText)})
	})
	t.Run("attempt that was abandoned fails", func(t *testing.T) {
		first := once.Ticket{ID: newID(), Token: "1"}
		k.begin(t, first, "same", time.Hour, time.Hour)
		second := once.Ticket{ID: first.ID, Token: "2"}
		_, begun := k.begin(t, second, "other", time.Hour, -time.Second)
		same(t, begun, false)
		_, begun = k.begin(t, second, "same", time.Hour, -time.Second)
		same(t, begun, true)
		refused(t, k.carryOut(t, first), fault.InProgress)
		must(t, k.carryOut(t, second))
	})
	t.Run("release", func(t *testing.T) {
		ticket := once.Ticket{ID: newID(), Token: "1"}
		k.begin(t, ticket, "same", time.Hour, time.Hour)
		must(t, db.ReleaseRequest(t.Context(), ticket))
		_, begun := k.begin(t, ticket, "other", time.Hour, time.Hour)
		same(t, begun, true)
		must(t, k.carryOut(t, ticket))
		must(t, db.ReleaseRequest(t.Context(), ticket))
		kept, _ := k.begin(t, ticket, "other", time.Hour, time.Hour)
		same(t, kept.CarriedOut, true)
	})
	t.Run("forgotten after a day", func(t *testing.T) {
		ticket := once.Ticket{ID: newID(), Token: "1"}
		k.begin(t, ticket, "same", time.Hour, time.Hour)
		must(t, k.carryOut(t, ticket))
		_, begun := k.begin(t, once.Ticket{ID: ticket.ID, Token: "2"}, "other", -time.Second, -time.Second)
		same(t, begun, true)
	})
	t.Run("removed", func(t *testing.T) {
		ticket := once.Ticket{ID: newID(), Token: "1"}
		k.begin(t, ticket, "same", time.Hour, time.Hour)
		removed, err := db.RemoveRequests(t.Context(), time.Now().Add(-time.Hour), nil)
		must(t, err)
		same(t, removed, 0)
	})
	t.Run("changes that a transaction recorded", func(t *testing.T) { recordedInTransaction(t, db, k.account) })
}

// recordedInTransaction checks that a transaction can read the changes that it has recorded, as dry runs do.
func recordedInTransaction(t *testing.T, db *store.DB, account string) {
	do(t, db, account, func(ctx context.Context, tx *store.Tx) error {
		none, err := tx.Recorded(ctx, account, 1)
		must(t, err)
		same(t, len(none), 0)
		note := oddText
		must(t, tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: "a", Note: &note}, changes.Change{Kind: "flag", Key: "b"}))
		must(t, tx.RecordChanges(ctx, account, changes.Change{Kind: "flag", Key: "c"}))
		made, err := tx.Recorded(ctx, account, 2)
		must(t, err)
		same(t, len(made), 2)
		same(t, made[0].Key+made[1].Key, "ab")
		same(t, *made[0].Note, oddText)
		return nil
	})
}
