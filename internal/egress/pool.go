package egress

import (
	"crypto/tls"
	"sync"
	"time"
)

// endpoint is what requests must agree on to share a connection. The account is part of it because a server that takes
// one request for two gives the second answer to whoever comes next on the connection.
type endpoint struct {
	peer

	account string
	tls     *tls.Config // nil without TLS; equal settings have the same one
}

// peer is what is dialled.
type peer struct {
	host string // in ASCII
	port uint16
}

const (
	idleTime    = time.Second // shorter than servers keep theirs
	idleDefault = 1024
)

// pool keeps connections for a moment. The one used last is used next, so that the others grow old and go.
type pool struct {
	most      int // in all; an account gets half of it, a peer a quarter
	mu        sync.Mutex
	idle      map[endpoint][]*conn
	count     int
	byAccount map[string]int
	byPeer    map[peer]int
	sweep     *time.Timer // runs while there are connections
	closed    bool
}

func newPool(most int) *pool {
	p := &pool{most: most, idle: map[endpoint][]*conn{}, byAccount: map[string]int{}, byPeer: map[peer]int{}}
	p.sweep = time.AfterFunc(time.Hour, p.dropOld)
	p.sweep.Stop()
	return p
}

// get gives a connection that is open and quiet, or nil.
func (p *pool) get(to endpoint) *conn {
	for {
		kept := p.pop(to)
		if kept == nil || kept.isQuiet() {
			return kept
		}
		kept.close()
	}
}

func (p *pool) pop(to endpoint) *conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	list := p.idle[to]
	if len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	list[len(list)-1] = nil
	p.idle[to] = list[:len(list)-1]
	p.uncount(to)
	if time.Since(last.idleSince) > idleTime {
		last.stale = true
	}
	return last
}

// put keeps a connection, or closes it when there are enough.
func (p *pool) put(c *conn) {
	c.idleSince = time.Now()
	if !p.push(c) {
		c.close()
	}
}

func (p *pool) push(c *conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	to := c.endpoint
	if p.closed || p.count >= p.most || p.byAccount[to.account] >= p.most/2 || p.byPeer[to.peer] >= p.most/4 {
		return false
	}
	if p.count == 0 {
		p.sweep.Reset(idleTime)
	}
	p.idle[to] = append(p.idle[to], c)
	p.count++
	p.byAccount[to.account]++
	p.byPeer[to.peer]++
	return true
}

// uncount notes that a connection is no longer kept.
func (p *pool) uncount(to endpoint) {
	p.count--
	decrease(p.byAccount, to.account)
	decrease(p.byPeer, to.peer)
}

func decrease[K comparable](counts map[K]int, key K) {
	if counts[key]--; counts[key] == 0 {
		delete(counts, key)
	}
}

// dropOld closes the connections whose time is over and comes again while there are others.
func (p *pool) dropOld() {
	for _, old := range p.takeOld() {
		old.close()
	}
}

func (p *pool) takeOld() []*conn {
	p.mu.Lock()
	defer p.mu.Unlock()
	var old []*conn
	limit := time.Now().Add(-idleTime)
	for to, list := range p.idle {
		n := 0
		for n < len(list) && (p.closed || list[n].idleSince.Before(limit)) {
			n++
		}
		for _, each := range list[:n] {
			p.uncount(to)
			old = append(old, each)
		}
		if n == len(list) {
			delete(p.idle, to)
		} else {
			p.idle[to] = append([]*conn(nil), list[n:]...)
		}
	}
	if p.count > 0 {
		p.sweep.Reset(idleTime / 2)
	}
	return old
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.sweep.Stop()
	p.dropOld()
}
