package app_test

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/signalbox/signalbox/internal/app"
	"github.com/signalbox/signalbox/internal/app/apptest"
	"github.com/signalbox/signalbox/internal/settings"
	"github.com/signalbox/signalbox/internal/store/storetest"
)

// slowRequest is a request whose body the test sends late. The server has begun
// to read it.
type slowRequest struct {
	conn net.Conn
	read *bufio.Reader
	rest string
}

func beginSlowly(t *testing.T, address string) *slowRequest {
	t.Helper()
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(soon)); err != nil {
		t.Fatal(err)
	}
	const body = `{"contexts":[{"type":"service","key":"slow"}]}`
	_, err = fmt.Fprintf(conn, "POST /api/v1/contexts/bulk HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Length: %d\r\nExpect: 100-continue\r\n\r\n",
		apptest.OwnerKey, len(body))
	if err != nil {
		t.Fatal(err)
	}
	request := &slowRequest{conn: conn, read: bufio.NewReader(conn), rest: body}
	// The server sends 100 Continue when the handler reads the body.
	if line, err := request.read.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("got %q, %v", line, err)
	}
	if _, err := request.read.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	return request
}

// finish sends the rest of the body and returns the status.
func (r *slowRequest) finish() (int, error) {
	if _, err := r.conn.Write([]byte(r.rest)); err != nil {
		return 0, err
	}
	response, err := http.ReadResponse(r.read, nil)
	if err != nil {
		return 0, err
	}
	return response.StatusCode, response.Body.Close()
}

// stopping begins to stop an app, and waits until the app accepts no new
// connections.
func stopping(t *testing.T, instance *app.App) (stopped <-chan error) {
	t.Helper()
	address := instance.Address()
	done := make(chan error, 1)
	go func() { done <- instance.Stop(context.WithoutCancel(t.Context())) }()
	storetest.Wait(t, soon, "no new connections are taken", func() bool {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err != nil
	})
	return done
}

func started(t *testing.T, s settings.Settings) *app.App {
	t.Helper()
	instance, _, err := build(t, s)
	if err != nil {
		t.Fatal(err)
	}
	if err := instance.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	return instance
}

func TestStop_RequestsFinish(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.ShutdownTimeout = soon
	instance := started(t, s)
	request := beginSlowly(t, instance.Address())
	stopped := stopping(t, instance)
	select {
	case err := <-stopped:
		t.Fatalf("it stopped before the request was done: %v", err)
	default:
	}
	if status, err := request.finish(); err != nil || status != http.StatusOK {
		t.Errorf("got %d, %v", status, err)
	}
	if err := <-stopped; err != nil {
		t.Error(err)
	}
	again, _ := run(t, s)
	newClient(t, "http://"+again.Address(), apptest.OwnerKey).get(t, "/api/v1/services/slow", http.StatusOK)
}

func TestStop_CutsEndlessRequest(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.ShutdownTimeout = 200 * time.Millisecond
	instance := started(t, s)
	request := beginSlowly(t, instance.Address())
	began := time.Now()
	if err := <-stopping(t, instance); err != nil {
		t.Error(err)
	}
	if took := time.Since(began); took < s.ShutdownTimeout {
		t.Errorf("it was cut after %s", took)
	}
	if status, err := request.finish(); err == nil {
		t.Errorf("it was answered with %d", status)
	}
}

func TestRun_UntilCanceled(t *testing.T) {
	t.Parallel()
	instance, _, err := build(t, apptest.Settings(storetest.New(t, "sqlite")))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	url := "http://" + instance.Address()
	go func() { ended <- instance.Run(ctx) }()
	c := newClient(t, url, apptest.OwnerKey)
	storetest.Wait(t, soon, "it is ready", func() bool { return c.status(t, "/api/readiness") == http.StatusOK })
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if status := c.status(t, "/api/liveness"); status != 0 {
		t.Errorf("it still answers %d", status)
	}
}

func TestRun_ListenerFails(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	s.MetricsListen = "127.0.0.1:0"
	for broken := range 2 { // the API's listener, then the metrics' listener
		instance, _, err := build(t, s)
		if err != nil {
			t.Fatal(err)
		}
		listener := instance.Listeners()[broken]
		ended := make(chan error, 1)
		go func() { ended <- instance.Run(t.Context()) }()
		c := newClient(t, "http://"+instance.Addresses()[0], "")
		if broken == 1 {
			storetest.Wait(t, soon, "it serves", func() bool { return c.status(t, "/api/liveness") == http.StatusOK })
		}
		if err := listener.Close(); err != nil {
			t.Fatal(err)
		}
		if err := <-ended; err == nil || !strings.Contains(err.Error(), "serving on") {
			t.Errorf("got %v", err)
		}
	}
}

