package worker

import (
	"context"
	"sync"
)

// flights are the requests in flight. It knows how much room there is.
type flights struct {
	mu        sync.Mutex
	limits    Limits
	aborts    map[string]context.CancelCauseFunc // by run
	byAccount map[string]int
	byHost    map[string]int
	landed    chan struct{} // closed when nothing is in flight; nil while nobody waits
	observe   func(inFlight int)
}

// room is how many more runs of a lane may be in flight.
func (f *flights) room(account, host string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return min(f.limits.Node-len(f.aborts), f.limits.Account-f.byAccount[account], f.limits.Host-f.byHost[host])
}

// free is how many more runs of any kind may be in flight.
func (f *flights) free() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.limits.Node - len(f.aborts)
}

// take begins a flight; its context ends when it is aborted.
func (f *flights) take(ctx context.Context, claim Claim) context.Context {
	ctx, abort := context.WithCancelCause(ctx)
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.aborts == nil {
		f.aborts, f.byAccount, f.byHost = map[string]context.CancelCauseFunc{}, map[string]int{}, map[string]int{}
	}
	f.aborts[claim.Run] = abort
	f.byAccount[claim.Account]++
	f.byHost[claim.host()]++
	f.observe(len(f.aborts))
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

func (f *flights) abort(run string, cause error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if abort := f.aborts[run]; abort != nil {
		abort(cause)
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
	listed := make([]string, 0, len(f.aborts))
	for run := range f.aborts {
		listed = append(listed, run)
	}
	return listed
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
