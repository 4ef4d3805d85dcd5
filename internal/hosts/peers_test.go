package hosts_test

import (
	"net/netip"
	"testing"

	"github.com/signalbox/signalbox/internal/hosts"
)

func TestPeerAddress(t *testing.T) {
	t.Parallel()
	for peer, want := range map[string]string{
		"192.0.2.1:80": "192.0.2.1", "192.0.2.1": "192.0.2.1", "[::ffff:192.0.2.1]:80": "192.0.2.1",
		"[2001:db8::1%eth0]:80": "2001:db8::1", "[2001:db8::1]": "2001:db8::1", "2001:db8::1": "2001:db8::1",
		"": "", "unknown": "", "[": "", "192.0.2.1:port": "",
	} {
		t.Run(peer, func(t *testing.T) {
			expected, _ := netip.ParseAddr(want)
			if got := hosts.PeerAddress(peer); got != expected {
				t.Errorf("got %v, want %q", got, want)
			}
		})
	}
}