func TestNew_AddressInUse(t *testing.T) {
	t.Parallel()
	taken, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	for name, change := range map[string]func(*settings.Settings){
		"the API's":    func(s *settings.Settings) { s.Listen = taken.Addr().String() },
		"the metrics'": func(s *settings.Settings) { s.MetricsListen = taken.Addr().String() },
	} {
		t.Run(name, func(t *testing.T) {
			s := apptest.Settings(storetest.New(t, "sqlite"))
			change(&s)
			refuses(t, s, taken.Addr().String())
		})
	}
}

func TestMetrics_OwnAddress(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	shared, _ := run(t, s)
	c := newClient(t, "http://"+shared.Address(), apptest.OwnerKey)
	c.get(t, "/api/v1/environments", http.StatusOK)
	c.key = "" // this path needs no key
	text := c.get(t, "/metrics", http.StatusOK)
	for _, metric := range []string{"signalbox_http_requests_total", "signalbox_store_transactions_total", "signalbox_build_info", "go_goroutines"} {
		t.Run(metric, func(t *testing.T) {
			if !strings.Contains(text, metric) {
				t.Errorf("there is no %s", metric)
			}
		})
	}
	s = apptest.Settings(storetest.New(t, "sqlite"))
	s.MetricsListen = "127.0.0.1:0"
	apart, _ := run(t, s)
	addresses := apart.Addresses()
	newClient(t, "http://"+addresses[0], apptest.OwnerKey).get(t, "/metrics", http.StatusNotFound)
	newClient(t, "http://"+addresses[1], "").get(t, "/metrics", http.StatusOK)
	newClient(t, "http://"+addresses[1], apptest.OwnerKey).get(t, "/api/v1/environments", http.StatusNotFound)
}

// certificate creates a certificate for the loopback address and its key, both
// as files.
func certificate(t *testing.T) (certFile, keyFile string, pool *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	write := func(name, kind string, bytes []byte) string {
		file := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: bytes}), 0o600); err != nil {
			t.Fatal(err)
		}
		return file
	}
	parsed, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool = x509.NewCertPool()
	pool.AddCert(parsed)
	return write("cert.pem", "CERTIFICATE", der), write("key.pem", "PRIVATE KEY", private), pool
}

func TestTLS_FromFiles(t *testing.T) {
	t.Parallel()
	s := apptest.Settings(storetest.New(t, "sqlite"))
	certFile, keyFile, pool := certificate(t)
	s.TLSCert, s.TLSKey = certFile, keyFile
	instance, _ := run(t, s)
	c := newClient(t, "https://"+instance.Address(), apptest.OwnerKey)
	c.http.Transport = &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}}
	c.get(t, "/api/v1/environments/production", http.StatusOK)
	head, err := http.NewRequestWithContext(t.Context(), http.MethodHead, c.url+"/api/liveness", nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := c.http.Do(head)
	if err != nil {
		t.Fatal(err)
	}
	_ = response.Body.Close()
	if response.Header.Get("Strict-Transport-Security") == "" {
		t.Errorf("over TLS, got %v", response.Header)
	}
	// TLS versions that are too old must be refused.
	old := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	conn, err := (&tls.Dialer{Config: old}).DialContext(t.Context(), "tcp", instance.Address())
	if err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 was accepted")
	}
}

func TestTLS_UnusableCertificate(t *testing.T) {
	t.Parallel()
	certFile, _, _ := certificate(t)
	_, otherKey, _ := certificate(t)
	for name, files := range map[string][2]string{
		"missing":           {filepath.Join(t.TempDir(), "none"), otherKey},
		"of another key":    {certFile, otherKey},
		"the wrong way":     {otherKey, certFile},
		"not a certificate": {"server_test.go", otherKey},
	} {
		t.Run(name, func(t *testing.T) {
			s := apptest.Settings(storetest.New(t, "sqlite"))
			s.TLSCert, s.TLSKey = files[0], files[1]
			refuses(t, s, "TLS certificate")
		})
	}
}
