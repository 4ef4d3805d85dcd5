package jobs

import (
	"crypto/ed25519"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/egress"
	"github.com/signalbox/signalbox/internal/optional"
)

// canBeSent reports whether the client that sends jobs accepts a request. It may reach no address here, so an
// accepted request fails at its address.
func canBeSent(t *testing.T, client *egress.Client, request egress.Request) bool {
	t.Helper()
	request.Method = "GET"
	_, err := client.Do(t.Context(), request)
	failure, ok := errors.AsType[*egress.Error](err)
	if !ok {
		t.Fatalf("%+v: %v", request, err)
	}
	return failure.Reason == egress.SSRFBlocked
}

// A job that is accepted can be sent, and one that can be sent is accepted.
func TestDraft_AcceptsHeadersThatCanBeSent(t *testing.T) {
	t.Parallel()
	client := egress.New(egress.Options{})
	t.Cleanup(client.Close)
	compare := func(t *testing.T, name, value string) {
		t.Helper()
		accepted := len(places(right(func(_ *Draft, c *ConfigurationDraft) { c.Headers = header(name, value) }))) == 0
		sent := canBeSent(t, client, egress.Request{URL: "http://127.0.0.1/", Headers: []egress.Header{{Name: name, Value: value}}})
		if accepted != sent {
			t.Errorf("%q: %q is accepted: %t, can be sent: %t", name, value, accepted, sent)
		}
	}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Alt-Used", "Authorization", "Close", "Connection", "Content-Encoding", "Content-Length", "Content-Type", "Cookie",
		"Date", "Expect", "Forwarded", "HTTP2-Settings", "Keep-Alive", "Max-Forwards", "Origin", "Proxy-Authenticate", "Proxy-Authorization",
		"Proxy-Connection", "Range", "TE", "Trailer", "Trailers", "Transfer-Encoding", "Upgrade", "User-Agent", "Via", "X-Forwarded-For",
	} {
		t.Run(name, func(t *testing.T) {
			compare(t, name, "x")
			compare(t, strings.ToUpper(name), "x")
		})
	}
	for b := range 256 {
		compare(t, "X"+string([]byte{byte(b)}), "x")
		compare(t, "X", "x"+string([]byte{byte(b)}))
		compare(t, "Host", "x"+string([]byte{byte(b)}))
	}
	for _, host := range []string{"é", "a,b#", "a b", "a/b", "user@a", "[::1]:80", "a:80", "a_b.test", "a\x00"} {
		t.Run(fmt.Sprintf("%q", host), func(t *testing.T) { compare(t, "host", host) })
	}
}

// aCertificate returns a certificate in PEM.
func aCertificate(t *testing.T, headers map[string]string) string {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1)}
	text, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Headers: headers, Bytes: text}))
}

func TestDraft_AcceptsCertificatesThatCanBeTrusted(t *testing.T) {
	t.Parallel()
	client := egress.New(egress.Options{})
	t.Cleanup(client.Close)
	plain, withHeaders := aCertificate(t, nil), aCertificate(t, map[string]string{"X-A": "b"})
	for name, c := range map[string]struct {
		text string
		want bool
	}{
		"one": {plain, true}, "two and text": {plain + "\nand\n" + plain, true}, "with headers": {withHeaders, false},
		"one and one with headers": {plain + withHeaders, false}, "none": {"", false},
	} {
		t.Run(name, func(t *testing.T) {
			accepted := len(places(right(func(_ *Draft, d *ConfigurationDraft) { d.CACert = optional.Of(c.text) }))) == 0
			if accepted != c.want {
				t.Errorf("accepted is %t:\n%s", accepted, c.text)
			}
			if accepted && !canBeSent(t, client, egress.Request{URL: "https://127.0.0.1/", CACert: c.text}) {
				t.Errorf("accepted and cannot be sent:\n%s", c.text)
			}
		})
	}
}

func TestDraft_HostsOfURLs(t *testing.T) {
	t.Parallel()
	for url, want := range map[string]bool{
		"http://a_b.test/": true, "http://é.test": true, "http://[::1]:80/": true, "http://[fe80::1%25eth0]/": true, "http://a~!$&'()*+,;=b/": true,
		`http://a"b/`: false, "http://a<b/": false, "http://a>b/": false, `http://é"/`: false,
	} {
		t.Run(url, func(t *testing.T) {
			found := places(right(func(_ *Draft, c *ConfigurationDraft) { c.URL = optional.Of(url) }))
			if accepted := len(found) == 0; accepted != want {
				t.Errorf("accepted is %t", accepted)
			}
		})
	}
}
