package egress

import (
	"crypto/tls"
	"testing"
)

// TestMakingAConfigurationHoldsNobodyUp: reading a bundle of certificates takes a while.
func TestMakingAConfigurationHoldsNobodyUp(t *testing.T) {
	t.Parallel()
	configs := newTLSConfigs()
	begun, finish, done := make(chan struct{}), make(chan struct{}), make(chan struct{})
	configs.kept[tlsSettings{caCert: "slow"}] = &tlsConfig{make: func() (*tls.Config, error) {
		close(begun)
		<-finish
		return new(tls.Config), nil
	}}
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

func TestAConfigurationIsMadeOnceUnlessThatFails(t *testing.T) {
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
