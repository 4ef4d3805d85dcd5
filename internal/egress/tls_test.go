package egress_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/egress"
)

// authority signs certificates for test servers.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test authority"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	text, err := x509.CreateCertificate(rand.Reader, template, template, &a.key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	if a.certificate, err = x509.ParseCertificate(text); err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func (a *authority) pem() string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: a.certificate.Raw}))
}

// sign creates a certificate for a name and 127.0.0.1 that expires at until.
func (a *authority) sign(t *testing.T, name string, until time.Time) tls.Certificate {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		DNSNames: []string{name}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	text, err := x509.CreateCertificate(rand.Reader, template, a.certificate, &key.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{text}, PrivateKey: key}
}

// serve starts an HTTPS server with a certificate that sign creates.
func (a *authority) serve(t *testing.T, name string, until time.Time) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.Proto+" "+r.TLS.ServerName)
	}))
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelDebug)
	server.EnableHTTP2 = true
	server.TLS = &tls.Config{Certificates: []tls.Certificate{a.sign(t, name, until)}}
	server.StartTLS()
	t.Cleanup(server.Close)
	return server
}

func later() time.Time { return time.Now().Add(time.Hour) }

func TestTLS_Certificates(t *testing.T) {
	trusted, stranger := newAuthority(t), newAuthority(t)
	good := trusted.serve(t, "good.test", later())
	old := trusted.serve(t, "old.test", time.Now().Add(-time.Hour))
	resolver := &names{answers: map[string][][]netip.Addr{"good.test": {addrs("127.0.0.1")}, "other.test": {addrs("127.0.0.1")}}}
	client := newClient(t, egress.Options{Allow: networks("127.0.0.1/32"), Resolver: resolver})
	_, port, _ := net.SplitHostPort(good.Listener.Addr().String())
	for name, c := range map[string]struct {
		url      string
		caCert   string
		insecure bool
		want     string // a part of the error; "" means no error
	}{
		"by address":                 {good.URL, trusted.pem(), false, ""},
		"by the second of two":       {good.URL, stranger.pem() + trusted.pem(), false, ""},
		"by name":                    {"https://good.test:" + port, trusted.pem(), false, ""},
		"none given":                 {good.URL, "", false, "x509: certificate signed by unknown authority"},
		"another given":              {good.URL, stranger.pem(), false, "x509: certificate signed by unknown authority"},
		"another name":               {"https://other.test:" + port, trusted.pem(), false, "valid for good.test, not other.test"},
		"expired":                    {old.URL, trusted.pem(), false, "certificate has expired"},
		"unverified":                 {good.URL, "", true, ""},
		"unverified with an invalid": {old.URL, "no certificate", true, ""},
		"an invalid given":           {good.URL, "no certificate", false, "ca_cert holds no certificate"},
	} {
		t.Run(name, func(t *testing.T) {
			request := egress.Request{Method: "GET", URL: c.url, CACert: c.caCert, Insecure: c.insecure, Timeout: time.Minute}
			if c.want != "" {
				if failure := fails(t, client, request, egress.ConnectionError); !strings.Contains(failure.Detail, c.want) {
					t.Errorf("got %q, want %q in it", failure.Detail, c.want)
				}
				return
			}
			if result := do(t, client, request); result.Status != http.StatusOK || result.Timings.Total < result.Timings.TLS {
				t.Errorf("got %+v", result)
			}
		})
	}
}

func TestTLS_HTTP1AndServerName(t *testing.T) {
	trusted := newAuthority(t)
	server := trusted.serve(t, "good.test", later())
	resolver := &names{answers: map[string][][]netip.Addr{"good.test": {addrs("127.0.0.1")}}}
	request := get(strings.Replace(server.URL, "127.0.0.1", "good.test", 1))
	request.CACert = trusted.pem()
	client := newClient(t, egress.Options{Allow: networks("127.0.0.1/32"), Resolver: resolver})
	first := do(t, client, request)
	if got := first.Body; got != "HTTP/1.1 good.test" {
		t.Error(got)
	}
	if second := do(t, client, request); first.Timings.TLS == 0 || second.Timings.TLS != 0 {
		t.Errorf("%+v, then %+v", first.Timings, second.Timings)
	}
}

func TestTLS_SettingsDoNotShareConnections(t *testing.T) {
	server := newAuthority(t).serve(t, "good.test", later())
	client := newClient(t, egress.Options{Allow: networks("127.0.0.1/32")})
	request := get(server.URL)
	request.Insecure = true
	do(t, client, request)
	request.Insecure = false
	fails(t, client, request, egress.ConnectionError)
	request.CACert = newAuthority(t).pem()
	fails(t, client, request, egress.ConnectionError)
}

func TestTLS_ServerWithoutTLS(t *testing.T) {
	server := listen(t, "127.0.0.1:0", func(conn net.Conn) { _, _ = io.WriteString(conn, "HTTP/1.1 400 Bad Request\r\n\r\n") })
	failure := fails(t, localClient(t), get(strings.Replace(server.url(), "http", "https", 1)), egress.ConnectionError)
	if !strings.Contains(failure.Detail, "agreeing on TLS: the server does not speak TLS on this port") {
		t.Error(failure.Detail)
	}
}

func TestTLS_HandshakeHangs(t *testing.T) {
	server := listen(t, "127.0.0.1:0", waitForEnd)
	runsOut(t, get(strings.Replace(server.url(), "http", "https", 1)), "agreeing on TLS")
	started := make(chan struct{})
	server = listen(t, "127.0.0.1:0", func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 1)) // the client has begun the handshake
		close(started)
		waitForEnd(conn)
	})
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-started; cancel() }()
	_, err := localClient(t).Do(ctx, get(strings.Replace(server.url(), "http", "https", 1)))
	if err == nil || !strings.Contains(err.Error(), "canceled while agreeing on TLS") {
		t.Error(err)
	}
}
