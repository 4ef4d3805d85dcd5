package logging

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/accounts"
	"github.com/signalbox/signalbox/internal/fault"
)

// maxGathered bounds how many sources one transaction of reports is about, and
// so how long it keeps the account's lock.
const maxGathered = 20_000

// maxWaiting bounds how many sources wait in the reports of an account, and so
// what they take of memory: as many as it may have.
const maxWaiting = MaxSources

// gathering writes the reports of an account that wait for each other in one
// transaction: a fleet that starts would otherwise pay for a lock, a count and a
// commit per service. One report of an account writes at a time; who comes
// meanwhile waits. When the writer is done, the first who waits writes next, and
// takes along all others that wait by then.
type gathering struct {
	mu      sync.Mutex
	waiting map[string][]*filing // by account; has the account while somebody writes
}

// errUnwritten is what becomes of reports whose writer does not come back.
var errUnwritten = errors.New("the report was not written")

// filing is a report that is to be written.
type filing struct {
	report *report
	caller accounts.Caller
	news   []int

	kept int
	err  error
	turn chan bool // true: it was written; false: it writes now
}

// file writes a report, alone or with others, and counts what was kept of it.
func (g *gathering) file(ctx context.Context, store Store, own *filing) (int, error) {
	own.turn = make(chan bool, 1)
	first, err := g.begin(own)
	if err != nil {
		return 0, err
	}
	if !first {
		select {
		case written := <-own.turn:
			if written {
				return own.kept, own.err
			}
		case <-ctx.Done():
			g.leave(own)
			return 0, ctx.Err()
		}
	}
	return g.write(ctx, store, own)
}

// write writes the report whose turn it is with those that wait.
func (g *gathering) write(ctx context.Context, store Store, own *filing) (kept int, err error) {
	together := g.join(own)
	err = errUnwritten
	defer func() {
		g.end(own.caller.Account)
		for _, each := range together[1:] {
			each.err = err
			each.turn <- true
		}
	}()
	ctx = context.WithoutCancel(ctx) // others must not suffer when this caller leaves
	err = store.Write(ctx, own.caller.Account, func(tx Tx) error {
		var left room
		for _, each := range together {
			var err error
			if each.kept, err = each.report.write(ctx, tx, each.caller, each.news, &left); err != nil {
				return err
			}
		}
		return nil
	})
	return own.kept, err
}

// begin tells whether a report may be written now; otherwise it waits, unless
// too many do.
func (g *gathering) begin(own *filing) (now bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	account := own.caller.Account
	queue, busy := g.waiting[account]
	if busy {
		sources := len(own.news)
		for _, each := range queue {
			sources += len(each.news)
		}
		if sources > maxWaiting {
			refusal := fault.New(fault.RateLimited, "Reports about %d sources of this account wait to be written. Try again in a moment.", sources-len(own.news))
			refusal.RetryAfter = time.Second
			return false, refusal
		}
		g.waiting[account] = append(queue, own)
		return false, nil
	}
	if g.waiting == nil {
		g.waiting = map[string][]*filing{}
	}
	g.waiting[account] = nil
	return true, nil
}

// leave takes a report back whose caller does not wait any longer. One that
// another writes already is written; one whose turn has come passes it on.
func (g *gathering) leave(own *filing) {
	account := own.caller.Account
	g.mu.Lock()
	if queue := g.waiting[account]; slices.Contains(queue, own) {
		g.waiting[account] = slices.DeleteFunc(queue, func(each *filing) bool { return each == own })
	}
	g.mu.Unlock()
	select {
	case written := <-own.turn:
		if !written {
			g.end(account)
		}
	default: // nobody gives it the turn any more
	}
}

// join gives the report whose turn it is together with those it takes along.
func (g *gathering) join(own *filing) []*filing {
	g.mu.Lock()
	defer g.mu.Unlock()
	account := own.caller.Account
	queue, size, count := g.waiting[account], len(own.news), 0
	for count < len(queue) && size+len(queue[count].news) <= maxGathered {
		size += len(queue[count].news)
		count++
	}
	g.waiting[account] = queue[count:]
	return append([]*filing{own}, queue[:count]...)
}

// end lets the first who waits write next.
func (g *gathering) end(account string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	queue := g.waiting[account]
	if len(queue) == 0 {
		delete(g.waiting, account)
		return
	}
	g.waiting[account] = queue[1:]
	queue[0].turn <- false
}
