package egress

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"time"

	"github.com/signalbox/signalbox/internal/hosts"
)

// dialer opens connections to addresses that the guard allows.
type dialer struct {
	net      net.Dialer
	guard    *guard
	resolver Resolver
	stagger  time.Duration // the wait before the next address is tried in parallel
}

// dial connects to a host. It uses the first address that is allowed and answers.
func (d *dialer) dial(ctx context.Context, host string, port uint16, timings *Timings) (*net.TCPConn, error) {
	started := time.Now()
	addrs, err := d.lookup(ctx, host)
	timings.DNS = time.Since(started)
	if err != nil {
		return nil, &failure{resolving, err}
	}
	targets, refusal := d.allowed(addrs, port)
	if len(targets) == 0 {
		return nil, forHost(refusal, host)
	}
	started = time.Now()
	conn, err := d.race(ctx, targets)
	timings.Connect = time.Since(started)
	if err != nil && refusal != nil && ctx.Err() == nil && !isShortage(err) { // the other addresses are not allowed
		return nil, forHost(refusal, host)
	}
	return conn, err
}

// lookup returns the addresses of a host, in the order in which to try them.
func (d *dialer) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	if addr, ok := hosts.Address(host); ok {
		return []netip.Addr{addr}, nil
	}
	addrs, err := d.resolver.LookupNetIP(ctx, "ip", host)
	if err == nil && len(addrs) == 0 {
		err = errors.New("the name has no address")
	}
	return addrs, err
}

// allowed returns the addresses that may be dialed, and the refusal of the first address that may not.
func (d *dialer) allowed(addrs []netip.Addr, port uint16) (targets []netip.AddrPort, refusal *Error) {
	for _, addr := range addrs {
		target := netip.AddrPortFrom(addr.Unmap(), port)
		if err := d.guard.check(target); err == nil {
			targets = append(targets, target)
		} else if refusal == nil {
			refusal = err
		}
	}
	return targets, refusal
}

// forHost adds the host name to the refusal of its address.
func forHost(refusal *Error, host string) *Error {
	if _, ok := hosts.Address(host); ok {
		return refusal
	}
	return &Error{Reason: refusal.Reason, Detail: fmt.Sprintf("%s The address is that of %q.", refusal.Detail, host)}
}

// attempt is the result of dialing one address.
type attempt struct {
	conn *net.TCPConn
	err  error
}

// race tries targets in order, and starts the next one if the last one fails or is slow. It returns the first connection.
// If all fail it returns the first failure, or a shortage of this machine: then an address was not really tried.
func (d *dialer) race(ctx context.Context, targets []netip.AddrPort) (conn *net.TCPConn, err error) {
	if len(targets) == 1 {
		return d.connect(ctx, targets[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	attempts := make(chan attempt)
	running := 0
	for conn == nil && (running > 0 || len(targets) > 0) {
		var late <-chan time.Time
		if len(targets) > 0 {
			target := targets[0]
			targets = targets[1:]
			running++
			go func() {
				conn, err := d.connect(ctx, target)
				attempts <- attempt{conn, err}
			}()
			late = time.After(d.stagger)
		}
		select {
		case done := <-attempts:
			running--
			conn = done.conn
			if err == nil || isShortage(done.err) {
				err = done.err
			}
		case <-late:
		}
	}
	cancel()
	for range running {
		if other := <-attempts; other.conn != nil {
			_ = other.conn.Close() // nothing was sent on it
		}
	}
	if conn != nil {
		return conn, nil
	}
	return nil, err
}

func (d *dialer) connect(ctx context.Context, target netip.AddrPort) (*net.TCPConn, error) {
	conn, err := d.net.DialTCP(ctx, "tcp", netip.AddrPort{}, target)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}
	if err != nil {
		return nil, &failure{phase("connecting to " + target.String()), err}
	}
	return conn, nil
}
