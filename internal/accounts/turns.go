package accounts

import (
	"net/netip"
	"slices"
	"sync"

	"github.com/signalbox/signalbox/internal/hosts"
)

// turns limits how many passwords are hashed at once, and decides which is next. Networks
// take turns, so that a network that sends many passwords delays only itself. People who
// signed in from their address before wait in a second line. Both lines are served
// alternately, so that neither blocks the other.
type turns struct {
	limit int

	mu    sync.Mutex
	busy  int
	lines [2]line
	next  int // the index of the line that is served next
}

// line has the waiting senders of each network.
type line struct {
	networks []netip.Prefix // in the order in which they are served
	waiting  map[netip.Prefix][]chan struct{}
}

// lineOf returns the index of the sender's line.
func lineOf(from Sender) int {
	if from.Known {
		return 1
	}
	return 0
}

// enter takes a turn and returns nil if one is free. Else it returns a channel that is
// closed when the sender's turn begins.
func (t *turns) enter(from Sender) (turn chan struct{}) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.busy < t.limit {
		t.busy++
		return nil
	}
	turn = make(chan struct{})
	t.lines[lineOf(from)].add(networkOf(hosts.PeerAddress(from.Peer)), turn)
	return turn
}

// leave ends a turn and gives it to the next waiting sender, if there is one.
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

// giveUp stops waiting for a turn. If the turn has just begun, it ends the turn.
func (t *turns) giveUp(from Sender, turn chan struct{}) {
	t.mu.Lock()
	waited := t.lines[lineOf(from)].remove(networkOf(hosts.PeerAddress(from.Peer)), turn)
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

// take removes and returns the first waiting turn of the first network, and moves that
// network to the end.
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

// remove removes a waiting turn, and reports whether it was still waiting.
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
