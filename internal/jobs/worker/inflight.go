package worker

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// request is the request of one claim. A run that was put back and claimed again has another one.
type request struct{ abort context.CancelCauseFunc }

// putBack is a claim that is being undone.
type putBack struct {
	Claim

	claimedAgain bool // so it has been undone, although the database has not confirmed it
}

// inFlight tracks the requests in flight and how many more are allowed.
type inFlight struct {
	mu     sync.Mutex
	limits Limits

	byAccount, byHost, byLane map[string]int

	requests map[string]*request // by run
	// unwritten counts the claims of runs that are not over in the database. A run
	// that was put back may be claimed again before this is updated.
	unwritten map[string]int
	// canceled holds unknown runs that were canceled since the last claim began, and
	// abortAs why all were aborted since then. That claim may have taken these runs.
	canceled map[string]bool
	abortAs  error
	putBacks map[*putBack]struct{}
	apart    map[string]*apart // the outcomes of busy accounts
	observe  func(inFlight int)
}

// capacity returns how many more runs of an account and to a host may start, and how many runs of the lane are in flight.
// The outcomes that wait for a busy account count, because their number must have a bound.
func (f *inFlight) capacity(account, lane string) (byAccount, byHost, ofLane int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	byAccount = f.limits.Account - f.byAccount[account]
	if waiting := f.apart[account]; waiting != nil {
		byAccount -= len(waiting.waiting) + waiting.writing
	}
	return byAccount, f.limits.Host - f.byHost[hostOf(lane)], f.byLane[lane]
}

// free returns how many more runs of any kind may start.
func (f *inFlight) free() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Node - len(f.requests)
}

// beginClaim starts to remember aborts of runs that the claim may take.
func (f *inFlight) beginClaim() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.canceled, f.abortAs = map[string]bool{}, nil
}

// start adds a run and returns a context that ends when the run is aborted.
func (f *inFlight) start(ctx context.Context, claim Claim) context.Context {
	ctx, abort := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests == nil {
		f.requests = map[string]*request{}
		f.byAccount, f.byHost, f.byLane = map[string]int{}, map[string]int{}, map[string]int{}
	}
	f.requests[claim.Run] = &request{abort}
	f.note(claim.Run)
	f.byAccount[claim.Account]++
	f.byHost[hostOf(claim.Lane)]++
	f.byLane[claim.Lane]++
	f.observe(len(f.requests))
	switch {
	case f.abortAs != nil:
		abort(f.abortAs)
	case f.canceled[claim.Run]:
		abort(errCanceled)
	}
	return ctx
}

// end removes a run.
func (f *inFlight) end(claim Claim) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if request := f.requests[claim.Run]; request != nil {
		defer request.abort(nil)
	}
	delete(f.requests, claim.Run)
	decrement(f.byAccount, claim.Account)
	decrement(f.byHost, hostOf(claim.Lane))
	decrement(f.byLane, claim.Lane)
	f.observe(len(f.requests))
}

// decrement removes a name whose count becomes zero, because the number of hosts is unbounded.
func decrement(counts map[string]int, name string) {
	if counts[name]--; counts[name] <= 0 {
		delete(counts, name)
	}
}

// beginPutBack notes that a claim is being undone, until endPutBack.
func (f *inFlight) beginPutBack(claim Claim) *putBack {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.putBacks == nil {
		f.putBacks = map[*putBack]struct{}{}
	}
	undo := &putBack{Claim: claim}
	f.putBacks[undo] = struct{}{}
	return undo
}

func (f *inFlight) endPutBack(undo *putBack) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.putBacks, undo)
}

// noteClaimed notes whether runs are claimed. Before the claim is committed it is called with true, and if the commit
// failed, with false: a claim without an answer starts no request, so it may be undone.
func (f *inFlight) noteClaimed(claims []Claim, claimed bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for undo := range f.putBacks {
		if slices.ContainsFunc(claims, func(claim Claim) bool { return claim.Run == undo.Run }) {
			undo.claimedAgain = claimed
		}
	}
}

func (f *inFlight) isClaimedAgain(undo *putBack) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return undo.claimedAgain
}

// adopt adds runs whose outcome is to be written although no request was started for them.
func (f *inFlight) adopt(outcomes []Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, outcome := range outcomes {
		f.note(outcome.Run)
	}
}

// note counts a run whose outcome is to be written. The caller holds the lock.
func (f *inFlight) note(run string) {
	if f.unwritten == nil {
		f.unwritten = map[string]int{}
	}
	f.unwritten[run]++
}

// written forgets runs whose outcome is in the database.
func (f *inFlight) written(outcomes []Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, outcome := range outcomes {
		decrement(f.unwritten, outcome.Run)
	}
}

// unwrittenRuns returns the runs whose outcome is not in the database yet.
func (f *inFlight) unwrittenRuns() map[string]int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.unwritten)
}

// runs returns the requests in flight by their runs.
func (f *inFlight) runs() map[string]*request {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.requests)
}

func (f *inFlight) abort(run string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if request := f.requests[run]; request != nil {
		request.abort(cause)
	} else if f.canceled != nil { // a claim has begun
		f.canceled[run] = true
	}
}

// abortAll aborts all requests, including those of a claim in progress.
func (f *inFlight) abortAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abortAs = cause
	for _, request := range f.requests {
		request.abort(cause)
	}
}
