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
	// unwritten are the runs whose outcome is not in the database, in flight or not.
	unwritten map[string]bool
	// early are the runs that were cancelled while a claim is on its way: it
	// may have taken them. nil while none is.
	early   map[string]bool
	landed  chan struct{} // closed when nothing is in flight; nil while nobody waits
	observe func(inFlight int)
}

// room is how many more runs of an account, and to a host, may be in flight.
func (f *flights) room(account, host string) (byAccount, byHost int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Account - f.byAccount[account], f.limits.Host - f.byHost[host]
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
	f.early = map[string]bool{}
}

// expected ends what expect began.
func (f *flights) expected() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.early = nil
}

// take begins a flight; its context ends when it is aborted.
func (f *flights) take(ctx context.Context, claim Claim) context.Context {
	ctx, abort := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.aborts == nil {
		f.aborts, f.byAccount, f.byHost = map[string]context.CancelCauseFunc{}, map[string]int{}, map[string]int{}
		f.unwritten = map[string]bool{}
	}
	f.aborts[claim.Run] = abort
	f.unwritten[claim.Run] = true
	f.byAccount[claim.Account]++
	f.byHost[claim.host()]++
	f.observe(len(f.aborts))
	if f.early[claim.Run] {
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

func (f *flights) abortAll(cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
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
