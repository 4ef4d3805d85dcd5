package egress

import (
	"crypto/tls"
	"slices"
	"sync"
	"time"
)

// endpoint identifies the connections that requests may share. It includes the account. If a server reads one request
// as two, the second answer goes to the next request on the connection, which must not belong to another account.
type endpoint struct {
	peer

	account string
	tls     *tls.Config // nil without TLS; equal settings share one pointer
}

// peer is a host and port to dial.
type peer struct {
	host string // in ASCII
	port uint16
}

const (
	idleTime    = time.Second // shorter than the idle time of servers
	idleDefault = 1024
)

// pool keeps idle connections for a moment. It reuses the most recently used one first, so that the others expire.
type pool struct {
	most      int // the limit for all; an account gets half of it, a peer a quarter
	idleTime  time.Duration
	mu        sync.Mutex
	idle      map[endpoint][]*conn // oldest first
	count     int
	byAccount map[string]int
	byPeer    map[peer]int
	sweep     *time.Timer // runs while connections are kept
	closed    bool
}

func newPool(most int) *pool {
	p := &pool{most: most, idleTime: idleTime, idle: map[endpoint][]*conn{}, byAccount: map[string]int{}, byPeer: map[peer]int{}}
	p.sweep = time.AfterFunc(time.Hour, p.closeExpired)
	p.sweep.Stop()
	return p
}

// get returns an idle connection that is open and quiet, or nil.
func (p *pool) get(to endpoint) *conn {
	for {
		kept := p.pop(to)
		if kept == nil || time.Since(kept.idleSince) <= p.idleTime && kept.isQuiet() {
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
	p.add(to, -1)
	return last
}

// put keeps a connection for reuse, or closes it if a limit is reached.
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
		p.sweep.Reset(p.idleTime)
	}
	p.idle[to] = append(p.idle[to], c)
	p.add(to, 1)
	return true
}

// add adds n, which may be negative, to the counts of kept connections.
func (p *pool) add(to endpoint, n int) {
	p.count += n
	addTo(p.byAccount, to.account, n)
	addTo(p.byPeer, to.peer, n)
}

func addTo[K comparable](counts map[K]int, key K, n int) {
	if counts[key] += n; counts[key] == 0 {
		delete(counts, key)
	}
}

// closeExpired closes connections that were idle for too long. It schedules itself again while any connection is kept.
func (p *pool) closeExpired() {
	for _, expired := range p.takeExpired() {
		expired.close()
	}
}

func (p *pool) takeExpired() (expired []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	limit := time.Now().Add(-p.idleTime)
	for to, list := range p.idle {
		n := slices.IndexFunc(list, func(c *conn) bool { return !p.closed && !c.idleSince.Before(limit) })
		if n < 0 {
			n = len(list)
			delete(p.idle, to)
		} else {
			p.idle[to] = slices.Clone(list[n:])
		}
		expired = append(expired, list[:n]...)
		p.add(to, -n)
	}
	if p.count > 0 {
		p.sweep.Reset(p.idleTime / 2)
	}
	return expired
}

func (p *pool) close() {
	p.mu.Lock()
	p.closed = true
	p.mu.Unlock()
	p.sweep.Stop()
	p.closeExpired()
}
