package accounts

import (
	"net/netip"
	"slices"
	"sync"
)

// turns decides who works next where only a few may at once. Networks take turns, so that
// one that sends much waits for itself only. People who are known where they are have a
// line of their own, which is served alternately with that of everybody else: neither
// keeps the other waiting.
type turns struct {
	limit int

	mu    sync.Mutex
	busy  int
	lines [2]line
	next  int // the line that is served next
}

// line has those who wait, by network.
type line struct {
	networks []netip.Prefix // in the order in which they are served
	waiting  map[netip.Prefix][]chan struct{}
}

// lineOf returns the number of the line that a sender waits in.
func lineOf(from Sender) int {
	if from.Known {
		return 1
	}
	return 0
}

// enter takes a turn if one is free, and else returns a channel that is closed when the
// sender has one.
func (t *turns) enter(from Sender) (turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy < t.limit {
		t.busy++
		return nil
	}
	turn = make(chan struct{})
	t.lines[lineOf(from)].add(networkOf(addressOfPeer(from.Peer)), turn)
	return turn
}

// leave ends a turn: somebody who waits has it now.
func (t *turns) leave() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for range t.lines {
		line := &t.lines[t.next]
		t.next = (t.next + 1) % len(t.lines)
		if turn := line.take(); turn != nil {
			close(turn)
			return
		}
	}
	t.busy--
}

// giveUp ends the waiting for a turn, or the turn if it has just come.
func (t *turns) giveUp(from Sender, turn chan struct{}) {
	t.mu.Lock()
	waited := t.lines[lineOf(from)].remove(networkOf(addressOfPeer(from.Peer)), turn)
	t.mu.Unlock()
	if !waited {
		t.leave()
	}
}

func (l *line) add(network netip.Prefix, turn chan struct{}) {
	if l.waiting == nil {
		l.waiting = map[netip.Prefix][]chan struct{}{}
	}
	if len(l.waiting[network]) == 0 {
		l.networks = append(l.networks, network)
	}
	l.waiting[network] = append(l.waiting[network], turn)
}

// take removes the first of the network whose turn it is, which is the last one then.
func (l *line) take() chan struct{} {
	if len(l.networks) == 0 {
		return nil
	}
	network := l.networks[0]
	l.networks = append(slices.Delete(l.networks, 0, 1), network)
	turn := l.waiting[network][0]
	l.remove(network, turn)
	return turn
}

// remove reports whether a turn was waited for.
func (l *line) remove(network netip.Prefix, turn chan struct{}) bool {
	waiting := l.waiting[network]
	at := slices.Index(waiting, turn)
	if at < 0 {
		return false
	}
	if waiting = slices.Delete(waiting, at, at+1); len(waiting) > 0 {
		l.waiting[network] = waiting
		return true
	}
	delete(l.waiting, network)
	l.networks = slices.DeleteFunc(l.networks, func(each netip.Prefix) bool { return each == network })
	return true
}
