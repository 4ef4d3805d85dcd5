package egress

import (
	"crypto/tls"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// TestTLSConfigs_SlowOneBlocksNoOther: reading a bundle of certificates takes a while, and must not block other
// settings.
func TestTLSConfigs_SlowOneBlocksNoOther(t *testing.T) {
	t.Parallel()
	configs := newTLSConfigs()
	begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	configs.kept[tlsSettings{caCert: "slow"}] = func() (*tls.Config, error) {
		close(begun)
		<-finish
		return new(tls.Config), nil
	}
	go func() {
		defer close(done)
		if _, err := configs.get(Request{CACert: "slow"}); err != nil {
			t.Error(err)
		}
	}()
	<-begun
	if config, err := configs.get(Request{}); err != nil || config == nil {
		t.Error(err)
	}
	close(finish)
	<-done
}

func TestTLSConfigs_MadeOnceUnlessFailed(t *testing.T) {
	t.Parallel()
	configs := newTLSConfigs()
	one, _ := configs.get(Request{Account: "one"})
	if other, _ := configs.get(Request{Account: "other"}); one == nil || one != other {
		t.Errorf("%p and %p", one, other)
	}
	if _, err := configs.get(Request{CACert: "none"}); err == nil || len(configs.kept) != 1 {
		t.Errorf("%v, and %d are kept", err, len(configs.kept))
	}
}

// TestTLSConfigs_Bounded checks that many settings work, and that forgotten settings work again.
func TestTLSConfigs_Bounded(t *testing.T) {
	t.Parallel()
	authority := httptest.NewTLSServer(http.NotFoundHandler())
	defer authority.Close()
	text := string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority.Certificate().Raw}))
	configs := newTLSConfigs()
	for i := range 3 * keptConfigs {
		config, err := configs.get(Request{CACert: strings.Repeat("\n", i%(2*keptConfigs)) + text})
		if err != nil || config.RootCAs == nil || len(configs.kept) > keptConfigs {
			t.Fatalf("%v, %v, and %d are kept", config, err, len(configs.kept))
		}
	}
}
