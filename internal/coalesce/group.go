// Package coalesce answers many callers that ask for the same thing with few runs of a function.
//
// # Protocol
//
// Calls with the same key queue up. One goroutine per key answers them. It takes the waiting
// calls as a batch, runs the function once for the batch, hands the result to the batch's
// callers, and repeats while new calls have arrived. A call never joins a batch that has begun.
// So a result is at least as new as the call, because its run began after the call. Share is
// for callers that also accept an older result.
//
// A caller whose context ends leaves at once. If its batch has not begun, the call is removed
// and no longer counts as waiting. A run that has begun continues, even if all its callers have
// left. There are two reasons: on PostgreSQL, an aborted statement costs its connection; and
// callers with short deadlines would never get the result of a long run.
package coalesce

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
)

// ErrStopped is returned for calls after Stop, and for calls that Stop has ended.
var ErrStopped = errors.New("the group is stopped")

// FullError refuses a call because too many calls wait.
type FullError struct {
	Waiting int // the weight of the waiting calls
}

// Error implements error.
func (e *FullError) Error() string {
	return fmt.Sprintf("calls with a total weight of %d are waiting already", e.Waiting)
}

// Group answers calls. The zero value is ready for use and has no bounds. All runs of a group
// must do the same work.
type Group[K comparable, In, Out any] struct {
	// Weight returns the weight of a call for the bounds. If it is nil, each call weighs 1.
	Weight func(In) int
	// MaxBatch bounds the weight of a batch; 0 means no bound. A single call always fits.
	MaxBatch int
	// MaxWaiting bounds the weight of the waiting calls of a key; 0 means no bound. A single
	// call may always wait.
	MaxWaiting int

	running sync.WaitGroup
	mu      sync.Mutex
	stopped bool
	queues  map[K]*queue[In, Out] // a goroutine answers each queue
}

// queue has the calls of a key.
type queue[In, Out any] struct {
	waiting []*call[In, Out]
	weight  int             // the total weight of the waiting calls
	begun   *batch[In, Out] // the running batch, or nil
}

// call is the call of one caller, which waits for the result.
type call[In, Out any] struct {
	in     In
	shares bool            // the call may join a run that has begun
	ctx    context.Context //nolint:containedctx // the first call of a batch lends its values to the run
	run    func(context.Context, []In) (Out, error)
	batch  *batch[In, Out] // set once the batch has begun
	done   chan struct{}
}

// batch has the calls that one run answers.
type batch[In, Out any] struct {
	in     []In // the inputs of its calls
	run    func(context.Context, []In) (Out, error)
	calls  []*call[In, Out]
	ctx    context.Context //nolint:containedctx // it ends with Stop
	cancel context.CancelFunc

	out      Out
	err      error
	panicked string // the value and the stack of a panic in the run
}

// Do returns the result of a run that began after the call. run gets the inputs of all calls of
// its batch, in order.
func (g *Group[K, In, Out]) Do(ctx context.Context, key K, in In, run func(ctx context.Context, calls []In) (Out, error)) (Out, error) {
	return g.do(key, &call[In, Out]{in: in, ctx: ctx, run: run, done: make(chan struct{})})
}

// Share is like Do, but also accepts the result of a run that began before the call. Such a run
// does not get the caller's input.
func (g *Group[K, In, Out]) Share(ctx context.Context, key K, in In, run func(ctx context.Context, calls []In) (Out, error)) (Out, error) {
	return g.do(key, &call[In, Out]{in: in, shares: true, ctx: ctx, run: run, done: make(chan struct{})})
}

func (g *Group[K, In, Out]) do(key K, own *call[In, Out]) (out Out, err error) {
	if err := own.ctx.Err(); err != nil {
		return out, err
	}
	if err := g.join(key, own); err != nil {
		return out, err
	}
	select {
	case <-own.done:
	case <-own.ctx.Done():
		g.leave(key)
		return out, own.ctx.Err()
	}
	if own.batch.panicked != "" {
		panic(own.batch.panicked)
	}
	return own.batch.out, own.batch.err
}

