package egress

import (
	"context"
	"io"
	"net"
	"net/netip"
	"syscall"
	"testing"
	"time"
)

// TestDial_SlowAddress checks that the next address is tried while a slow one is still pending.
func TestDial_SlowAddress(t *testing.T) {
	t.Parallel()
	var config net.ListenConfig
	listener, err := config.Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	port := listener.Addr().(*net.TCPAddr).AddrPort().Port()
	slow, quick := netip.AddrPortFrom(netip.MustParseAddr("127.0.0.2"), port), netip.AddrPortFrom(netip.MustParseAddr("127.0.0.1"), port)
	accepted := make(chan struct{})
	go func() {
		defer close(accepted)
		if conn, err := listener.Accept(); err == nil {
			_, _ = io.Copy(io.Discard, conn)
			_ = conn.Close()
		}
	}()
	asked := make(chan struct{})
	d := dialer{stagger: time.Millisecond}
	d.net.ControlContext = func(ctx context.Context, _, address string, _ syscall.RawConn) error {
		if address == slow.String() {
			close(asked)
			<-ctx.Done() // until the other address has won
			return ctx.Err()
		}
		<-asked
		return nil
	}
	conn, err := d.race(t.Context(), []netip.AddrPort{slow, quick})
	if err != nil {
		t.Fatal(err)
	}
	if conn.RemoteAddr().String() != quick.String() {
		t.Errorf("connected to %v", conn.RemoteAddr())
	}
	_ = conn.Close()
	<-accepted
}
