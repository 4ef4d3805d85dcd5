package egress_test

import (
	"net"
	"net/netip"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
)

// forbidden are hosts as they may be written in a URL. After "=" come the addresses of a name.
var forbidden = []string{
	// the edges of every special IPv4 network
	"0.0.0.0", "0.1.2.3", "0.255.255.255", "10.0.0.1", "10.255.255.255", "100.64.0.1", "100.127.255.255",
	"127.0.0.1", "127.1.2.3", "127.255.255.254", "169.254.0.1", "169.254.255.255", "172.16.0.1", "172.31.255.255",
	"192.0.0.1", "192.0.0.170", "192.0.2.1", "192.31.196.1", "192.52.193.1", "192.88.99.1", "192.168.0.1", "192.168.255.255",
	"192.175.48.1", "198.18.0.1", "198.19.255.255", "198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255",
	"240.0.0.1", "255.255.255.254", "255.255.255.255",
	// services of clouds
	"169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "192.0.0.192", "192.80.8.124", "161.26.0.10",
	"166.9.0.1", "[fd00:ec2::254]", "[fd20:ce::254]", "[fe80::a9fe:a9fe]",
	// every special IPv6 network
	"[::]", "[::1]", "[100::1]", "[fc00::1]", "[fdff:ffff::1]", "[fe80::1]", "[fe80::1%25lo]", "[febf::1]", "[fec0::1]",
	"[ff02::1]", "[ff0e::1]", "[2001::1]", "[2001:2::1]", "[2001:10::1]", "[2001:20::1]", "[2001:db8::1]", "[3fff::1]",
	"[2620:4f:8000::1]", "[5f00::1]", "[4000::1]", "[0:0:0:0:0:0:0:1]",
	// IPv4 within IPv6: mapped, compatible, translated, NAT64, 6to4, Teredo
	"[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::ffff:10.0.0.1]", "[::ffff:169.254.169.254]", "[0:0:0:0:0:ffff:127.0.0.1]",
	"[::127.0.0.1]", "[::7f00:1]", "[::ffff:0:127.0.0.1]", "[64:ff9b::127.0.0.1]", "[64:ff9b::7f00:1]", "[64:ff9b::808:808]",
	"[64:ff9b:1::7f00:1]", "[2002:7f00:1::1]", "[2002:a00:1::1]", "[2001:0:7f00:1::1]",
	// other spellings of an address
	"2130706433", "017700000001", "0x7f000001", "0X7F000001", "0177.0.0.1", "0x7f.0.0.1", "0x7f.1", "127.1", "127.0.1",
	"0177.1", "00000177.0.0.01", "127.0.0.1.", "0", "0x", "0x0", "3232235521", "0xa9fea9fe", "2852039166", "0251.0376.0251.0376",
	"169.254.43518", "１２７.０.０.１", "①②⑦.⓪.⓪.①", "127。0。0。1",
	// names
	"localhost=127.0.0.1", "LOCALHOST=127.0.0.1", "localhost.=127.0.0.1", "ip6.test=::1", "private.test=10.1.2.3", "metadata.google.internal=169.254.169.254",
	"mapped.test=::ffff:127.0.0.1", "nat64.test=64:ff9b::a00:1", "several.test=10.0.0.1,192.168.0.1,::1", "azure.test=168.63.129.16", "zone.test=fe80::1%lo",
}

// TestGuard_ForbiddenTargets requests every target, on a port where a server listens on every address
// of this machine.
func TestGuard_ForbiddenTargets(t *testing.T) {
	listener := listen(t, ":0", nil)
	for _, entry := range forbidden {
		t.Run(entry, func(t *testing.T) {
			host, answer, _ := strings.Cut(entry, "=")
			known := map[string][][]netip.Addr{}
			if answer != "" {
				known[host] = [][]netip.Addr{addrs(strings.Split(answer, ",")...)}
			}
			client := newClient(t, egress.Options{Resolver: &names{answers: known}})
			for _, scheme := range []string{"http", "https"} {
				failure := fails(t, client, get(scheme+"://user:secret@"+host+":"+listener.port()+"/secret?secret"), egress.SSRFBlocked)
				if strings.Contains(failure.Error(), "secret") || !strings.HasPrefix(failure.Detail, "Nothing was sent: ") {
					t.Errorf("%s: %s", host, failure.Detail)
				}
			}
		})
	}
	if n := listener.connections.Load(); n != 0 {
		t.Errorf("%d connections, %d bytes", n, listener.bytes.Load())
	}
	if len(forbidden) < 60 {
		t.Errorf("only %d targets", len(forbidden))
	}
}

func TestGuard_Detail(t *testing.T) {
	resolver := &names{answers: map[string][][]netip.Addr{"db.test": {addrs("10.1.2.3")}}}
	client := newClient(t, egress.Options{Resolver: resolver})
	failure := fails(t, client, get("http://db.test/"), egress.SSRFBlocked)
	want := `Nothing was sent: 10.1.2.3 is not a public address; the operator can allow its network (SIGNALBOX_ALLOW_NETWORKS). The address is that of "db.test".`
	if failure.Detail != want {
		t.Errorf("got  %s\nwant %s", failure.Detail, want)
	}
}

