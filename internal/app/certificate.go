package app

import (
	"crypto/tls"
	"fmt"
	"log/slog"
	"os"
	"sync"
	"time"
)

// certificateCheck is the shortest time between two checks for new files.
const certificateCheck = time.Second

// certificate is a TLS certificate that is reloaded when its files change.
// Renewing it needs no restart of the server.
type certificate struct {
	certFile, keyFile string
	log               *slog.Logger

	mu      sync.Mutex
	loaded  *tls.Certificate
	files   fileVersions // at the last check
	checked time.Time
}

// fileVersions identifies a state of the two files.
type fileVersions struct {
	cert, key time.Time
	size      int64
}

func loadCertificate(certFile, keyFile string, log *slog.Logger) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile, log: log, checked: time.Now()}
	var err error
	if c.files, err = c.versions(); err == nil {
		err = c.load()
	}
	if err != nil {
		return nil, fmt.Errorf("reading the TLS certificate: %w", err)
	}
	return c, nil
}

// get returns the certificate for a handshake. If the files have not changed or
// cannot be used, it returns the certificate in memory.
func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if time.Since(c.checked) >= certificateCheck {
		c.checked = time.Now()
		c.refresh()
	}
	return c.loaded, nil
}

// refresh reads the files again if they changed. It logs unusable files once, not
// at every handshake.
func (c *certificate) refresh() {
	files, err := c.versions()
	if files == c.files {
		return
	}
	c.files = files
	if err == nil {
		err = c.load()
	}
	if err != nil {
		c.log.Warn("Reading the renewed TLS certificate failed; the old one stays in use.", "error", err)
		return
	}
	c.log.Info("Loaded the renewed TLS certificate.", "expires", c.loaded.Leaf.NotAfter)
}

func (c *certificate) load() error {
	loaded, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	if err != nil {
		return err
	}
	c.loaded = &loaded
	return nil
}

// versions returns the versions of the files; zero if a file is missing.
func (c *certificate) versions() (fileVersions, error) {
	cert, err := os.Stat(c.certFile)
	if err != nil {
		return fileVersions{}, err
	}
	key, err := os.Stat(c.keyFile)
	if err != nil {
		return fileVersions{}, err
	}
	return fileVersions{cert: cert.ModTime(), key: key.ModTime(), size: cert.Size() + key.Size()}, nil
}
