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

// dialer opens connections to addresses that the guard lets pass.
type dialer struct {
	net      net.Dialer
	guard    *guard
	resolver Resolver
}

// stagger is how long an address may take before the next one is tried beside it.
const stagger = 250 * time.Millisecond

func newDialer(guard *guard, resolver Resolver) dialer {
	return dialer{net: net.Dialer{Control: guard.control}, guard: guard, resolver: resolver}
}

// dial connects to the first address of a host that may be dialled and answers.
func (d *dialer) dial(ctx context.Context, host string, port uint16, timings *Timings) (*net.TCPConn, error) {
	started := time.Now()
	addrs, err := d.lookup(ctx, host)
	timings.DNS = time.Since(started)
	if err != nil {
		return nil, classified(ctx, &failure{resolving, err})
	}
	targets, refusal := d.allowed(addrs, port)
	if len(targets) == 0 {
		return nil, forHost(refusal, host)
	}
	started = time.Now()
	conn, err := d.race(ctx, targets)
	timings.Connect = time.Since(started)
	if err == nil {
		return conn, nil
	}
	if refusal != nil && ctx.Err() == nil {
		// The address that would be next is one that may not be dialled.
		return nil, forHost(refusal, host)
	}
	return nil, classified(ctx, err)
}

// lookup gives the addresses of a host, in the order to try them. An address is its own answer.
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

// allowed keeps the targets that may be dialled and gives the first refusal of the others.
func (d *dialer) allowed(addrs []netip.Addr, port uint16) (targets []netip.AddrPort, refusal error) {
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

// forHost says which host a refused address was looked up for.
func forHost(refusal error, host string) error {
	blocked, ok := errors.AsType[*Error](refusal)
	if _, is := hosts.Address(host); !ok || is {
		return refusal
	}
	return &Error{Reason: blocked.Reason, Detail: fmt.Sprintf("%s The address is that of %q.", blocked.Detail, host)}
}

// attempt is how dialling ended.
type attempt struct {
	conn *net.TCPConn
	err  error
}

// race tries targets in their order, the next one when the last one failed or takes long, and gives the first
// connection. Nothing is sent on the others. When all fail, the first failure says why.
func (d *dialer) race(ctx context.Context, targets []netip.AddrPort) (*net.TCPConn, error) {
	if len(targets) == 1 {
		return d.connect(ctx, targets[0])
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	first := d.start(ctx, targets[:1])
	select {
	case done := <-first:
		if done.err == nil {
			return done.conn, nil
		}
		if conn, err := d.race(ctx, targets[1:]); err == nil {
			return conn, nil
		}
		return nil, done.err
	case <-time.After(stagger):
		return winner(cancel, first, d.start(ctx, targets[1:]))
	}
}

func (d *dialer) start(ctx context.Context, targets []netip.AddrPort) <-chan attempt {
	result := make(chan attempt, 1)
	go func() {
		conn, err := d.race(ctx, targets)
		result <- attempt{conn, err}
	}()
	return result
}

// winner gives the first connection of two attempts and ends the other attempt.
func winner(cancel context.CancelFunc, one, other <-chan attempt) (*net.TCPConn, error) {
	var done attempt
	select {
	case done = <-one:
	case done = <-other:
		other = one
	}
	if done.err != nil {
		last := <-other
		return last.conn, last.err
	}
	cancel()
	if late := <-other; late.conn != nil {
		_ = late.conn.Close() // nothing was said on it
	}
	return done.conn, nil
}

func (d *dialer) connect(ctx context.Context, target netip.AddrPort) (*net.TCPConn, error) {
	conn, err := d.net.DialTCP(ctx, "tcp", netip.AddrPort{}, target)
	if err == nil {
		return conn, nil
	}
	if refusal, ok := errors.AsType[*Error](err); ok {
		return nil, refusal
	}
	return nil, &failure{phase("connecting to " + target.String()), err}
}
