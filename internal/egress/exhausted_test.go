package egress_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"syscall"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

// failingLookups is a resolver that always fails.
type failingLookups struct{ err error }

func (f failingLookups) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return nil, f.err
}

func TestDo_ShortageOfThisMachine(t *testing.T) {
	t.Parallel()
	lookup := func(cause error) error {
		return &net.DNSError{Name: "example.com", Err: (&net.OpError{Op: "dial", Net: "udp", Err: os.NewSyscallError("socket", cause)}).Error()}
	}
	for cause, want := range map[syscall.Errno]egress.Reason{
		syscall.EMFILE: egress.Exhausted, syscall.ENFILE: egress.Exhausted, syscall.ENOBUFS: egress.Exhausted, syscall.ENOMEM: egress.Exhausted,
		syscall.ECONNREFUSED: egress.ConnectionError, syscall.EHOSTUNREACH: egress.ConnectionError,
	} {
		t.Run(fmt.Sprint(cause), func(t *testing.T) {
			known := &names{answers: map[string][][]netip.Addr{"two.example": {addrs("127.0.0.2", "127.0.0.3")}}}
			connecting := newClient(t, egress.Options{Allow: networks("127.0.0.0/8"), Resolver: known})
			egress.FailSockets(connecting, cause)
			for name, each := range map[string]struct {
				client *egress.Client
				url    string
			}{
				"looking up":     {newClient(t, egress.Options{Resolver: failingLookups{lookup(cause)}}), "http://example.com/"},
				"connecting":     {connecting, "http://127.0.0.1/"},
				"to two of them": {connecting, "http://two.example/"},
			} {
				t.Run(name, func(t *testing.T) {
					_, err := each.client.Do(t.Context(), egress.Request{Method: "GET", URL: each.url})
					if failed, ok := errors.AsType[*egress.Error](err); !ok || failed.Reason != want {
						t.Errorf("%s with %v: %v", name, cause, err)
					}
				})
			}
		})
	}
}
