package worker

import (
	"context"
	"maps"
	"slices"
	"sync"
)

// flights are the requests in flight. It knows how much room there is.
type flights struct {
	mu        sync.Mutex
	limits    Limits
	aborts    map[string]context.CancelCauseFunc // by run
	byAccount map[string]int
	byHost    map[string]int
	byLane    map[string]int
	// unwritten are the runs whose outcome is not in the database, in flight or not.
	unwritten map[string]bool
	// early are the runs that were cancelled while a claim is on its way: it
	// may have taken them. nil while none is.
	early map[string]bool
	// grounded is why all of them are aborted, when that happened meanwhile.
	grounded error
	landed   chan struct{} // closed when nothing is in flight; nil while nobody waits
	observe  func(inFlight int)
}

// room is how many more runs of an account, and to the host of a lane, may be
// in flight, and how many of the lane are.
func (f *flights) room(account, lane string) (byAccount, byHost, inFlight int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Account - f.byAccount[account], f.limits.Host - f.byHost[hostOf(lane)], f.byLane[lane]
}

// roomOf is how many more runs of an account may be in flight.
func (f *flights) roomOf(account string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Account - f.byAccount[account]
}

// free is how many more runs of any kind may be in flight.
func (f *flights) free() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Node - len(f.aborts)
}

// expect begins to remember aborts of runs that are not known yet.
func (f *flights) expect() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.early, f.grounded = map[string]bool{}, nil
}

// expected ends what expect began.
func (f *flights) expected() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.early, f.grounded = nil, nil
}

// take begins a flight; its context ends when it is aborted.
func (f *flights) take(ctx context.Context, claim Claim) context.Context {
	ctx, abort := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.aborts == nil {
		f.aborts, f.unwritten = map[string]context.CancelCauseFunc{}, map[string]bool{}
		f.byAccount, f.byHost, f.byLane = map[string]int{}, map[string]int{}, map[string]int{}
	}
	f.aborts[claim.Run] = abort
	f.unwritten[claim.Run] = true
	f.byAccount[claim.Account]++
	f.byHost[claim.host()]++
	f.byLane[claim.Lane]++
	f.observe(len(f.aborts))
	switch {
	case f.grounded != nil:
		abort(f.grounded)
	case f.early[claim.Run]:
		abort(errCanceled)
	}
	return ctx
}

// land ends a flight.
func (f *flights) land(claim Claim) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if abort := f.aborts[claim.Run]; abort != nil {
		defer abort(nil)
	}
	delete(f.aborts, claim.Run)
	decrease(f.byAccount, claim.Account)
	decrease(f.byHost, claim.host())
	decrease(f.byLane, claim.Lane)
	f.observe(len(f.aborts))
	if len(f.aborts) == 0 && f.landed != nil {
		close(f.landed)
		f.landed = nil
	}
}

// decrease forgets what is counted down to nothing: there are endless hosts.
func decrease(counts map[string]int, name string) {
	if counts[name]--; counts[name] <= 0 {
		delete(counts, name)
	}
}

// written forgets runs whose outcome is in the database.
func (f *flights) written(outcomes []Outcome) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, outcome := range outcomes {
		delete(f.unwritten, outcome.Run)
	}
}

// unsettled are the runs whose outcome is not in the database yet.
func (f *flights) unsettled() map[string]bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.unwritten)
}

func (f *flights) abort(run string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if abort := f.aborts[run]; abort != nil {
		abort(cause)
	} else if f.early != nil {
		f.early[run] = true
	}
}

// abortAll ends all flights, and those of a claim that is on its way.
func (f *flights) abortAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.early != nil {
		f.grounded = cause
	}
	for _, abort := range f.aborts {
		abort(cause)
	}
}

// runs lists the runs in flight.
func (f *flights) runs() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Collect(maps.Keys(f.aborts))
}

// empty is closed once nothing is in flight. Nothing may take off meanwhile.
func (f *flights) empty() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	done := make(chan struct{})
	if len(f.aborts) == 0 {
		close(done)
		return done
	}
	f.landed = done
	return done
}
