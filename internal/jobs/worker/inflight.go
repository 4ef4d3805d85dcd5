package worker

import (
	"context"
	"maps"
	"sync"
)

// inFlight tracks the requests in flight and how many more are allowed.
type inFlight struct {
	mu     sync.Mutex
	limits Limits

	byAccount, byHost, byLane map[string]int

	aborts map[string]context.CancelCauseFunc // by run
	// unwritten counts the claims of runs that are not over in the database. A run
	// that was put back may be claimed again before this is updated.
	unwritten map[string]int
	// canceled holds unknown runs that were canceled since the last claim began, and
	// abortAs why all were aborted since then. That claim may have taken these runs.
	canceled map[string]bool
	abortAs  error
	observe  func(inFlight int)
}

// capacity returns how many more runs of an account and to a host may start, and how many runs of the lane are in flight.
func (f *inFlight) capacity(account, lane string) (byAccount, byHost, ofLane int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Account - f.byAccount[account], f.limits.Host - f.byHost[hostOf(lane)], f.byLane[lane]
}

// free returns how many more runs of any kind may start.
func (f *inFlight) free() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Node - len(f.aborts)
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
	if f.aborts == nil {
		f.aborts, f.unwritten = map[string]context.CancelCauseFunc{}, map[string]int{}
		f.byAccount, f.byHost, f.byLane = map[string]int{}, map[string]int{}, map[string]int{}
	}
	f.aborts[claim.Run] = abort
	f.unwritten[claim.Run]++
	f.byAccount[claim.Account]++
	f.byHost[hostOf(claim.Lane)]++
	f.byLane[claim.Lane]++
	f.observe(len(f.aborts))
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
	if abort := f.aborts[claim.Run]; abort != nil {
		defer abort(nil)
	}
	delete(f.aborts, claim.Run)
	decrement(f.byAccount, claim.Account)
	decrement(f.byHost, hostOf(claim.Lane))
	decrement(f.byLane, claim.Lane)
	f.observe(len(f.aborts))
}

// decrement removes a name whose count becomes zero, because the number of hosts is unbounded.
func decrement(counts map[string]int, name string) {
	if counts[name]--; counts[name] <= 0 {
		delete(counts, name)
	}
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

// runs returns the runs whose requests are in flight.
func (f *inFlight) runs() map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	found := make(map[string]bool, len(f.aborts))
	for run := range f.aborts {
		found[run] = true
	}
	return found
}

func (f *inFlight) abort(run string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if abort := f.aborts[run]; abort != nil {
		abort(cause)
	} else if f.canceled != nil { // a claim has begun
		f.canceled[run] = true
	}
}

// abortAll aborts all requests, including those of a claim in progress.
func (f *inFlight) abortAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.abortAs = cause
	for _, abort := range f.aborts {
		abort(cause)
	}
}
