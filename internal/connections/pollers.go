package connections

import (
	"strings"
	"sync"
	"time"
)

const (
	// pollerGone is how long a program may go without a poll and still count as connected.
	pollerGone = 2 * time.Minute
	// These bound how many pollers are remembered. Further ones are served, but not shown.
	maxPollers        = 10_000
	maxAccountPollers = 1_000
)

// Pollers remembers the programs that poll this node instead of opening an event socket. Programs that describe
// themselves alike count as one. The zero value is ready for use.
type Pollers struct {
	mu    sync.Mutex
	known map[pollerKey]*poller
	count map[string]int // by account
}

// pollerKey is how a poller describes itself.
type pollerKey struct{ account, service, environment, client string }

// poller is a program that polls.
type poller struct {
	connection *Connection
	seq        int64
	last       time.Time
}

// Seen notes a poll that was answered with the state after change seq. It reports whether the poller is new.
func (p *Pollers) Seen(account string, peer Peer, seq int64, now time.Time) (isNew bool) {
	key := peer.key(account)
	p.mu.Lock()
	defer p.mu.Unlock()
	if known := p.known[key]; known != nil {
		known.seq, known.last = max(known.seq, seq), now
		return false
	}
	if len(p.known) >= maxPollers || p.count[account] >= maxAccountPollers {
		return false
	}
	if p.known == nil {
		p.known, p.count = map[pollerKey]*poller{}, map[string]int{}
	}
	key = key.clone()
	p.known[key] = &poller{New(key.account, key.peer(peer), now), seq, now}
	p.count[account]++
	return true
}

// Forget makes the next poll of a poller count as its first.
func (p *Pollers) Forget(account string, peer Peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.remove(peer.key(account))
}

// EachConnection visits the programs that poll, and the sequence numbers of their last answers. It forgets programs that
// have stopped.
func (p *Pollers) EachConnection(now time.Time, visit func(connection *Connection, seq int64)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for key, known := range p.known {
		if now.Sub(known.last) > pollerGone {
			p.remove(key)
			continue
		}
		visit(known.connection, known.seq)
	}
}

// remove forgets a poller. The caller holds the lock.
func (p *Pollers) remove(key pollerKey) {
	if p.known[key] == nil {
		return
	}
	delete(p.known, key)
	if p.count[key.account]--; p.count[key.account] == 0 {
		delete(p.count, key.account)
	}
}

// clone copies texts that could keep a whole request in memory.
func (k pollerKey) clone() pollerKey {
	return pollerKey{strings.Clone(k.account), strings.Clone(k.service), strings.Clone(k.environment), strings.Clone(k.client)}
}

// peer returns the peer of a key; of is the peer that the key was made from.
func (k *pollerKey) peer(of Peer) Peer {
	made := Peer{Client: k.client}
	if of.Service != nil {
		made.Service = &k.service
	}
	if of.Environment != nil {
		made.Environment = &k.environment
	}
	return made
}

func (p Peer) key(account string) pollerKey {
	key := pollerKey{account: account, client: printable(p.Client)}
	if p.Service != nil {
		key.service = *p.Service
	}
	if p.Environment != nil {
		key.environment = *p.Environment
	}
	return key
}
