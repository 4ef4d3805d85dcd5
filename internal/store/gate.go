package store

import (
	"context"
	"slices"
	"sync"
)

// gateWidth is how many transactions of this node may hold or wait for an account's lock on PostgreSQL. With two, the
// next one begins at once. More would delay other nodes if this node stops, and take connections from other accounts.
const gateWidth = 2

// accountGate queues transactions by account: loops go first, then decisions, then observations.
type accountGate struct {
	mu    sync.Mutex
	lines map[string]*accountLine
}

// accountLine holds the transactions on one account.
type accountLine struct {
	inside  int
	passed  int
	waiting [priorityCount][]chan struct{}
}

// enter waits until a transaction on the account may begin.
func (g *accountGate) enter(ctx context.Context, account string, via priority) error {
	if account == "" {
		return nil
	}
	turn := g.join(account, via)
	select {
	case <-turn:
		return nil
	case <-ctx.Done():
	}
	if !g.quit(account, via, turn) { // the turn came when ctx ended
		g.leave(account)
	}
	return ctx.Err()
}

// join returns a channel that is closed when it is the transaction's turn.
func (g *accountGate) join(account string, via priority) chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.lines[account]
	if line == nil {
		line = &accountLine{}
		g.lines[account] = line
	}
	turn := make(chan struct{})
	line.waiting[via] = append(line.waiting[via], turn)
	if line.inside < gateWidth {
		line.inside++
		line.admit()
	}
	return turn
}

// quit removes a transaction whose caller gave up, and reports whether it was still waiting.
func (g *accountGate) quit(account string, via priority, turn chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.lines[account]
	place := slices.Index(line.waiting[via], turn)
	if place >= 0 {
		line.waiting[via] = slices.Delete(line.waiting[via], place, place+1)
	}
	return place >= 0
}

// leave lets the next transaction on the account begin.
func (g *accountGate) leave(account string) {
	if account == "" {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	line := g.lines[account]
	if line.admit() {
		return
	}
	if line.inside--; line.inside == 0 {
		delete(g.lines, account)
	}
}

// admit lets a waiting transaction pass, and reports whether there was one. Every observationTurn-th time,
// observations go first.
func (l *accountLine) admit() bool {
	l.passed++
	for i := range l.waiting {
		if l.passed%observationTurn == 0 {
			i = len(l.waiting) - 1 - i
		}
		if len(l.waiting[i]) > 0 {
			close(l.waiting[i][0])
			l.waiting[i] = l.waiting[i][1:]
			return true
		}
	}
	return false
}