// Stop ends all runs and waits until they have ended.
func (g *Group[K, In, Out]) Stop() {
	g.mu.Lock()
	g.stopped = true
	for _, q := range g.queues {
		if q.begun != nil {
			q.begun.cancel()
		}
	}
	g.mu.Unlock()
	g.running.Wait()
}

func (g *Group[K, In, Out]) weigh(in In) int {
	if g.Weight == nil {
		return 1
	}
	return g.Weight(in)
}

// join adds a call to the end of the queue.
func (g *Group[K, In, Out]) join(key K, own *call[In, Out]) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.stopped {
		return ErrStopped
	}
	q, answered := g.queues[key]
	if !answered {
		q = &queue[In, Out]{}
	}
	if own.shares && q.begun != nil {
		q.begun.add(own)
		return nil
	}
	weight := g.weigh(own.in)
	if g.MaxWaiting > 0 && len(q.waiting) > 0 && q.weight+weight > g.MaxWaiting {
		return &FullError{q.weight}
	}
	q.waiting, q.weight = append(q.waiting, own), q.weight+weight
	if !answered {
		if g.queues == nil {
			g.queues = map[K]*queue[In, Out]{}
		}
		g.queues[key] = q
		g.running.Go(func() { g.answer(key, q) })
	}
	return nil
}

// leave removes the waiting calls of a key whose callers have left.
func (g *Group[K, In, Out]) leave(key K) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if q := g.queues[key]; q != nil {
		g.removeLeft(q)
	}
}

// removeLeft removes the waiting calls whose context has ended.
func (g *Group[K, In, Out]) removeLeft(q *queue[In, Out]) {
	q.waiting = slices.DeleteFunc(q.waiting, func(each *call[In, Out]) bool {
		left := each.ctx.Err() != nil
		if left {
			q.weight -= g.weigh(each.in)
		}
		return left
	})
}

// answer runs batches of a key's waiting calls until no calls wait.
func (g *Group[K, In, Out]) answer(key K, q *queue[In, Out]) {
	for {
		runtime.Gosched() // lets more callers join first; on a busy node this saves a third of the runs
		next := g.next(key, q)
		if next == nil {
			return
		}
		next.answer()
		g.end(q, next)
	}
}

// end hands the result of a batch to its callers.
func (g *Group[K, In, Out]) end(q *queue[In, Out], b *batch[In, Out]) {
	g.mu.Lock()
	defer g.mu.Unlock()
	q.begun = nil
	if b.err != nil && g.stopped {
		b.err = ErrStopped
	}
	for _, each := range b.calls {
		close(each.done)
	}
}

func (b *batch[In, Out]) add(own *call[In, Out]) {
	b.calls = append(b.calls, own)
	own.batch = b
}

// next begins the next batch. If no calls wait, it removes the key's queue.
func (g *Group[K, In, Out]) next(key K, q *queue[In, Out]) *batch[In, Out] {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.removeLeft(q)
	if len(q.waiting) == 0 {
		delete(g.queues, key)
		return nil
	}
	count, weight := g.fitting(q.waiting)
	b := &batch[In, Out]{}
	for _, each := range q.waiting[:count] {
		b.add(each)
		b.in = append(b.in, each.in)
	}
	b.run = b.calls[0].run
	b.ctx, b.cancel = context.WithCancel(context.WithoutCancel(b.calls[0].ctx))
	q.waiting, q.weight = slices.Delete(q.waiting, 0, count), q.weight-weight
	q.begun = b
	if g.stopped {
		b.cancel()
	}
	return b
}

// fitting returns how many calls from the front fit into a batch, and their weight.
func (g *Group[K, In, Out]) fitting(waiting []*call[In, Out]) (count, weight int) {
	for _, each := range waiting {
		more := g.weigh(each.in)
		if count > 0 && g.MaxBatch > 0 && weight+more > g.MaxBatch {
			break
		}
		count, weight = count+1, weight+more
	}
	return count, weight
}

// answer runs once. It catches a panic and keeps it for the callers, because here it would end the process.
func (b *batch[In, Out]) answer() {
	defer b.cancel()
	defer func() {
		if reason := recover(); reason != nil {
			b.panicked = fmt.Sprintf("%v\n%s", reason, debug.Stack())
		}
	}()
	b.out, b.err = b.run(b.ctx, b.in)
}
