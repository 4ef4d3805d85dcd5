package app_test

import (
	"bytes"
	"log/slog"
	"os"
	"strings"
	"testing"

	"github.com/signalbox/signalbox/internal/app"
)

// replace renames a copy of one file over another, as tools that renew
// certificates do.
func replace(t *testing.T, path, with string) {
	t.Helper()
	content, err := os.ReadFile(with)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".new", content, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(path+".new", path); err != nil {
		t.Fatal(err)
	}
}

func TestCertificate_Renewed(t *testing.T) {
	t.Parallel()
	certFile, keyFile, _ := certificate(t)
	nextCert, nextKey, next := certificate(t)
	var log bytes.Buffer
	get, err := app.Certificates(certFile, keyFile, slog.New(slog.NewTextHandler(&log, nil)))
	if err != nil {
		t.Fatal(err)
	}
	serves := func(renewed bool) {
		t.Helper()
		served, err := get()
		if err != nil {
			t.Fatal(err)
		}
		pool := next.Clone()
		pool.AddCert(served.Leaf)
		if pool.Equal(next) != renewed {
			t.Errorf("the renewed certificate is served: %v, want %v", !renewed, renewed)
		}
	}
	serves(false)
	replace(t, certFile, nextCert) // the key of this certificate comes later
	serves(false)
	serves(false)
	if got := strings.Count(log.String(), "the old one stays in use"); got != 1 {
		t.Errorf("a certificate of another key was logged %d times:\n%s", got, &log)
	}
	replace(t, keyFile, nextKey)
	serves(true)
	if err := os.Remove(certFile); err != nil {
		t.Fatal(err)
	}
	serves(true)
	serves(true)
	if got := strings.Count(log.String(), "the old one stays in use"); got != 2 {
		t.Errorf("a missing certificate was not logged once:\n%s", &log)
	}
}
