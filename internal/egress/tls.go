package egress

import (
	"crypto/tls"
	"crypto/x509"
	"sync"
)

// tlsSettings are the TLS settings of a request.
type tlsSettings struct {
	insecure bool
	caCert   string
}

// tlsConfigs keeps one configuration for all requests with the same settings, so that they share connections.
type tlsConfigs struct {
	mu sync.Mutex
	// The first request with some settings creates the configuration. Others with the same settings wait for it.
	kept map[tlsSettings]func() (*tls.Config, error)
}

const (
	keptConfigs  = 64
	keptSessions = 64 // per configuration
)

func newTLSConfigs() tlsConfigs {
	return tlsConfigs{kept: map[tlsSettings]func() (*tls.Config, error){}}
}

// get returns the configuration for a request. A failure is not cached, because it may be temporary.
func (c *tlsConfigs) get(request Request) (*tls.Config, error) {
	settings := tlsSettings{request.Insecure, request.CACert}
	if settings.insecure {
		settings.caCert = ""
	}
	config, err := c.keep(settings)()
	if err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.kept, settings)
	}
	return config, err
}

// keep returns a function that creates a configuration once. If too many configurations are kept, it drops all of them.
func (c *tlsConfigs) keep(settings tlsSettings) func() (*tls.Config, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[settings]
	if !ok {
		if len(c.kept) >= keptConfigs {
			clear(c.kept)
		}
		kept = sync.OnceValues(func() (*tls.Config, error) { return newTLSConfig(settings) })
		c.kept[settings] = kept
	}
	return kept
}

func newTLSConfig(settings tlsSettings) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(keptSessions),
		InsecureSkipVerify: settings.insecure, //nolint:gosec // the owner of the request chose this
	}
	if settings.caCert == "" {
		return config, nil
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		return nil, &Error{Reason: ConnectionError, Detail: "The system's certificates cannot be read.", Err: err}
	}
	if !roots.AppendCertsFromPEM([]byte(settings.caCert)) {
		return nil, refused("ca_cert holds no certificate")
	}
	config.RootCAs = roots
	return config, nil
}

// sessions has the TLS sessions of one account within a configuration.
type sessions struct {
	account string
	all     tls.ClientSessionCache
}

func (s sessions) Get(key string) (*tls.ClientSessionState, bool) { return s.all.Get(s.named(key)) }

func (s sessions) Put(key string, session *tls.ClientSessionState) { s.all.Put(s.named(key), session) }

// named returns a cache key that no other account has. key is a host, which contains no slash.
func (s sessions) named(key string) string { return s.account + "/" + key }
