package egress

import (
	"crypto/tls"
	"crypto/x509"
	"sync"
)

// tlsSettings are what requests may differ in.
type tlsSettings struct {
	insecure bool
	caCert   string
}

// tlsConfigs keeps one configuration for all requests with the same settings, so that those of one account share
// connections and TLS sessions. The least recently used one makes room for a new one.
type tlsConfigs struct {
	mu    sync.Mutex
	kept  map[tlsSettings]*tlsConfig
	clock uint64
}

// tlsConfig is a configuration that the first one who needs it makes, while others with the same settings wait for it and
// those with other settings do not.
type tlsConfig struct {
	make func() (*tls.Config, error)
	used uint64
}

const (
	keptConfigs  = 64
	keptSessions = 64 // per configuration
)

func newTLSConfigs() tlsConfigs { return tlsConfigs{kept: map[tlsSettings]*tlsConfig{}} }

// get gives the configuration for a request. The certificates are the caller's; they were checked when they came.
func (c *tlsConfigs) get(request Request) (*tls.Config, error) {
	settings := tlsSettings{request.Insecure, request.CACert}
	if settings.insecure {
		settings.caCert = ""
	}
	kept := c.keep(settings)
	made, err := kept.make()
	if err != nil {
		c.drop(settings, kept)
	}
	return made, err
}

func (c *tlsConfigs) keep(settings tlsSettings) *tlsConfig {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clock++
	kept, ok := c.kept[settings]
	if !ok {
		if len(c.kept) >= keptConfigs {
			c.dropOldest()
		}
		kept = &tlsConfig{make: sync.OnceValues(func() (*tls.Config, error) { return newTLSConfig(settings) })}
		c.kept[settings] = kept
	}
	kept.used = c.clock
	return kept
}

// drop forgets a configuration that could not be made: the reason may pass.
func (c *tlsConfigs) drop(settings tlsSettings, failed *tlsConfig) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept[settings] == failed {
		delete(c.kept, settings)
	}
}

func (c *tlsConfigs) dropOldest() {
	var oldest tlsSettings
	used := c.clock
	for settings, config := range c.kept {
		if config.used < used {
			oldest, used = settings, config.used
		}
	}
	delete(c.kept, oldest)
}

func newTLSConfig(settings tlsSettings) (*tls.Config, error) {
	config := &tls.Config{
		MinVersion:         tls.VersionTLS12,
		NextProtos:         []string{"http/1.1"},
		ClientSessionCache: tls.NewLRUClientSessionCache(keptSessions),
		InsecureSkipVerify: settings.insecure, //nolint:gosec // the owner of the request asked for it
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

// sessions are an account's part of a configuration's TLS sessions.
type sessions struct {
	account string
	all     tls.ClientSessionCache
}

func (s sessions) Get(key string) (*tls.ClientSessionState, bool) { return s.all.Get(s.named(key)) }

func (s sessions) Put(key string, session *tls.ClientSessionState) { s.all.Put(s.named(key), session) }

// named is unlike every name of another account: the key is a host, which has no slash.
func (s sessions) named(key string) string { return s.account + "/" + key }
