package store

import (
	"context"
	"database/sql/driver"
	"errors"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/stdlib"
)

// headStart is how long a host may take to accept a connection before the next host is tried beside it.
const headStart = 300 * time.Millisecond

// primary connects to the server that accepts writes, among the hosts of a database URL. A silent host, such as a
// frozen machine, delays nobody: the hosts are tried side by side, the last good one first. When another host has taken
// over, statements that still wait for the silent host fail.
type primary struct {
	hosts   []*host
	good    atomic.Int32  // the index of the host that accepted the last connection
	silence time.Duration // how long a server may take to answer before it counts as silent
}

// host is a server, with the connections to it.
type host struct {
	config *pgx.ConnConfig

	mu   sync.Mutex
	open map[*hostConn]struct{}
}

// hostConn is a connection that leave can close through its host.
type hostConn struct {
	net.Conn

	host *host
}

// newPrimary returns the hosts of a configuration. The fallbacks of pgx are several hosts, and for each host the ways to
// connect to it, with TLS and without.
func newPrimary(config *pgx.ConnConfig, silence time.Duration) *primary {
	p := &primary{silence: silence}
	ways := append([]*pgconn.FallbackConfig{{Host: config.Host, Port: config.Port, TLSConfig: config.TLSConfig}}, config.Fallbacks...)
	for _, way := range ways {
		known := slices.IndexFunc(p.hosts, func(h *host) bool { return h.config.Host == way.Host && h.config.Port == way.Port })
		if known >= 0 {
			p.hosts[known].config.Fallbacks = append(p.hosts[known].config.Fallbacks, way)
			continue
		}
		added := &host{config: config.Copy(), open: map[*hostConn]struct{}{}}
		added.config.Host, added.config.Port, added.config.TLSConfig, added.config.Fallbacks = way.Host, way.Port, way.TLSConfig, nil
		added.config.DialFunc = added.dial(config.DialFunc)
		p.hosts = append(p.hosts, added)
	}
	return p
}

// dial returns a dial function that registers its connections in open.
func (h *host) dial(dial pgconn.DialFunc) pgconn.DialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		conn, err := dial(ctx, network, address)
		if err != nil {
			return nil, err
		}
		kept := &hostConn{Conn: conn, host: h}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.open[kept] = struct{}{}
		return kept, nil
	}
}

// Close closes the connection and removes it from its host.
func (c *hostConn) Close() error {
	c.host.mu.Lock()
	defer c.host.mu.Unlock()
	if _, open := c.host.open[c]; !open {
		return nil // its host was left
	}
	delete(c.host.open, c)
	return c.Conn.Close()
}

// leave closes all connections to a silent host, also those that wait for an answer.
func (h *host) leave() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for conn := range h.open {
		_ = conn.Conn.Close()
	}
	clear(h.open)
}

// connect opens a connection outside the pools.
func (p *primary) connect(ctx context.Context) (*pgx.Conn, error) {
	return firstOf(ctx, p, func(ctx context.Context, host int) (*pgx.Conn, error) {
		return pgx.ConnectConfig(ctx, p.hosts[host].config)
	},
		func(conn *pgx.Conn) { _ = conn.Close(context.WithoutCancel(ctx)) })
}

// connector opens connections for a pool. It implements [driver.Connector].
type connector struct {
	*primary

	pooled []driver.Connector // one for each host
}

// connector returns a connector for a pool. A connection that was not used for a while is checked before it is used again.
func (p *primary) connector() connector {
	c := connector{primary: p}
	for _, each := range p.hosts {
		c.pooled = append(c.pooled, stdlib.GetConnector(*each.config, stdlib.OptionShouldPing(p.isSilent)))
	}
	return c
}

// Connect opens a connection.
func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	return firstOf(ctx, c.primary, func(ctx context.Context, host int) (driver.Conn, error) { return c.pooled[host].Connect(ctx) },
		func(conn driver.Conn) { _ = conn.Close() })
}

// Driver returns the driver of pgx.
func (connector) Driver() driver.Driver { return stdlib.GetDefaultDriver() }

// isSilent checks a connection that was not used for a while, and reports whether the server no longer answers. A
// failed check closes the connection. The true result makes the pool ping it, which fails at once; without this check,
// that ping would wait as long as its caller.
func (p *primary) isSilent(ctx context.Context, reused stdlib.ShouldPingParams) bool {
	if reused.IdleDuration < p.silence/2 {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, p.silence)
	defer cancel()
	return reused.Conn.Ping(ctx) != nil
}

// attempt is the result of connecting to a host.
type attempt[C any] struct {
	host int
	conn C
	err  error
}

// firstOf returns the first connection to any of the hosts. It tries the next host after headStart, or at once when a
// host has failed, and does not end the earlier attempts.
func firstOf[C any](ctx context.Context, p *primary, connect func(ctx context.Context, host int) (C, error), discard func(C)) (C, error) {
	var none C
	var failures []error
	attempts, cancel := context.WithCancel(context.WithoutCancel(ctx))
	order, ended := p.order(), make(chan attempt[C], len(p.hosts))
	timer := time.NewTimer(0)
	defer timer.Stop()
	waiting := map[int]bool{}
	for started := 0; len(failures) < len(order); {
		select {
		case <-ctx.Done():
			cancel()
			go settle(p, cancel, ended, waiting, discard)
			return none, errors.Join(append(failures, ctx.Err())...)
		case one := <-ended:
			delete(waiting, one.host)
			if one.err == nil {
				p.good.Store(int32(one.host)) //nolint:gosec // there are few hosts
				go settle(p, cancel, ended, waiting, discard)
				return one.conn, nil
			}
			failures = append(failures, one.err)
		case <-timer.C:
		}
		if started < len(order) {
			next := order[started]
			go func() { conn, err := connect(attempts, next); ended <- attempt[C]{next, conn, err} }()
			waiting[next] = true
			started++
			timer.Reset(headStart)
		}
	}
	cancel()
	return none, errors.Join(failures...)
}

// settle waits for the other attempts after one was successful, and discards their connections. It leaves the hosts
// that stay silent. If the attempts were canceled, it only waits.
func settle[C any](p *primary, cancel context.CancelFunc, ended <-chan attempt[C], waiting map[int]bool, discard func(C)) {
	defer cancel()
	silent := time.NewTimer(p.silence)
	defer silent.Stop()
	for len(waiting) > 0 {
		select {
		case one := <-ended:
			delete(waiting, one.host)
			if one.err == nil {
				discard(one.conn)
			}
		case <-silent.C:
			for host := range waiting {
				p.hosts[host].leave()
			}
			cancel()
		}
	}
}

// order returns the indexes of the hosts, the last good one first.
func (p *primary) order() []int {
	good := int(p.good.Load())
	order := []int{good}
	for host := range p.hosts {
		if host != good {
			order = append(order, host)
		}
	}
	return order
}
