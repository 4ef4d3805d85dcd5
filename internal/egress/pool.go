package egress

import (
	"crypto/tls"
	"sync"
	"time"
)

// endpoint is what requests must agree on to share a connection.
type endpoint struct {
	host string // in ASCII
	port uint16
	tls  *tls.Config // nil without TLS; equal settings have the same one
}

const (
	idleTime    = time.Second // shorter than servers keep theirs
	idleAtMost  = 1024
	idlePerHost = 256
)

// pool keeps connections for a moment. The one used last is used next, so that the others grow old and go.
type pool struct {
	mu     sync.Mutex
	idle   map[endpoint][]*conn
	count  int
	sweep  *time.Timer // runs while there are connections
	closed bool
}

func newPool() *pool {
	p := &pool{idle: map[endpoint][]*conn{}}
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
	p.count--
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
	list := p.idle[c.endpoint]
	if p.closed || p.count >= idleAtMost || len(list) >= idlePerHost {
		return false
	}
	if p.count == 0 {
		p.sweep.Reset(idleTime)
	}
	p.idle[c.endpoint] = append(list, c)
	p.count++
	return true
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
		old = append(old, list[:n]...)
		if n == len(list) {
			delete(p.idle, to)
		} else {
			p.idle[to] = append([]*conn(nil), list[n:]...)
		}
	}
	p.count -= len(old)
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
