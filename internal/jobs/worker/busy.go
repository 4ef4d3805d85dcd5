package worker

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// BusyError means that no outcome was stored, because transactions of some accounts hold what the outcomes of these runs
// change. The others can be stored without them.
type BusyError struct{ Runs []string }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the accounts of %d runs are busy", len(e.Runs))
}

// maxBusy bounds the accounts whose outcomes wait for them at the same time, each on a connection to the database.
const maxBusy = 4

// writeTogether returns a function that stores outcomes of several accounts in one transaction. The outcomes of accounts
// that are busy are set apart once, also if the function is called again.
func (w *Worker) writeTogether() func(context.Context, []Outcome) error {
	apart := map[string]bool{} // by run
	return func(ctx context.Context, outcomes []Outcome) error {
		for {
			outcomes = slices.DeleteFunc(slices.Clone(outcomes), func(outcome Outcome) bool { return apart[outcome.Run] })
			if len(outcomes) == 0 {
				return nil
			}
			ids, err := w.Store.FinishRuns(ctx, w.Boot, outcomes)
			busy, is := errors.AsType[*BusyError](err)
			if !is {
				return w.note(outcomes, ids, err)
			}
			w.setApart(outcomes, busy.Runs, apart)
		}
	}
}

// setApart lets the outcomes of busy runs, and all others of their accounts, wait for these accounts.
func (w *Worker) setApart(outcomes []Outcome, busy []string, apart map[string]bool) {
	accounts := map[string]bool{}
	for _, outcome := range outcomes {
		if slices.Contains(busy, outcome.Run) {
			accounts[outcome.Account] = true
		}
	}
	for _, outcome := range outcomes {
		if !accounts[outcome.Account] {
			continue
		}
		apart[outcome.Run] = true
		if w.inFlight.setApart(outcome) {
			w.writing.Go(func() { w.writeApart(w.writeContext, outcome.Account) })
		}
	}
}

// writeApart stores the outcomes of a busy account until there are no more. The transactions of the account delay only
// these outcomes.
func (w *Worker) writeApart(ctx context.Context, account string) {
	once := func(ctx context.Context, outcomes []Outcome) error {
		w.busy <- struct{}{}
		defer func() { <-w.busy }()
		ids, err := w.Store.FinishBusy(ctx, account, w.Boot, outcomes)
		return w.note(outcomes, ids, err)
	}
	for batch := w.inFlight.nextApart(account); len(batch) > 0; batch = w.inFlight.nextApart(account) {
		w.write(ctx, batch, once)
		w.Wake() // the account may claim more
	}
}

// apart has the outcomes of a busy account.
type apart struct {
	waiting []Outcome
	writing int
}

// withoutApart sets the outcomes of busy accounts apart, so that they are stored in their order, and returns the others.
func (f *inFlight) withoutApart(batch []Outcome) []Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(batch, func(outcome Outcome) bool {
		account := f.apart[outcome.Account]
		if account != nil {
			account.waiting = append(account.waiting, outcome)
		}
		return account != nil
	})
}

// setApart adds an outcome to those of its busy account, and reports whether it is the first.
func (f *inFlight) setApart(outcome Outcome) (first bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.apart == nil {
		f.apart = map[string]*apart{}
	}
	account, known := f.apart[outcome.Account]
	if !known {
		account = &apart{}
		f.apart[outcome.Account] = account
	}
	account.waiting = append(account.waiting, outcome)
	return !known
}

// nextApart returns a batch of the outcomes of a busy account. Without any, the account is no longer busy.
func (f *inFlight) nextApart(account string) []Outcome {
	f.mu.Lock()
	defer f.mu.Unlock()
	of, size := f.apart[account], 0
	count := 0
	for count < min(len(of.waiting), maxBatch) && size < maxBatchBytes {
		size += of.waiting[count].size()
		count++
	}
	batch := of.waiting[:count:count]
	of.waiting, of.writing = of.waiting[count:], count
	if count == 0 {
		delete(f.apart, account)
	}
	return batch
}
