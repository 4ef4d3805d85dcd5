package storetest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
)

// Proxy stands between a node and PostgreSQL, so that a test can break the
// network and mend it.
type Proxy struct {
	network, server string
	listener        net.Listener
	running         sync.WaitGroup

	mu     sync.Mutex
	down   bool
	silent map[Way]bool
	delay  time.Duration
	links  map[*link]struct{}
}

// Way is one of the two ways that bytes go.
type Way int

// The ways.
const (
	ToServer Way = iota
	ToClient
)

// ThroughProxy returns the same PostgreSQL database, reached through a proxy.
func (d Database) ThroughProxy(t testing.TB) (Database, *Proxy) {
	t.Helper()
	config, err := pgconn.ParseConfig(d.URL)
	must(t, err)
	proxy := &Proxy{links: map[*link]struct{}{}, silent: map[Way]bool{}}
	proxy.network, proxy.server = pgconn.NetworkAddress(config.Host, config.Port)
	if proxy.listener, err = net.Listen("tcp", "127.0.0.1:0"); err != nil { //nolint:noctx // a test's own listener
		t.Fatal(err)
	}
	proxy.running.Go(proxy.accept)
	t.Cleanup(proxy.close)
	return d.at(t, proxy.listener.Addr().String()), proxy
}

func (d Database) at(t testing.TB, address string) Database {
	t.Helper()
	parsed, err := url.Parse(d.URL)
	must(t, err)
	parsed.Host = address
	d.URL = parsed.String()
	return d
}

// Before returns the database with two hosts: first that of d, then that of the other.
func (d Database) Before(t testing.TB, other Database) Database {
	t.Helper()
	second, err := url.Parse(other.URL)
	must(t, err)
	first, err := url.Parse(d.URL)
	must(t, err)
	return d.at(t, first.Host+","+second.Host)
}

// Cut drops every connection. New connections work.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for each := range p.links {
		each.close()
	}
}

// Down drops every connection and refuses new ones until Up, like a server that is
// restarted.
func (p *Proxy) Down() {
	p.setDown(true)
	p.Cut()
}

// Up lets everything through again at once, and drops silent connections.
func (p *Proxy) Up() {
	p.setDown(false)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = 0
	clear(p.silent)
	for each := range p.links {
		if each.held[ToServer].Load() || each.held[ToClient].Load() {
			each.close()
		}
	}
}

// Slow makes every piece of up to 32 KiB wait for a time before it is passed on, until Up.
func (p *Proxy) Slow(delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = delay
}

func (p *Proxy) lag() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.delay
}

func (p *Proxy) setDown(down bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.down = down
}

// Stall makes every existing connection go silent without closing it, as if the
// server had lost its power. New connections work, as if another server had taken
// over.
func (p *Proxy) Stall() { p.hold(ToServer, ToClient) }

// Silence is Stall for new connections too, until Up: the network takes every byte
// and delivers none.
func (p *Proxy) Silence() { p.silence(ToServer, ToClient) }

// SilenceWay is Silence for one way: bytes go the other way.
func (p *Proxy) SilenceWay(way Way) { p.silence(way) }

func (p *Proxy) silence(ways ...Way) {
	p.mu.Lock()
	for _, way := range ways {
		p.silent[way] = true
	}
	p.mu.Unlock()
	p.hold(ways...)
}

func (p *Proxy) hold(ways ...Way) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for each := range p.links {
		for _, way := range ways {
			each.held[way].Store(true)
		}
	}
}

func (p *Proxy) close() {
	_ = p.listener.Close()
	p.Down()
	p.running.Wait()
}

func (p *Proxy) accept() {
	for {
		client, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.running.Go(func() { p.connect(client) })
		}
	}
}

func (p *Proxy) connect(client net.Conn) {
	server, err := net.Dial(p.network, p.server) //nolint:noctx // a test's own server
	if err != nil {
		_ = client.Close()
		return
	}
	link := &link{client: client, server: server, lag: p.lag, done: make(chan struct{})}
	if !p.add(link) {
		link.close()
		return
	}
	p.running.Go(func() { link.pump(server, client, ToServer) })
	link.pump(client, server, ToClient)
	p.remove(link)
}

func (p *Proxy) add(link *link) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.down {
		p.links[link] = struct{}{}
		for way := range link.held {
			link.held[way].Store(p.silent[Way(way)])
		}
	}
	return !p.down
}

func (p *Proxy) remove(link *link) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.links, link)
}

// link is one connection and its other half.
type link struct {
	client, server net.Conn
	lag            func() time.Duration
	closing        sync.Once
	done           chan struct{}
	held           [2]atomic.Bool // by way: no byte passes any more
}

func (l *link) close() {
	l.closing.Do(func() {
		close(l.done)
		_ = errors.Join(l.client.Close(), l.server.Close())
	})
}

func (l *link) pump(to io.Writer, from io.Reader, way Way) {
	defer l.close()
	bytes := make([]byte, 32<<10)
	for {
		n, err := from.Read(bytes)
		if !l.pass(way) || err != nil {
			return
		}
		if _, err := to.Write(bytes[:n]); err != nil {
			return
		}
	}
}

// pass reports whether a byte may pass, after the delay of the network. If the way is held, it waits until the link has ended.
func (l *link) pass(way Way) bool {
	if delay := l.lag(); delay > 0 {
		select {
		case <-l.done:
		case <-time.After(delay):
		}
	}
	if l.held[way].Load() {
		<-l.done
	}
	select {
	case <-l.done:
		return false
	default:
		return true
	}
}
