package admission

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	"github.com/signalbox/signalbox/internal/fault"
)

// Class is a kind of work. An overloaded node refuses the last classes first.
type Class int

// The classes.
const (
	Evaluations Class = iota // the rules of flags for a context
	Reads                    // one resource
	Writes
	Lists
	Observations // reports of running services
	classCount
)

// Limits are the limits of a class.
type Limits struct {
	// Places is how many pieces of work run at once, and Share how many of them one account may use.
	Places, Share int
	// Patience is how long a piece may wait.
	Patience time.Duration
	// Retry is how long a refused caller should wait before it tries again, at least.
	Retry time.Duration
}

// maxWaiting bounds the pieces of work that wait. A waiting request holds a connection and about 30 KiB.
const maxWaiting = 4096

// Table has the limits of each class, and how many pieces may wait in all classes together.
type Table struct {
	Classes [classCount]Limits
	Waiting int
}

// For returns the limits for a number of processors. remote reports whether the database is on the network. Lists then
// mostly wait for it; otherwise they compute, and must leave a processor to evaluations.
func For(processors int, remote bool) Table {
	half := max(1, processors/2)
	lists := half
	if remote {
		lists = 2 * half
	}
	return Table{Waiting: maxWaiting, Classes: [classCount]Limits{
		Evaluations:  {Places: processors, Share: max(1, processors-1), Patience: 10 * time.Second, Retry: time.Second},
		Reads:        {Places: 32 * processors, Share: 24 * processors, Patience: 10 * time.Second, Retry: time.Second},
		Writes:       {Places: 128, Share: 96, Patience: 15 * time.Second, Retry: 2 * time.Second},
		Lists:        {Places: lists, Share: lists, Patience: 10 * time.Second, Retry: 3 * time.Second},
		Observations: {Places: 4 * half, Share: 3 * half, Patience: 20 * time.Second, Retry: 5 * time.Second},
	}}
}

// Queue decides when work may begin. It is safe for concurrent use.
type Queue struct {
	table Table

	mu      sync.Mutex
	classes [classCount]line
	waiting int
}

// line is the work of one class.
type line struct {
	running  int
	share    map[string]int // running, by account
	accounts []string       // that wait, in the order of their turns
	waiting  map[string][]*piece
}

// piece is a piece of work that waits.
type piece struct {
	ended   chan struct{} // closed when it may begin or was refused
	refused bool
}

// NewQueue returns a queue without work.
func NewQueue(table Table) *Queue {
	q := &Queue{table: table}
	for i := range q.classes {
		q.classes[i].share, q.classes[i].waiting = map[string]int{}, map[string][]*piece{}
	}
	return q
}

// Enter returns when work of an account may begin; call leave when it has ended. Enter returns an error if the work must
// not begin.
func (q *Queue) Enter(ctx context.Context, class Class, account string) (leave func(), err error) {
	waits := q.begin(class, account)
	if waits != nil {
		if err := q.wait(ctx, class, account, waits); err != nil {
			return nil, err
		}
	}
	return func() { q.leave(class, account) }, nil
}

// begin takes a place, or returns a piece that waits for one.
func (q *Queue) begin(class Class, account string) *piece {
	q.mu.Lock()
	defer q.mu.Unlock()
	if l := &q.classes[class]; len(l.waiting[account]) == 0 && l.hasPlace(q.table.Classes[class], account) {
		l.take(account)
		return nil
	}
	waits := &piece{ended: make(chan struct{})}
	if q.waiting >= q.table.Waiting && !q.refuseFor(class, account) {
		waits.refused = true
		close(waits.ended)
		return waits
	}
	q.classes[class].push(account, waits)
	q.waiting++
	return waits
}

func (q *Queue) wait(ctx context.Context, class Class, account string, waits *piece) error {
	patience := time.NewTimer(q.table.Classes[class].Patience)
	defer patience.Stop()
	err := error(nil)
	select {
	case <-waits.ended:
	case <-ctx.Done():
		err = ctx.Err()
	case <-patience.C:
		err = q.overloaded(class)
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case waits.refused:
		return q.overloaded(class)
	case err != nil && q.classes[class].remove(account, waits):
		q.waiting--
		return err
	case err != nil && ctx.Err() != nil: // its turn came when the caller left
		q.next(class, account)
		return err
	}
	return nil
}

// overloaded returns the error of refused work. Its RetryAfter has jitter, so that callers that were refused together
// do not return together.
func (q *Queue) overloaded(class Class) error {
	refusal := fault.New(fault.Unavailable, "This server is overloaded and refused this request before starting it. Try again in a moment.")
	retry := q.table.Classes[class].Retry
	refusal.RetryAfter = retry + rand.N(retry) //nolint:gosec // jitter needs no secrecy
	return refusal
}

func (q *Queue) leave(class Class, account string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next(class, account)
}

// next gives up a place of an account and lets the next pieces begin. The caller holds the lock.
func (q *Queue) next(class Class, account string) {
	l := &q.classes[class]
	l.release(account)
	for q.admit(l, q.table.Classes[class]) {
		q.waiting--
	}
}

// admit lets the first waiting piece begin whose account has a place, and reports whether there was one.
func (*Queue) admit(l *line, limits Limits) bool {
	for _, account := range l.accounts {
		if l.hasPlace(limits, account) {
			first := l.waiting[account][0]
			l.remove(account, first)
			if len(l.waiting[account]) > 0 { // its next turn comes after the others
				l.accounts = append(slices.DeleteFunc(l.accounts, func(each string) bool { return each == account }), account)
			}
			l.take(account)
			close(first.ended)
			return true
		}
	}
	return false
}

// refuseFor refuses a waiting piece so that a new one may wait. It returns false if the new one is the cheapest to lose. The
// caller holds the lock.
func (q *Queue) refuseFor(class Class, account string) bool {
	for last := classCount - 1; last >= class; last-- {
		l := &q.classes[last]
		longest := l.longest()
		if longest == "" {
			continue
		}
		if last == class && len(l.waiting[longest]) <= len(l.waiting[account])+1 {
			return false
		}
		newest := l.waiting[longest][len(l.waiting[longest])-1]
		l.remove(longest, newest)
		q.waiting--
		newest.refused = true
		close(newest.ended)
		return true
	}
	return false
}

func (l *line) hasPlace(limits Limits, account string) bool {
	return l.running < limits.Places && l.share[account] < limits.Share
}

func (l *line) take(account string) {
	l.running++
	l.share[account]++
}

func (l *line) release(account string) {
	l.running--
	if l.share[account]--; l.share[account] == 0 {
		delete(l.share, account)
	}
}

func (l *line) push(account string, waits *piece) {
	if len(l.waiting[account]) == 0 {
		l.accounts = append(l.accounts, account)
	}
	l.waiting[account] = append(l.waiting[account], waits)
}

// remove takes out a piece, and reports whether it was still waiting.
func (l *line) remove(account string, waits *piece) bool {
	place := slices.Index(l.waiting[account], waits)
	if place < 0 {
		return false
	}
	l.waiting[account] = slices.Delete(l.waiting[account], place, place+1)
	if len(l.waiting[account]) == 0 {
		delete(l.waiting, account)
		l.accounts = slices.DeleteFunc(l.accounts, func(each string) bool { return each == account })
	}
	return true
}

// longest returns the account that waits with the most pieces, or "".
func (l *line) longest() (account string) {
	for _, each := range l.accounts {
		if account == "" || len(l.waiting[each]) > len(l.waiting[account]) {
			account = each
		}
	}
	return account
}
