package logging

import (
	"context"
	"sync"

	"github.com/signalbox/signalbox/internal/accounts"
)

// maxGathered bounds how many sources one transaction of reports is about, and
// so how long it keeps the account's lock.
const maxGathered = 20_000

// gathering writes the reports of an account that wait for each other in one
// transaction: a fleet that starts would otherwise pay for a lock, a count and a
// commit per service. One report of an account writes at a time; who comes
// meanwhile waits. When the writer is done, the first who waits writes next, and
// takes along all others that wait by then.
type gathering struct {
	mu      sync.Mutex
	waiting map[string][]*filing // by account; has the account while somebody writes
}

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
	if !g.begin(own) && <-own.turn {
		return own.kept, own.err
	}
	together := g.join(own)
	ctx = context.WithoutCancel(ctx) // others must not suffer when this caller leaves
	err := store.Write(ctx, own.caller.Account, func(tx Tx) error {
		var left room
		for _, each := range together {
			var err error
			if each.kept, err = each.report.write(ctx, tx, each.caller, each.news, &left); err != nil {
				return err
			}
		}
		return nil
	})
	g.end(own.caller.Account)
	for _, each := range together[1:] {
		each.err = err
		each.turn <- true
	}
	return own.kept, err
}

// begin tells whether a report may be written now; otherwise it waits.
func (g *gathering) begin(own *filing) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	account := own.caller.Account
	queue, busy := g.waiting[account]
	if busy {
		g.waiting[account] = append(queue, own)
		return false
	}
	if g.waiting == nil {
		g.waiting = map[string][]*filing{}
	}
	g.waiting[account] = nil
	return true
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
