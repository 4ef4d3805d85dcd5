package accounts

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/signalbox/signalbox/internal/changes"
	"github.com/signalbox/signalbox/internal/fault"
	"github.com/signalbox/signalbox/internal/naming"
	"github.com/signalbox/signalbox/internal/page"
	"github.com/signalbox/signalbox/internal/transaction"
)

// Revert describes a change to undo.
type Revert struct {
	Change changes.Change
	Force  bool // undo it even if this discards later changes
	// Needs has the rights that each write of the resource requires. An action that is missing here
	// is not possible for this resource.
	Needs map[changes.Action]Needs
}

// Restoration has the functions with which a service restores an earlier state of a resource, all in
// one transaction.
type Restoration[T any] struct {
	Found error // nil if the resource exists
	// Blocked refuses an earlier state that cannot be restored, and says what to do instead. It is nil
	// if the state can be restored.
	Blocked         error
	Check           func() error // refuses an earlier state that is not valid now
	Create, Replace func() (T, error)
	Remove          func() error
}

// HistoryTx has the reads that are needed to undo a change.
type HistoryTx interface {
	WriteTx
	// Changes returns the changes before a sequence number, newest first; 0 starts at the newest.
	Changes(ctx context.Context, account string, filter changes.Filter, before int64, size int) (page.Tail[changes.Change], error)
	// LaterChanges returns the changes of a resource after a sequence number, oldest first, without
	// their documents.
	LaterChanges(ctx context.Context, account, kind, key string, seq int64) ([]changes.Change, error)
}

// Restore undoes a change by writing its resource, and returns the new change that this write
// recorded, also in a dry run. All reads and the write are in one transaction. The error is
// ChangedSince if later changes are still in effect, and NotRevertible if no write undoes the
// change.
func Restore[Tx HistoryTx, T any](ctx context.Context, store transaction.Writer[Tx], caller Caller, revert Revert,
	restoration func(context.Context, Tx, Caller) Restoration[T],
) (changes.Change, error) {
	undone := revert.Change
	caller.Reverts = changes.Reverted{Kind: undone.Kind, Key: undone.Key, Seq: undone.Seq}
	return Write(ctx, store, caller, func(ctx context.Context, tx Tx, caller Caller) (changes.Change, error) {
		to := restoration(ctx, tx, caller)
		action, err := revert.decide(ctx, tx, caller, to.Found, to.Blocked)
		if err == nil {
			err = to.write(action)
		}
		if err != nil {
			return changes.Change{}, err
		}
		newest, err := tx.Changes(ctx, caller.Account, changes.Filter{Kind: undone.Kind, Key: undone.Key}, 0, 1)
		if err != nil {
			return changes.Change{}, err
		}
		if len(newest.Items) == 0 || newest.Items[0].Reverts == nil || *newest.Items[0].Reverts != undone.Seq {
			return changes.Change{}, fmt.Errorf("the %s %q recorded no change when number %d was undone", undone.Kind, undone.Key, undone.Seq)
		}
		return newest.Items[0], nil
	})
}

// decide returns the action that undoes the change, if the caller may take it.
func (r Revert) decide(ctx context.Context, tx HistoryTx, caller Caller, found, blocked error) (changes.Action, error) {
	if found != nil && !fault.Is(found, fault.NotFound) {
		return "", found
	}
	action := changes.Created
	switch {
	case r.Change.Before == nil:
		action = changes.Deleted
	case found == nil:
		action = changes.Updated
	}
	needs, possible := r.Needs[action]
	if !possible {
		return "", fault.New(fault.NotRevertible, "The %s was deleted, and only the report of a service creates it again.", r.Change.Kind)
	}
	if err := cmp.Or(needs.Permit(caller), blocked); err != nil || r.Force {
		return action, err
	}
	later, err := tx.LaterChanges(ctx, caller.Account, r.Change.Kind, r.Change.Key, r.Change.Seq)
	if err != nil {
		return "", err
	}
	return action, r.checkUnchanged(later, action == changes.Deleted && found != nil)
}

// shownLater bounds how many later changes a refusal lists.
const shownLater = 100

// checkUnchanged refuses to undo a change if later changes are still in effect. isGone says that one of them has deleted the
// resource, which is all that undoing the change would do.
func (r Revert) checkUnchanged(later []changes.Change, isGone bool) error {
	still := changes.StillChanged(r.Change.Seq, later)
	if len(still) == 0 {
		return nil
	}
	times := fmt.Sprintf("%d times after this change, last by change %d", len(still), still[len(still)-1])
	if len(still) == 1 {
		times = fmt.Sprintf("after this change, by change %d", still[0])
	}
	advice := "It was deleted meanwhile, so there is nothing to revert."
	if !isGone {
		advice = r.advice(later, still)
	}
	return fault.New(fault.ChangedSince, "The %s %q was changed %s. %s", naming.Words(r.Change.Kind), r.Change.Key, times, advice).
		With("later", still[max(0, len(still)-shownLater):])
}

// advice says how to undo the change in spite of later changes.
func (r Revert) advice(later []changes.Change, still []int64) string {
	for _, change := range later {
		if slices.Contains(still, change.Seq) && !r.canUndo(change) {
			return fmt.Sprintf("Change %d cannot be reverted. Send force=true to lose the changes after it.", change.Seq)
		}
	}
	return "Revert those first, newest first, or send force=true to lose them."
}

// canUndo reports whether another change of the resource, read without its documents, can be undone.
func (r Revert) canUndo(change changes.Change) bool {
	undoing := changes.Updated
	switch {
	case change.Key == changes.AllKeys || change.Action == changes.Expired:
		return false
	case change.Action == changes.Created:
		undoing = changes.Deleted
	case change.Action == changes.Deleted:
		undoing = changes.Created
	}
	_, possible := r.Needs[undoing]
	return possible
}

// write carries out the action that restores the earlier state.
func (r Restoration[T]) write(action changes.Action) error {
	if action == changes.Deleted {
		return r.Remove()
	}
	if err := r.Check(); err != nil {
		return err
	}
	write := r.Create
	if action == changes.Updated {
		write = r.Replace
	}
	_, err := write()
	return err
}