// In this test, 127.0.0.2 and higher are allowed like public addresses, and 127.0.0.1 is not.
func TestGuard_DNSRebinding(t *testing.T) {
	private := listen(t, "127.0.0.1:0", nil)
	public := listen(t, "127.0.0.2:"+private.port(), answeringOnce("HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"))
	resolver := &names{answers: map[string][][]netip.Addr{
		"rebind.test":  {addrs("127.0.0.2"), addrs("127.0.0.1")},
		"both.test":    {addrs("127.0.0.3", "127.0.0.1")}, // no server listens on the first address
		"reverse.test": {addrs("127.0.0.1", "127.0.0.2")},
	}}
	client := newClient(t, egress.Options{Allow: networks("127.0.0.2/31"), Resolver: resolver})
	do(t, client, get("http://rebind.test:"+private.port()))
	fails(t, client, get("http://rebind.test:"+private.port()), egress.SSRFBlocked)
	fails(t, client, get("http://both.test:"+private.port()), egress.SSRFBlocked)
	do(t, client, get("http://reverse.test:"+private.port()))
	if private.connections.Load() != 0 || public.connections.Load() != 2 {
		t.Errorf("%d connections to the private address, %d to the public one", private.connections.Load(), public.connections.Load())
	}
}

func TestGuard_AllowedNetworks(t *testing.T) {
	answer := answering("HTTP/1.1 204 No Content\r\n\r\n")
	four := listen(t, "0.0.0.0:0", answer)
	six := listen(t, "[::1]:0", answer)
	for _, c := range []struct {
		allow   string
		reached string
		blocked string
	}{
		{"127.0.0.2/32", "127.0.0.2", "127.0.0.1 127.0.0.3 0.0.0.0 [::ffff:127.0.0.1]"},
		{"127.0.0.4/30", "127.0.0.4 127.0.0.7 [::ffff:127.0.0.5]", "127.0.0.3 127.0.0.8"},
		{"127.0.0.0/8", "127.0.0.1 127.1 0x7f.0.0.2 127.255.255.254", "0.0.0.0 10.0.0.1"},
		{"::1/128", "", "127.0.0.1 [::2] [fe80::1%25lo]"},
		{"0.0.0.0/0", "127.0.0.1", "[::1] [fd00::1]"},
	} {
		t.Run(c.allow, func(t *testing.T) {
			client := newClient(t, egress.Options{Allow: networks(c.allow)})
			for host := range strings.FieldsSeq(c.reached) {
				if result := do(t, client, get("http://"+host+":"+four.port())); result.Status != 204 {
					t.Errorf("%s: %d", host, result.Status)
				}
			}
			for host := range strings.FieldsSeq(c.blocked) {
				fails(t, client, get("http://"+host+":"+four.port()), egress.SSRFBlocked)
			}
		})
	}
	do(t, newClient(t, egress.Options{Allow: networks("::1/128")}), get(six.url()))
}

func TestGuard_OwnAddress(t *testing.T) {
	four, six := listen(t, "127.0.0.1:0", nil), listen(t, "[::1]:0", nil)
	neighbor := listen(t, "127.0.0.2:"+four.port(), answering("HTTP/1.1 204 No Content\r\n\r\n"))
	own := []netip.AddrPort{netip.MustParseAddrPort(four.Addr().String()), netip.MustParseAddrPort(six.Addr().String())}
	client := newClient(t, egress.Options{Allow: networks("0.0.0.0/0", "::/0"), Self: func() []netip.AddrPort { return own }})
	for _, host := range []string{"127.0.0.1:" + four.port(), "0.0.0.0:" + four.port(), "[::ffff:127.0.0.1]:" + four.port(), "[::1]:" + six.port(), "[::]:" + six.port()} {
		t.Run(host, func(t *testing.T) {
			if failure := fails(t, client, get("http://"+host), egress.SSRFBlocked); !strings.Contains(failure.Detail, "this server itself") {
				t.Error(failure.Detail)
			}
		})
	}
	do(t, client, get(neighbor.url()))
	if n := four.connections.Load() + six.connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestGuard_OwnUnspecifiedAddress(t *testing.T) {
	listener := listen(t, ":0", nil)
	other := listen(t, "127.0.0.1:0", answering("HTTP/1.1 204 No Content\r\n\r\n"))
	own := netip.MustParseAddrPort(listener.Addr().String())
	client := newClient(t, egress.Options{Allow: networks("0.0.0.0/0", "::/0"), Self: func() []netip.AddrPort { return []netip.AddrPort{own} }})
	locals, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	hosts := []string{"127.0.0.1", "127.9.9.9", "::1", "0.0.0.0", "::"}
	for _, local := range locals {
		hosts = append(hosts, local.(*net.IPNet).IP.String())
	}
	for _, host := range hosts {
		fails(t, client, get("http://"+net.JoinHostPort(host, listener.port())), egress.SSRFBlocked)
	}
	do(t, client, get(other.url()))
	if n := listener.connections.Load(); n != 0 {
		t.Errorf("%d connections", n)
	}
}

func TestDo_IgnoresEnvironmentProxy(t *testing.T) {
	proxy := listen(t, "127.0.0.1:0", nil)
	for _, name := range []string{"HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy"} {
		t.Setenv(name, proxy.url())
	}
	server := listen(t, "127.0.0.1:0", answering("HTTP/1.1 204 No Content\r\n\r\n"))
	do(t, localClient(t), get(server.url()))
	if n := proxy.connections.Load(); n != 0 {
		t.Errorf("%d connections to the proxy", n)
	}
}

func TestDo_RedirectNotFollowed(t *testing.T) {
	elsewhere := listen(t, "127.0.0.1:0", nil)
	server := listen(t, "127.0.0.1:0", answering("HTTP/1.1 302 Found\r\nLocation: "+elsewhere.url()+"\r\nContent-Length: 0\r\n\r\n"))
	result := do(t, localClient(t), get(server.url()))
	if result.Status != 302 || result.Header["location"] != elsewhere.url() || elsewhere.connections.Load() != 0 {
		t.Errorf("%d %v, %d connections elsewhere", result.Status, result.Header, elsewhere.connections.Load())
	}
}
